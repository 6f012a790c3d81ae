/* SPDX-License-Identifier: MIT */
/* What descriptors say, read by made-up getters: each part, and nothing of what cannot be read. */
#include "shim/state/operations.h"

#include "shim/resolve/direct.h"
#include "tests/test.h"

#define SPATIAL 6

static cudnnStatus_t status;    /* of the getter that fails */
static unsigned asked, failing; /* how many were asked; the one that fails, from 1 on */
static int rank;
static char descriptor;

static cudnnStatus_t answer(void)
{
	asked++;
	return asked == failing ? status : CUDNN_STATUS_SUCCESS;
}

static void count_up(int *out, int from)
{
	for (int i = 0; i < SPATIAL; i++)
		out[i] = from + i;
}

static cudnnStatus_t CUDNNWINAPI pooling(const cudnnPoolingDescriptor_t of, int most,
	cudnnPoolingMode_t *mode, cudnnNanPropagation_t *nan, int *out_rank, int *windows,
	int *pads, int *strides)
{
	TEST_TRUE(of == (void *)&descriptor);
	TEST_EQ(most, SPATIAL);
	*mode = CUDNN_POOLING_MAX_DETERMINISTIC;
	*nan = CUDNN_PROPAGATE_NAN;
	*out_rank = rank;
	count_up(windows, 10);
	count_up(pads, 20);
	count_up(strides, 30);
	return answer();
}

static cudnnStatus_t CUDNNWINAPI convolution(const cudnnConvolutionDescriptor_t of, int most,
	int *out_rank, int *pads, int *strides, int *dilations, cudnnConvolutionMode_t *mode,
	cudnnDataType_t *compute)
{
	TEST_TRUE(of == (void *)&descriptor);
	TEST_EQ(most, SPATIAL);
	*out_rank = rank;
	count_up(pads, 10);
	count_up(strides, 20);
	count_up(dilations, 30);
	*mode = CUDNN_CROSS_CORRELATION;
	*compute = CUDNN_DATA_HALF;
	return answer();
}

static cudnnStatus_t CUDNNWINAPI groups(cudnnConvolutionDescriptor_t of, int *out)
{
	TEST_TRUE(of == (void *)&descriptor);
	*out = 4;
	return answer();
}

static cudnnStatus_t CUDNNWINAPI math(cudnnConvolutionDescriptor_t of, cudnnMathType_t *out)
{
	TEST_TRUE(of == (void *)&descriptor);
	*out = CUDNN_FMA_MATH;
	return answer();
}

static cudnnStatus_t CUDNNWINAPI reorder(cudnnConvolutionDescriptor_t of, cudnnReorderType_t *out)
{
	TEST_TRUE(of == (void *)&descriptor);
	*out = CUDNN_NO_REORDER;
	return answer();
}

static void make_up(void)
{
	tfs_direct_known[TFS_DIRECT_cudnnGetPoolingNdDescriptor] = (void *)pooling;
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionNdDescriptor] = (void *)convolution;
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionGroupCount] = (void *)groups;
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionMathType] = (void *)math;
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionReorderType] = (void *)reorder;
}

/* Three times `rank` numbers behind the first ones. */
static void check(const struct tfs_operation *got, const int *first, uint32_t count)
{
	TEST_EQ(got->count, count + 3 * (uint32_t)rank);
	for (uint32_t i = 0; i < count; i++)
		TEST_EQ(got->parts[i], first[i]);
	for (uint32_t i = 0; i < 3 * (uint32_t)rank; i++)
		TEST_EQ(got->parts[count + i], 10 * (i / (uint32_t)rank + 1) + i % (uint32_t)rank);
}

static bool read_pooling(struct tfs_operation *out)
{
	asked = 0;
	return tfs_pooling_read((cudnnPoolingDescriptor_t)(void *)&descriptor, out);
}

static bool read_convolution(struct tfs_operation *out)
{
	asked = 0;
	return tfs_convolution_read((cudnnConvolutionDescriptor_t)(void *)&descriptor, out);
}

static void test_whole(void)
{
	static const int pool[] = {CUDNN_POOLING_MAX_DETERMINISTIC, CUDNN_PROPAGATE_NAN};
	static const int conv[] = {
		CUDNN_CROSS_CORRELATION, CUDNN_DATA_HALF, 4, CUDNN_FMA_MATH, CUDNN_NO_REORDER};
	struct tfs_operation got;

	for (rank = 1; rank <= SPATIAL; rank++) {
		TEST_TRUE(read_pooling(&got));
		check(&got, pool, 2);
		TEST_TRUE(read_convolution(&got));
		check(&got, conv, 5);
	}
}

static void test_unreadable(void)
{
	static const int ranks[] = {-1, 0, SPATIAL + 1};
	struct tfs_operation got;

	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		rank = ranks[i];
		TEST_TRUE(!read_pooling(&got) && got.count == 0);
		TEST_TRUE(!read_convolution(&got) && got.count == 0);
	}
	rank = 2;
	status = CUDNN_STATUS_BAD_PARAM;
	failing = 1;
	TEST_TRUE(!read_pooling(&got) && got.count == 0);
	for (failing = 1; failing <= 4; failing++)
		TEST_TRUE(!read_convolution(&got) && got.count == 0);
	TEST_TRUE(read_convolution(&got));
	TEST_EQ(asked, 4);
	TEST_TRUE(!tfs_pooling_read(NULL, &got) && got.count == 0);
	TEST_TRUE(!tfs_convolution_read(NULL, &got) && got.count == 0);
}

int main(void)
{
	make_up();
	test_whole();
	test_unreadable();
	return test_result();
}
