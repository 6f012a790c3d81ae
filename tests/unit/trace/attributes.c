/* SPDX-License-Identifier: MIT */
/* Attributes of a call, those that are packed into another item too: no item is read as another. */
#include "shim/trace/trace.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define MISSING UINT64_MAX

static uint64_t of(const struct tfs_call *call, enum tfs_attribute key)
{
	uint64_t value = MISSING;

	return tfs_call_attribute(call, key, &value) ? value : MISSING;
}

/* A call with one attribute, and then one with an operand before it. */
static void check_one(enum tfs_attribute key, uint64_t value)
{
	for (int operands = 0; operands < 2; operands++) {
		struct builder *builder = builder_create();
		const uint16_t function = builder_function(
			builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel");
		struct builder_call call = {
			.function = function, .start_ns = 100, .duration_ns = 100};

		if (operands)
			builder_operand(&call, 1, 0x1000, 64);
		builder_attribute(&call, key, value);
		builder_thread(builder, 0);
		builder_call(builder, &call);
		struct tfs_trace *trace = builder_open(builder);
		struct tfs_cursor cursor;

		TEST_NEED(trace);
		tfs_cursor_start(&cursor, trace, 0);
		const struct tfs_call *found = tfs_cursor_next(&cursor);
		TEST_NEED(found);
		for (uint32_t other = 1; other <= TFS_ATTRIBUTE_executable; other++) {
			uint64_t want = other == (uint32_t)key ? value : MISSING;

			if (key == TFS_ATTRIBUTE_launch && other == TFS_ATTRIBUTE_kernel)
				want = value & 0xffff;
			if (key == TFS_ATTRIBUTE_launch && other == TFS_ATTRIBUTE_grid)
				want = (value >> 16 & UINT32_MAX) | UINT64_C(1) << 32;
			if (key == TFS_ATTRIBUTE_launch && other == TFS_ATTRIBUTE_block)
				want = value >> 48 | UINT64_C(1) << 32;
			if (!TEST_TRUE(of(found, other) == want))
				printf("%u of a call with %u is %llx, not %llx\n", other, key,
					(unsigned long long)of(found, other),
					(unsigned long long)want);
		}
		tfs_trace_close(trace);
		builder_destroy(builder);
	}
}

int main(void)
{
	for (uint32_t key = 1; key <= TFS_ATTRIBUTE_executable; key++)
		check_one(key, UINT64_C(0x0100000203045678) + key);
	return test_result();
}
