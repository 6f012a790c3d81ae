/* SPDX-License-Identifier: MIT */
/* What a client meets when CUPTI is not to be had: cupti_refused STATUS [OWNER]. Queries that need
 * no driver still answer. Simulated device only: the state is asked for by TFSIM_CUPTI. */
#include "cupti_client.h"

int main(int argc, char **argv)
{
	char owner[64] = "";
	CUpti_SubscriberParams params = {
		CUpti_SubscriberParams_STRUCT_SIZE, "tfshim", owner, sizeof(owner)};
	CUpti_SubscriberHandle subscriber;
	int want = argc > 1 ? atoi(argv[1]) : 0;
	uint64_t now = 0;
	uint32_t version = 0;

	if (!want)
		return test_skip("no status stated");
	TEST_EQ(cuptiSubscribe_v2(&subscriber, no_callback, NULL, &params), want);
	TEST_STR(owner, argc > 2 ? argv[2] : "");
	TEST_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), want);
	OK(cuptiGetVersion(&version));
	OK(cuptiGetTimestamp(&now));
	TEST_TRUE(version >= 130000 && now);
	OK(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
	return test_result();
}
