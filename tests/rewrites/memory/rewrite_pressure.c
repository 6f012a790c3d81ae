/* SPDX-License-Identifier: MIT */
/*
 * What a program is told while memory that it has freed may be held for it: it says every status
 * and every figure, which must be the same with tfshim and without. One case each; memory runs
 * short on a device of 256 MiB.
 */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cudnn.h>
#include <nccl.h>

#include "tests/rewrites/memory/rewrite_pool.h"
#include "tests/rewrites/rewrite_job.h"

#define SAY(call) printf("%s: %d\n", #call, (int)(call))
#define HELD ((size_t)64 * MIB)

static int pair_count = 20000;

static size_t left(void)
{
	size_t rest = 0, all = 0;

	OK(cudaMemGetInfo(&rest, &all));
	return rest;
}

static void say_left(const char *when)
{
	printf("%s: %zu bytes\n", when, left());
}

/* The address of a block of that size which was freed again and again. */
static char *freed(size_t bytes)
{
	char *memory = NULL;

	churn(bytes, 8);
	OK(cudaMalloc((void **)&memory, bytes));
	OK(cudaFree(memory));
	return memory;
}

/* And the status of a call that is given it; the program's last error goes with it. */
#define SAY_FREED(call)                                                                            \
	do {                                                                                       \
		char *gone = freed(BYTES);                                                         \
		SAY(call);                                                                         \
		printf("last: %d\n", (int)cudaGetLastError());                                     \
		say_left("left");                                                                  \
	} while (0)

static void copies(void)
{
	static char host[4096];
	char *memory = NULL;

	OK(cudaMalloc((void **)&memory, BYTES));
	SAY_FREED(cudaMemcpy(gone, host, sizeof(host), cudaMemcpyHostToDevice));
	SAY_FREED(cudaMemcpy(host, gone + BYTES - 4096, sizeof(host), cudaMemcpyDeviceToHost));
	SAY_FREED(cudaMemcpy(memory, gone, BYTES, cudaMemcpyDeviceToDevice));
	SAY_FREED(cudaMemcpy(gone, memory, BYTES, cudaMemcpyDefault));
	SAY_FREED(cudaMemcpyAsync(gone, host, 4096, cudaMemcpyHostToDevice, stream));
	SAY_FREED(cudaMemcpyAsync(memory, gone, BYTES, cudaMemcpyDeviceToDevice, stream));
	SAY_FREED(cudaMemcpy2D(gone, 64, host, 64, 64, 4, cudaMemcpyHostToDevice));
	SAY_FREED(cudaMemcpy2DAsync(host, 64, gone, 64, 64, 4, cudaMemcpyDeviceToHost, stream));
	SAY_FREED(cudaMemcpyPeer(gone, 0, memory, 0, BYTES));
	SAY_FREED(cudaMemcpyPeerAsync(memory, 0, gone, 0, BYTES, stream));
	SAY_FREED(cudaMemcpy3D(
		&(struct cudaMemcpy3DParms){.srcPtr = make_cudaPitchedPtr(gone, 64, 64, 4),
			.dstPtr = make_cudaPitchedPtr(memory, 64, 64, 4),
			.extent = make_cudaExtent(64, 4, 1),
			.kind = cudaMemcpyDeviceToDevice}));
	OK(cudaFree(memory));
}

static void fills(void)
{
	SAY_FREED(cudaMemset(gone, 0, BYTES));
	SAY_FREED(cudaMemset(gone + 512, 1, 512));
	SAY_FREED(cudaMemsetAsync(gone, 0, BYTES, stream));
	SAY_FREED(cudaMemset2D(gone, 64, 1, 64, 4));
	SAY_FREED(cudaMemset2DAsync(gone, 64, 1, 64, 4, stream));
	SAY_FREED(cudaMemset3D(make_cudaPitchedPtr(gone, 64, 64, 4), 0, make_cudaExtent(64, 4, 1)));
}

static int kind_of(const void *address)
{
	struct cudaPointerAttributes attributes;

	OK(cudaPointerGetAttributes(&attributes, address));
	return attributes.type;
}

static void questions(void)
{
	const struct cudaMemLocation place = {.type = cudaMemLocationTypeDevice};
	cudaIpcMemHandle_t handle;
	int local;

	SAY_FREED(cudaFree(gone));
	SAY_FREED(cudaFree(gone + 512));
	SAY(cudaFree(&local));
	SAY_FREED(cudaFreeAsync(gone, stream));
	SAY_FREED(kind_of(gone));
	SAY_FREED(kind_of(gone + BYTES - 1));
	SAY_FREED(cudaIpcGetMemHandle(&handle, gone));
	SAY_FREED(cudaMemPrefetchAsync(gone, BYTES, place, 0, stream));
	SAY_FREED(cudaMemAdvise(gone, BYTES, cudaMemAdviseSetReadMostly, place));
}

