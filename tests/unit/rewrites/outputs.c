/* SPDX-License-Identifier: MIT */
/* Two outputs of a convolution: which bytes of them are compared, and when the second one is
 * another result and no rounding. */
#include <math.h>
#include <stdlib.h>

#include "shim/base/heap.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_verify.h"
#include "shim/rewrites/search/search_device.h"
#include "tests/test.h"

#define MIB ((size_t)1 << 20)
#define MOST (20 * MIB)
#define NUMBERS 1000u

void *tfs_direct_known[TFS_DIRECT_COUNT];

static unsigned fetches, failing; /* the one that fails; 0 = none */

bool tfs_search_fetch(
	struct tfs_search_device *device, void *host, const void *source, uint64_t bytes)
{
	(void)device;
	memcpy(host, source, bytes);
	return ++fetches != failing;
}

void *tfs_heap_alloc(size_t bytes)
{
	return malloc(bytes);
}

void tfs_heap_free(void *memory, size_t bytes)
{
	(void)bytes;
	free(memory);
}

cudnnHandle_t tfs_search_handle(const struct tfs_search_device *device)
{
	(void)device;
	return NULL;
}

/* Red zones, as far as they are laid and looked at. */
static uint64_t guarded;
static bool whole;

void *tfs_scratch_output(const struct tfs_scratch *scratch, enum tfs_family family)
{
	return family == TFS_FAMILY_conv_forward         ? scratch->y
	       : family == TFS_FAMILY_conv_backward_data ? scratch->x
							 : scratch->w;
}

void tfs_scratch_guard(
	struct tfs_search_device *device, const struct tfs_scratch *scratch, uint64_t bytes)
{
	(void)device, (void)scratch;
	guarded = bytes;
}

bool tfs_scratch_whole(struct tfs_search_device *device, const struct tfs_scratch *scratch,
	enum tfs_family family, uint64_t bytes)
{
	(void)device, (void)scratch, (void)family;
	TEST_EQ(bytes, guarded);
	return whole;
}

/* A library that writes the algorithm's number, but for 1, which does as 0; 9 does not run. */
static uint64_t room; /* the latest call's workspace */
static double alpha_read, beta_read;
static bool wide;

