/* SPDX-License-Identifier: MIT */
/*
 * Calls what the CUDA runtimes 11, 12 and 13 all have and prints "NAME STATUS" for each. No header
 * is included: one source for all of them, each linked to its own library.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct shape {
	unsigned x, y, z;
};

static char room[8192]; /* for structs of any version */
static void *pointer;
static size_t size;
static int number;
static float milliseconds;
static const struct shape one = {1, 1, 1};

/* X(name, parameters, arguments) */
#define CALLS(X)                                                                                   \
	X(cudaGetDeviceCount, (int *), (&number))                                                  \
	X(cudaRuntimeGetVersion, (int *), (&number))                                               \
	X(cudaDriverGetVersion, (int *), (&number))                                                \
	X(cudaSetDevice, (int), (0))                                                               \
	X(cudaGetDevice, (int *), (&number))                                                       \
	X(cudaGetDeviceProperties, (void *, int), (room, 0))                                       \
	X(cudaDeviceGetAttribute, (int *, int, int), (&number, 1, 0))                              \
	X(cudaMalloc, (void **, size_t), (&pointer, 4096))                                         \
	X(cudaMallocAsync, (void **, size_t, void *), (&pointer, 4096, NULL))                      \
	X(cudaMallocHost, (void **, size_t), (&pointer, 4096))                                     \
	X(cudaHostAlloc, (void **, size_t, unsigned), (&pointer, 4096, 0))                         \
	X(cudaMallocManaged, (void **, size_t, unsigned), (&pointer, 4096, 1))                     \
	X(cudaMallocPitch, (void **, size_t *, size_t, size_t), (&pointer, &size, 64, 64))         \
	X(cudaMemGetInfo, (size_t *, size_t *), (&size, &size))                                    \
	X(cudaMemcpy, (void *, const void *, size_t, int), (room, room + 4096, 64, 4))             \
	X(cudaMemcpyAsync, (void *, const void *, size_t, int, void *),                            \
		(room, room + 4096, 64, 4, NULL))                                                  \
	X(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int),               \
		(room, 64, room + 4096, 64, 8, 8, 4))                                              \
	X(cudaMemset, (void *, int, size_t), (NULL, 0, 0))                                         \
	X(cudaMemsetAsync, (void *, int, size_t, void *), (NULL, 0, 0, NULL))                      \
	X(cudaStreamCreate, (void **), (&pointer))                                                 \
	X(cudaStreamCreateWithFlags, (void **, unsigned), (&pointer, 1))                           \
	X(cudaStreamQuery, (void *), (NULL))                                                       \
	X(cudaStreamSynchronize, (void *), (NULL))                                                 \
	X(cudaStreamBeginCapture, (void *, int), (NULL, 0))                                        \
	X(cudaEventCreate, (void **), (&pointer))                                                  \
	X(cudaEventCreateWithFlags, (void **, unsigned), (&pointer, 2))                            \
	X(cudaEventElapsedTime, (float *, void *, void *), (&milliseconds, NULL, NULL))            \
	X(cudaGraphCreate, (void **, unsigned), (&pointer, 0))                                     \
	X(cudaLaunchKernel, (const void *, struct shape, struct shape, void **, size_t, void *),   \
		(room, one, one, NULL, 0, NULL))                                                   \
	X(cudaFuncGetAttributes, (void *, const void *), (room, room))                             \
	X(cudaDeviceSynchronize, (void), ())                                                       \
	X(cudaPeekAtLastError, (void), ())                                                         \
	X(cudaGetLastError, (void), ())                                                            \
	X(cudaStreamSynchronize_ptsz, (void *), (NULL))                                            \
	X(cudaMemcpyAsync_ptsz, (void *, const void *, size_t, int, void *),                       \
		(room, room + 4096, 64, 4, NULL))                                                  \
	X(cudaDeviceReset, (void), ())

/* Of CUDA 12 alone. */
#ifdef PROPERTIES_V2
#define NEWER(X) X(cudaGetDeviceProperties_v2, (void *, int), (room, 0))
#else
#define NEWER(X)
#endif

#define X(name, parameters, arguments) extern int name parameters;
CALLS(X)
NEWER(X)
#undef X

int main(void)
{
#define X(name, parameters, arguments) printf("%s %d\n", #name, name arguments);
	CALLS(X)
	NEWER(X)
#undef X
	for (size_t i = 0; i < sizeof(room); i++)
		number ^= room[i];
	printf("bytes %d\n", number);
	return 0;
}
