/* SPDX-License-Identifier: MIT */
#include "tests/pairs/trainer.h"

#include <string.h>
#include <time.h>

#include "tests/pairs/habits.h"
#include "tests/pairs/worker.h"

/* Operations for a nanosecond, by which a kernel has the length that was asked for. */
#define OPERATIONS 13600.0
#define FIRST_STEPS 10

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void trainer_host(uint64_t ns)
{
	const struct timespec span = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	if (getenv("MODELLED_THREADS")) {
		nanosleep(&span, NULL);
		return;
	}
	/* To sleep for microseconds takes a real machine tens of them. */
	for (const double end_ns = now_ns() + (double)ns; now_ns() < end_ns;) {
	}
}

void *trainer_alloc(size_t bytes)
{
	void *memory = NULL;

	NEED(cudaMalloc(&memory, bytes));
	NEED(cudaMemset(memory, 0, bytes));
	return memory;
}

void *trainer_pinned(size_t bytes)
{
	void *memory = NULL;

	NEED(cudaMallocHost(&memory, bytes));
	return memory;
}

static void init_layers(struct trainer *t)
{
	int most = 1;

	for (unsigned i = 0; i < t->layout.layers; i++) {
		const uint64_t ns =
			layout_draw(&t->sequence, t->layout.shortest_ns, t->layout.longest_ns);
		const double inner = (double)ns * OPERATIONS / (2.0 * SIDE * SIDE);
		const size_t bytes = (size_t)(inner + 1) * SIDE * sizeof(float);

		t->inner[i] = (int)inner + 1;
		most = t->inner[i] > most ? t->inner[i] : most;
		t->weight[i] = trainer_alloc(bytes);
		t->grad[i] = trainer_alloc(bytes);
	}
	for (unsigned i = 0; i < t->layout.layers; i++)
		t->all += t->inner[i] * SIDE;
	if (t->habit->updated) {
		t->all_weights = trainer_alloc((size_t)t->all * sizeof(float));
		t->all_grads = trainer_alloc((size_t)t->all * sizeof(float));
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		const size_t needed = (size_t)most * SIDE * sizeof(float);

		t->input[i] = trainer_alloc(needed > t->layout.batch ? needed : t->layout.batch);
		t->batch[i] = trainer_pinned(t->layout.batch);
		NEED(cudaEventCreateWithFlags(&t->done[i], cudaEventDisableTiming));
		NEED(cudaEventCreateWithFlags(&t->copied[i], cudaEventDisableTiming));
	}
	t->pageable = calloc(1, t->layout.batch);
	NEED(t->pageable ? cudaSuccess : cudaErrorMemoryAllocation);
	t->output = trainer_alloc((size_t)SIDE * SIDE * sizeof(float));
	t->loss = trainer_alloc(sizeof(float));
	t->seen = trainer_pinned(sizeof(float));
}

/* As is advised: a batch is copied while the one before is computed. */
static bool prefetches(const struct trainer *t)
{
	return t->habit->exposed && t->layout.fixed;
}

static void init(struct trainer *t)
{
	NEED(cublasCreate(&t->blas));
	NEED(cudaStreamCreate(&t->stream));
	t->copies = t->stream;
	if (t->layout.streams > 1 || prefetches(t))
		NEED(cudaStreamCreate(&t->copies));
	NEED(cublasSetStream(t->blas, t->stream));
	t->sequence = t->layout.seed;
	init_layers(t);
	t->acts_at = (unsigned)(3 * t->layout.layers * t->layout.at / 1000);
	if (t->habit->begin)
		t->habit->begin(t);
	NEED(cudaDeviceSynchronize());
}

/* Before each launch: the host has something of its own to do, and the habit may have its turn. */
static void before_launch(struct trainer *t)
{
	if (t->launched++ == t->acts_at && t->habit->act)
		t->habit->act(t);
	if (t->layout.between_ns)
		trainer_host(layout_draw(&t->sequence, 0, 2 * t->layout.between_ns));
}

/* Where the host makes batches for longer than the device needs for a step, others can do so for
 * it: it finds them ready. */
static void make_batch(struct trainer *t)
{
	uint64_t ns = t->layout.load_ns;

	if (t->habit->starved)
		ns += 3 * t->layout.layers * (t->layout.longest_ns + t->layout.between_ns);
	if (!t->habit->starved || !t->layout.fixed)
		trainer_host(layout_draw(&t->sequence, ns * 9 / 10, ns * 11 / 10));
}

static void load_batch(struct trainer *t, unsigned step)
{
	const unsigned slot = step % SLOTS;
	const bool pageable = t->habit->pageable && !t->layout.fixed;

	if (prefetches(t))
		NEED(cudaStreamWaitEvent(t->copies, t->done[slot], 0));
	else
		NEED(cudaEventSynchronize(t->done[slot]));
	NEED(cudaEventSynchronize(t->copied[slot]));
	make_batch(t);
	/* No two are the same. */
	*(unsigned *)(pageable ? t->pageable : t->batch[slot]) = step;
	if (t->habit->blocking && !t->layout.fixed) {
		NEED(cudaMemcpy(
			t->input[slot], t->batch[slot], t->layout.batch, cudaMemcpyHostToDevice));
		return;
	}
	NEED(cudaMemcpyAsync(t->input[slot], pageable ? t->pageable : t->batch[slot],
		t->layout.batch, cudaMemcpyHostToDevice, t->copies));
	NEED(cudaEventRecord(t->copied[slot], t->copies));
}

