/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when cudaFree need not wait, and what they count on when it must, one
 * case each. They hold with and without tfshim, and fail when a free that the host can notice is
 * deferred: the script has it do so.
 */
#include <cuda.h>
#include <nccl.h>

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"
#include "tests/sim/tfsim.h"

#define BYTES (2u << 20)
#define ROUNDS 40

static char *result, *back;

/* A temporary that is filled and read on the legacy stream. */
static void step(int value)
{
	char *memory;

	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaMemsetAsync(memory, value, BYTES, NULL));
	OK(cudaMemcpyAsync(result, memory, BYTES, cudaMemcpyDeviceToDevice, NULL));
	OK(cudaFree(memory));
}

static void check_result(int value)
{
	OK(cudaMemcpy(back, result, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(back, value, BYTES), 0);
}

/* One stream: its own order is enough. Now and then the host looks. */
static void in_order(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		step(i);
		if (i % 4 == 0)
			check_result(i);
	}
}

/* Blocking streams keep to the legacy stream's order; eight threads, each with its own. */
static void *work(void *argument)
{
	const int number = (int)(intptr_t)argument;
	char *own, *memory, *host = malloc(BYTES);
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&own, BYTES));
	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemsetAsync(memory, number * 16 + i, BYTES, stream));
		OK(cudaMemcpyAsync(own, memory, BYTES, cudaMemcpyDeviceToDevice, stream));
		OK(cudaFree(memory));
		if (i % 8 == 0) {
			OK(cudaStreamSynchronize(stream));
			OK(cudaMemcpy(host, own, BYTES, cudaMemcpyDeviceToHost));
			TEST_EQ(wrong_bytes(host, number * 16 + i, BYTES), 0);
		}
	}
	free(host);
	return NULL;
}

static void threads(void)
{
	rewrite_case_threads(work);
}

/* What the program left in a block does not come back, deferred or not. */
static void nothing_stale(void)
{
	char *memory;

	for (int i = 0; i < ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemcpy(back, memory, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, 0x5a, BYTES), BYTES);
		OK(cudaMemsetAsync(memory, 0x5a, BYTES, NULL));
		OK(cudaFree(memory));
	}
}

static void dawdle(void *nothing)
{
	struct timespec pause = {.tv_nsec = 500000};

	(void)nothing;
	nanosleep(&pause, NULL);
}

/* Counterexamples 3 and 4: the host reads pinned memory that a kernel wrote, of which no argument
 * told; the free is all it waits by. */
static void pinned_result(void)
{
	char *pinned, *memory;

	OK(cudaMallocHost((void **)&pinned, BYTES));
	for (int i = 1; i <= ROUNDS; i++) {
		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemsetAsync(memory, i, BYTES, NULL));
		for (int k = 0; k < 20; k++)
			OK(cudaMemcpyAsync(result, memory, BYTES, cudaMemcpyDeviceToDevice, NULL));
		OK(cudaMemcpyAsync(pinned, result, BYTES, cudaMemcpyDeviceToHost, NULL));
		OK(cudaFree(memory));
		TEST_EQ(wrong_bytes(pinned, i, BYTES), 0);
	}
}

/* Counterexample 5: the block is still read when a stream gets it that waits for no other. The
 * streams are made late, when blocks have long been handed out at once. */
static void late_stream(void)
{
	for (int i = 1; i <= 24; i++) {
		cudaStream_t other = NULL;
		char *memory;

		OK(cudaMalloc((void **)&memory, BYTES));
		OK(cudaMemsetAsync(memory, i, BYTES, NULL));
		for (int k = 0; k < 20; k++)
			OK(cudaMemcpyAsync(result, memory, BYTES, cudaMemcpyDeviceToDevice, NULL));
		OK(cudaFree(memory));
		OK(cudaMalloc((void **)&memory, BYTES));
		if (i > 20)
			OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
		OK(cudaMemsetAsync(memory, 0x77, BYTES, other));
		OK(cudaDeviceSynchronize());
		check_result(i);
		OK(cudaMemcpy(back, memory, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, 0x77, BYTES), 0);
		OK(cudaFree(memory));
	}
}

static void set(void *flag)
{
	dawdle(NULL);
	atomic_store((atomic_int *)flag, 1);
}

static void host_function(void)
{
	static atomic_int flag;

	for (int i = 0; i < ROUNDS; i++) {
		atomic_store(&flag, 0);
		OK(cudaLaunchHostFunc(NULL, set, &flag));
		step(i);
		TEST_EQ(atomic_load(&flag), 1);
	}
}

static void events(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 10; k++)
			OK(cudaMemsetAsync(result, k, BYTES, NULL));
		OK(cudaEventRecord(event, NULL));
		step(i);
		OK(cudaEventQuery(event));
	}
}

