/* SPDX-License-Identifier: MIT */
/*
 * What CUPTI tells about a library's inner work: the calls that cuDNN and cuBLAS make of runtimes
 * of their own, the kernels they choose for each precision, the kind of memory that copies read
 * from, the waits that have a record. See fact.h.
 */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <nccl.h>
#include <stdatomic.h>

#include "tests/cupti/cupti_client.h"
#include "tests/gpu/facts/fact.h"

enum { SIDE = 512, BUFFER = 4 << 20 };

static float *a, *b, *c;
static cudnnHandle_t dnn;
static cublasHandle_t blas;
static cublasLtHandle_t lt;

static void conv(cudnnDataType_t type, cudnnMathType_t math)
{
	static const float one = 1, zero = 0;
	cudnnTensorDescriptor_t x_t, y_t;
	cudnnFilterDescriptor_t w_t;
	cudnnConvolutionDescriptor_t desc;

	OK(cudnnCreateTensorDescriptor(&x_t));
	OK(cudnnCreateTensorDescriptor(&y_t));
	OK(cudnnCreateFilterDescriptor(&w_t));
	OK(cudnnCreateConvolutionDescriptor(&desc));
	OK(cudnnSetTensor4dDescriptor(x_t, CUDNN_TENSOR_NCHW, type, 16, 32, 28, 28));
	OK(cudnnSetTensor4dDescriptor(y_t, CUDNN_TENSOR_NCHW, type, 16, 64, 28, 28));
	OK(cudnnSetFilter4dDescriptor(w_t, type, CUDNN_TENSOR_NCHW, 64, 32, 3, 3));
	OK(cudnnSetConvolution2dDescriptor(
		desc, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	OK(cudnnSetConvolutionMathType(desc, math));
	const int status = cudnnConvolutionForward(dnn, &one, x_t, a, w_t, b, desc,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, c + BUFFER / 2,
		BUFFER / 2 * sizeof(float), &zero, y_t, c);
	if (status)
		printf("cudnnConvolutionForward: status %d\n", status);
	cudnnDestroyTensorDescriptor(x_t);
	cudnnDestroyTensorDescriptor(y_t);
	cudnnDestroyFilterDescriptor(w_t);
	cudnnDestroyConvolutionDescriptor(desc);
}

static void conv_default(void)
{
	conv(CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH);
}

static void conv_fma(void)
{
	conv(CUDNN_DATA_FLOAT, CUDNN_FMA_MATH);
}

static void conv_half(void)
{
	conv(CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH);
}

static void gemm(cudaDataType type, cublasComputeType_t compute)
{
	static const float one = 1, zero = 0;
	const int status = cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, a,
		type, SIDE, b, type, SIDE, &zero, c, type, SIDE, compute, CUBLAS_GEMM_DEFAULT);

	if (status)
		printf("cublasGemmEx: status %d\n", status);
}

static void gemm_default(void)
{
	static const float one = 1, zero = 0;

	OK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, a, SIDE, b, SIDE,
		&zero, c, SIDE));
}

static void gemm_tf32(void)
{
	gemm(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
}

static void gemm_half(void)
{
	gemm(CUDA_R_16F, CUBLAS_COMPUTE_32F);
}

static void matmul(void)
{
	static const float one = 1, zero = 0;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t layout;

	OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	OK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, SIDE, SIDE, SIDE));
	const int status = cublasLtMatmul(lt, desc, &one, a, layout, b, layout, &zero, c, layout, c,
		layout, NULL, NULL, 0, NULL);
	if (status)
		printf("cublasLtMatmul: status %d\n", status);
	cublasLtMatrixLayoutDestroy(layout);
	cublasLtMatmulDescDestroy(desc);
}

static ncclComm_t comm;
static __typeof__(&ncclAllReduce) all_reduce;

/* Looked up: without NCCL the rest can be asked all the same. One rank. */
static bool start_nccl(void)
{
	void *nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
	__typeof__(&ncclGetUniqueId) get_id;
	__typeof__(&ncclCommInitRank) start;
	ncclUniqueId id;

	if (!nccl)
		return false;
	get_id = (__typeof__(get_id))dlsym(nccl, "ncclGetUniqueId");
	start = (__typeof__(start))dlsym(nccl, "ncclCommInitRank");
	all_reduce = (__typeof__(all_reduce))dlsym(nccl, "ncclAllReduce");
	return get_id && start && all_reduce && get_id(&id) == ncclSuccess &&
	       start(&comm, 1, id, 0) == ncclSuccess;
}

static void reduce(void)
{
	const int status = all_reduce(a, b, BUFFER, ncclFloat, ncclSum, comm, NULL);

	if (status)
		printf("ncclAllReduce: status %d\n", status);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{"conv-fp32-default", conv_default}, {"conv-fp32-fma", conv_fma}, {"conv-fp16", conv_half},
	{"sgemm-default", gemm_default}, {"gemm-tf32", gemm_tf32}, {"gemm-fp16", gemm_half},
	{"cublaslt-matmul", matmul}, {"nccl-allreduce", reduce}, /* the last: it may be left out */
};

static atomic_uint runtime_callbacks, driver_callbacks;

static void CUPTIAPI count_callback(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	const CUpti_CallbackData *call = info;

	(void)data;
	(void)id;
	if (call->callbackSite != CUPTI_API_ENTER)
		return;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		atomic_fetch_add(&runtime_callbacks, 1);
	else if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		atomic_fetch_add(&driver_callbacks, 1);
}

