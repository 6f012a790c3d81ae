/* SPDX-License-Identifier: MIT */
#include "tests/pairs/habits.h"

#include <string.h>

/* The host reads what was copied to it. */
#define READ_NS 5000
/* Small copies that could be one. */
#define PIECES 32

/* What habits use; a program has one of them. */
static struct {
	void *host[SLOTS]; /* pinned */
	void *pageable, *fitted;
	float *values, *other, *product;
	cudaEvent_t there[SLOTS], event;
	cudaStream_t stream;
	cublasHandle_t blas;
} own;

static int floats(const struct trainer *t)
{
	return (int)(t->layout.bytes / sizeof(float));
}

static void begin_values(struct trainer *t)
{
	own.values = trainer_alloc(t->layout.bytes);
	own.other = trainer_alloc(t->layout.bytes);
	own.pageable = malloc(t->layout.bytes);
	NEED(own.pageable ? cudaSuccess : cudaErrorMemoryAllocation);
	memset(own.pageable, 1, t->layout.bytes);
	for (unsigned i = 0; i < SLOTS; i++) {
		own.host[i] = trainer_pinned(t->layout.bytes);
		NEED(cudaEventCreateWithFlags(&own.there[i], cudaEventDisableTiming));
	}
}

static void begin_event(struct trainer *t)
{
	(void)t;
	NEED(cudaEventCreateWithFlags(&own.event, cudaEventDisableTiming));
}

/* As is advised: the values of the step before, from pinned memory that is used by turns. */
static void read_later(struct trainer *t, size_t bytes)
{
	const unsigned slot = t->step % SLOTS;

	NEED(cudaMemcpyAsync(own.host[slot], own.values, bytes, cudaMemcpyDeviceToHost, t->stream));
	NEED(cudaEventRecord(own.there[slot], t->stream));
	if (t->step > 0)
		NEED(cudaEventSynchronize(own.there[!slot]));
	trainer_host(READ_NS);
}

/* Something that the host is to know is computed. */
static void produce(struct trainer *t, int count)
{
	NEED(cublasScopy(t->blas, count, t->output, 1, own.values, 1));
}

static void act_101_down(struct trainer *t)
{
	produce(t, SIDE);
	if (t->layout.fixed) {
		read_later(t, t->layout.bytes);
		return;
	}
	NEED(cudaMemcpyAsync(
		own.pageable, own.values, t->layout.bytes, cudaMemcpyDeviceToHost, t->stream));
	trainer_host(READ_NS);
}

/* In pieces, or as is advised in one. */
static void copy_pieces(
	struct trainer *t, char *target, const char *source, enum cudaMemcpyKind kind)
{
	const size_t piece = t->layout.fixed ? t->layout.bytes : t->layout.bytes / PIECES;

	for (size_t at = 0; at < t->layout.bytes; at += piece)
		NEED(cudaMemcpyAsync(target + at, source + at, piece, kind, t->stream));
}

static void act_104_up(struct trainer *t)
{
	char *host = own.host[t->step % SLOTS];

	for (unsigned i = 0; i < PIECES; i++)
		memcpy(host + t->layout.bytes / PIECES * i, &t->step, sizeof(t->step));
	copy_pieces(t, (char *)own.values, own.host[t->step % SLOTS], cudaMemcpyHostToDevice);
	NEED(cublasScopy(t->blas, SIDE, own.values, 1, t->output, 1));
}

static void act_104_down(struct trainer *t)
{
	const unsigned slot = t->step % SLOTS;

	produce(t, SIDE);
	copy_pieces(t, own.host[slot], (const char *)own.values, cudaMemcpyDeviceToHost);
	NEED(cudaEventRecord(own.there[slot], t->stream));
	if (t->step > 0)
		NEED(cudaEventSynchronize(own.there[!slot]));
	trainer_host(READ_NS);
}

