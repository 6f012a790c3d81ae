/* SPDX-License-Identifier: MIT */
/* A client that comes late still learns which devices, contexts and streams there are. */
#include "cupti_client.h"

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	unsigned i, others = 0;
	CUfunction kernel;
	CUstream stream;
	uint32_t id = 0;

	if (!start_driver(&kernel))
		return test_skip("no device");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(launch(kernel, NULL));
	OK(launch(kernel, stream));
	OK(cuCtxSynchronize());
	if (!start_client(&subscriber))
		return test_skip("CUPTI is not to be had");
	OK(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE));
	OK(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
	OK(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_STREAM));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	TEST_TRUE(count_records(CUPTI_ACTIVITY_KIND_DEVICE) >= 1);
	TEST_TRUE(count_records(CUPTI_ACTIVITY_KIND_CONTEXT) >= 1);
	TEST_TRUE(count_records(CUPTI_ACTIVITY_KIND_STREAM) >= 1);
	OK(cuptiGetStreamId(NULL, stream, &id));
	for (i = 0; i < count_records(CUPTI_ACTIVITY_KIND_STREAM); i++) {
		const CUpti_ActivityStream *seen =
			&get_record(CUPTI_ACTIVITY_KIND_STREAM, i)->stream;

		if (seen->streamId != id)
			others++;
		else
			TEST_EQ(seen->flag, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	}
	TEST_EQ(others, count_records(CUPTI_ACTIVITY_KIND_STREAM) - 1);
	OK(cuptiUnsubscribe(subscriber));
	return test_result();
}
