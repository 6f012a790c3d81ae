/* SPDX-License-Identifier: MIT */
/*
 * Threads give one device work in all manners at once. However they come in between each other, on
 * either timeline a stream's work follows each other, a wait for an event lets nothing pass, and no
 * engine has more to do at a time than it can.
 */
#include <pthread.h>

#include "tests/profiles/profile_case.h"

#define THREADS 6
#define ROUNDS 60
#define BYTES ((size_t)256 << 10)
#define MAX_FACTS 65536

struct thread {
	pthread_t id;
	unsigned seed;
	cudaStream_t own;
	cudaEvent_t event;
	char *device, *pinned, *pageable, *managed;
};

struct use {
	uint64_t ns;
	double share; /* negative where it ends */
};

static struct tfsim_fact facts[MAX_FACTS];
static _Atomic unsigned fact_count;
static struct thread threads[THREADS];
static cudaStream_t shared[2];
static double device_blocks;

static void keep(const struct tfsim_fact *fact)
{
	unsigned at;

	if (fact->kind != TFSIM_FACT_KERNEL && fact->kind != TFSIM_FACT_MEMCPY &&
		fact->kind != TFSIM_FACT_MEMSET)
		return;
	at = fact_count++;
	if (at < MAX_FACTS)
		facts[at] = *fact;
}

static unsigned pick(struct thread *self, unsigned limit)
{
	self->seed = self->seed * 1664525u + 1013904223u;
	return (self->seed >> 16) % limit;
}

static void nothing(void *data)
{
	atomic_fetch_add((atomic_int *)data, 1);
}

static void churn(struct thread *self, cudaStream_t stream)
{
	void *pooled;

	OK(cudaMallocAsync(&pooled, BYTES, stream));
	OK(cudaMemsetAsync(pooled, 1, BYTES, stream));
	OK(cudaMemcpyAsync(self->device, pooled, BYTES, cudaMemcpyDeviceToDevice, stream));
	OK(cudaFreeAsync(pooled, stream));
}

static void scatter(struct thread *self)
{
	cudaStream_t brief;

	OK(cudaStreamCreateWithFlags(&brief, pick(self, 2)));
	OK(cudaStreamWaitEvent(brief, threads[pick(self, THREADS)].event, 0));
	launch(brief, 30000, 100 + pick(self, 1000));
	OK(cudaMemcpyAsync(self->pinned, self->device, BYTES, cudaMemcpyDeviceToHost, brief));
	OK(cudaStreamDestroy(brief));
}

static void act(struct thread *self, cudaStream_t stream)
{
	static atomic_int calls;

	switch (pick(self, 12)) {
	case 0:
		return churn(self, stream);
	case 1:
		return scatter(self);
	case 2:
		OK(cudaLaunchHostFunc(stream, nothing, &calls));
		return;
	case 3:
		OK(cudaStreamWaitEvent(stream, threads[pick(self, THREADS)].event, 0));
		return;
	case 4:
		OK(cudaMemcpyAsync(
			self->device, self->pageable, BYTES, cudaMemcpyHostToDevice, stream));
		return;
	case 5:
		OK(cudaMemcpyAsync(
			self->pinned, self->device, BYTES, cudaMemcpyDeviceToHost, stream));
		return;
	case 6:
		OK(cudaMemsetAsync(self->managed, 1, BYTES, stream));
		return;
	case 7:
		self->managed[pick(self, BYTES)]++;
		OK(pick(self, 2) ? cudaStreamSynchronize(stream) : cudaDeviceSynchronize());
		return;
	case 8:
		OK(cudaEventSynchronize(threads[pick(self, THREADS)].event));
		return;
	default:
		launch(stream, 2000 + pick(self, 40000), 1 + pick(self, 2000));
	}
}

