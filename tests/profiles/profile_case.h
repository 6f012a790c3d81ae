/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROFILES_PROFILE_CASE_H
#define TFS_TESTS_PROFILES_PROFILE_CASE_H

/*
 * For programs that hold a profile against what real GPUs did. All times are read on the modelled
 * timeline, which is the same whatever else this machine does: the host's by host_ns(), the
 * device's by what the core tells a listener of each operation.
 */

#include <cuda_runtime_api.h>

#include "tests/promises/sim_gate.h"
#include "tests/sim/core/core.h"

#define SAMPLES 400

struct span {
	uint64_t start_ns, end_ns;
};

/* The newest operation that has a record, and how long all have kept the device busy. */
static struct span last_op;

static inline void hear(const struct tfsim_fact *fact)
{
	if (fact->kind == TFSIM_FACT_KERNEL || fact->kind == TFSIM_FACT_MEMCPY ||
		fact->kind == TFSIM_FACT_MEMSET)
		last_op = (struct span){fact->modelled_start_ns, fact->modelled_end_ns};
}

static inline void listen(void)
{
	static const struct tfsim_sink sink = {.fact = hear};

	tfsim_sink_set(&sink);
}

static inline double host_ns(void)
{
	return (double)tfsim_host_modelled_ns();
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct samples {
	double ns[SAMPLES];
	unsigned count;
};

static inline void sample(struct samples *s, double ns)
{
	if (s->count < SAMPLES)
		s->ns[s->count++] = ns;
}

static inline double quantile(struct samples *s, double part)
{
	qsort(s->ns, s->count, sizeof(s->ns[0]), by_size);
	return s->count ? s->ns[(unsigned)(part * (s->count - 1))] : -1;
}

/* A launch of a kernel that takes so long, as the runtime would make it. */
static inline void launch(cudaStream_t stream, uint64_t cost_ns, unsigned blocks)
{
	const struct tfsim_work work = {
		.kind = TFSIM_KERNEL,
		.name = "work",
		.cost_ns = cost_ns,
		.grid = {blocks, 1, 1},
		.block = {256, 1, 1},
	};

	OK(tfsim_enqueue(stream, &work));
}

#endif