/* The device has it already. */
static void act_105(struct trainer *t)
{
	if (!t->layout.fixed)
		NEED(cudaMemcpyAsync(own.values, own.host[0], t->layout.bytes,
			cudaMemcpyHostToDevice, t->stream));
	NEED(cublasScopy(t->blas, SIDE, own.values, 1, t->output, 1));
}

/* Zeros that are added to. */
static void act_106(struct trainer *t)
{
	const float one = 1;

	if (t->layout.fixed)
		NEED(cudaMemsetAsync(own.values, 0, t->layout.bytes, t->stream));
	else
		NEED(cudaMemcpyAsync(own.values, own.host[0], t->layout.bytes,
			cudaMemcpyHostToDevice, t->stream));
	NEED(cublasSaxpy(t->blas, SIDE, &one, t->output, 1, own.values, 1));
}

/* What reads the copy can read what was copied. */
static void act_107(struct trainer *t)
{
	if (!t->layout.fixed)
		NEED(cudaMemcpyAsync(own.other, own.values, t->layout.bytes,
			cudaMemcpyDeviceToDevice, t->stream));
	NEED(cublasScopy(t->blas, SIDE, t->layout.fixed ? own.values : own.other, 1, t->output, 1));
}

/* Where there are two streams, the wait has the one come after the other; as is advised, an event
 * does that. */
static void keep_order(struct trainer *t)
{
	if (t->copies == t->stream)
		return;
	NEED(cudaEventRecord(own.event, t->stream));
	NEED(cudaStreamWaitEvent(t->copies, own.event, 0));
}

static void act_201_stream(struct trainer *t)
{
	if (t->layout.fixed)
		keep_order(t);
	else
		NEED(cudaStreamSynchronize(t->stream));
}

static void act_201_device(struct trainer *t)
{
	if (t->layout.fixed)
		keep_order(t);
	else
		NEED(cudaDeviceSynchronize());
}

static void act_201_event(struct trainer *t)
{
	NEED(cudaEventRecord(own.event, t->stream));
	if (t->layout.fixed)
		keep_order(t);
	else
		NEED(cudaEventSynchronize(own.event));
}

/* What follows is given to another stream. */
static void begin_201_between(struct trainer *t)
{
	begin_event(t);
	NEED(cudaEventCreateWithFlags(&own.there[0], cudaEventDisableTiming));
	NEED(cudaStreamCreate(&own.stream));
}

static void act_201_between(struct trainer *t)
{
	if (t->layout.fixed) {
		NEED(cudaEventRecord(own.event, t->stream));
		NEED(cudaStreamWaitEvent(own.stream, own.event, 0));
	} else {
		NEED(cudaDeviceSynchronize());
	}
	NEED(cublasSetStream(t->blas, own.stream));
}

static void settle_201_between(struct trainer *t)
{
	NEED(cudaEventRecord(own.there[0], own.stream));
	NEED(cudaStreamWaitEvent(t->stream, own.there[0], 0));
	NEED(cublasSetStream(t->blas, t->stream));
}

static void act_202_copy(struct trainer *t)
{
	produce(t, SIDE);
	if (t->layout.fixed) {
		read_later(t, t->layout.bytes);
		return;
	}
	NEED(cudaMemcpy(own.host[0], own.values, t->layout.bytes, cudaMemcpyDeviceToHost));
	trainer_host(READ_NS);
}

static void act_202_norm(struct trainer *t)
{
	float norm = 0;

	if (t->layout.fixed)
		NEED(cublasSetPointerMode(t->blas, CUBLAS_POINTER_MODE_DEVICE));
	NEED(cublasSnrm2(t->blas, SIDE * SIDE, t->output, 1, t->layout.fixed ? t->loss : &norm));
	if (t->layout.fixed)
		NEED(cublasSetPointerMode(t->blas, CUBLAS_POINTER_MODE_HOST));
}

static void act_203_wait(struct trainer *t)
{
	produce(t, SIDE);
	if (t->layout.fixed) {
		read_later(t, sizeof(float));
		return;
	}
	NEED(cudaMemcpyAsync(
		own.host[0], own.values, sizeof(float), cudaMemcpyDeviceToHost, t->stream));
	NEED(cudaStreamSynchronize(t->stream));
	trainer_host(READ_NS);
}

