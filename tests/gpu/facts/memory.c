/* SPDX-License-Identifier: MIT */
/*
 * What rewrites of copies and allocations stand on: how much of a copy is still under way when the
 * call returns, which mappings can be pinned, in what portions memory is given out, and how much
 * free memory libraries need before they fail. See fact.h.
 */
#include <cublas_v2.h>
#include <cudnn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/gpu/facts/fact.h"
#include "tests/promises/sim_gate.h"

#define MIB ((size_t)1 << 20)

enum { SIDE = 256, LEAST_LEFT = 16 };

static cudaStream_t stream;
static const size_t sizes[] = {
	1 << 10, 16 << 10, 64 << 10, (64 << 10) + 1, 256 << 10, 1 << 20, 16 << 20};

struct probe {
	struct gate gate;
	sem_t done;
};

static void *watchdog(void *argument)
{
	struct probe *probe = argument;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	sem_timedwait(&probe->done, &end);
	gate_open(&probe->gate);
	return NULL;
}

static size_t count_bytes(const unsigned char *device, unsigned char *into, size_t bytes, int value)
{
	size_t count = 0;

	OK(cudaMemcpy(into, device, bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < bytes; i++)
		count += into[i] == value;
	return count;
}

/* The source is written over as soon as the call returns: what of that arrives was not taken yet.
 */
static void in_flight(const char *name, size_t bytes, unsigned char *source, bool async)
{
	unsigned char *device, *back = malloc(bytes);
	char full[64];

	memset(source, 1, bytes);
	OK(cudaMalloc((void **)&device, bytes));
	OK(cudaDeviceSynchronize());
	if (async)
		OK(cudaMemcpyAsync(device, source, bytes, cudaMemcpyHostToDevice, stream));
	else
		OK(cudaMemcpy(device, source, bytes, cudaMemcpyHostToDevice));
	const bool busy = cudaStreamQuery(async ? stream : cudaStreamLegacy) == cudaErrorNotReady;
	memset(source, 2, bytes);
	cudaGetLastError();
	OK(cudaDeviceSynchronize());
	snprintf(full, sizeof(full), "%s-%zu-bytes", name, bytes);
	fact("in-flight", full, "stream %s on return, %zu bytes taken later",
		busy ? "busy" : "idle", count_bytes(device, back, bytes, 2));
	OK(cudaFree(device));
	free(back);
}

/* The same while the stream may not begin: does the call wait, and if not, was all taken? */
static void gated(size_t bytes, unsigned char *source)
{
	unsigned char *device, *back = malloc(bytes);
	struct probe probe;
	pthread_t thread;
	char full[64];

	memset(source, 1, bytes);
	OK(cudaMalloc((void **)&device, bytes));
	sem_init(&probe.done, 0, 0);
	OK(cudaDeviceSynchronize());
	gate_close(&probe.gate, stream);
	pthread_create(&thread, NULL, watchdog, &probe);
	OK(cudaMemcpyAsync(device, source, bytes, cudaMemcpyHostToDevice, stream));
	const bool waited = atomic_load(&probe.gate.passed);
	memset(source, 2, bytes);
	sem_post(&probe.done);
	pthread_join(thread, NULL);
	OK(cudaDeviceSynchronize());
	snprintf(full, sizeof(full), "gated-pageable-async-%zu-bytes", bytes);
	fact("in-flight", full, "%s, %zu bytes taken later", waited ? "waits" : "returns",
		count_bytes(device, back, bytes, 2));
	OK(cudaFree(device));
	free(back);
}

static void ask_in_flight(void)
{
	const size_t most = sizes[sizeof(sizes) / sizeof(*sizes) - 1];
	unsigned char *pageable = malloc(most), *pinned;

	OK(cudaMallocHost((void **)&pinned, most));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		in_flight("pageable", sizes[i], pageable, false);
		in_flight("pageable-async", sizes[i], pageable, true);
		in_flight("pinned", sizes[i], pinned, false);
		gated(sizes[i], pageable);
	}
	OK(cudaFreeHost(pinned));
	free(pageable);
}

static void pin(const char *name, void *mapping, size_t bytes, unsigned flags)
{
	if (mapping == MAP_FAILED) {
		fact("pinning", name, "no such mapping here");
		return;
	}
	const cudaError_t status = cudaHostRegister(mapping, bytes, flags);
	fact("pinning", name, "%s", cudaGetErrorName(status));
	if (status == cudaSuccess)
		OK(cudaHostUnregister(mapping));
	cudaGetLastError();
	munmap(mapping, bytes);
}

