/* SPDX-License-Identifier: MIT */
/*
 * What products take by the type that they are computed with: the ratios of the data sheet's rates,
 * as far as the table of the profile gives them. On the modelled timeline.
 */
#include "profile_case.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>

/* Large enough that moving the operands takes less than computing, even with half precision. */
#define SIDE 4096
#define COUNT ((size_t)SIDE * SIDE)
#define BLAS(call) TEST_EQ(call, CUBLAS_STATUS_SUCCESS)
#define DNN(call) TEST_EQ(call, CUDNN_STATUS_SUCCESS)
/* Within 15 %. */
#define CHECK_RATIO(got, want) TEST_IN(1000 * (got) / (want), 850, 1150)

/* Operations per microsecond that the tables say. */
struct rates {
	double single, tensor, half, wide;
};

static const struct rates a100 = {13.6e6, 94e6, 187e6, 13.6e6}, h100 = {47e6, 300e6, 600e6, 47e6};

static char *memory;
static cublasHandle_t blas;

static double last_us(void)
{
	OK(cudaDeviceSynchronize());
	return (double)(last_op.end_ns - last_op.start_ns) / 1e3;
}

static double gemm_us(cudaDataType type, cublasComputeType_t compute, cublasMath_t math)
{
	const double one = 1, zero = 0;
	const float one_f = 1, zero_f = 0;
	const bool wide = type == CUDA_R_64F;

	BLAS(cublasSetMathMode(blas, math));
	BLAS(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE,
		wide ? (const void *)&one : &one_f, memory, type, SIDE, memory + COUNT * 8, type,
		SIDE, wide ? (const void *)&zero : &zero_f, memory + COUNT * 16, type, SIDE,
		compute, CUBLAS_GEMM_DEFAULT));
	return last_us();
}

static double sgemm_us(cublasMath_t math)
{
	const float one = 1, zero = 0;

	BLAS(cublasSetMathMode(blas, math));
	BLAS(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one,
		(float *)(void *)memory, SIDE, (float *)(void *)(memory + COUNT * 8), SIDE, &zero,
		(float *)(void *)(memory + COUNT * 16), SIDE));
	return last_us();
}

static void check_gemm(const struct rates *rates)
{
	const double single = sgemm_us(CUBLAS_DEFAULT_MATH);
	const double tensor = sgemm_us(CUBLAS_TF32_TENSOR_OP_MATH);
	const double half = gemm_us(CUDA_R_16F, CUBLAS_COMPUTE_32F, CUBLAS_DEFAULT_MATH);

	CHECK_RATIO(single, 2.0 * SIDE * SIDE * SIDE / rates->single);
	CHECK_RATIO(single / tensor, rates->tensor / rates->single);
	CHECK_RATIO(tensor / half, rates->half / rates->tensor);
	CHECK_RATIO(gemm_us(CUDA_R_64F, CUBLAS_COMPUTE_64F, CUBLAS_DEFAULT_MATH) / single,
		rates->single / rates->wide);
	CHECK_RATIO(gemm_us(CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUBLAS_DEFAULT_MATH) / half, 1);
	CHECK_RATIO(gemm_us(CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_DEFAULT_MATH) / single, 1);
	CHECK_RATIO(
		gemm_us(CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_TF32_TENSOR_OP_MATH) / tensor, 1);
	CHECK_RATIO(gemm_us(CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_TF32_TENSOR_OP_MATH) /
			    single,
		1);
	CHECK_RATIO(
		gemm_us(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_DEFAULT_MATH) / tensor, 1);
	CHECK_RATIO(
		gemm_us(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_DEFAULT_MATH) / half, 1);
}

