/* SPDX-License-Identifier: MIT */
#include "rules/bandwidth.h"

#include "rules/steady.h"

/* What a copy takes besides its bytes. */
#define COPY_NS 1500.0
/* The simulated device's time of a pinned copy to that of a pageable one. */
#define SIMULATED_RATIO 0.25
/* A copy must be this large to tell a rate from it. */
#define TELLING_BYTES (256u << 10)

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

double tfs_copy_pinned_ns(const struct tfs_steady *steady, enum tfs_direction direction,
	uint64_t bytes, double pageable_ns)
{
	double rate = steady->pinned_rates[direction == TFS_COPY_UP ? 0 : 1];

	if (rate <= 0 && steady->simulated)
		return pageable_ns * SIMULATED_RATIO;
	if (rate <= 0)
		rate = link_rate(steady);
	return COPY_NS + (double)bytes / rate;
}

bool tfs_memory_coherent(const struct tfs_steady *steady)
{
	return tfs_trace_fact(steady->timeline->trace, TFS_FACT_memory_coherent) != NULL;
}

double tfs_memory_rate(const struct tfs_steady *steady)
{
	const struct tfs_device_record *device = device_of(steady);

	return device ? (double)device->bandwidth / 1e9 : 0;
}
