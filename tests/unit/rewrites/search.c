/* SPDX-License-Identifier: MIT */
/* What may stand for what: the fences of the search, and what counts as rounding. */
#include <math.h>
#include <string.h>

#include "shim/rewrites/cudnn_search/search_fences.h"
#include "shim/rewrites/cudnn_search/search_verify.h"
#include "tests/test.h"

#define FORWARD TFS_FAMILY_conv_forward
#define DATA TFS_FAMILY_conv_backward_data
#define FILTER TFS_FAMILY_conv_backward_filter

static void check_numbers(void)
{
	/* FFT, FFT_TILING, WINOGRAD, WINOGRAD_NONFUSED only for each other. */
	for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; i++)
		TEST_EQ(tfs_search_allowed(FORWARD, 0, i), i < 4);
	for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; i++)
		TEST_TRUE(tfs_search_allowed(FORWARD, 4, i));
	/* By documentation 0 of the data's, 0 and 3 of the filter's gradients are not reproducible.
	 */
	TEST_EQ(tfs_search_allowed(DATA, 1, 0), false);
	TEST_EQ(tfs_search_allowed(DATA, 0, 1), true);
	TEST_EQ(tfs_search_allowed(DATA, 1, 2), false);
	TEST_EQ(tfs_search_allowed(FILTER, 1, 0), false);
	TEST_EQ(tfs_search_allowed(FILTER, 1, 3), false);
	TEST_EQ(tfs_search_allowed(FILTER, 0, 3), true);
	TEST_EQ(tfs_search_allowed(FILTER, 0, 2), false);
	TEST_EQ(tfs_search_allowed(FILTER, 0, 6), false);
	TEST_EQ(tfs_search_allowed(FORWARD, 0, CUDNN_CONVOLUTION_FWD_ALGO_COUNT), false);
	TEST_EQ(tfs_search_allowed(FORWARD, -1, 0), false);
	TEST_EQ(tfs_search_allowed(FORWARD, 0, -1), false);
	TEST_EQ(tfs_search_allowed(TFS_FAMILY_other, 0, 0), false);
}

static struct tfs_candidate candidates[TFS_SEARCH_ALGORITHMS];

static void candidate(int number, float ms, float spread_ms, bool deterministic)
{
	candidates[number] = (struct tfs_candidate){.available = true,
		.deterministic = deterministic,
		.median_ms = ms,
		.spread_ms = spread_ms};
}

static void check_choice(void)
{
	candidate(0, 10, 0, true);
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 0);
	candidate(1, 9.6f, 0, true); /* too little */
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 0);
	candidate(2, 8, 0, false); /* the flag alone says so */
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 0);
	candidate(6, 1, 0, true);
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 0);
	candidate(1, 9, 0, true);
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 1);
	candidate(0, 10, 1.5f, true); /* the repeats overlap */
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 0);
	candidate(0, 10, 0, false);
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, UINT64_MAX), 2);
	candidates[2].workspace = 4096;
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, 4096), 2);
	TEST_EQ(tfs_search_best(FORWARD, candidates, 0, 4095), 1);
}

static bool is_rounding(const void *one, const void *other, uint64_t bytes, int type, int math)
{
	struct tfs_difference sum = {0};

	tfs_difference_add(&sum, one, other, bytes, type);
	return tfs_difference_is_rounding(&sum, type, (cudnnMathType_t)math);
}

static void check_floats(void)
{
	float one[1000], other[1000];

	for (int i = 0; i < 1000; i++)
		one[i] = (float)(i % 7) - 3;
	memcpy(other, one, sizeof(one));
	TEST_TRUE(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_FMA_MATH));
	for (int i = 0; i < 1000; i++)
		other[i] = one[i] * (i % 2 ? 1.001f : 0.999f);
	TEST_EQ(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_FMA_MATH), false);
	TEST_TRUE(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH));
	/* One number that is wrong is enough. */
	memcpy(other, one, sizeof(one));
	other[999] += 1;
	TEST_EQ(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH), false);
	other[999] = NAN;
	TEST_EQ(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH), false);
	one[999] = NAN;
	TEST_TRUE(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH));
	one[999] = INFINITY;
	other[999] = -INFINITY;
	TEST_EQ(is_rounding(one, other, sizeof(one), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH), false);
}

static void check_types(void)
{
	const double wide[] = {1, -2, 1e-9}, near[] = {1, -2, 1e-9}, far[] = {1, -2.000001, 1e-9};
	/* 1, -2, 65504 and infinity in half; 1.0625 is 0x3c40. */
	const uint16_t half[] = {0x3c00, 0xc000, 0x7bff, 0x7c00};
	const uint16_t off[] = {0x3c40, 0xc000, 0x3bff, 0x7c00};
	/* 1, 1.0078125 and 1.125 in bfloat16. */
	const uint16_t brain[] = {0x3f80}, brain_near[] = {0x3f81}, brain_far[] = {0x3f90};
	const int8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8}, others[8] = {0};

	TEST_TRUE(is_rounding(wide, near, sizeof(wide), CUDNN_DATA_DOUBLE, 0));
	TEST_EQ(is_rounding(wide, far, sizeof(wide), CUDNN_DATA_DOUBLE, 0), false);
	TEST_TRUE(is_rounding(half, half, sizeof(half), CUDNN_DATA_HALF, 0));
	TEST_EQ(is_rounding(half, off, sizeof(half), CUDNN_DATA_HALF, 0), false);
	TEST_EQ(is_rounding(half, off, 2, CUDNN_DATA_HALF, 0), false);
	TEST_TRUE(is_rounding(brain, brain_near, 2, CUDNN_DATA_BFLOAT16, 0));
	TEST_EQ(is_rounding(brain, brain_far, 2, CUDNN_DATA_BFLOAT16, 0), false);
	/* What is not compared is not taken on trust. */
	TEST_EQ(is_rounding(bytes, others, 8, CUDNN_DATA_INT8, 0), false);
}

int main(void)
{
	check_numbers();
	check_choice();
	check_floats();
	check_types();
	return test_result();
}