#define AT(address) ((CUdeviceptr)(uintptr_t)(address))

static void of_the_driver(void)
{
	static char host[4096];
	char *memory = NULL;
	CUdeviceptr base;
	CUmemorytype type;
	size_t bytes;

	OK(cudaMalloc((void **)&memory, BYTES));
	SAY_FREED(cuMemFree(AT(gone)));
	SAY_FREED(cuMemcpyHtoD(AT(gone), host, sizeof(host)));
	SAY_FREED(cuMemcpyDtoH(host, AT(gone), sizeof(host)));
	SAY_FREED(cuMemcpyDtoD(AT(memory), AT(gone), BYTES));
	SAY_FREED(cuMemcpy(AT(memory), AT(gone), BYTES));
	SAY_FREED(cuMemcpyHtoDAsync(AT(gone), host, sizeof(host), stream));
	SAY_FREED(cuMemcpyDtoDAsync(AT(gone), AT(memory), BYTES, stream));
	SAY_FREED(cuMemcpyAsync(AT(gone), AT(memory), BYTES, stream));
	SAY_FREED(cuMemsetD8(AT(gone), 0, BYTES));
	SAY_FREED(cuMemsetD32Async(AT(gone), 0, 64, stream));
	SAY_FREED(cuMemsetD2D8(AT(gone), 64, 0, 64, 4));
	SAY_FREED(cuMemGetAddressRange(&base, &bytes, AT(gone)));
	SAY_FREED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, AT(gone)));
	OK(cudaFree(memory));
}

/* Memory is taken until so little is left beside what was freed. */
static void *take_all_but(size_t rest)
{
	void *hog = NULL;

	churn(HELD, 8);
	OK(cudaMalloc(&hog, left() - HELD - rest));
	say_left("taken");
	return hog;
}

#define SAY_SHORT(call)                                                                            \
	do {                                                                                       \
		void *hog = take_all_but(MIB);                                                     \
		SAY(call);                                                                         \
		printf("last: %d\n", (int)cudaGetLastError());                                     \
		say_left("left");                                                                  \
		OK(cudaFree(hog));                                                                 \
		say_left("given back");                                                            \
	} while (0)