static bool ours(uint32_t correlation, uint64_t id)
{
	for (unsigned i = 0; i < record_count; i++)
		if (records[i].head.kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION &&
			records[i].external.correlationId == correlation &&
			records[i].external.externalId == id)
			return true;
	return false;
}

static void flush(void)
{
	OK(cudaDeviceSynchronize());
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

/* Every kernel's name, and how many calls of either kind carry our id. */
static void watch_library(unsigned i)
{
	unsigned runtime = 0, driver = 0, kernels = 0, copies = 0, tied = 0;
	char name[64], names[4096] = "";
	uint64_t last;

	calls[i].call(); /* what a first call loads is no part of the answer */
	flush();
	record_count = 0;
	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, i + 1));
	runtime_callbacks = driver_callbacks = 0;
	calls[i].call();
	const unsigned by_runtime = runtime_callbacks, by_driver = driver_callbacks;
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
	flush();
	for (unsigned r = 0; r < record_count; r++) {
		const struct record *one = &records[r];
		const uint32_t kind = one->head.kind;

		if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
			runtime += ours(one->api.correlationId, i + 1);
		if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
			driver += ours(one->api.correlationId, i + 1);
		if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
			copies++;
			tied += ours(one->copy.correlationId, i + 1);
		}
		if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			continue;
		kernels++;
		tied += ours(one->kernel.correlationId, i + 1);
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			names[0] ? " + " : "", one->kernel.name);
	}
	snprintf(name, sizeof(name), "%s-inside", calls[i].name);
	fact("private-runtimes", name,
		"%u runtime calls, %u driver calls, %u kernels, %u copies, %u tied", runtime,
		driver, kernels, copies, tied);
	snprintf(name, sizeof(name), "%s-callbacks", calls[i].name);
	fact("private-runtimes", name, "%u of the runtime, %u of the driver", by_runtime,
		by_driver);
	fact("kernel-names", calls[i].name, "%s", names[0] ? names : "none");
}

static void watch_copy(const char *what, void *to, const void *from, size_t bytes, bool async)
{
	unsigned copies = 0, waits = 0, source = 0, target = 0, flags = 0, type = 0;

	flush();
	record_count = 0;
	if (async)
		OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, NULL));
	else
		OK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	/* Waits before our own, which leaves a record too; the copy may be on its way till then. */
	for (unsigned r = 0; r < record_count; r++)
		if (records[r].head.kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
			waits++;
			type = records[r].sync.type;
		}
	flush();
	for (unsigned r = 0; r < record_count; r++) {
		const struct record *one = &records[r];

		if (one->head.kind != CUPTI_ACTIVITY_KIND_MEMCPY)
			continue;
		copies++;
		source = one->copy.srcKind;
		target = one->copy.dstKind;
		flags = one->copy.flags;
	}
	fact("copies", what,
		"%u copy records (source kind %u, target kind %u, flags %u), %u wait records (type %u)",
		copies, source, target, flags, waits, type);
}

static void watch_copies(void)
{
	const size_t large = 1 << 20, small = 48 << 10;
	void *pageable = malloc(large), *registered = aligned_alloc(4096, large), *pinned;
	void *managed = NULL;

	memset(pageable, 0, large);
	memset(registered, 0, large);
	OK(cudaMallocHost(&pinned, large));
	OK(cudaHostRegister(registered, large, 0));
	watch_copy("record-pageable-1M", a, pageable, large, false);
	watch_copy("record-pageable-48K", a, pageable, small, false);
	watch_copy("record-pageable-1M-async", a, pageable, large, true);
	watch_copy("record-registered-1M", a, registered, large, false);
	watch_copy("record-pinned-1M", a, pinned, large, false);
	watch_copy("record-pinned-1M-async", a, pinned, large, true);
	watch_copy("record-to-pageable-1M", pageable, a, large, false);
	watch_copy("record-to-pinned-1M", pinned, a, large, false);
	watch_copy("record-device-1M", c, a, large, true);
	if (cudaMallocManaged(&managed, large, cudaMemAttachGlobal) == cudaSuccess) {
		memset(managed, 0, large);
		watch_copy("record-managed-1M", a, managed, large, true);
	}
}

int main(void)
{
	static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_RUNTIME,
		CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
	CUpti_SubscriberHandle subscriber;
	uint32_t version = 0;

	if (!start_client_with(count_callback, &subscriber))
		return test_skip("CUPTI has no device, or another tool has it");
	OK(cuptiGetVersion(&version));
	fact("private-runtimes", "cupti-version", "%u", version);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		OK(cuptiActivityEnable(kinds[i]));
	OK(cudaMalloc((void **)&a, BUFFER * sizeof(float)));
	OK(cudaMalloc((void **)&b, BUFFER * sizeof(float)));
	OK(cudaMalloc((void **)&c, BUFFER * sizeof(float)));
	OK(cudaMemset(a, 0, BUFFER * sizeof(float)));
	OK(cudaMemset(b, 0, BUFFER * sizeof(float)));
	watch_copies();
	OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	OK(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	OK(cudnnCreate(&dnn));
	OK(cublasCreate(&blas));
	OK(cublasLtCreate(&lt));
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (calls[i].call == reduce && !start_nccl())
			fact("private-runtimes", "nccl-allreduce", "NCCL does not start here");
		else
			watch_library(i);
	}
	return test_result();
}
