/* SPDX-License-Identifier: MIT */
#include "rules/evidence/bandwidth.h"

#include <math.h>

#include "rules/evidence/steady.h"

/* What a copy takes besides its bytes. */
#define COPY_NS 1500.0
/* The simulated device's time of a pinned copy to that of a pageable one. */
#define SIMULATED_RATIO 0.25
/* A copy must be this large to tell a rate from it. */
#define TELLING_BYTES (256u << 10)
/* What the shortest kernel takes at most. */
#define MOST_FLOOR_NS 5000.0
#define MOST_FLOOR_SIMULATED_NS 50000.0
/* Of the memory's rate: what a kernel that only moves bytes attains, and what is beyond it. */
#define SLOWER 1.6
#define FASTER 1.1
/* What the second-level cache holds and how much faster it is, of most devices. */
#define CACHED_BYTES (32u << 20)
#define CACHE_RATIO 4.0
/* Up to here what a copy takes is not for its bytes. */
#define TINY_BYTES 4096u

static const struct tfs_device_record *device_of(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;

	return timeline->device_count ? timeline->devices[0].record : NULL;
}

/* Bytes per nanosecond of the link that came with this generation of devices. */
static double link_rate(const struct tfs_steady *steady)
{
	const struct tfs_device_record *device = device_of(steady);
	unsigned major = device ? device->compute >> 16 : 0;

	if (major >= 9)
		return 50;
	return major == 8 ? 24 : 12;
}

double tfs_copy_pinned_rate(const struct tfs_steady *steady, enum tfs_direction direction)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double best = 0;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op_record *op = timeline->ops[i].record;
		bool up = op->copy_kind == 1 && op->source_kind == TFS_MEMORY_PINNED;
		bool down = op->copy_kind == 2 && op->target_kind == TFS_MEMORY_PINNED;
		double ns = tfs_device_op_ns(&timeline->ops[i]), rate;

		if (op->operation != TFS_DEVICE_MEMCPY || op->bytes < TELLING_BYTES)
			continue;
		if (ns <= COPY_NS || !(direction == TFS_COPY_UP ? up : down))
			continue;
		rate = (double)op->bytes / (ns - COPY_NS);
		best = rate > best ? rate : best;
	}
	return best;
}

/* How long a copy between the device and pinned memory takes that takes `pageable_ns` from or to
 * pageable memory. */
static double pinned_ns(const struct tfs_steady *steady, enum tfs_direction direction,
	uint64_t bytes, double pageable_ns)
{
	const unsigned way = direction == TFS_COPY_UP ? 0 : 1;
	double rate = steady->pinned_rates[way], guess;

	/* A link is as fast in the one direction as in the other. */
	if (rate <= 0)
		rate = steady->pinned_rates[!way];
	if (rate > 0)
		return COPY_NS + (double)bytes / rate;
	guess = COPY_NS + (double)bytes / link_rate(steady);
	/* Not all of its profiles have the link of their device. */
	return steady->simulated ? fmax(guess, pageable_ns * SIMULATED_RATIO) : guess;
}

float tfs_copy_pinned_scale(const struct tfs_steady *steady, const struct tfs_host_call *call,
	const struct tfs_copy *copy)
{
	double now, then;

	if (copy->host_memory != TFS_MEMORY_PAGEABLE || copy->bytes <= TINY_BYTES)
		return 0;
	now = tfs_steady_device_ns(steady, call);
	then = pinned_ns(steady, copy->direction, copy->bytes, now);
	return now > 0 && then < now ? (float)(then / now) : 0;
}

bool tfs_memory_coherent(const struct tfs_steady *steady)
{
	return tfs_trace_fact(steady->timeline->trace, TFS_FACT_memory_coherent) != NULL;
}

double tfs_kernel_floor(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double shortest = steady->simulated ? MOST_FLOOR_SIMULATED_NS : MOST_FLOOR_NS;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		double ns = tfs_device_op_ns(&timeline->ops[i]);

		if (timeline->ops[i].record->operation == TFS_DEVICE_KERNEL && ns > 0)
			shortest = ns < shortest ? ns : shortest;
	}
	return shortest;
}

bool tfs_memory_paced(const struct tfs_steady *steady, double ns, double bytes)
{
	const struct tfs_device_record *device = device_of(steady);
	double rate = device ? (double)device->bandwidth / 1e9 : 0;
	bool cached = !steady->simulated && bytes <= CACHED_BYTES;

	if (rate <= 0)
		return false;
	return ns >= bytes / (rate * (cached ? CACHE_RATIO : FASTER)) &&
	       ns <= steady->kernel_floor_ns + bytes / rate * SLOWER;
}
