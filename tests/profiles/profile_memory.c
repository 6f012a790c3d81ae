/* SPDX-License-Identifier: MIT */
/* What allocating, releasing and pinning memory takes, against what real GPUs took. */
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

/*
 * Of an H100 only one cudaMalloc is known, 770 us of unknown size: the range around it is for 192
 * MiB, and 768 MiB may take the A100's share for each MiB more. Its other figures are the A100's,
 * and cudaFreeHost's are a T4's.
 */
static const struct row rows[] = {
	{"cudaMalloc 64 KiB", measure_malloc_small, SAME(2.4, 4.3), {ANY, ANY}},
	{"cudaMalloc 192 MiB", measure_malloc_192, {{300, 410}, {650, 890}}, {ANY, ANY}},
	{"cudaMalloc 768 MiB", measure_malloc_768, {{730, 890}, {770, 1300}}, {ANY, ANY}},
	{"cudaFree 64 MiB", measure_free, SAME(1100, 2600), {ANY, ANY}},
	{"cudaHostAlloc 8 MiB", measure_pin, SAME(3300, 3900), {ANY, ANY}},
	{"cudaFreeHost 8 MiB", measure_unpin, SAME(1200, 1500), {ANY, ANY}},
};

int main(int argc, char **argv)
{
	figures_check(rows, sizeof(rows) / sizeof(rows[0]), argc > 1 ? argv[1] : "a100");
	return test_result();
}
