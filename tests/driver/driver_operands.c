/* SPDX-License-Identifier: MIT */
/* What each call of a function works on, as recorded: driver_operands RECORDING FUNCTION. One line
 * a call: its amount, then each operand as "write 128 device", a copy's direction, a product's
 * shape and how many there are of it. */
#include <string.h>

#include "shim/trace/trace.h"
#include "shim/trace/trace_calls.h"
#include "tests/test.h"

static const char *const memories[] = {
	"unknown", "pageable", "pinned", "device", "host", "managed", "?", "?"};

static void tell_attribute(
	const struct tfs_call *call, enum tfs_attribute attribute, const char *name)
{
	uint64_t value = 0;

	if (tfs_call_attribute(call, attribute, &value))
		printf(" %s %llu", name, (unsigned long long)value);
}

static void tell(const struct tfs_call *call)
{
	const struct tfs_item *items;
	const unsigned count = tfs_call_items(call, &items);

	printf("%llu", (unsigned long long)call->amount);
	for (unsigned i = 0; i < count; i++) {
		const uint32_t role = TFS_ITEM_ROLE(&items[i]);

		if (role != 0)
			printf(" %s %llu %s",
				role & TFS_ROLE_WRITE  ? "write"
				: role & TFS_ROLE_READ ? "read"
						       : "maybe",
				(unsigned long long)TFS_ITEM_LOW(&items[i]),
				memories[TFS_ITEM_MEMORY(&items[i])]);
	}
	tell_attribute(call, TFS_ATTRIBUTE_copy_kind, "kind");
	tell_attribute(call, TFS_ATTRIBUTE_shape_m, "m");
	tell_attribute(call, TFS_ATTRIBUTE_shape_n, "n");
	tell_attribute(call, TFS_ATTRIBUTE_shape_k, "k");
	tell_attribute(call, TFS_ATTRIBUTE_count, "times");
	printf("\n");
}

int main(int count, char **words)
{
	const struct tfs_trace_thread *threads;
	struct tfs_trace *trace = NULL;
	const struct tfs_call *call;
	struct tfs_cursor cursor;

	TEST_NEED(count == 3 && tfs_trace_open(words[1], NULL, &trace) == 0);
	for (size_t i = 0; i < tfs_trace_threads(trace, &threads); i++) {
		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor)))
			if (strcmp(tfs_trace_function(trace, call->function), words[2]) == 0)
				tell(call);
	}
	tfs_trace_close(trace);
	return 0;
}