static void act_203_copy(struct trainer *t)
{
	produce(t, SIDE);
	if (t->layout.fixed) {
		read_later(t, sizeof(float));
		return;
	}
	NEED(cudaMemcpy(own.host[0], own.values, sizeof(float), cudaMemcpyDeviceToHost));
	trainer_host(READ_NS);
}

static void act_301_scale(struct trainer *t)
{
	const float half = 0.5f, eighth = 0.125f;

	for (int i = 0; i < (t->layout.fixed ? 1 : 3); i++)
		NEED(cublasSscal(
			t->blas, floats(t), t->layout.fixed ? &eighth : &half, own.values, 1));
	NEED(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &half, own.values, 64,
		own.values, 64, &half, own.other, 64));
}

static void act_401_device(struct trainer *t)
{
	void *memory = own.other;

	if (!t->layout.fixed)
		NEED(cudaMalloc(&memory, t->layout.bytes));
	NEED(cublasScopy(t->blas, floats(t), own.values, 1, memory, 1));
	if (!t->layout.fixed)
		NEED(cudaFree(memory));
}

/* A step needs a part of it, another one each time; a buffer is released for the next one. */
static void act_406(struct trainer *t)
{
	const size_t parts = 1 + t->step * 2 % 5, bytes = t->layout.bytes / 5 * parts;

	if (!t->layout.fixed) {
		NEED(cudaFree(own.fitted));
		NEED(cudaMalloc(&own.fitted, bytes));
	}
	NEED(cublasScopy(t->blas, (int)(bytes / sizeof(float)), own.values, 1,
		t->layout.fixed ? own.other : own.fitted, 1));
}

static void act_401_pinned(struct trainer *t)
{
	void *memory = own.host[0];

	if (!t->layout.fixed)
		NEED(cudaMallocHost(&memory, t->layout.bytes));
	NEED(cudaMemcpyAsync(
		own.values, memory, t->layout.bytes, cudaMemcpyHostToDevice, t->stream));
	if (!t->layout.fixed)
		NEED(cudaFreeHost(memory));
}

/* A product of as many numbers as the habit is about, in columns of the side's length. */
static void multiply(struct trainer *t, float beta)
{
	const float one = 1;
	const int columns = floats(t) / SIDE;

	NEED(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, columns, 64, &one, t->output,
		SIDE, own.other, 64, &beta, own.values, SIDE));
}

static void begin_603(struct trainer *t)
{
	begin_values(t);
	own.product = trainer_alloc(t->layout.bytes);
	if (t->layout.fixed)
		NEED(cublasSetMathMode(t->blas, CUBLAS_TF32_TENSOR_OP_MATH));
}

/* Of a square matrix with as many numbers as the habit is about. */
static int side_of(const struct trainer *t)
{
	int side = 8;

	while ((side + 8) * (side + 8) <= floats(t))
		side += 8;
	return side;
}

static void act_603(struct trainer *t)
{
	const float one = 1, zero = 0;
	const int side = side_of(t);

	NEED(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, own.values,
		side, own.other, side, &zero, own.product, side));
}

/* Of halves; repaired, the columns are padded. */
static void begin_604(struct trainer *t)
{
	begin_values(t);
	own.product = trainer_alloc(t->layout.bytes);
}