/* One row: no more than its operands' bytes, each once. */
static void check_bytes(void)
{
	const float one = 1, zero = 0;
	double half, single;

	BLAS(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH));
	BLAS(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 2 * SIDE, 2 * SIDE, &one, memory,
		CUDA_R_16F, 1, memory, CUDA_R_16F, 2 * SIDE, &zero, memory, CUDA_R_16F, 1,
		CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
	half = last_us();
	BLAS(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 2 * SIDE, 2 * SIDE, &one, memory,
		CUDA_R_32F, 1, memory, CUDA_R_32F, 2 * SIDE, &zero, memory, CUDA_R_32F, 1,
		CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
	single = last_us();
	CHECK_RATIO(single / half, 2);
	launch(0, tfsim_cost_kernel(4ull * 4 * SIDE * SIDE, 0), 4000);
	CHECK_RATIO(single, last_us());
}

static double lt_us(cublasLtHandle_t lt, cudaDataType type, cublasComputeType_t compute)
{
	const float one = 1, zero = 0;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t layout;
	double us;

	BLAS(cublasLtMatmulDescCreate(&desc, compute, CUDA_R_32F));
	BLAS(cublasLtMatrixLayoutCreate(&layout, type, SIDE, SIDE, SIDE));
	BLAS(cublasLtMatmul(lt, desc, &one, memory, layout, memory + COUNT * 8, layout, &zero,
		memory + COUNT * 16, layout, memory + COUNT * 16, layout, NULL, NULL, 0, 0));
	us = last_us();
	BLAS(cublasLtMatrixLayoutDestroy(layout));
	BLAS(cublasLtMatmulDescDestroy(desc));
	return us;
}

static void check_lt(const struct rates *rates)
{
	cublasLtHandle_t lt;
	double single, tensor, half;

	BLAS(cublasLtCreate(&lt));
	single = lt_us(lt, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	tensor = lt_us(lt, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
	half = lt_us(lt, CUDA_R_16F, CUBLAS_COMPUTE_32F);
	CHECK_RATIO(single / tensor, rates->tensor / rates->single);
	CHECK_RATIO(tensor / half, rates->half / rates->tensor);
	CHECK_RATIO(lt_us(lt, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF) / half, 1);
	BLAS(cublasLtDestroy(lt));
}

struct conv {
	cudnnHandle_t dnn;
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t desc;
};

static void conv_init(struct conv *c)
{
	DNN(cudnnCreate(&c->dnn));
	DNN(cudnnCreateTensorDescriptor(&c->x));
	DNN(cudnnCreateTensorDescriptor(&c->y));
	DNN(cudnnCreateFilterDescriptor(&c->w));
	DNN(cudnnCreateConvolutionDescriptor(&c->desc));
	DNN(cudnnSetTensor4dDescriptor(c->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 16, 512, 32, 32));
	DNN(cudnnSetTensor4dDescriptor(c->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 16, 512, 32, 32));
	DNN(cudnnSetFilter4dDescriptor(c->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 512, 512, 3, 3));
	DNN(cudnnSetConvolution2dDescriptor(
		c->desc, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
}

static void conv_finish(struct conv *c)
{
	DNN(cudnnDestroyConvolutionDescriptor(c->desc));
	DNN(cudnnDestroyFilterDescriptor(c->w));
	DNN(cudnnDestroyTensorDescriptor(c->y));
	DNN(cudnnDestroyTensorDescriptor(c->x));
	DNN(cudnnDestroy(c->dnn));
}

static double conv_us(struct conv *c, cudnnMathType_t math)
{
	const float one = 1, zero = 0;

	DNN(cudnnSetConvolutionMathType(c->desc, math));
	DNN(cudnnConvolutionForward(c->dnn, &one, c->x, memory, c->w, memory + COUNT * 8, c->desc,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, &zero, c->y,
		memory + COUNT * 16));
	return last_us();
}

/* What a search measures, and what the program then gets, in microseconds. */
static double found_us(struct conv *c, cudnnMathType_t math)
{
	cudnnConvolutionFwdAlgoPerf_t perf[16];
	int n = 0;

	DNN(cudnnSetConvolutionMathType(c->desc, math));
	DNN(cudnnFindConvolutionForwardAlgorithm(c->dnn, c->x, c->w, c->desc, c->y, 16, &n, perf));
	for (int i = 0; i < n; i++)
		if (perf[i].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM &&
			perf[i].mathType == math)
			return (double)perf[i].time * 1e3;
	return 0;
}

static void check_conv(const struct rates *rates)
{
	struct conv c;
	double plain, fma;

	conv_init(&c);
	plain = conv_us(&c, CUDNN_DEFAULT_MATH);
	fma = conv_us(&c, CUDNN_FMA_MATH);
	CHECK_RATIO(fma / plain, rates->tensor / rates->single);
	CHECK_RATIO(conv_us(&c, CUDNN_TENSOR_OP_MATH) / plain, 1);
	CHECK_RATIO(found_us(&c, CUDNN_DEFAULT_MATH) / plain, 1);
	CHECK_RATIO(found_us(&c, CUDNN_FMA_MATH) / fma, 1);
	conv_finish(&c);
}

static cudnnBackendDescriptor_t backend(cudnnBackendDescriptorType_t type)
{
	cudnnBackendDescriptor_t descriptor;

	DNN(cudnnBackendCreateDescriptor(type, &descriptor));
	return descriptor;
}

static void set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	DNN(cudnnBackendSetAttribute(descriptor, name, type, count, values));
}

static void child(cudnnBackendDescriptor_t parent, cudnnBackendAttributeName_t name,
	cudnnBackendDescriptor_t descriptor)
{
	set(parent, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
}

static cudnnBackendDescriptor_t square(int64_t uid)
{
	const cudnnBackendDescriptor_t tensor = backend(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const int64_t dim[3] = {1, SIDE, SIDE}, strides[3] = {(int64_t)COUNT, SIDE, 1}, bytes = 4;
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;

	set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 3, dim);
	set(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 3, strides);
	set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
	set(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &bytes);
	DNN(cudnnBackendFinalize(tensor));
	return tensor;
}

/* A product of matrices as an operation graph. */
static cudnnBackendDescriptor_t product(cudnnHandle_t dnn)
{
	const cudnnBackendDescriptor_t how = backend(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
	const cudnnBackendDescriptor_t op = backend(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	const cudnnBackendDescriptor_t graph = backend(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;

	set(how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	DNN(cudnnBackendFinalize(how));
	child(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
	child(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, square(1));
	child(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, square(2));
	child(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, square(3));
	DNN(cudnnBackendFinalize(op));
	set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn);
	child(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
	DNN(cudnnBackendFinalize(graph));
	return graph;
}

static double product_us(cudnnHandle_t dnn)
{
	const cudnnBackendDescriptor_t engine = backend(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const cudnnBackendDescriptor_t config = backend(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const cudnnBackendDescriptor_t plan = backend(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	const cudnnBackendDescriptor_t pack = backend(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	const int64_t uids[3] = {1, 2, 3}, first = 0;
	void *const pointers[3] = {memory, memory + COUNT * 8, memory + COUNT * 16};
	void *workspace = NULL;
	int64_t bytes = 0;

	child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, product(dnn));
	set(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &first);
	DNN(cudnnBackendFinalize(engine));
	child(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	DNN(cudnnBackendFinalize(config));
	set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn);
	child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	DNN(cudnnBackendFinalize(plan));
	DNN(cudnnBackendGetAttribute(
		plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, NULL, &bytes));
	OK(cudaMalloc(&workspace, (size_t)bytes + 1));
	set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
	set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
	set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
	DNN(cudnnBackendFinalize(pack));
	DNN(cudnnBackendExecute(dnn, plan, pack));
	return last_us();
}

/* As a graph it takes what it takes as a call in single precision; its descriptors live until the
 * process ends. */
static void check_graph(void)
{
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	CHECK_RATIO(product_us(dnn) / sgemm_us(CUBLAS_DEFAULT_MATH), 1);
	DNN(cudnnDestroy(dnn));
}

int main(int argc, char **argv)
{
	const struct rates *rates = argc > 1 && strcmp(argv[1], "h100") == 0 ? &h100 : &a100;

	listen();
	OK(cudaMalloc((void **)&memory, COUNT * 24));
	BLAS(cublasCreate(&blas));
	check_gemm(rates);
	check_bytes();
	check_lt(rates);
	check_conv(rates);
	check_graph();
	BLAS(cublasDestroy(blas));
	OK(cudaFree(memory));
	return test_result();
}