static void *work(void *argument)
{
	struct thread *self = argument;

	for (int i = 0; i < ROUNDS; i++) {
		const unsigned which = pick(self, 5);
		cudaStream_t stream = which < 2 ? shared[which] : which < 4 ? self->own : NULL;

		act(self, stream ? stream : cudaStreamPerThread);
		if (i % 4 == 0)
			OK(cudaEventRecord(self->event, self->own));
	}
	return NULL;
}

static uint64_t start_of(const struct tfsim_fact *fact, bool modelled)
{
	return modelled ? fact->modelled_start_ns : fact->start_ns;
}

static uint64_t end_of(const struct tfsim_fact *fact, bool modelled)
{
	return modelled ? fact->modelled_end_ns : fact->end_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->share < y->share ? -1 : x->share > y->share;
}

static double share_of(const struct tfsim_fact *fact)
{
	const double share = fact->kind == TFSIM_FACT_KERNEL ? fact->grid.x / device_blocks : 1;

	return share < 1 ? share : 1;
}

/* An engine (0: arithmetic, 1: up, 2: down), or with `stream` one stream, is nowhere overfull. */
static void check(unsigned engine, uint32_t stream, bool modelled)
{
	static struct use uses[2 * MAX_FACTS];
	unsigned count = 0;
	double sum = 0, most = 0;

	for (unsigned i = 0; i < fact_count; i++) {
		const struct tfsim_fact *fact = &facts[i];
		const unsigned own = fact->kind != TFSIM_FACT_MEMCPY || fact->copy_kind == 8
					     ? 0
					     : fact->copy_kind;
		const double share = stream ? 1 : share_of(fact);

		if (stream ? fact->stream != stream : own != engine)
			continue;
		uses[count++] = (struct use){start_of(fact, modelled), share};
		uses[count++] = (struct use){end_of(fact, modelled), -share};
	}
	qsort(uses, count, sizeof(uses[0]), by_time);
	for (unsigned i = 0; i < count; i++) {
		sum += uses[i].share;
		most = sum > most ? sum : most;
	}
	if (!TEST_TRUE(most < 1.00001))
		printf("engine %u, stream %u, %s: %f\n", engine, stream,
			modelled ? "modelled" : "shown", most);
}

static void prepare(struct thread *self, unsigned seed)
{
	self->seed = seed;
	OK(cudaStreamCreateWithFlags(&self->own, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&self->event, cudaEventDisableTiming));
	OK(cudaMalloc((void **)&self->device, BYTES));
	OK(cudaMallocHost((void **)&self->pinned, BYTES));
	OK(cudaMallocManaged((void **)&self->managed, BYTES, cudaMemAttachGlobal));
	self->pageable = calloc(1, BYTES);
	TEST_NEED(self->pageable);
}

int main(void)
{
	static const struct tfsim_sink sink = {.fact = keep};
	uint32_t last = 0;
	struct cudaDeviceProp prop;

	OK(cudaGetDeviceProperties(&prop, 0));
	device_blocks = prop.multiProcessorCount * 8;
	for (unsigned i = 0; i < 2; i++)
		OK(cudaStreamCreateWithFlags(
			&shared[i], i ? cudaStreamDefault : cudaStreamNonBlocking));
	for (unsigned i = 0; i < THREADS; i++)
		prepare(&threads[i], i);
	tfsim_sink_set(&sink);
	for (unsigned i = 0; i < THREADS; i++)
		TEST_EQ(pthread_create(&threads[i].id, NULL, work, &threads[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	OK(cudaDeviceSynchronize());
	tfsim_sink_set(NULL);
	TEST_NEED(fact_count > 0 && fact_count < MAX_FACTS);
	for (unsigned i = 0; i < fact_count; i++)
		last = facts[i].stream > last ? facts[i].stream : last;
	for (unsigned modelled = 0; modelled < 2; modelled++) {
		for (unsigned engine = 0; engine < 3; engine++)
			check(engine, 0, modelled);
		for (uint32_t stream = 1; stream <= last; stream++)
			check(0, stream, modelled);
	}
	printf("%u operations\n", fact_count);
	return test_result();
}
