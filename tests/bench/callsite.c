/* SPDX-License-Identifier: MIT */
/*
 * What naming a call site costs: a verified hit in the cache, and a miss that unwinds, at several
 * depths of stack. Prints medians of interleaved rounds; the reference in the same run is one
 * backtrace() of the same stack.
 */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/record/callsite.h"
#include "shim/record/hook.h"
#include "shim/record/recorder.h"
#include "shim/record/unwind.h"

#define ROUNDS 15
#define HITS 100000
#define MISSES 200

static const unsigned depths[] = {2, 6, 12, 24};
#define DEPTHS (sizeof(depths) / sizeof(depths[0]))

enum { HIT, MISS, BACKTRACE, KINDS };
static double results[DEPTHS][KINDS][ROUNDS];
static struct tfs_function function = {.name = "cudaMalloc", .id = 1};

static double elapsed_ns(uint64_t start, unsigned count)
{
	return (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start) / count;
}

static __attribute__((noinline)) void measure(size_t depth, int round)
{
	const uint64_t address = (uint64_t)__builtin_return_address(0);
	const uint64_t frame = (uint64_t)__builtin_dwarf_cfa();
	struct tfs_thread *thread = tfs_recorder_named_thread("bench");
	struct tfs_cache_entry *entry = &thread->cache.entries[0];
	void *frames[64];
	volatile unsigned good = 0;
	uint64_t start = tfs_clock_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < MISSES; i++)
		tfs_callsite_resolve(thread, entry, address, frame, &function);
	results[depth][MISS][round] = elapsed_ns(start, MISSES);
	start = tfs_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < HITS; i++)
		good += tfs_callsite_is(entry, address, frame, &function);
	results[depth][HIT][round] = elapsed_ns(start, HITS);
	start = tfs_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; i < MISSES; i++)
		good += (unsigned)backtrace(frames, 64);
	results[depth][BACKTRACE][round] = elapsed_ns(start, MISSES);
	if (good == 0)
		printf("no hit\n");
}

static __attribute__((noinline)) int descend(unsigned levels, size_t depth, int round)
{
	volatile char room[64];

	room[levels % 64] = 1;
	if (levels > 1)
		return descend(levels - 1, depth, round) + room[levels % 64];
	measure(depth, round);
	return room[levels % 64];
}

static int by_value(const void *one, const void *other)
{
	const double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

int main(void)
{
	char folder[] = "/tmp/tfshim-bench-XXXXXX";
	char pattern[64];

	if (!mkdtemp(folder))
		return 77;
	snprintf(pattern, sizeof(pattern), "%s/x", folder);
	setenv("TFSHIM_OUTPUT", pattern, 1);
	tfs_env_read();
	tfs_clock_init();
	if (tfs_recorder_begin() != 0)
		return 1;
	tfs_recorder_create();
	tfs_unwind_load();
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < DEPTHS; i++)
			descend(depths[i], i, round);
	printf("frames  verified hit   miss   backtrace()   [ns, median of %d rounds]\n", ROUNDS);
	for (size_t i = 0; i < DEPTHS; i++) {
		for (int kind = 0; kind < KINDS; kind++)
			qsort(results[i][kind], ROUNDS, sizeof(double), by_value);
		printf("%6u %13.1f %6.0f %13.0f\n", depths[i] + 3, results[i][HIT][ROUNDS / 2],
			results[i][MISS][ROUNDS / 2], results[i][BACKTRACE][ROUNDS / 2]);
	}
	snprintf(pattern, sizeof(pattern), "%s/x.tfs", folder);
	remove(pattern);
	remove(folder);
	return 0;
}
