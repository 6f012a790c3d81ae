/* SPDX-License-Identifier: MIT */
/*
 * One case per named check of copy-skip: the case breaks that precondition, so that it must refuse
 * by that name; the data arrive all the same. The script reads the ledger afterwards.
 */
#include <cuda.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "tests/programs/rewrite_case.h"
#include "tests/programs/sim_gate.h"
#include "tests/sim/tfsim.h"

#define BYTES ((size_t)2 << 20)
#define ROUNDS 20

/* What a program compiled for per-thread default streams calls. */
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);

static char *source, *device, *back;

static void check(const char *target, const char *from)
{
	OK(cudaMemcpy(back, target, BYTES, cudaMemcpyDefault));
	TEST_EQ(memcmp(back, from, BYTES), 0);
}

static void send_from(char *target, const char *from)
{
	for (int i = 0; i < ROUNDS; i++)
		OK(cudaMemcpy(target, from, BYTES, cudaMemcpyHostToDevice));
	check(target, from);
}

static void plain(void)
{
	send_from(device, source);
}

static void any_kind(void)
{
	for (int i = 0; i < ROUNDS; i++)
		OK(cudaMemcpy(device, source, BYTES, cudaMemcpyDefault));
	check(device, source);
}

static void by_driver(void)
{
	for (int i = 0; i < ROUNDS; i++)
		TEST_EQ(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)device, source, BYTES), CUDA_SUCCESS);
	check(device, source);
}

static void async(void)
{
	for (int i = 0; i < ROUNDS; i++)
		OK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, NULL));
	check(device, source);
}

static void per_thread(void)
{
	for (int i = 0; i < ROUNDS; i++)
		OK(cudaMemcpy_ptds(device, source, BYTES, cudaMemcpyHostToDevice));
	check(device, source);
}

static void capturing(void)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	cudaStream_t captured;
	cudaGraph_t graph = NULL;

	OK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
	OK(cudaThreadExchangeStreamCaptureMode(&mode));
	OK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
	OK(cudaMemsetAsync(back, 0, 0, captured));
	plain();
	OK(cudaStreamEndCapture(captured, &graph));
}

static void other_sources(void)
{
	char *pinned, *managed, *registered = aligned_alloc(4096, BYTES);

	OK(cudaMallocHost((void **)&pinned, BYTES));
	memset(pinned, 1, BYTES);
	send_from(device, pinned);
	OK(cudaHostRegister(registered, BYTES, 0));
	memset(registered, 2, BYTES);
	send_from(device, registered);
	OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
	memset(managed, 3, BYTES);
	send_from(device, managed);
	OK(cudaHostUnregister(registered));
}

static void other_targets(void)
{
	char *managed, *pooled;

	OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
	send_from(managed, source);
	OK(cudaMallocAsync((void **)&pooled, BYTES, NULL));
	send_from(pooled, source);
}

static void shared(void)
{
	cudaIpcMemHandle_t handle;

	/* The simulated device has none; having asked is enough. */
	(void)cudaIpcGetMemHandle(&handle, device);
	(void)cudaGetLastError();
	plain();
}

static void peers(void)
{
	(void)cudaDeviceEnablePeerAccess(1, 0);
	(void)cudaGetLastError();
	plain();
}

static void unaligned(void)
{
	send_from(device + 4, source);
}

static void free_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	plain();
}

static void destroyed_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamDestroy(stream));
	plain();
}

static void elsewhere(void)
{
	char *memory;

	OK(cudaSetDevice(1));
	OK(cudaMalloc((void **)&memory, BYTES));
	OK(cudaSetDevice(0));
	plain();
}

static void other_context(void)
{
	CUcontext first, second;

	TEST_EQ(cuCtxGetCurrent(&first), CUDA_SUCCESS);
	TEST_EQ(cuCtxCreate(&second, NULL, 0, 0), CUDA_SUCCESS);
	for (int i = 0; i < ROUNDS; i++)
		(void)cuMemcpyHtoD((CUdeviceptr)(uintptr_t)device, source, BYTES);
	TEST_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
}

static sigjmp_buf out;

static void leave(int number)
{
	siglongjmp(out, number);
}

/* A page of the source is missing: the copy faults, or says so, as it would anywhere. */
static void hole(void)
{
	char *host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(host, 5, BYTES);
	munmap(host + (1 << 20), 4096);
	signal(SIGSEGV, leave);
	if (sigsetjmp(out, 1) == 0)
		cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice);
	cudaGetLastError();
}

static void fail_device(void *nothing)
{
	(void)nothing;
	tfsim_kernel_fault(cudaErrorIllegalAddress);
}

/* The copy tells of an error as it would without. */
static void device_fails(void)
{
	plain();
	OK(cudaLaunchHostFunc(NULL, fail_device, NULL));
	for (int i = 0; i < 3; i++)
		TEST_EQ(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice),
			cudaErrorIllegalAddress);
	TEST_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

static const struct rewrite_case cases[] = {
	{"plain", plain},
	{"any-kind", any_kind},
	{"driver", by_driver},
	{"async", async},
	{"per-thread", per_thread},
	{"capturing", capturing},
	{"other-sources", other_sources},
	{"other-targets", other_targets},
	{"shared", shared},
	{"peers", peers},
	{"unaligned", unaligned},
	{"free-stream", free_stream},
	{"destroyed-stream", destroyed_stream},
	{"elsewhere", elsewhere},
	{"other-context", other_context},
	{"hole", hole},
	{"device-fails", device_fails},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(60);
	source = malloc(BYTES);
	back = malloc(BYTES);
	for (size_t i = 0; i < BYTES; i++)
		source[i] = (char)(i * 31 >> 3);
	OK(cudaMalloc((void **)&device, BYTES + 64));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
