/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_STEP_H
#define TFS_TESTS_PROGRAMS_RULE_STEP_H

/*
 * A trainer in little: one dense layer whose outputs are to become 0. rule_<id>_bad.c gives it one
 * bad habit, and marks the line; its twins set VARIANT and include it: CLEAN is the same without
 * that habit as the report advises and nothing else changed, TRAP does what only looks like it.
 * Traps that are to keep a wait have an ADVICE, which does without it in the way that the report
 * says, and a WRONG, which only leaves it out. They run on hardware too, and end with a line that
 * stands for all that they learned and saw: a twin's must be the same.
 *
 * What they take on the profile slow, by which marks have their costs: a call 10 us, work on an
 * idle stream 70 us until it starts, a kernel 40 us and 1 ns for a byte (or for 5 operations, where
 * that is longer), a copy 30 us and for a byte 0.8 ns where the host's memory is pinned, else 3.3
 * ns.
 */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BAD 0
#define CLEAN 1
#define TRAP 2
#define ADVICE 3
#define WRONG 4

/* Ends the program when a call of the runtime (or of cuBLAS, cuDNN: all have 0 for success) fails.
 */
#define NEED(call) rule_need(__FILE__, __LINE__, #call, (int)(call))

enum { INPUTS = 512, OUTPUTS = 128, BATCH = 128, STEPS = 90, SLOTS = 2 };
enum { WEIGHTS = INPUTS * OUTPUTS, BATCH_FLOATS = INPUTS * BATCH };

struct rule {
	cublasHandle_t blas;
	cudaStream_t stream;
	float *host[SLOTS]; /* pinned */
	float *input[SLOTS];
	cudaEvent_t copied[SLOTS];
	float *weight, *grad, *output;
};

static inline void rule_need(const char *file, int line, const char *call, int status)
{
	if (!status)
		return;
	printf("%s:%d: %s gave %d\n", file, line, call, status);
	exit(1);
}

static inline float *rule_alloc(size_t floats)
{
	void *memory = NULL;

	NEED(cudaMalloc(&memory, floats * sizeof(float)));
	NEED(cudaMemset(memory, 0, floats * sizeof(float)));
	NEED(cudaDeviceSynchronize());
	return memory;
}

/* So much of the device's memory. */
static inline void *rule_take(size_t percent)
{
	size_t there, memory;
	void *taken;

	NEED(cudaMemGetInfo(&there, &memory));
	NEED(cudaMalloc(&taken, memory / 100 * percent));
	return taken;
}

static inline void rule_fill(float *values, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		values[i] = scale * (float)((i * 2654435761u >> 16) % 201) - scale * 100;
}

static inline void rule_init(struct rule *r)
{
	float *start = malloc(WEIGHTS * sizeof(*start));

	if (!start)
		exit(1);
	NEED(cublasCreate(&r->blas));
	NEED(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	NEED(cublasSetStream(r->blas, r->stream));
	for (int i = 0; i < SLOTS; i++) {
		NEED(cudaMallocHost((void **)&r->host[i], BATCH_FLOATS * sizeof(float)));
		r->input[i] = rule_alloc(BATCH_FLOATS);
		NEED(cudaEventCreateWithFlags(&r->copied[i], cudaEventDisableTiming));
	}
	r->weight = rule_alloc(WEIGHTS);
	r->grad = rule_alloc(WEIGHTS);
	r->output = rule_alloc(OUTPUTS * BATCH);
	rule_fill(start, WEIGHTS, 1e-3f);
	NEED(cudaMemcpy(r->weight, start, WEIGHTS * sizeof(float), cudaMemcpyHostToDevice));
	free(start);
	NEED(cudaDeviceSynchronize());
}

/* Stands for reading and decoding the next images: 2 ms in which the host is busy. */
static inline void rule_prepare(float *images)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	static unsigned batches;

	nanosleep(&pause, NULL);
	rule_fill(images, BATCH_FLOATS, 1e-3f / (float)(1 + batches++ % 7));
}

/* A batch from pinned memory, with the next one prepared while the device works. */
static inline void rule_upload(struct rule *r, unsigned step)
{
	unsigned slot = step % SLOTS;

	NEED(cudaEventSynchronize(r->copied[slot]));
	rule_prepare(r->host[slot]);
	NEED(cudaMemcpyAsync(r->input[slot], r->host[slot], BATCH_FLOATS * sizeof(float),
		cudaMemcpyHostToDevice, r->stream));
	NEED(cudaEventRecord(r->copied[slot], r->stream));
}

static inline void rule_forward(struct rule *r, unsigned step)
{
	const float one = 1, zero = 0;

	NEED(cublasSgemm(r->blas, CUBLAS_OP_T, CUBLAS_OP_N, OUTPUTS, BATCH, INPUTS, &one, r->weight,
		INPUTS, r->input[step % SLOTS], INPUTS, &zero, r->output, OUTPUTS));
}

/* `beta` is 1 to add to what the gradient holds. */
static inline void rule_backward(struct rule *r, unsigned step, float beta)
{
	const float scale = 1.0f / BATCH;

	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_T, INPUTS, OUTPUTS, BATCH, &scale,
		r->input[step % SLOTS], INPUTS, r->output, OUTPUTS, &beta, r->grad, INPUTS));
}

static inline void rule_update(struct rule *r)
{
	const float rate = -0.01f;

	NEED(cublasSaxpy(r->blas, WEIGHTS, &rate, r->grad, 1, r->weight, 1));
}

/* A product that takes some milliseconds, on a small device and on a large one. */
struct rule_busy {
	float *squares;
	int size;
};

static inline struct rule_busy rule_busy_init(void)
{
	int processors, size;

	NEED(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
	size = processors < 32 ? 128 : 4096;
	return (struct rule_busy){rule_alloc((size_t)size * size * 2), size};
}

static inline void rule_keep_busy(struct rule *r, const struct rule_busy *busy)
{
	const float one = 1, zero = 0;
	int size = busy->size;

	NEED(cublasSgemm(r->blas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, busy->squares,
		size, busy->squares, size, &zero, busy->squares + (size_t)size * size, size));
}

/* Adds numbers of the host to what the last line stands for; with none, returns it. */
static inline uint64_t rule_see(const float *values, size_t count)
{
	static uint64_t seen = 14695981039346656037u;
	uint32_t bits;

	for (size_t i = 0; i < count; i++) {
		memcpy(&bits, &values[i], sizeof(bits));
		seen = (seen ^ bits) * 1099511628211u;
	}
	return seen;
}

/* The same with numbers of the device, which a file that RULE_VALUES names takes as well. */
static inline void rule_tell(const float *values, size_t count)
{
	const char *name = getenv("RULE_VALUES");
	FILE *file = name ? fopen(name, "ab") : NULL;
	float *host = malloc(count * sizeof(*host));

	if (!host)
		exit(1);
	NEED(cudaDeviceSynchronize());
	NEED(cudaMemcpy(host, values, count * sizeof(*host), cudaMemcpyDeviceToHost));
	rule_see(host, count);
	if (file) {
		fwrite(host, sizeof(*host), count, file);
		fclose(file);
	}
	free(host);
}

static inline void rule_finish(struct rule *r)
{
	rule_tell(r->weight, WEIGHTS);
	printf("all %016llx\n", (unsigned long long)rule_see(NULL, 0));
	NEED(cublasDestroy(r->blas));
}

#endif
