/* SPDX-License-Identifier: MIT */
/*
 * Looks at the device activity in a recording: activity_check FILE.tfs OPS [FACT]. There must be at
 * least OPS operations (0: none at all), tied to the call that caused it; the fact
 * "cupti" must begin with FACT.
 */
#include "rules/support/sentences.h"
#include "shim/trace/trace.h"
#include "tests/test.h"

#define CALLS 300000

/* Calls that were on their way when activity was switched on have no id yet. */
#define STRAYS 4

static struct {
	uint64_t unit;
	const struct tfs_call *call;
} calls[CALLS];
static size_t call_count;
static unsigned strays;

/* What our kernels' names begin with, and the family of the calls that launch them. */
static const struct {
	const char *kernel;
	enum tfs_family family;
} launches[] = {
	{"tfsim_conv_fprop", TFS_FAMILY_conv_forward},
	{"tfsim_conv_dgrad", TFS_FAMILY_conv_backward_data},
	{"tfsim_conv_wgrad", TFS_FAMILY_conv_backward_filter},
	{"tfsim_pooling", TFS_FAMILY_pooling},
	{"tfsim_softmax", TFS_FAMILY_softmax},
	{"tfsim_sgemm", TFS_FAMILY_gemm},
};

static const struct tfs_call *find_call(uint64_t unit)
{
	size_t i;

	for (i = 0; i < call_count; i++)
		if (calls[i].unit == unit)
			return calls[i].call;
	return NULL;
}

static const struct tfs_call *cause(const struct tfs_trace *trace, uint32_t correlation)
{
	static size_t hint;
	size_t i, count = tfs_trace_count(trace, TFS_RECORD_link);

	for (i = 0; i < count; i++) {
		const struct tfs_link_record *link =
			tfs_trace_at(trace, TFS_RECORD_link, (hint + i) % count);

		if (link->correlation == correlation) {
			hint = (hint + i) % count;
			return find_call(link->call_unit);
		}
	}
	return NULL;
}

static bool fits(const struct tfs_trace *trace, const struct tfs_device_op_record *op,
	const struct tfs_call *call)
{
	enum tfs_family family = tfs_trace_family(trace, call->function);
	const char *kernel = tfs_trace_kernel(trace, op->kernel);
	size_t i;

	switch (op->operation) {
	case TFS_DEVICE_MEMCPY:
		return family == TFS_FAMILY_copy || family == TFS_FAMILY_copy_async;
	case TFS_DEVICE_MEMSET:
		return family == TFS_FAMILY_set || family == TFS_FAMILY_set_async;
	default:
		for (i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
			if (!strncmp(kernel, launches[i].kernel, strlen(launches[i].kernel)))
				return family == launches[i].family;
		return *kernel != '\0';
	}
}

static void check_op(const struct tfs_trace *trace, const struct tfs_device_op_record *op)
{
	const struct tfs_call *call = cause(trace, op->correlation);

	if (!call) {
		strays++;
		return;
	}
	if (!TEST_TRUE(fits(trace, op, call)))
		printf("  %s by %s\n", tfs_trace_kernel(trace, op->kernel),
			tfs_trace_function(trace, call->function));
	TEST_TRUE(op->start_ns >= tfs_trace_ns(trace, call->start_ticks));
	TEST_TRUE(op->end_ns >= op->start_ns);
}

static void list_calls(const struct tfs_trace *trace)
{
	const struct tfs_trace_thread *threads;
	size_t i, count = tfs_trace_threads(trace, &threads);

	for (i = 0; i < count; i++) {
		const struct tfs_call *call;
		struct tfs_cursor cursor;

		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor)) && call_count < CALLS) {
			calls[call_count].unit = tfs_trace_unit(trace, call);
			calls[call_count++].call = call;
		}
	}
}

int main(int argc, char **argv)
{
	struct tfs_trace *trace;
	struct tfs_arena arena = {0};
	size_t i, count, wanted;

	if (argc < 3)
		return test_skip("no recording stated");
	if (!TEST_EQ(tfs_trace_open(argv[1], NULL, &trace), 0))
		return test_result();
	wanted = strtoul(argv[2], NULL, 10);
	const char *text = tfs_sentence_key(trace, "cupti", &arena);
	if (argc > 3 && !TEST_TRUE(!strncmp(text, argv[3], strlen(argv[3]))))
		printf("  it is \"%s\"\n", text);
	tfs_arena_finish(&arena);
	count = tfs_trace_count(trace, TFS_RECORD_device_op);
	if (!wanted)
		TEST_EQ(count, 0);
	TEST_TRUE(count >= wanted);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_cupti_dropped], 0);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_cupti_unknown], 0);
	list_calls(trace);
	for (i = 0; i < count; i++)
		check_op(trace, tfs_trace_at(trace, TFS_RECORD_device_op, i));
	TEST_IN(strays, 0, STRAYS);
	printf("%zu operations\n", count);
	tfs_trace_close(trace);
	return test_result();
}
