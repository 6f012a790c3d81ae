/* SPDX-License-Identifier: MIT */
/* What moving bytes takes, within the device's memory and to it, and that nothing is made up of a
 * device of which no rate is known. */
#include "rules/evidence/bandwidth.h"

#include "rules/evidence/copies.h"
#include "rules/evidence/steady.h"
#include "tests/test.h"

#define MEGABYTE UINT64_C(1000000)

/* A copy of pageable memory that took 500 us, as it would be of pinned memory. */
static void scales(void)
{
	const struct tfs_device_op op = {.start_ns = 1000, .end_ns = 501000};
	const uint32_t nth = 0;
	const struct tfs_timeline timeline = {.ops = &op, .op_count = 1, .call_ops = &nth};
	const struct tfs_host_call call = {.op_count = 1};
	struct tfs_steady steady = {.timeline = &timeline, .pinned_rates = {20, 10}};
	struct tfs_copy copy = {
		.direction = TFS_COPY_UP, .host_memory = TFS_MEMORY_PAGEABLE, .bytes = MEGABYTE};

	TEST_EQ(tfs_copy_pinned_scale(&steady, &call, &copy) * 1000, (1500 + 50000) / 500);
	copy.direction = TFS_COPY_DOWN;
	TEST_EQ(tfs_copy_pinned_scale(&steady, &call, &copy) * 1000, (1500 + 100000) / 500);
	/* A link is as fast in the other direction. */
	steady.pinned_rates[1] = 0;
	TEST_EQ(tfs_copy_pinned_scale(&steady, &call, &copy) * 1000, (1500 + 50000) / 500);
	/* What is tiny gains nothing, nor does what is no shorter or pinned already. */
	copy.bytes = 4096;
	TEST_EQ(tfs_copy_pinned_scale(&steady, &call, &copy) * 1000, 0);
	copy.bytes = 20 * MEGABYTE;
	TEST_EQ(tfs_copy_pinned_scale(&steady, &call, &copy) * 1000, 0);
	copy.bytes = MEGABYTE;
	copy.host_memory = TFS_MEMORY_PINNED;
	TEST_EQ(tfs_copy_pinned_scale(&steady, &call, &copy) * 1000, 0);
}

/* Rates are of copies that are large enough to tell one, and of pinned memory. */
static void rates(void)
{
	const struct tfs_device_op_record records[] = {{.operation = TFS_DEVICE_MEMCPY,
							       .copy_kind = 1,
							       .source_kind = TFS_MEMORY_PINNED,
							       .bytes = MEGABYTE},
		{.operation = TFS_DEVICE_MEMCPY,
			.copy_kind = 1,
			.source_kind = TFS_MEMORY_PINNED,
			.bytes = 1000},
		{.operation = TFS_DEVICE_MEMCPY,
			.copy_kind = 1,
			.source_kind = TFS_MEMORY_PINNED,
			.bytes = 2000},
		{.operation = TFS_DEVICE_MEMCPY,
			.copy_kind = 2,
			.target_kind = TFS_MEMORY_PAGEABLE,
			.bytes = MEGABYTE},
		{.operation = TFS_DEVICE_KERNEL, .bytes = MEGABYTE}};
	struct tfs_device_op ops[5];
	const struct tfs_timeline timeline = {.ops = ops, .op_count = 5};
	const struct tfs_steady steady = {.timeline = &timeline};
	double found[2] = {-1, -1};

	for (size_t i = 0; i < 5; i++)
		ops[i] = (struct tfs_device_op){
			.record = &records[i], .start_ns = 1000, .end_ns = 1000 + 1500 + 50000};
	TEST_EQ(tfs_copy_pinned_rates(&steady, found), 0);
	TEST_EQ(found[0], 20);
	TEST_EQ(found[1], 0);
}

int main(void)
{
	struct tfs_device_record record = {.bandwidth = UINT64_C(2000000000)};
	const struct tfs_device device = {.record = &record};
	struct tfs_timeline timeline = {.devices = &device, .device_count = 1};
	const struct tfs_steady steady = {.timeline = &timeline, .kernel_floor_ns = 3000};

	TEST_EQ(tfs_memory_pass_ns(&steady, 10000), 3000 + 5000);
	record.bandwidth = 0;
	TEST_EQ(tfs_memory_pass_ns(&steady, 10000), 0);
	timeline.device_count = 0;
	TEST_EQ(tfs_memory_pass_ns(&steady, 10000), 0);
	scales();
	rates();
	return test_result();
}