/* The step's batch; what computes comes behind its copy. */
static void take_batch(struct trainer *t)
{
	if (!prefetches(t) || !t->step)
		load_batch(t, t->step);
	if (prefetches(t))
		load_batch(t, t->step + 1);
	if (t->copies != t->stream && (!t->habit->blocking || t->layout.fixed))
		NEED(cudaStreamWaitEvent(t->stream, t->copied[t->step % SLOTS], 0));
}

static void forward(struct trainer *t)
{
	const float one = 1, zero = 0;

	for (unsigned i = 0; i < t->layout.layers; i++) {
		before_launch(t);
		NEED(cublasSgemm(t->blas, CUBLAS_OP_T, CUBLAS_OP_N, SIDE, SIDE, t->inner[i], &one,
			t->weight[i], t->inner[i], t->input[t->step % SLOTS], t->inner[i], &zero,
			t->output, SIDE));
	}
}

static void backward(void *trainer)
{
	struct trainer *t = trainer;
	const float one = 1, zero = 0;

	for (unsigned i = (unsigned)t->layout.layers; i-- > 0;) {
		before_launch(t);
		NEED(cublasSgemm(t->blas, CUBLAS_OP_N, CUBLAS_OP_T, t->inner[i], SIDE, SIDE, &one,
			t->input[t->step % SLOTS], t->inner[i], t->output, SIDE, &zero, t->grad[i],
			t->inner[i]));
		before_launch(t);
		NEED(cublasSgemm(t->blas, CUBLAS_OP_T, CUBLAS_OP_N, SIDE, SIDE, t->inner[i], &one,
			t->weight[i], t->inner[i], t->grad[i], t->inner[i], &zero, t->output,
			SIDE));
	}
}

static void update(struct trainer *t)
{
	const float rate = -0.01f;

	if (t->habit->updated && t->layout.fixed) {
		NEED(cublasSaxpy(t->blas, t->all, &rate, t->all_grads, 1, t->all_weights, 1));
		return;
	}
	for (unsigned i = 0; i < t->layout.layers; i++)
		NEED(cublasSaxpy(
			t->blas, t->inner[i] * SIDE, &rate, t->grad[i], 1, t->weight[i], 1));
}

/* Seldom, as the loss is of use to people. */
static void look(struct trainer *t)
{
	if (!t->layout.every || t->step % t->layout.every)
		return;
	NEED(cudaMemcpyAsync(t->seen, t->output, sizeof(float), cudaMemcpyDeviceToHost, t->stream));
	NEED(cudaStreamSynchronize(t->stream));
}

static cudaGraph_t capture(struct trainer *t)
{
	cudaGraph_t captured;

	NEED(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
	forward(t);
	backward(t);
	update(t);
	NEED(cudaStreamEndCapture(t->stream, &captured));
	return captured;
}

/* The inputs take turns: what was captured has other addresses each time. */
static void launch_anew(struct trainer *t)
{
	const cudaGraph_t captured = capture(t);
	cudaGraphExecUpdateResultInfo result;

	if (t->graph[0] && t->layout.fixed)
		NEED(cudaGraphExecUpdate(t->graph[0], captured, &result));
	else
		NEED(cudaGraphInstantiate(&t->graph[0], captured, 0));
	NEED(cudaGraphDestroy(captured));
	NEED(cudaGraphLaunch(t->graph[0], t->stream));
	if (!t->layout.fixed)
		NEED(cudaGraphExecDestroy(t->graph[0]));
}

/* As is advised: captured once for each of the inputs. */
static void launch_graph(struct trainer *t)
{
	cudaGraphExec_t *graph = &t->graph[t->step % SLOTS];

	if (!*graph) {
		const cudaGraph_t captured = capture(t);

		NEED(cudaGraphInstantiate(graph, captured, 0));
		NEED(cudaGraphDestroy(captured));
	}
	NEED(cudaGraphLaunch(*graph, t->stream));
}

static void train_step(struct trainer *t, struct worker *worker)
{
	t->launched = 0;
	take_batch(t);
	if (t->habit->instantiated || (t->habit->launched && t->layout.fixed)) {
		(t->habit->instantiated ? launch_anew : launch_graph)(t);
		look(t);
		NEED(cudaEventRecord(t->done[t->step % SLOTS], t->stream));
		return;
	}
	forward(t);
	if (worker)
		worker_do(worker, backward, t);
	else
		backward(t);
	if (t->launched <= t->acts_at && t->habit->act)
		t->habit->act(t);
	if (t->habit->settle)
		t->habit->settle(t);
	update(t);
	look(t);
	NEED(cudaEventRecord(t->done[t->step % SLOTS], t->stream));
}

int main(int count, char **arguments)
{
	struct trainer t = {.layout = layout_read(count, arguments)};
	struct worker *worker = t.layout.threads > 1 ? worker_create() : NULL;
	double start_ns = 0;

	if (count == 1) {
		habits_print();
		return 0;
	}
	t.habit = habit_find(t.layout.habit);
	if (!t.habit || !t.layout.layers || t.layout.layers > MOST_LAYERS) {
		fprintf(stderr, "unknown habit '%s', or too many layers\n", t.layout.habit);
		return 2;
	}
	init(&t);
	/* What is done once, at the first call of its kind, is not a step's. From there on the host
	 * is as far ahead at one step as at another. */
	for (; t.step < t.layout.steps; t.step++) {
		if (t.step == FIRST_STEPS)
			start_ns = now_ns();
		train_step(&t, worker);
	}
	printf("step %.0f ns\n", (now_ns() - start_ns) / ((double)t.layout.steps - FIRST_STEPS));
	NEED(cudaDeviceSynchronize());
	worker_destroy(worker);
	return 0;
}
