/* SPDX-License-Identifier: MIT */
/* Small buffers come back as they fill; with no buffer left, records are dropped and counted. */
#include "cupti_client.h"

#define LAUNCHES 200

static void work(CUfunction kernel)
{
	unsigned i;

	for (i = 0; i < LAUNCHES; i++)
		OK(launch(kernel, NULL));
	OK(cuCtxSynchronize());
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

static int by_start(const void *one, const void *other)
{
	const CUpti_ActivityKernel10 *a = one, *b = other;

	return (a->start > b->start) - (a->start < b->start);
}

/* One kernel is over when the next begins. Buffers come back in no order. */
static void check_order(void)
{
	CUpti_ActivityKernel10 kernels[LAUNCHES];

	for (unsigned i = 0; i < LAUNCHES; i++)
		kernels[i] = get_record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i)->kernel;
	qsort(kernels, LAUNCHES, sizeof(kernels[0]), by_start);
	for (unsigned i = 1; i < LAUNCHES; i++)
		TEST_TRUE(kernels[i - 1].end <= kernels[i].start);
}

int main(void)
{
	CUpti_SubscriberHandle subscriber;
	size_t dropped = 99;
	CUfunction kernel;

	buffer_bytes = 4096;
	if (!start_client(&subscriber))
		return test_skip("CUPTI is not to be had");
	if (!start_driver(&kernel))
		return test_skip("no device");
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	work(kernel);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), LAUNCHES);
	TEST_TRUE(buffers_back >= (int)(LAUNCHES * sizeof(CUpti_ActivityKernel10) / 4096));
	check_order();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	TEST_EQ(dropped, 0);

	record_count = 0;
	buffers_left = 2;
	work(kernel);
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	TEST_TRUE(dropped > 0);
	TEST_EQ(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) + dropped, LAUNCHES);
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	TEST_EQ(dropped, 0);
	OK(cuptiUnsubscribe(subscriber));
	return test_result();
}
