/* SPDX-License-Identifier: MIT */
/* What cuDNN's tensors, filters and convolutions say, by made-up getters: sizes in memory, whether
 * all of it is elements, and each field of a convolution problem. */
#include "shim/state/tensors.h"

#include "shim/resolve/direct.h"
#include "tests/unit/trace/recording.h"

/* What a descriptor holds. */
struct made_up {
	cudnnDataType_t type;
	int rank;
	int dims[8];
	int strides[8];
	bool damaged;
};

static struct {
	bool damaged;
	int rank;
} convolution = {.rank = 2};

static cudnnStatus_t CUDNNWINAPI tensor(const cudnnTensorDescriptor_t of, int most,
	cudnnDataType_t *type, int *rank, int *dims, int *strides)
{
	const struct made_up *from = (const void *)of;

	TEST_EQ(most, 8);
	*type = from->type;
	*rank = from->rank;
	memcpy(dims, from->dims, sizeof(from->dims));
	memcpy(strides, from->strides, sizeof(from->strides));
	return from->damaged ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI filter(const cudnnFilterDescriptor_t of, int most,
	cudnnDataType_t *type, cudnnTensorFormat_t *format, int *rank, int *dims)
{
	int strides[8];

	*format = CUDNN_TENSOR_NHWC;
	return tensor((cudnnTensorDescriptor_t)(void *)of, most, type, rank, dims, strides);
}

static cudnnStatus_t CUDNNWINAPI describe(const cudnnConvolutionDescriptor_t of, int most,
	int *rank, int *pads, int *strides, int *dilations, cudnnConvolutionMode_t *mode,
	cudnnDataType_t *compute)
{
	TEST_TRUE(of == (void *)&convolution);
	TEST_EQ(most, 2);
	*rank = convolution.rank;
	for (int i = 0; i < 2; i++) {
		pads[i] = 41 + i;
		strides[i] = 43 + i;
		dilations[i] = 45 + i;
	}
	*mode = CUDNN_CROSS_CORRELATION;
	*compute = CUDNN_DATA_FLOAT;
	return convolution.damaged ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI groups(cudnnConvolutionDescriptor_t of, int *out)
{
	TEST_TRUE(of == (void *)&convolution);
	*out = 47;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t CUDNNWINAPI math(cudnnConvolutionDescriptor_t of, cudnnMathType_t *out)
{
	TEST_TRUE(of == (void *)&convolution);
	*out = CUDNN_FMA_MATH;
	return CUDNN_STATUS_SUCCESS;
}

static void make_up(void)
{
	tfs_direct_known[TFS_DIRECT_cudnnGetTensorNdDescriptor] = (void *)tensor;
	tfs_direct_known[TFS_DIRECT_cudnnGetFilterNdDescriptor] = (void *)filter;
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionNdDescriptor] = (void *)describe;
}

static bool read_tensor(const struct made_up *from, struct tfs_tensor *out)
{
	return tfs_tensor_read((cudnnTensorDescriptor_t)(void *)from, out);
}

static bool read_filter(const struct made_up *from, struct tfs_tensor *out)
{
	return tfs_filter_read((cudnnFilterDescriptor_t)(void *)from, out);
}

/* Up to the last element: not as many bytes as there are elements where there are gaps. */
static void test_bytes(void)
{
	struct made_up from = {CUDNN_DATA_FLOAT, 3, {4, 3, 2}, {10, 3, 1}, false};
	struct tfs_tensor got;

	TEST_TRUE(read_tensor(&from, &got));
	TEST_EQ(got.bytes, 4 * (3 * 10 + 2 * 3 + 1 + 1));
	TEST_EQ(got.type, CUDNN_DATA_FLOAT);
	TEST_EQ(got.rank, 3);
	for (int i = 0; i < 3; i++) {
		TEST_EQ(got.dims[i], from.dims[i]);
		TEST_EQ(got.strides[i], from.strides[i]);
	}
	/* More than 4 GiB. */
	from = (struct made_up){CUDNN_DATA_FLOAT, 2, {100000, 100000}, {100000, 1}, false};
	TEST_TRUE(read_tensor(&from, &got));
	TEST_EQ(got.bytes, 40000000000);
	TEST_TRUE(read_filter(&from, &got));
	TEST_EQ(got.bytes, 40000000000);
	TEST_EQ(got.strides[0], CUDNN_TENSOR_NHWC);
}

static void test_types(void)
{
	static const struct {
		cudnnDataType_t type;
		uint32_t bytes;
		bool number; /* as sums and products of layers have them */
	} types[] = {{CUDNN_DATA_FLOAT, 4, true}, {CUDNN_DATA_DOUBLE, 8, true},
		{CUDNN_DATA_HALF, 2, true}, {CUDNN_DATA_BFLOAT16, 2, true},
		{CUDNN_DATA_INT32, 4, false}, {CUDNN_DATA_INT64, 8, false},
		{CUDNN_DATA_INT8, 1, false}, {CUDNN_DATA_UINT8, 1, false},
		{CUDNN_DATA_BOOLEAN, 1, false}, {CUDNN_DATA_FP8_E4M3, 1, false},
		{CUDNN_DATA_FP8_E5M2, 1, false}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct made_up from = {types[i].type, 2, {3, 5}, {5, 1}, false};
		struct tfs_tensor got;

		TEST_TRUE(read_tensor(&from, &got));
		TEST_EQ(got.bytes, 15 * types[i].bytes);
		TEST_EQ(tfs_tensor_element_bytes(&got), types[i].bytes);
		TEST_EQ(tfs_tensor_dense(&got), types[i].number);
		TEST_TRUE(read_filter(&from, &got));
		TEST_EQ(got.bytes, 15 * types[i].bytes);
		TEST_EQ(tfs_filter_dense(&got), types[i].number);
	}
}

/* What is written over as a whole must have no gap that is somebody else's. */
static void test_dense(void)
{
	static const struct {
		struct made_up from;
		bool dense;
	} cases[] = {
		{{CUDNN_DATA_FLOAT, 4, {2, 3, 4, 5}, {60, 20, 5, 1}, false}, true},
		/* Channels last, and any other order. */
		{{CUDNN_DATA_FLOAT, 4, {2, 3, 4, 5}, {60, 1, 15, 3}, false}, true},
		{{CUDNN_DATA_HALF, 3, {2, 3, 4}, {1, 2, 6}, false}, true},
		/* The stride of one element is never used. */
		{{CUDNN_DATA_FLOAT, 4, {1, 3, 1, 5}, {999, 5, 77, 1}, false}, true},
		{{CUDNN_DATA_FLOAT, 1, {1}, {0}, false}, true},
		/* Rows, and single elements, with gaps between. */
		{{CUDNN_DATA_FLOAT, 2, {3, 5}, {6, 1}, false}, false},
		{{CUDNN_DATA_FLOAT, 2, {3, 5}, {10, 2}, false}, false},
		{{CUDNN_DATA_FLOAT, 2, {1, 5}, {10, 2}, false}, false},
		/* Each row is the same memory, or begins within the one before. */
		{{CUDNN_DATA_FLOAT, 2, {3, 5}, {0, 1}, false}, false},
		{{CUDNN_DATA_FLOAT, 2, {3, 5}, {4, 1}, false}, false},
		{{CUDNN_DATA_FLOAT, 2, {5, 5}, {1, 1}, false}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tfs_tensor got;

		TEST_TRUE(read_tensor(&cases[i].from, &got));
		if (!TEST_EQ(tfs_tensor_dense(&got), cases[i].dense))
			printf("  for case %zu\n", i);
	}
}

/* Zero bytes, which are dense nowhere. */
static void test_unreadable(void)
{
	static const struct made_up damaged[] = {{CUDNN_DATA_FLOAT, 0, {0}, {0}, false},
		{CUDNN_DATA_FLOAT, 9, {0}, {0}, false}, {CUDNN_DATA_FLOAT, -1, {0}, {0}, false},
		{CUDNN_DATA_FLOAT, 1, {1}, {1}, true}};
	struct tfs_tensor got;

	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		TEST_TRUE(!read_tensor(&damaged[i], &got) && got.bytes == 0);
		TEST_TRUE(!tfs_tensor_dense(&got));
		TEST_TRUE(!read_filter(&damaged[i], &got) && got.bytes == 0);
		TEST_TRUE(!tfs_filter_dense(&got));
	}
	TEST_TRUE(!tfs_tensor_read(NULL, &got) && got.bytes == 0);
	TEST_TRUE(!tfs_filter_read(NULL, &got) && got.bytes == 0);
}

static struct made_up x = {CUDNN_DATA_HALF, 4, {11, 12, 13, 14}, {15, 16, 17, 18}, false};
static struct made_up w = {CUDNN_DATA_HALF, 4, {21, 22, 23, 24}, {0}, false};
static struct made_up y = {CUDNN_DATA_HALF, 4, {31, 32, 33, 34}, {35, 36, 37, 38}, false};

static bool read_problem(struct tfs_problem *out)
{
	return tfs_problem_read(TFS_FAMILY_conv_forward, (cudnnTensorDescriptor_t)(void *)&x,
		(cudnnFilterDescriptor_t)(void *)&w,
		(cudnnConvolutionDescriptor_t)(void *)&convolution,
		(cudnnTensorDescriptor_t)(void *)&y, out);
}

static void test_problem(void)
{
	static const int fields[TFS_PROBLEM_FIELD_COUNT] = {TFS_FAMILY_conv_forward,
		CUDNN_DATA_HALF, CUDNN_FMA_MATH, CUDNN_CROSS_CORRELATION, 47, CUDNN_DATA_FLOAT, 11,
		12, 13, 14, 21, 22, 23, 24, 33, 34, 41, 42, 43, 44, 45, 46, 15, 16, 17, 18, 35, 36,
		37, 38, CUDNN_TENSOR_NHWC};
	struct tfs_problem got;

	/* Older versions of cuDNN have neither. */
	TEST_TRUE(read_problem(&got));
	TEST_EQ(got.fields[TFS_PROBLEM_groups], 1);
	TEST_EQ(got.fields[TFS_PROBLEM_math], CUDNN_DEFAULT_MATH);
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionGroupCount] = (void *)groups;
	tfs_direct_known[TFS_DIRECT_cudnnGetConvolutionMathType] = (void *)math;
	TEST_TRUE(read_problem(&got));
	for (int i = 0; i < TFS_PROBLEM_FIELD_COUNT; i++)
		if (!TEST_EQ(got.fields[i], fields[i]))
			printf("  for field %d\n", i);
}

/* Only plain ones of images. */
static void test_no_problem(void)
{
	struct made_up *const parts[] = {&x, &w, &y};
	struct tfs_problem got;

	for (int i = 0; i < 3; i++) {
		parts[i]->rank = 5;
		TEST_TRUE(!read_problem(&got));
		parts[i]->rank = 4;
		parts[i]->damaged = true;
		TEST_TRUE(!read_problem(&got));
		parts[i]->damaged = false;
	}
	convolution.rank = 1;
	TEST_TRUE(!read_problem(&got));
	convolution.rank = 2;
	convolution.damaged = true;
	TEST_TRUE(!read_problem(&got));
	convolution.damaged = false;
	TEST_TRUE(read_problem(&got));
}

/* Each problem is written once, with all its fields. */
static void test_ids(void)
{
	struct tfs_problem one, other;

	TEST_TRUE(read_problem(&one) && read_problem(&other));
	other.fields[TFS_PROBLEM_FIELD_COUNT - 1]++;
	const uint32_t id = tfs_problem_id(&one), others = tfs_problem_id(&other);
	TEST_TRUE(id != 0 && others != 0 && id != others);
	TEST_EQ(tfs_problem_id(&one), id);
	struct tfs_trace *trace = recording_read();
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_problem), 2);
	const struct tfs_problem_record *record = tfs_trace_find(trace, TFS_RECORD_problem, others);
	TEST_NEED(record);
	TEST_EQ(record->fields, TFS_PROBLEM_FIELD_COUNT);
	TEST_EQ(memcmp(record + 1, &other, sizeof(other)), 0);
	recording_end(trace);
}

static void test_scalars(void)
{
	const double wide = 0.1;
	const float narrow = 0.5f;

	TEST_TRUE(tfs_cudnn_scalar(&wide, CUDNN_DATA_DOUBLE) == 0.1);
	TEST_TRUE(tfs_cudnn_scalar(&narrow, CUDNN_DATA_FLOAT) == 0.5);
	TEST_TRUE(tfs_cudnn_scalar(&narrow, CUDNN_DATA_HALF) == 0.5);
	TEST_TRUE(tfs_cudnn_scalar(NULL, CUDNN_DATA_FLOAT) == 0);
}

int main(void)
{
	struct tfs_tensor got;
	struct tfs_problem problem;

	recording_start();
	tfs_recorder_named_thread("test");
	/* Without cuDNN there is nothing to ask. */
	TEST_TRUE(!read_tensor(&x, &got) && !read_filter(&w, &got) && !read_problem(&problem));
	make_up();
	test_bytes();
	test_types();
	test_dense();
	test_unreadable();
	test_problem();
	test_no_problem();
	test_ids();
	test_scalars();
	return test_result();
}