/* A graph of one fill. */
static cudaGraph_t captured(char *memory)
{
	cudaGraph_t graph = NULL;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(memory, 0, 4096, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

/* Libraries take what they need without asking anybody, and say so when they find too little. */
static void libraries(void)
{
	cudnnHandle_t dnn = NULL;
	cublasHandle_t blas = NULL;
	cublasLtHandle_t lt = NULL;
	ncclComm_t comm = NULL;
	cudaGraphExec_t exec = NULL;
	char *memory = NULL;

	OK(cudaMalloc((void **)&memory, 4096));
	const cudaGraph_t graph = captured(memory);
	SAY_SHORT(cudnnCreate(&dnn));
	SAY_SHORT(cublasCreate(&blas));
	SAY_SHORT(cublasLtCreate(&lt));
	SAY_SHORT(ncclCommInitAll(&comm, 1, (int[]){0}));
	SAY_SHORT(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

#define PROBLEMS 8
#define PIECES 256

/* All algorithms: code that is loaded stays, whoever loads it. */
static void load_all(struct job *job)
{
	char *workspace = NULL;

	OK(cudaMalloc((void **)&workspace, 8 * MIB));
	job_problem(job, 29);
	for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; i++)
		SAY(job_run(job, i, workspace, 8 * MIB));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(workspace));
}

static void run_all(struct job *job, const char *when)
{
	for (int i = 0; i < PROBLEMS; i++) {
		job_problem(job, i);
		SAY(job_run(job, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0));
		say_left("at once");
		OK(cudaDeviceSynchronize());
		say_left(when);
	}
}

/* All that is left, in pieces as large as can be had; how many there are. */
static int take_all(void **out_pieces)
{
	int count = 0;

	for (size_t bytes = (size_t)1 << 31; bytes >= 512; bytes /= 2) {
		while (count < PIECES && cudaMalloc(&out_pieces[count], bytes) == cudaSuccess)
			count++;
		TEST_TRUE(left() < bytes || cudaGetLastError() == cudaErrorMemoryAllocation);
	}
	return count;
}

/* Looks for leaks while convolutions are met for the first time, and takes all that is left. */
static void searches(void)
{
	void *pieces[PIECES];
	struct job job;

	say_left("began");
	job_make(&job, NULL, 1);
	say_left("made");
	load_all(&job);
	say_left("loaded");
	for (int round = 0; round < 3; round++) {
		run_all(&job, "run");
		const int count = take_all(pieces);
		say_left("taken");
		run_all(&job, "run with nothing left");
		for (int i = 0; i < count; i++)
			OK(cudaFree(pieces[i]));
		say_left("given back");
	}
	DNN(cudnnDestroy(job.conv.handle));
	say_left("ended");
}

/* Captures the same again and again: what a graph needed is there again once it is gone. */
static void recaptured(void)
{
	cudaGraphExec_t exec = NULL;
	cudaGraph_t graph = NULL;
	void *pieces[PIECES];
	struct job job;

	job_make(&job, stream, 1);
	load_all(&job);
	say_left("loaded"); /* without the handle of a search */
	job_problem(&job, 29);
	const unsigned long want = job_bits(&job);
	say_left("run");
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
			DNN(job_run(&job, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0));
			OK(cudaStreamEndCapture(stream, &graph));
			OK(cudaGraphInstantiate(&exec, graph, 0));
			OK(cudaGraphDestroy(graph));
			OK(cudaMemsetAsync(job.y, 1, (size_t)job.count * sizeof(float), stream));
			OK(cudaGraphLaunch(exec, stream));
			OK(cudaGraphExecDestroy(exec)); /* while it runs */
			OK(cudaStreamSynchronize(stream));
			TEST_EQ(job_bits_now(&job), want);
		}
		say_left("captured");
		const int count = take_all(pieces);
		say_left("taken");
		for (int i = 0; i < count; i++)
			OK(cudaFree(pieces[i]));
		say_left("given back");
		TEST_EQ(job_bits(&job), want);
	}
	DNN(cudnnDestroy(job.conv.handle));
}

/* Looks for memory and takes it while the device waits for this thread: also of what a search took
 * before. */
static void searches_gated(void)
{
	cudaStream_t other;
	struct gate gate;
	void *pieces[PIECES];
	struct job job;

	job_make(&job, NULL, 1);
	load_all(&job);
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < PROBLEMS; i++) {
		job_problem(&job, i);
		for (int run = 0; run < 2; run++) {
			SAY(job_run(&job, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0));
			OK(cudaDeviceSynchronize());
		}
		if (i == 0)
			say_left("before the first gate");
		gate_close(&gate, other);
		say_left("gated");
		const int count = take_all(pieces);
		say_left("taken");
		TEST_TRUE(!atomic_load(&gate.passed));
		gate_open(&gate);
		OK(cudaStreamSynchronize(other));
		for (int piece = 0; piece < count; piece++)
			OK(cudaFree(pieces[piece]));
		say_left("given back");
	}
	OK(cudaStreamDestroy(other));
	DNN(cudnnDestroy(job.conv.handle));
}

/* The same behind a problem's only execution, which is over while another stream is held, and with
 * the first gate closed right behind a search. */
static void compared_gated(void)
{
	cudaStream_t other;
	struct gate gate;
	void *pieces[PIECES];
	struct job job;

	job_make(&job, NULL, 1);
	load_all(&job);
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < 2 * PROBLEMS; i++) {
		job_problem(&job, i);
		SAY(job_run(&job, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0));
		if (i % 2 == 0)
			OK(cudaDeviceSynchronize());
		gate_close(&gate, other);
		OK(cudaStreamSynchronize(job.stream));
		if (i % 4 < 2)
			say_left("gated");
		const int count = take_all(pieces);
		say_left("taken");
		TEST_TRUE(!atomic_load(&gate.passed));
		gate_open(&gate);
		OK(cudaStreamSynchronize(other));
		for (int piece = 0; piece < count; piece++)
			OK(cudaFree(pieces[piece]));
		say_left("given back");
	}
	OK(cudaStreamDestroy(other));
	DNN(cudnnDestroy(job.conv.handle));
}

/* A handle takes more when it is first used, of which nothing tells beforehand. */
static void first_use(void)
{
	const float one = 1;
	cublasHandle_t blas[3];
	float *x = NULL;

	OK(cudaMalloc((void **)&x, 256));
	for (int i = 0; i < 3; i++)
		OK(cublasCreate(&blas[i]));
	for (int i = 0; i < 3; i++)
		SAY_SHORT(cublasSscal(blas[i], 64, &one, x, 1));
}

