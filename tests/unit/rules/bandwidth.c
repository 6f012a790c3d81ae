/* SPDX-License-Identifier: MIT */
/* What moving bytes within the device's memory takes, and that nothing is made up of a device of
 * which no rate is known. */
#include "rules/evidence/bandwidth.h"

#include "rules/evidence/steady.h"
#include "tests/test.h"

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
	return test_result();
}
