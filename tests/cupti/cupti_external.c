/* SPDX-License-Identifier: MIT */
/* External correlation: only calls that get a record of their own carry an id, the innermost one of
 * their thread, and its record comes before theirs. */
#include "cupti_client.h"

static void *elsewhere(void *kernel)
{
	CUcontext context;

	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(launch(kernel, NULL));
	OK(cuCtxSynchronize());
	return NULL;
}

/* Launches with the id 0, 10, 20, 10, and one in a thread that has none. */
static void work(CUfunction kernel)
{
	pthread_t thread;
	uint64_t last = 0;

	OK(launch(kernel, NULL));
	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 10));
	OK(launch(kernel, NULL));
	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 20));
	OK(launch(kernel, NULL));
	OK(pthread_create(&thread, NULL, elsewhere, kernel));
	OK(pthread_join(thread, NULL));
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
	TEST_EQ(last, 20);
	OK(launch(kernel, NULL));
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
	TEST_EQ(last, 10);
	TEST_EQ(cuptiActivityPopExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
		CUPTI_ERROR_QUEUE_EMPTY);
	OK(cuCtxSynchronize());
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

/* However deep they are stacked, one kind's ids are not another's. */
static void check_depth(void)
{
	const unsigned deep = 1000;
	uint64_t last = 0;
	unsigned popped = 0;

	for (unsigned i = 1; i <= deep; i++)
		OK(cuptiActivityPushExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, i));
	TEST_EQ(cuptiActivityPopExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &last),
		CUPTI_ERROR_QUEUE_EMPTY);
	while (cuptiActivityPopExternalCorrelationId(
		       CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last) == CUPTI_SUCCESS)
		popped++;
	TEST_EQ(popped, deep);
	TEST_EQ(last, 1);
}

static uint64_t id_of(uint32_t correlation)
{
	unsigned i;

	for (i = 0; i < record_count; i++)
		if (records[i].head.kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION &&
			records[i].external.correlationId == correlation)
			return records[i].external.externalId;
	return 0;
}

static void check_ids(void)
{
	static const uint64_t ids[] = {0, 10, 20, 0, 10};
	unsigned i;

	for (i = 0; i < 5; i++)
		TEST_EQ(id_of(get_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i)
					->kernel.correlationId),
			ids[i]);
}

static void check_order(void)
{
	bool seen = false;
	unsigned i;

	for (i = 0; i < record_count; i++) {
		if (records[i].head.kind == CUPTI_ACTIVITY_KIND_DRIVER) {
			uint32_t correlation = records[i].api.correlationId;

			seen |= id_of(correlation) != 0;
			if (id_of(correlation))
				TEST_EQ(records[i - (i > 0)].external.correlationId, correlation);
		}
	}
	TEST_TRUE(seen);
}

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	CUfunction kernel;

	if (!start_client(&subscriber))
		return test_skip("CUPTI is not to be had");
	if (!start_driver(&kernel))
		return test_skip("no device");
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	work(kernel);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 5);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), 0);

	/* One API is enough: no need to record all of them. */
	record_count = 0;
	OK(cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1));
	work(kernel);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_DRIVER), 5);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), 3);
	check_ids();
	check_order();
	check_depth();
	OK(cuptiUnsubscribe(subscriber));
	return test_result();
}