static void ask_pinning(void)
{
	const size_t bytes = 2 * MIB;
	const int memory = memfd_create("facts", MFD_CLOEXEC);
	const int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const int both = PROT_READ | PROT_WRITE;

	OK(ftruncate(memory, (off_t)bytes));
	pin("anonymous", mmap(NULL, bytes, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes, 0);
	pin("anonymous-shared", mmap(NULL, bytes, both, MAP_SHARED | MAP_ANONYMOUS, -1, 0), bytes,
		0);
	pin("memfd-shared", mmap(NULL, bytes, both, MAP_SHARED, memory, 0), bytes, 0);
	pin("memfd-private", mmap(NULL, bytes, both, MAP_PRIVATE, memory, 0), bytes, 0);
	pin("file-private", mmap(NULL, 4096, both, MAP_PRIVATE, own, 0), 4096, 0);
	pin("read-only", mmap(NULL, bytes, PROT_READ, MAP_SHARED, memory, 0), bytes, 0);
	pin("read-only-said", mmap(NULL, bytes, PROT_READ, MAP_SHARED, memory, 0), bytes,
		cudaHostRegisterReadOnly);
	close(memory);
	close(own);
}

static size_t free_bytes(void)
{
	size_t now = 0, total;

	OK(cudaMemGetInfo(&now, &total));
	return now;
}

/* Allocations of one byte: where they lie, and what they take from the free memory. */
static void ask_portions(void)
{
	enum { COUNT = 4096 };
	static char *blocks[COUNT];
	const size_t before = free_bytes();
	size_t nearest = SIZE_MAX, largest = 0, latest = before;

	for (int i = 0; i < COUNT; i++) {
		OK(cudaMalloc((void **)&blocks[i], 1));
		const size_t now = free_bytes();
		if (latest - now > largest)
			largest = latest - now;
		latest = now;
		if (i > 0 && blocks[i] > blocks[i - 1] &&
			(size_t)(blocks[i] - blocks[i - 1]) < nearest)
			nearest = (size_t)(blocks[i] - blocks[i - 1]);
	}
	fact("portions", "one-byte", "%zu bytes apart; %d take %zu bytes, %zu at a time", nearest,
		COUNT, before - latest, largest);
	for (int i = 0; i < COUNT; i++)
		OK(cudaFree(blocks[i]));
	fact("portions", "one-byte-freed", "%zu bytes are not given back", before - free_bytes());
}

static void ask_pool(void)
{
	cudaMemPool_t pool;
	void *block;
	uint64_t reserved = 0;

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMallocAsync(&block, 1, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
	fact("portions", "pool-one-byte", "%llu bytes reserved", (unsigned long long)reserved);
	OK(cudaFreeAsync(block, stream));
	OK(cudaStreamSynchronize(stream));
}

/* A product, with a handle made for it. */
static int use_cublas(float *data)
{
	const float one = 1;
	cublasHandle_t handle;
	int status = cublasCreate(&handle);

	if (status != 0)
		return status;
	status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, data, SIDE,
		data, SIDE, &one, data, SIDE);
	cublasDestroy(handle);
	return status;
}

static int use_cudnn(float *data)
{
	const float alpha = 1, beta = 0;
	cudnnTensorDescriptor_t tensor;
	cudnnHandle_t handle;
	int status = cudnnCreate(&handle);

	if (status != 0)
		return status;
	OK(cudnnCreateTensorDescriptor(&tensor));
	OK(cudnnSetTensor4dDescriptor(
		tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, SIDE, SIDE));
	status = cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE,
		&alpha, tensor, data, &beta, tensor, data);
	cudnnDestroyTensorDescriptor(tensor);
	cudnnDestroy(handle);
	return status;
}

/* All but so much of the free memory is taken; NULL where that cannot be. */
static void *leave_free(size_t left)
{
	const size_t now = free_bytes();
	void *taken = NULL;

	if (now <= left || cudaMalloc(&taken, now - left) != cudaSuccess)
		cudaGetLastError();
	return taken;
}

static void ask_failing(const char *name, int (*use)(float *data))
{
	size_t enough = 0, short_of = 0;
	int status = 0;
	float *data;

	OK(cudaMalloc((void **)&data, SIDE * SIDE * sizeof(*data)));
	OK(cudaMemset(data, 0, SIDE * SIDE * sizeof(*data)));
	OK(use(data));
	for (size_t left = 1024; left >= LEAST_LEFT && status == 0; left /= 2) {
		void *taken = leave_free(left * MIB);

		if (!taken)
			continue;
		status = use(data);
		if (cudaDeviceSynchronize() != cudaSuccess && status == 0)
			status = -1;
		cudaGetLastError();
		*(status == 0 ? &enough : &short_of) = left;
		OK(cudaFree(taken));
	}
	if (status != 0)
		fact("memory-left", name, "fails with %d at %zu MiB, not at %zu", status, short_of,
			enough);
	else
		fact("memory-left", name, "works with %zu MiB", enough);
	OK(cudaFree(data));
}

int main(void)
{
	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	ask_in_flight();
	ask_pinning();
	ask_portions();
	ask_pool();
	ask_failing("cublas", use_cublas);
	ask_failing("cudnn", use_cudnn);
	return test_result();
}
