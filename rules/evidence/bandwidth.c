/* SPDX-License-Identifier: MIT */
#include "rules/evidence/bandwidth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "rules/evidence/steady.h"

/* What a copy takes besides its bytes. */
#define COPY_NS 1500.0
/* The simulated device's time of a pinned copy to that of a pageable one. */
#define SIMULATED_RATIO 0.25
/* Links of its profiles reach that much less than is usual for their kind. */
#define GUESS 0.25
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

/* The link that came with a generation of devices. */
struct link {
	double rate;   /* bytes per nanosecond that are usual for it */
	double slower; /* by what share of its time a copy took longer on the slowest machine known
			*/
};

/*
 * Recordings of real devices: V100 12.3 to 13.1 bytes per nanosecond, T4 11.4 to 13.4; A100 25.7,
 * A10 25.2, but 17.3 in another server, 13.1 where the card has half the lanes, and 8.3 in a node
 * of eight; H100 27.7 while two copied at once.
 */
static struct link link_of(const struct tfs_steady *steady)
{
	const struct tfs_device_record *device = device_of(steady);
	unsigned major = device ? device->compute >> 16 : 0;

	if (major >= 9)
		return (struct link){50, 0.85};
	return major == 8 ? (struct link){24, 1.9} : (struct link){12, 0.25};
}

static bool is_pinned(const struct tfs_device_op_record *op, enum tfs_direction direction)
{
	if (direction == TFS_COPY_UP)
		return op->copy_kind == 1 && op->source_kind == TFS_MEMORY_PINNED;
	return op->copy_kind == 2 && op->target_kind == TFS_MEMORY_PINNED;
}

static int compare_rates(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the recorded copies: the best of them ran while nothing else used the link. Fills
 * `rates`, which has room for one of each operation. */
static double usual_rate(
	const struct tfs_timeline *timeline, enum tfs_direction direction, double *rates)
{
	size_t count = 0;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op_record *op = timeline->ops[i].record;
		const double ns = tfs_device_op_ns(&timeline->ops[i]);

		if (op->operation == TFS_DEVICE_MEMCPY && op->bytes >= TELLING_BYTES &&
			ns > COPY_NS && is_pinned(op, direction))
			rates[count++] = (double)op->bytes / (ns - COPY_NS);
	}
	if (count == 0)
		return 0;
	qsort(rates, count, sizeof(*rates), compare_rates);
	return rates[count / 2];
}

int tfs_copy_pinned_rates(const struct tfs_steady *steady, double out_rates[2])
{
	const struct tfs_timeline *timeline = steady->timeline;
	double *rates = malloc(((size_t)timeline->op_count + 1) * sizeof(*rates));

	if (!rates)
		return -ENOMEM;
	out_rates[0] = usual_rate(timeline, TFS_COPY_UP, rates);
	out_rates[1] = usual_rate(timeline, TFS_COPY_DOWN, rates);
	free(rates);
	return 0;
}

double tfs_copy_pinned_doubt(const struct tfs_steady *steady)
{
	if (steady->pinned_rates[0] > 0 || steady->pinned_rates[1] > 0)
		return 0;
	return steady->simulated ? GUESS : link_of(steady).slower;
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
	guess = COPY_NS + (double)bytes / link_of(steady).rate;
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

double tfs_memory_pass_ns(const struct tfs_steady *steady, double bytes)
{
	const struct tfs_device_record *device = device_of(steady);
	const double rate = device ? (double)device->bandwidth / 1e9 : 0;

	return rate > 0 ? steady->kernel_floor_ns + bytes / rate : 0;
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
