/* SPDX-License-Identifier: MIT */
#include "rules/evidence/gaps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/sort.h"

/* A framework's work for one launch takes tens of microseconds, seldom some hundreds; in a short
 * step what is a part of it is long already. */
#define LEAST_LONG_NS 50000.0
#define MOST_LAUNCHING_NS 500000.0
#define LONG_SHARE 0.05

/* The calls of threads that give the device work, by their start. */
struct order {
	struct tfs_key *keys;
	size_t count;
};

/* A wait with nothing to wait for takes less. */
#define WAITED_NS 20000u

/* Whether a call waited for the device. */
static bool waits(const struct tfs_steady *steady, const struct tfs_host_call *call, uint32_t place)
{
	if (call->end_ns - call->start_ns < WAITED_NS)
		return false;
	if (place != TFS_NONE)
		return steady->waits[place].wait != TFS_WAIT_NONE;
	return call->family == TFS_FAMILY_device_sync || call->family == TFS_FAMILY_stream_sync ||
	       call->family == TFS_FAMILY_event_sync;
}

double tfs_gaps_waits_ns(const struct tfs_steady *steady, uint32_t thread)
{
	double ns = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (call->thread == thread && call->end_ns - call->start_ns >= WAITED_NS)
			ns += (double)(call->end_ns - call->start_ns);
	}
	return ns / (double)steady->step_count;
}

double tfs_gaps_steps(const struct tfs_steady *steady)
{
	return (double)steady->step_count * fmax(1, tfs_timeline_working_devices(steady->timeline));
}

/* The first call that starts no sooner than this. */
static size_t order_at(const struct order *order, uint64_t ns)
{
	size_t low = 0, high = order->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (order->keys[middle].key < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the host waited since it last gave the device work, up to the nth call in order. */
static bool waited(const struct tfs_steady *steady, const struct order *order, size_t nth)
{
	for (size_t i = nth + 1; i-- > 0;) {
		const uint32_t call = order->keys[i].value;

		if (waits(steady, &steady->timeline->calls[call], steady->place[call]))
			return true;
		if (steady->timeline->calls[call].op_count)
			return false;
	}
	return false;
}

/* Walks back from the launch to the call during which, or behind which, the device fell idle. */
static void look_back(const struct tfs_steady *steady, const struct order *order,
	const struct tfs_idle *idle, struct tfs_gap *gap)
{
	const struct tfs_host_call *calls = steady->timeline->calls;
	uint64_t next_ns = calls[gap->launch].start_ns;
	size_t first = order_at(order, next_ns);
	uint32_t next = gap->launch;

	while (first > 0 && next_ns > idle->start_ns) {
		const struct tfs_host_call *call = &calls[order->keys[--first].value];
		const uint64_t from = call->end_ns > idle->start_ns ? call->end_ns : idle->start_ns;

		if (next_ns > from && (double)(next_ns - from) > gap->host_ns) {
			gap->host_ns = (double)(next_ns - from);
			gap->stretch_ns = (double)(next_ns - call->end_ns);
			gap->before = order->keys[first].value;
			gap->after = next;
		}
		next_ns = call->start_ns;
		next = order->keys[first].value;
		gap->waited |= waits(steady, call, steady->place[next]);
	}
	if (first < order->count)
		gap->waited |= waited(steady, order, first);
}

static bool *judged_steps(const struct tfs_steady *steady)
{
	bool *judged = calloc(steady->timeline->step_count + 1u, sizeof(*judged));

	for (uint32_t i = 0; judged && i < steady->step_count; i++)
		judged[steady->steps[i]] = true;
	return judged;
}

/* Threads count that give the device work in judged steps. */
static int order_init(const struct tfs_steady *steady, struct order *order)
{
	const struct tfs_timeline *timeline = steady->timeline;
	bool *launches = calloc(timeline->thread_count + 1u, sizeof(*launches));
	int err = -ENOMEM;

	order->count = 0;
	order->keys = malloc((timeline->call_count + 1u) * sizeof(*order->keys));
	for (uint32_t i = 0; launches && i < steady->call_count; i++)
		launches[tfs_steady_call(steady, i)->thread] |=
			tfs_steady_call(steady, i)->op_count > 0;
	for (uint32_t i = 0; launches && order->keys && i < timeline->call_count; i++)
		if (launches[timeline->calls[i].thread])
			order->keys[order->count++] =
				(struct tfs_key){timeline->calls[i].start_ns, i};
	if (launches && order->keys)
		err = tfs_sort_keys(order->keys, order->count);
	free(launches);
	return err;
}

int tfs_gaps_find(const struct tfs_steady *steady, struct tfs_gaps *out_gaps)
{
	const struct tfs_timeline *timeline = steady->timeline;
	bool *judged = judged_steps(steady);
	struct order order;
	int err = order_init(steady, &order);

	memset(out_gaps, 0, sizeof(*out_gaps));
	out_gaps->items = calloc(timeline->idle_count + 1u, sizeof(*out_gaps->items));
	if (!out_gaps->items || !judged)
		err = -ENOMEM;
	for (uint32_t i = 0; i < timeline->idle_count && !err; i++) {
		const struct tfs_idle *idle = &timeline->idles[i];
		struct tfs_gap gap = {i, timeline->ops[idle->next_op].call, TFS_NONE, TFS_NONE,
			(double)(idle->end_ns - idle->start_ns), 0, 0, false};

		if (idle->step == TFS_NONE || !judged[idle->step] || gap.launch == TFS_NONE ||
			steady->place[gap.launch] == TFS_NONE)
			continue;
		look_back(steady, &order, idle, &gap);
		out_gaps->items[out_gaps->count++] = gap;
	}
	free(judged);
	free(order.keys);
	if (err)
		tfs_gaps_finish(out_gaps);
	return err;
}

void tfs_gaps_finish(struct tfs_gaps *gaps)
{
	free(gaps->items);
	memset(gaps, 0, sizeof(*gaps));
}

double tfs_gaps_launching_ns(const struct tfs_steady *steady)
{
	return fmin(MOST_LAUNCHING_NS, fmax(LEAST_LONG_NS, LONG_SHARE * steady->step_ns));
}

bool tfs_gap_own_code(const struct tfs_steady *steady, const struct tfs_gap *gap)
{
	return gap->before != TFS_NONE && gap->host_ns > gap->idle_ns / 2 &&
	       gap->host_ns >= tfs_gaps_launching_ns(steady);
}