static void act_604(struct trainer *t)
{
	const float one = 1, zero = 0;
	const int padded = side_of(t), side = padded - 1, leading = t->layout.fixed ? padded : side;

	NEED(cublasGemmEx(t->blas, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, own.values,
		CUDA_R_16F, leading, own.other, CUDA_R_16F, leading, &zero, own.product, CUDA_R_16F,
		leading, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

static void act_402_added(struct trainer *t)
{
	if (!t->layout.fixed)
		NEED(cudaMemsetAsync(own.values, 0, t->layout.bytes, t->stream));
	multiply(t, t->layout.fixed ? 0 : 1);
}

static void act_402_overwritten(struct trainer *t)
{
	if (!t->layout.fixed)
		NEED(cudaMemsetAsync(own.values, 0, t->layout.bytes, t->stream));
	multiply(t, 0);
}

static void begin_408(struct trainer *t)
{
	unsigned long long keep = ~0ull;
	cudaMemPool_t pool;

	begin_values(t);
	begin_event(t);
	NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
	if (t->layout.fixed)
		NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
}

static void act_408(struct trainer *t)
{
	void *memory = NULL;

	NEED(cudaMallocAsync(&memory, t->layout.bytes, t->stream));
	NEED(cublasScopy(t->blas, floats(t), own.values, 1, memory, 1));
	NEED(cudaFreeAsync(memory, t->stream));
	NEED(cudaEventRecord(own.event, t->stream));
}

static void settle_408(struct trainer *t)
{
	(void)t;
	NEED(cudaEventSynchronize(own.event));
}

static void begin_608_handle(struct trainer *t)
{
	(void)t;
	NEED(cublasCreate(&own.blas));
}

static void act_608_handle(struct trainer *t)
{
	cublasHandle_t blas = own.blas;
	float scale = 0.5f;

	if (!t->layout.fixed)
		NEED(cublasCreate(&blas));
	NEED(cublasSetStream(blas, t->stream));
	NEED(cublasSscal(blas, SIDE, &scale, t->output, 1));
	if (!t->layout.fixed)
		NEED(cublasDestroy(blas));
}

static const struct habit habits[] = {
	{.name = "101-up", .pageable = true},
	{.name = "102-up", .blocking = true},
	{.name = "103-stream", .exposed = true},
	{.name = "101-down", .begin = begin_values, .act = act_101_down},
	{.name = "104-up", .begin = begin_values, .act = act_104_up},
	{.name = "104-down", .begin = begin_values, .act = act_104_down},
	{.name = "105-same", .begin = begin_values, .act = act_105},
	{.name = "106-zeros", .begin = begin_values, .act = act_106},
	{.name = "107-copy", .begin = begin_values, .act = act_107},
	{.name = "201-stream", .begin = begin_event, .act = act_201_stream},
	{.name = "201-device", .begin = begin_event, .act = act_201_device},
	{.name = "201-event", .begin = begin_event, .act = act_201_event},
	{.name = "201-between",
		.begin = begin_201_between,
		.act = act_201_between,
		.settle = settle_201_between},
	{.name = "202-copy", .begin = begin_values, .act = act_202_copy},
	{.name = "202-norm", .act = act_202_norm},
	{.name = "203-wait", .begin = begin_values, .act = act_203_wait},
	{.name = "203-copy", .begin = begin_values, .act = act_203_copy},
	{.name = "301-scale", .begin = begin_values, .act = act_301_scale},
	{.name = "302-launch", .launched = true},
	{.name = "303-update", .updated = true},
	{.name = "307-graph", .instantiated = true},
	{.name = "401-device", .begin = begin_values, .act = act_401_device},
	{.name = "401-pinned", .begin = begin_values, .act = act_401_pinned},
	{.name = "402-added", .begin = begin_values, .act = act_402_added},
	{.name = "402-overwritten", .begin = begin_values, .act = act_402_overwritten},
	{.name = "406-length", .begin = begin_values, .act = act_406},
	{.name = "408-pool", .begin = begin_408, .act = act_408, .settle = settle_408},
	{.name = "603-tf32", .begin = begin_603, .act = act_603},
	{.name = "604-columns", .begin = begin_604, .act = act_604},
	{.name = "608-handle", .begin = begin_608_handle, .act = act_608_handle},
	{.name = "701-load", .starved = true},
};

const struct habit *habit_find(const char *name)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (strcmp(habits[i].name, name) == 0)
			return &habits[i];
	return NULL;
}

void habits_print(void)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		puts(habits[i].name);
}
