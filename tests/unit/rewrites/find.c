/* SPDX-License-Identifier: MIT */
/* A search of a convolution's algorithms, by a made-up library's measurements: which of them count,
 * how often it is asked, and what is held against the asked algorithm. */
#include "shim/rewrites/cudnn_search/search.h"

#include <time.h>

#include "shim/resolve/direct.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_verify.h"
#include "tests/test.h"

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

void *tfs_direct_known[TFS_DIRECT_COUNT];

static uint64_t now_ns = 1000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

cudnnHandle_t tfs_search_handle(const struct tfs_search_device *device)
{
	(void)device;
	return NULL;
}

static bool memory = true;
static int scratches; /* that are had */

bool tfs_scratch_get(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_search_limits *limits, struct tfs_scratch *out)
{
	(void)device, (void)search, (void)limits;
	*out = (struct tfs_scratch){.output_bytes = 4};
	scratches += memory;
	return memory;
}

void tfs_scratch_give_back(struct tfs_search_device *device, const struct tfs_scratch *scratch)
{
	(void)device;
	TEST_EQ(scratch->output_bytes, 4);
	scratches--;
}

static bool same;
static int held_against; /* the asked one; -1 = none was */

bool tfs_search_same(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, const struct tfs_candidate *candidates, int one,
	int other)
{
	(void)device, (void)search, (void)scratch, (void)candidates, (void)one;
	held_against = other;
	return same;
}

/* What the library says to each of its three calls. */
#define MOST 8

static cudnnConvolutionFwdAlgoPerf_t lists[TFS_SEARCH_REPEATS][MOST];
static int counts[TFS_SEARCH_REPEATS];
static unsigned calls, failing; /* the call that fails, from 1 on; 0 = none */