static cudnnStatus_t convolve(
	int algorithm, const void *alpha, const void *beta, size_t bytes, void *output)
{
	alpha_read = wide ? *(const double *)alpha : *(const float *)alpha;
	beta_read = wide ? *(const double *)beta : *(const float *)beta;
	room = bytes;
	for (uint32_t i = 0; i < NUMBERS; i++) {
		const double number = 1 + (algorithm == 1 ? 0 : algorithm);

		if (wide)
			((double *)output)[i] = number;
		else
			((float *)output)[i] = (float)number;
	}
	return algorithm == 9 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t forward(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t xd,
	const void *x, cudnnFilterDescriptor_t wd, const void *w, cudnnConvolutionDescriptor_t how,
	cudnnConvolutionFwdAlgo_t algorithm, void *workspace, size_t bytes, const void *beta,
	cudnnTensorDescriptor_t yd, void *y)
{
	(void)handle, (void)xd, (void)x, (void)wd, (void)w, (void)how, (void)workspace, (void)yd;
	return convolve((int)algorithm, alpha, beta, bytes, y);
}

static cudnnStatus_t data(cudnnHandle_t handle, const void *alpha, cudnnFilterDescriptor_t wd,
	const void *w, cudnnTensorDescriptor_t yd, const void *y, cudnnConvolutionDescriptor_t how,
	cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace, size_t bytes, const void *beta,
	cudnnTensorDescriptor_t xd, void *x)
{
	(void)handle, (void)xd, (void)y, (void)wd, (void)w, (void)how, (void)workspace, (void)yd;
	return convolve((int)algorithm, alpha, beta, bytes, x);
}

static cudnnStatus_t filter(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t xd,
	const void *x, cudnnTensorDescriptor_t yd, const void *y, cudnnConvolutionDescriptor_t how,
	cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace, size_t bytes, const void *beta,
	cudnnFilterDescriptor_t wd, void *w)
{
	(void)handle, (void)xd, (void)x, (void)wd, (void)y, (void)how, (void)workspace, (void)yd;
	return convolve((int)algorithm, alpha, beta, bytes, w);
}

void *tfs_direct_look_up(enum tfs_direct call)
{
	switch (call) {
	case TFS_DIRECT_cudnnConvolutionForward:
		return (void *)forward;
	case TFS_DIRECT_cudnnConvolutionBackwardData:
		return (void *)data;
	case TFS_DIRECT_cudnnConvolutionBackwardFilter:
		return (void *)filter;
	default:
		return NULL;
	}
}

static float *one, *other;

static struct tfs_difference compare(size_t bytes)
{
	struct tfs_difference sum;

	TEST_TRUE(tfs_search_compare(NULL, one, other, bytes, CUDNN_DATA_FLOAT, &sum));
	return sum;
}

static void set(size_t at, float number)
{
	other[at / 4] = number;
}

/* All of a small output; of a large one the first and the last 4 MiB, each number once. */
static void check_ends(void)
{
	for (size_t i = 0; i < MOST / 4; i++)
		one[i] = other[i] = 1;
	TEST_EQ(compare(16).own_squares, 4);
	set(0, 3), set(4 * MIB - 4, 3), set(4 * MIB, 3), set(6 * MIB - 4, 3);
	const struct tfs_difference small = compare(6 * MIB);
	TEST_EQ(small.own_squares, 6 * MIB / 4);
	TEST_EQ(small.squares, 4 * 2 * 2);
	set(4 * MIB, 100), set(6 * MIB - 4, 1);
	set(MOST - 4 * MIB - 4, 100), set(MOST - 4 * MIB, 3), set(MOST - 4, 3);
	const struct tfs_difference large = compare(MOST);
	TEST_EQ(large.own_squares, 8 * MIB / 4);
	TEST_EQ(large.squares, 4 * 2 * 2);
}

static void check_unread(void)
{
	struct tfs_difference sum;

	for (failing = 1; failing <= 4; failing++) {
		fetches = 0;
		TEST_TRUE(!tfs_search_compare(NULL, one, other, 80000, CUDNN_DATA_FLOAT, &sum));
	}
	fetches = 0;
	TEST_TRUE(tfs_search_compare(NULL, one, other, 80000, CUDNN_DATA_FLOAT, &sum));
	failing = 0;
}

static struct tfs_difference of_first(void)
{
	struct tfs_difference sum = {0};

	tfs_difference_add(&sum, one, other, NUMBERS * sizeof(float), CUDNN_DATA_FLOAT);
	return sum;
}

static bool is_another(cudnnMathType_t math)
{
	const struct tfs_difference sum = of_first();

	return tfs_difference_is_another(&sum, CUDNN_DATA_FLOAT, math);
}

static bool is_rounding(cudnnMathType_t math)
{
	const struct tfs_difference sum = of_first();

	return tfs_difference_is_rounding(&sum, CUDNN_DATA_FLOAT, math);
}

static void set_other(float factor)
{
	for (uint32_t i = 0; i < NUMBERS; i++) {
		one[i] = (float)(i % 7) - 3;
		other[i] = one[i] * factor;
	}
}

/* A program's numbers may cancel: only what is far apart is another result, and only where the
 * program's own are numbers at all. */
static void check_another(void)
{
	set_other(1.1f);
	TEST_TRUE(!is_rounding(CUDNN_DEFAULT_MATH));
	TEST_TRUE(!is_another(CUDNN_DEFAULT_MATH));
	TEST_TRUE(is_another(CUDNN_FMA_MATH));
	set_other(1.2f);
	TEST_TRUE(is_another(CUDNN_DEFAULT_MATH));
	one[5] = INFINITY;
	TEST_TRUE(!is_another(CUDNN_DEFAULT_MATH));
	other[5] = INFINITY;
	TEST_TRUE(!is_another(CUDNN_DEFAULT_MATH));
	set_other(1);
	TEST_TRUE(!is_another(CUDNN_DEFAULT_MATH));
	other[5] = NAN;
	TEST_TRUE(is_another(CUDNN_DEFAULT_MATH));
	memset(one, 0, NUMBERS * sizeof(float));
	TEST_TRUE(!is_another(CUDNN_DEFAULT_MATH));
}

/* A number that is wrong is none of many that are a little off: the sum of squares does not show
 * it. */
static void check_most(void)
{
	set_other(1);
	other[3] += 0.45f;
	TEST_TRUE(is_rounding(CUDNN_DEFAULT_MATH));
	other[3] += 0.15f;
	TEST_TRUE(!is_rounding(CUDNN_DEFAULT_MATH));
	one[NUMBERS - 1] *= 2;
	other[NUMBERS - 1] *= 2;
	TEST_TRUE(is_rounding(CUDNN_DEFAULT_MATH));
}

/* Another algorithm may stand for the asked one, 0, if it gives the same numbers in its workspace
 * and writes nothing beside. */
static void check_same(enum tfs_family family, int type)
{
	static double outputs[2][NUMBERS];
	const struct tfs_search search = {.family = family, .math = CUDNN_DEFAULT_MATH};
	const struct tfs_scratch scratch = {.x = outputs[0],
		.w = outputs[0],
		.y = outputs[0],
		.other = outputs[1],
		.output_bytes = NUMBERS * (type == CUDNN_DATA_DOUBLE ? 8 : 4),
		.workspace_bytes = 4096,
		.type = type};
	struct tfs_candidate candidates[TFS_SEARCH_ALGORITHMS] = {
		[1] = {.workspace = 512}, [2] = {.workspace = 512}, [3] = {.workspace = 4097}};

	wide = type == CUDNN_DATA_DOUBLE;
	whole = true;
	TEST_TRUE(tfs_search_same(NULL, &search, &scratch, candidates, 0, 1));
	TEST_EQ(guarded, 512);
	TEST_EQ(room, 512);
	TEST_TRUE(alpha_read == 1 && beta_read == 0);
	whole = false;
	TEST_TRUE(!tfs_search_same(NULL, &search, &scratch, candidates, 0, 1));
	whole = true;
	TEST_TRUE(!tfs_search_same(NULL, &search, &scratch, candidates, 0, 2));
	TEST_TRUE(!tfs_search_same(NULL, &search, &scratch, candidates, 2, 1));
	TEST_TRUE(!tfs_search_same(NULL, &search, &scratch, candidates, 9, 9));
	candidates[1].workspace = 4096;
	TEST_TRUE(tfs_search_same(NULL, &search, &scratch, candidates, 0, 1));
	candidates[1].workspace = 4097;
	TEST_TRUE(!tfs_search_same(NULL, &search, &scratch, candidates, 0, 1));
}

int main(void)
{
	one = malloc(MOST);
	other = malloc(MOST);
	TEST_NEED(one && other);
	check_ends();
	check_unread();
	check_another();
	check_most();
	check_same(TFS_FAMILY_conv_forward, CUDNN_DATA_FLOAT);
	check_same(TFS_FAMILY_conv_backward_data, CUDNN_DATA_FLOAT);
	check_same(TFS_FAMILY_conv_backward_filter, CUDNN_DATA_DOUBLE);
	return test_result();
}
