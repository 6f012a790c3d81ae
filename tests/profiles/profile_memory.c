/* SPDX-License-Identifier: MIT */
/* What allocating, releasing and pinning memory takes, and making graphs, against what real GPUs
 * took. */
#include "figures.h"

static void measure_alloc(struct samples *s, size_t bytes, bool released)
{
	for (int i = 0; i < SAMPLES / 8; i++) {
		const double before = host_ns();
		double between;
		void *memory;

		OK(cudaMalloc(&memory, bytes));
		between = host_ns();
		OK(cudaDeviceSynchronize());

		const double after = host_ns();

		OK(cudaFree(memory));
		sample(s, released ? host_ns() - after : between - before);
	}
}

static void measure_malloc_small(struct samples *s)
{
	measure_alloc(s, 65536, false);
}

static void measure_malloc_64(struct samples *s)
{
	measure_alloc(s, 64 * MIB, false);
}

static void measure_malloc_192(struct samples *s)
{
	measure_alloc(s, 192 * MIB, false);
}

static void measure_malloc_768(struct samples *s)
{
	measure_alloc(s, 768 * MIB, false);
}

static void measure_free(struct samples *s)
{
	measure_alloc(s, 64 * MIB, true);
}

static void measure_pin(struct samples *s)
{
	for (int i = 0; i < SAMPLES / 8; i++) {
		const double before = host_ns();
		void *memory;

		OK(cudaHostAlloc(&memory, 8 * MIB, 0));
		sample(s, host_ns() - before);
		OK(cudaFreeHost(memory));
	}
}

static void measure_unpin(struct samples *s)
{
	for (int i = 0; i < SAMPLES / 8; i++) {
		void *memory;

		OK(cudaHostAlloc(&memory, 8 * MIB, 0));
		OK(cudaDeviceSynchronize());

		const double before = host_ns();

		OK(cudaFreeHost(memory));
		sample(s, host_ns() - before);
	}
}

static void measure_register(struct samples *s)
{
	void *memory = calloc(8, MIB);

	TEST_NEED(memory);
	for (int i = 0; i < SAMPLES / 8; i++) {
		const double before = host_ns();

		OK(cudaHostRegister(memory, 8 * MIB, 0));
		sample(s, host_ns() - before);
		OK(cudaHostUnregister(memory));
	}
	free(memory);
}

/* An executable graph of 64 launches: made, changed, gone. */
static void measure_graph(struct samples *s, unsigned which)
{
	static char *memory;
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t ready;
	cudaStream_t stream;
	cudaGraph_t graph;
	double at[4];

	OK(cudaMalloc((void **)&memory, 64));
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 64; i++)
		OK(cudaMemsetAsync(memory, 0, 64, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	for (int i = 0; i < SAMPLES / 8; i++) {
		at[0] = host_ns();
		OK(cudaGraphInstantiate(&ready, graph, 0));
		at[1] = host_ns();
		OK(cudaGraphExecUpdate(ready, graph, &info));
		at[2] = host_ns();
		OK(cudaGraphExecDestroy(ready));
		at[3] = host_ns();
		sample(s, at[which + 1] - at[which]);
	}
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(memory));
}

static void measure_instantiate(struct samples *s)
{
	measure_graph(s, 0);
}

static void measure_update(struct samples *s)
{
	measure_graph(s, 1);
}

static void measure_discard(struct samples *s)
{
	measure_graph(s, 2);
}

/*
 * The H100's are those of an H200 (95 us for cudaMalloc of 64 MiB, 85 to release it, 0.48 and 25 ms
 * for 1 and 64 MiB of pinned memory, 0.2 and 7.1 to release it, 0.73 for 8 MiB to be registered),
 * and what they say of other sizes; 770 us are known of an H100's cudaMalloc of unknown size. An
 * A100's cudaFreeHost and cudaHostRegister are a T4's, its graphs the H200's.
 */
static const struct row rows[] = {
	{"cudaMalloc 64 KiB", measure_malloc_small, SAME(2.4, 4.3), {ANY, ANY}},
	{"cudaMalloc 64 MiB", measure_malloc_64, {{200, 400}, {90, 100}}, {ANY, ANY}},
	{"cudaMalloc 192 MiB", measure_malloc_192, {{300, 410}, {270, 300}}, {ANY, ANY}},
	{"cudaMalloc 768 MiB", measure_malloc_768, {{730, 890}, {770, 1300}}, {ANY, ANY}},
	{"cudaFree 64 MiB", measure_free, {{1100, 2600}, {80, 95}}, {ANY, ANY}},
	{"cudaHostAlloc 8 MiB", measure_pin, {{3300, 3900}, {3100, 3900}}, {ANY, ANY}},
	{"cudaFreeHost 8 MiB", measure_unpin, {{1200, 1500}, {890, 1670}}, {ANY, ANY}},
	{"cudaHostRegister 8 MiB", measure_register, {{3300, 3900}, {700, 800}}, {ANY, ANY}},
	{"cudaGraphInstantiate of 64", measure_instantiate, SAME(47, 58), {ANY, ANY}},
	{"cudaGraphExecUpdate of 64", measure_update, SAME(2.3, 3.2), {ANY, ANY}},
	{"cudaGraphExecDestroy of 64", measure_discard, SAME(13, 20), {ANY, ANY}},
};

int main(int argc, char **argv)
{
	figures_check(rows, sizeof(rows) / sizeof(rows[0]), argc > 1 ? argv[1] : "a100");
	return test_result();
}