/* The same of the context as a whole. */
static void context_event(void)
{
	CUcontext context;
	CUevent event;

	OK(cuCtxGetCurrent(&context));
	OK(cuEventCreate(&event, 0));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 10; k++)
			OK(cudaMemsetAsync(result, k, BYTES, NULL));
		OK(cuCtxRecordEvent(context, event));
		step(i);
		OK(cudaDeviceSynchronize());
	}
}

static void green_context(void)
{
	CUgreenCtx part;

	OK(cuGreenCtxCreate(&part, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	in_order();
	OK(cuGreenCtxDestroy(part));
}

static void destroyed_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamDestroy(stream));
	in_order();
}

static void elsewhere(void)
{
	char *memory;

	OK(cudaSetDevice(1));
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaSetDevice(0));
	in_order();
}

/* More places than are remembered: those beyond never have evidence. */
static void few(void)
{
	for (int i = 0; i < 8; i++)
		step(i);
}

static void fail_device(void *nothing)
{
	dawdle(nothing);
	tfsim_kernel_fault(cudaErrorIllegalAddress);
}

/* An error of the device is told, if not by the free then by what waits next. */
static void device_fails(void)
{
	char *memory;
	cudaError_t status;

	in_order();
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaLaunchHostFunc(NULL, fail_device, NULL));
	status = cudaFree(memory);
	TEST_TRUE(status == cudaSuccess || status == cudaErrorIllegalAddress);
	TEST_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	TEST_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

static void reset(void)
{
	in_order();
	OK(cudaDeviceReset());
	OK(cudaMalloc((void **)&result, BYTES));
	in_order();
}

/* What a network card may read and write, by the driver's word; each block of the program's. */
static void memory_operations(void)
{
	const unsigned on = 1;

	for (int i = 0; i < ROUNDS; i++) {
		char *memory;

		OK(cudaMalloc((void **)&memory, BYTES));
		(void)cuPointerSetAttribute(
			&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)(uintptr_t)memory);
		OK(cudaFree(memory));
	}
}

/* The same by NCCL's. */
static void registered_for_nccl(void)
{
	const int device = 0;
	ncclComm_t comm;

	TEST_NEED(ncclCommInitAll(&comm, 1, &device) == ncclSuccess);
	for (int i = 0; i < ROUNDS; i++) {
		void *handle = NULL;
		char *memory;

		OK(cudaMalloc((void **)&memory, BYTES));
		(void)ncclCommRegister(comm, memory, BYTES, &handle);
		OK(cudaFree(memory));
	}
	TEST_EQ(ncclCommDestroy(comm), ncclSuccess);
}

/* Something outside may be told by the device; having tried is enough. */
static void external_semaphore(void)
{
	const struct cudaExternalSemaphoreHandleDesc like = {
		.type = cudaExternalSemaphoreHandleTypeOpaqueFd, .handle.fd = -1};
	cudaExternalSemaphore_t semaphore;

	(void)cudaImportExternalSemaphore(&semaphore, &like);
	(void)cudaGetLastError();
	in_order();
}

static void driver_semaphore(void)
{
	const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC like = {
		.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = -1};
	CUexternalSemaphore semaphore;

	(void)cuImportExternalSemaphore(&semaphore, &like);
	in_order();
}

static void info(void)
{
	size_t first, now, all;

	OK(cudaMemGetInfo(&first, &all));
	for (int i = 0; i < ROUNDS; i++) {
		step(i);
		OK(cudaMemGetInfo(&now, &all));
		TEST_EQ(now, first);
	}
}

/* No wait was left out before the stream is made: none is made up for. */
static void stream_beside_pinned(void)
{
	struct gate gate;
	cudaStream_t other;
	char *pinned;

	gate_close(&gate, NULL);
	OK(cudaMallocHost((void **)&pinned, BYTES));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	TEST_TRUE(!atomic_load(&gate.passed));
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
}

static const struct rewrite_case cases[] = {
	{"in-order", in_order},
	{"threads", threads},
	{"nothing-stale", nothing_stale},
	{"pinned-result", pinned_result},
	{"late-stream", late_stream},
	{"host-function", host_function},
	{"events", events},
	{"context-event", context_event},
	{"green-context", green_context},
	{"destroyed-stream", destroyed_stream},
	{"elsewhere", elsewhere},
	{"few", few},
	{"device-fails", device_fails},
	{"reset", reset},
	{"memory-operations", memory_operations},
	{"registered-for-nccl", registered_for_nccl},
	{"external-semaphore", external_semaphore},
	{"driver-semaphore", driver_semaphore},
	{"info", info},
	{"stream-beside-pinned", stream_beside_pinned},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	back = malloc(BYTES);
	OK(cudaMalloc((void **)&result, BYTES));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