static cudnnStatus_t answer(int *out_count, void *out_list)
{
	const unsigned call = calls++;

	TEST_NEED(call < TFS_SEARCH_REPEATS);
	now_ns += 10;
	memcpy(out_list, lists[call], sizeof(lists[call]));
	*out_count = counts[call];
	return calls == failing ? CUDNN_STATUS_EXECUTION_FAILED : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t find_forward(cudnnHandle_t handle, cudnnTensorDescriptor_t xd, const void *x,
	cudnnFilterDescriptor_t wd, const void *w, cudnnConvolutionDescriptor_t how,
	cudnnTensorDescriptor_t yd, void *y, int most, int *out_count,
	cudnnConvolutionFwdAlgoPerf_t *out_list, void *workspace, size_t bytes)
{
	(void)handle, (void)xd, (void)x, (void)wd, (void)w, (void)how, (void)yd, (void)y;
	(void)workspace, (void)bytes;
	TEST_TRUE(most >= MOST);
	return answer(out_count, out_list);
}

static cudnnStatus_t find_data(cudnnHandle_t handle, cudnnFilterDescriptor_t wd, const void *w,
	cudnnTensorDescriptor_t yd, const void *y, cudnnConvolutionDescriptor_t how,
	cudnnTensorDescriptor_t xd, void *x, int most, int *out_count,
	cudnnConvolutionBwdDataAlgoPerf_t *out_list, void *workspace, size_t bytes)
{
	(void)handle, (void)xd, (void)x, (void)wd, (void)w, (void)how, (void)yd, (void)y;
	(void)workspace, (void)bytes;
	TEST_TRUE(most >= MOST);
	return answer(out_count, out_list);
}

void *tfs_direct_look_up(enum tfs_direct call)
{
	switch (call) {
	case TFS_DIRECT_cudnnFindConvolutionForwardAlgorithmEx:
		return (void *)find_forward;
	case TFS_DIRECT_cudnnFindConvolutionBackwardDataAlgorithmEx:
		return (void *)find_data;
	default:
		return NULL;
	}
}

static void say(uint32_t call, int algorithm, float ms)
{
	lists[call][counts[call]++] =
		(cudnnConvolutionFwdAlgoPerf_t){.algo = (cudnnConvolutionFwdAlgo_t)algorithm,
			.status = CUDNN_STATUS_SUCCESS,
			.time = ms,
			.memory = 100,
			.determinism = CUDNN_DETERMINISTIC,
			.mathType = CUDNN_FMA_MATH};
}

static void say_each(int algorithm, float one, float two, float three)
{
	say(0, algorithm, one);
	say(1, algorithm, two);
	say(2, algorithm, three);
}

static struct tfs_candidate found[TFS_SEARCH_ALGORITHMS];

static enum tfs_search_result search_within(enum tfs_family family, int asked, uint64_t ns)
{
	const struct tfs_search search = {.family = family, .math = CUDNN_FMA_MATH, .most = 100};
	const struct tfs_search_limits limits = {.until_ns = now_ns + ns};

	calls = 0;
	held_against = -1;
	const enum tfs_search_result result = tfs_search_run(NULL, &search, &limits, asked, found);
	TEST_EQ(scratches, 0);
	return result;
}

static enum tfs_search_result search(int asked)
{
	return search_within(TFS_FAMILY_conv_forward, asked, 1000);
}

/* The median of three, and how far they lie apart, in whatever order they come. */
static void check_times(void)
{
	static const float orders[6][3] = {
		{1, 2, 4}, {1, 4, 2}, {2, 1, 4}, {2, 4, 1}, {4, 1, 2}, {4, 2, 1}};

	for (int i = 0; i < 6; i++) {
		memset(counts, 0, sizeof(counts));
		say_each(1, orders[i][0], orders[i][1], orders[i][2]);
		TEST_EQ(search(1), TFS_SEARCH_DONE);
		TEST_EQ(calls, 3);
		TEST_TRUE(found[1].available && found[1].deterministic);
		TEST_EQ(found[1].median_ms, 2);
		TEST_EQ(found[1].spread_ms, 3);
		TEST_EQ(found[1].workspace, 100);
		TEST_TRUE(!found[0].available);
	}
	TEST_EQ(held_against, -1);
}

/* What failed once, is of other mathematics or of no number that is known is not there. */
static void check_entries(void)
{
	memset(counts, 0, sizeof(counts));
	say_each(0, 9, 9, 9);
	say_each(1, 1, 1, 1);
	lists[2][1].status = CUDNN_STATUS_NOT_SUPPORTED;
	say_each(2, 1, 1, 1);
	lists[1][2].mathType = CUDNN_DEFAULT_MATH;
	say_each(TFS_SEARCH_ALGORITHMS, 1, 1, 1);
	say_each(-1, 1, 1, 1);
	/* A fourth time, and other mathematics, of one that is there do no harm. */
	say(2, 0, 1);
	say(0, 0, 1);
	lists[0][counts[0] - 1].mathType = CUDNN_DEFAULT_MATH;
	TEST_EQ(search(0), TFS_SEARCH_DONE);
	TEST_EQ(found[0].median_ms, 9);
	for (uint32_t i = 1; i < TFS_SEARCH_ALGORITHMS; i++)
		TEST_TRUE(!found[i].available);
	TEST_EQ(search(1), TFS_SEARCH_FAILED);
	TEST_EQ(search(-1), TFS_SEARCH_FAILED);
	TEST_EQ(search(TFS_SEARCH_ALGORITHMS), TFS_SEARCH_FAILED);
}

/* By the library's flag or by its documentation. */
static void check_determinism(void)
{
	memset(counts, 0, sizeof(counts));
	say_each(0, 9, 9, 9);
	say_each(1, 9, 9, 9);
	say_each(2, 9, 9, 9);
	for (int i = 0; i < 3; i++)
		lists[i][2].determinism = CUDNN_NON_DETERMINISTIC;
	TEST_EQ(search(0), TFS_SEARCH_DONE);
	TEST_TRUE(found[0].deterministic && found[1].deterministic && !found[2].deterministic);
	TEST_EQ(search_within(TFS_FAMILY_conv_backward_data, 1, 1000), TFS_SEARCH_DONE);
	TEST_TRUE(!found[0].deterministic && found[1].deterministic && !found[2].deterministic);
	TEST_EQ(search_within(TFS_FAMILY_conv_backward_filter, 1, 1000), TFS_SEARCH_FAILED);
	TEST_EQ(search_within(TFS_FAMILY_other, 1, 1000), TFS_SEARCH_FAILED);
}

/* The best that fits computes the same, or the search is for nothing. */
static void check_same(void)
{
	memset(counts, 0, sizeof(counts));
	say_each(0, 10, 10, 10);
	say_each(1, 8, 8, 8);
	say_each(2, 5, 5, 5);
	for (int i = 0; i < 3; i++)
		lists[i][2].memory = 101;
	same = true;
	TEST_EQ(search(0), TFS_SEARCH_DONE);
	TEST_EQ(held_against, 1);
	same = false;
	TEST_EQ(search(0), TFS_SEARCH_DIFFERS);
	TEST_EQ(search(1), TFS_SEARCH_DONE);
	TEST_EQ(held_against, -1);
}

/* No call is begun that would end too late, and none is made again that failed. */
static void check_limits(void)
{
	TEST_EQ(search_within(TFS_FAMILY_conv_forward, 1, 30), TFS_SEARCH_DONE);
	TEST_EQ(search_within(TFS_FAMILY_conv_forward, 1, 29), TFS_SEARCH_NO_TIME);
	TEST_EQ(calls, 2);
	TEST_EQ(search_within(TFS_FAMILY_conv_forward, 1, 19), TFS_SEARCH_NO_TIME);
	TEST_EQ(calls, 1);
	for (failing = 1; failing <= 3; failing++) {
		TEST_EQ(search(1), TFS_SEARCH_FAILED);
		TEST_EQ(calls, failing);
	}
	failing = 0;
	memory = false;
	TEST_EQ(search(1), TFS_SEARCH_NO_MEMORY);
	TEST_EQ(calls, 0);
}

int main(void)
{
	check_times();
	check_entries();
	check_determinism();
	check_same();
	check_limits();
	return test_result();
}
