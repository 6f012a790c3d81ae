/* SPDX-License-Identifier: MIT */
/*
 * What calls leave behind: errno, CUDA's last error, results. Each call is made with errno set to
 * a value that nobody uses; how often it was changed is printed per call.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "tests/test.h"

#define UNUSED_ERRNO 4321
#define ROUNDS 600

static struct {
	const char *name;
	unsigned changed;
	unsigned failed;
} calls[18];

static int check(unsigned number, const char *name, cudaError_t status)
{
	calls[number].name = name;
	calls[number].changed += errno != UNUSED_ERRNO;
	calls[number].failed += status != cudaSuccess;
	errno = UNUSED_ERRNO;
	return (int)status;
}

#define CALL(number, name, arguments) check(number, #name, name arguments)

static void step(void *device, float *host, cudaStream_t stream)
{
	void *more;

	CALL(0, cudaMemcpy, (device, host, 64, cudaMemcpyHostToDevice));
	CALL(1, cudaMemsetAsync, (device, 0, 64, stream));
	CALL(2, cudaStreamSynchronize, (stream));
	CALL(3, cudaMalloc, (&more, 128));
	CALL(4, cudaFree, (more));
	CALL(5, cudaMemcpy, (host, device, 64, cudaMemcpyDeviceToHost));
}

/* A failing call's error stays for the program to fetch, however many calls come in between. */
static void fail_once(void *device)
{
	void *more = NULL;
	const int failed = CALL(6, cudaMemcpy, (device, device, 64, (enum cudaMemcpyKind)77));

	CALL(7, cudaStreamSynchronize, (NULL));
	CALL(8, cudaMalloc, (&more, 16));
	CALL(9, cudaFree, (more));
	printf("failed %d, peek %d, get %d, then %d\n", failed, (int)cudaPeekAtLastError(),
		(int)cudaGetLastError(), (int)cudaGetLastError());
}

/* Launching what is no kernel: asking about it must not change the error that is left. */
static void launch_nothing(void)
{
	static char nothing;
	const int failed = CALL(
		10, cudaLaunchKernel, (&nothing, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));

	printf("launch %d, peek %d, get %d, then %d\n", failed, (int)cudaPeekAtLastError(),
		(int)cudaGetLastError(), (int)cudaGetLastError());
}

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			  ".visible .entry first(.param .u64 p0)\n{\nret;\n}\n"
			  ".visible .entry second(.param .u64 p0)\n{\nret;\n}\n";

/* A kernel of a library is no symbol, and asking the runtime about it fails: with an error that is
 * left, and without. Of each nothing is known yet when it is launched first. */
static void launch_loaded(void *device, const char *name, bool failed_before)
{
	void *arguments[] = {&device};
	cudaLibrary_t library;
	cudaKernel_t kernel;
	int failed = 0;

	CALL(14, cudaLibraryLoadData, (&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	CALL(15, cudaLibraryGetKernel, (&kernel, library, name));
	if (failed_before)
		failed = CALL(6, cudaMemcpy, (device, device, 64, (enum cudaMemcpyKind)77));
	const int launched = CALL(16, cudaLaunchKernel,
		(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, NULL));

	printf("failed %d, launch %d, peek %d, get %d, then %d\n", failed, launched,
		(int)cudaPeekAtLastError(), (int)cudaGetLastError(), (int)cudaGetLastError());
	CALL(7, cudaStreamSynchronize, (NULL));
	CALL(17, cudaLibraryUnload, (library));
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	cudaStream_t stream;
	float host[64] = {1, 2, 3};
	void *device;

	errno = UNUSED_ERRNO;
	/* The first call of all starts the shim. */
	if (CALL(11, cudaMalloc, (&device, 64)) != 0)
		return test_skip("no device");
	CALL(12, cudaStreamCreate, (&stream));
	for (unsigned i = 0; i < ROUNDS; i++) {
		step(device, host, stream);
		if (i % 10 == 0)
			nanosleep(&pause, NULL);
		if (i % 100 == 50) {
			fail_once(device);
			launch_nothing();
			launch_loaded(device, "first", true);
			launch_loaded(device, "second", false);
		}
		errno = UNUSED_ERRNO;
	}
	CALL(13, cudaStreamDestroy, (stream));
	for (unsigned i = 0; i < 18; i++)
		printf("%s: errno changed %u times, %u failures\n", calls[i].name, calls[i].changed,
			calls[i].failed);
	printf("host %g %g %g\n", host[0], host[1], host[2]);
	return test_result();
}
