/* SPDX-License-Identifier: MIT */
/*
 * A driver that is mapped some time before it is ready, as every library is: its constructor takes
 * UNREADY_MS, and a function of it that is called before ends the process with status 70. One
 * source for the driver (DRIVER), a runtime that loads it only when a device is set (RUNTIME), and
 * the program: shim_unready ends|copies|thread [wait]
 *
 * ends: one call; copies: memory allocated, copied, filled and freed as well; thread: another
 * thread loads the driver meanwhile. With wait, all but the first call come when it is mapped.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STATUS_UNREADY 70

#if defined(DRIVER)

static volatile int ready;

static void __attribute__((constructor)) begin(void)
{
	const char *text = getenv("UNREADY_MS");
	const long ms = text ? atol(text) : 0;

	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
	ready = 1;
}

/* None of them knows anything; what matters is when they are called. */
#define FUNCTION(name)                                                                             \
	int name(void);                                                                            \
	int name(void)                                                                             \
	{                                                                                          \
		if (!ready)                                                                        \
			_exit(STATUS_UNREADY);                                                     \
		return 3; /* CUDA_ERROR_NOT_INITIALIZED */                                         \
	}
FUNCTION(cuCtxGetCurrent)
FUNCTION(cuCtxGetDevice)
FUNCTION(cuCtxRecordEvent)
FUNCTION(cuCtxSynchronize)
FUNCTION(cuDeviceGet)
FUNCTION(cuDeviceGetAttribute)
FUNCTION(cuDeviceGetCount)
FUNCTION(cuDeviceGetDefaultMemPool)
FUNCTION(cuDeviceGetMemPool)
FUNCTION(cuDeviceGetName)
FUNCTION(cuDevicePrimaryCtxGetState)
FUNCTION(cuDevicePrimaryCtxRelease_v2)
FUNCTION(cuDevicePrimaryCtxRetain)
FUNCTION(cuDeviceTotalMem_v2)
FUNCTION(cuDriverGetVersion)
FUNCTION(cuEventCreate)
FUNCTION(cuEventDestroy_v2)
FUNCTION(cuEventQuery)
FUNCTION(cuEventRecord)
FUNCTION(cuGetProcAddress)
FUNCTION(cuGetProcAddress_v2)
FUNCTION(cuMemGetInfo_v2)
FUNCTION(cuPointerGetAttribute)
FUNCTION(cuThreadExchangeStreamCaptureMode)

#elif defined(RUNTIME)

int cudaRuntimeGetVersion(int *out);
int cudaSetDevice(int device);
int cudaGetDevice(int *out);
int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *memory);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemset(void *to, int value, size_t bytes);
int cudaDeviceSynchronize(void);

int cudaRuntimeGetVersion(int *out)
{
	*out = 12000;
	return 0;
}

int cudaSetDevice(int device)
{
	(void)device;
	return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) ? 0 : 35;
}

int cudaGetDevice(int *out)
{
	*out = 0;
	return 0;
}

int cudaMalloc(void **out, size_t bytes)
{
	cudaSetDevice(0);
	*out = malloc(bytes);
	return !*out;
}

int cudaFree(void *memory)
{
	free(memory);
	return 0;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	(void)kind;
	memcpy(to, from, bytes);
	return 0;
}

int cudaMemset(void *to, int value, size_t bytes)
{
	memset(to, value, bytes);
	return 0;
}

int cudaDeviceSynchronize(void)
{
	return 0;
}

#else

int cudaRuntimeGetVersion(int *out);
int cudaSetDevice(int device);
int cudaMalloc(void **out, size_t bytes);
int cudaFree(void *memory);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemset(void *to, int value, size_t bytes);
int cudaDeviceSynchronize(void);

#define BYTES (1u << 20)

static int is_mapped(void)
{
	char line[4096];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/libcuda.so.1") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

static void *load(void *nothing)
{
	cudaSetDevice(0);
	return nothing;
}

static int work(void)
{
	static char there[BYTES], back[BYTES];
	void *memory;
	int wrong = 0;

	for (int i = 1; i <= 8; i++) {
		memset(there, i, BYTES);
		if (cudaMalloc(&memory, BYTES) != 0)
			return 1;
		wrong |= cudaMemcpy(memory, there, BYTES, 1) | cudaDeviceSynchronize();
		wrong |= cudaMemcpy(back, memory, BYTES, 2) | memcmp(there, back, BYTES);
		wrong |= cudaMemset(memory, 0, BYTES) | cudaMemset(memory, 0, BYTES);
		wrong |= cudaFree(memory);
	}
	return wrong != 0;
}

int main(int count, char **words)
{
	const char *how = count > 1 ? words[1] : "ends";
	pthread_t thread;
	int version = 0;
	int wrong = cudaRuntimeGetVersion(&version);

	if (strcmp(how, "thread") == 0 && pthread_create(&thread, NULL, load, NULL) != 0)
		return 2;
	if (count > 2)
		for (int i = 0; i < 10000 && !is_mapped(); i++)
			nanosleep(&(struct timespec){0, 1000000}, NULL);
	printf("version %d\n", version);
	if (strcmp(how, "ends") != 0)
		wrong |= work();
	printf("%s\n", wrong ? "wrong" : "right");
	if (count > 2 && getenv("UNREADY_MAPPED") && !is_mapped())
		return 3;
	return wrong;
}

#endif