/* Neither an allocation nor a graph waits for the device, which waits for this thread here. */
static void gated(void)
{
	cudaStream_t other;
	struct gate gate;
	void *hog = NULL;
	cudaGraphExec_t exec = NULL;
	char *memory = NULL;

	OK(cudaMalloc((void **)&memory, 4096));
	const cudaGraph_t graph = captured(memory);
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (int i = 0; i < 4; i++) {
		churn(HELD, 8);
		gate_close(&gate, other);
		OK(cudaMalloc(&hog, left() - HELD - MIB));
		say_left("taken");
		SAY(cudaGraphInstantiate(&exec, graph, 0));
		say_left("instantiated");
		TEST_TRUE(!atomic_load(&gate.passed));
		gate_open(&gate);
		OK(cudaStreamSynchronize(other));
		OK(cudaGraphExecDestroy(exec));
		OK(cudaFree(hog));
		say_left("freed");
	}
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(other));
}

static void nothing(void *data)
{
	(void)data;
}

/* After a host function memory goes back only when the device is idle, and an idle one takes a
 * moment to say so. */
static void answered(void)
{
	for (int i = 0; i < 6; i++) {
		cudnnHandle_t dnn = NULL;

		OK(cudaLaunchHostFunc(stream, nothing, NULL));
		OK(cudaDeviceSynchronize());
		SAY_SHORT(cudnnCreate(&dnn));
		DNN(cudnnDestroy(dnn));
	}
}

static size_t resident(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	TEST_TRUE(file && fscanf(file, "%*u %lu", &pages) == 1);
	if (file)
		fclose(file);
	return pages * 4096;
}

/* Allocates and frees again and again, in sizes that recur and in many that do not. */
static void pairs(void)
{
	size_t before = 0;

	for (int i = 0; i < pair_count; i++) {
		char *memory = NULL;

		OK(cudaMalloc(
			(void **)&memory, i % 64 == 0 ? BYTES : (size_t)512 * (1 + i % 1999)));
		OK(cudaFree(memory));
		if (i == pair_count / 10)
			before = resident();
		if (i % (pair_count / 10) == 0)
			say_left("so far");
	}
	TEST_TRUE(resident() < before + 4 * MIB);
	printf("%d pairs\n", pair_count);
}

/* Looks for leaks by what is left, of sizes that are whole pages and of others. */
static void leaks(void)
{
	static const size_t sizes[] = {BYTES, 3 * MIB, 5 * MIB, 2 * MIB + 512, 2 * MIB - 512,
		MIB + 4096, MIB, MIB - 512, 4096, 7 * MIB + 12345};
	void *kept[16] = {NULL};

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			churn(sizes[i], 8);
			say_left("churned");
			OK(cudaMalloc(&kept[i], sizes[i]));
			say_left("with one");
		}
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			OK(cudaFree(kept[i]));
			say_left("freed");
		}
	}
}

/* Sizes what it takes by what is left, or by what it can get. */
static void sizes_itself(void)
{
	for (int round = 0; round < 8; round++) {
		size_t bytes = 512 * MIB;
		char *memory = NULL;

		churn(40 * MIB, 4);
		churn(3 * MIB, 4);
		OK(cudaMalloc((void **)&memory, left() / 10 * 9));
		say_left("nine tenths taken");
		OK(cudaFree(memory));
		while (cudaMalloc((void **)&memory, bytes) != cudaSuccess) {
			printf("%zu bytes: %d, then ", bytes, (int)cudaGetLastError());
			printf("%d\n", (int)cudaGetLastError());
			bytes /= 2;
		}
		printf("%zu bytes taken\n", bytes);
		OK(cudaFree(memory));
	}
}

static const struct rewrite_case cases[] = {
	{"copies", copies},
	{"fills", fills},
	{"questions", questions},
	{"driver", of_the_driver},
	{"libraries", libraries},
	{"searches", searches},
	{"searches-gated", searches_gated},
	{"compared-gated", compared_gated},
	{"recaptured", recaptured},
	{"first-use", first_use},
	{"gated", gated},
	{"answered", answered},
	{"pairs", pairs},
	{"leaks", leaks},
	{"sizes-itself", sizes_itself},
};

int main(int count, char **words)
{
	if (count != 2 && count != 3)
		return 2;
	if (count == 3)
		pair_count = atoi(words[2]);
	alarm(300);
	OK(cudaStreamCreate(&stream));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
