/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rules/evidence/pauses.h"

#define SAMPLES 64u
#define TO_HOST 2 /* CUPTI's number */

/* Until its first recorded operation begins, a device may be at what was launched before. */
static int add_unseen(struct tfs_pauses *pauses, const struct tfs_timeline *timeline,
	const struct tfs_window *window)
{
	uint64_t first_ns = window->end_ns;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const uint64_t start_ns = timeline->ops[i].start_ns;

		if (start_ns >= window->start_ns && start_ns < first_ns)
			first_ns = start_ns;
	}
	return tfs_intervals_add(&pauses->busy, window->start_ns, first_ns);
}

int tfs_pauses_find_busy(struct tfs_pauses *pauses, const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	int err = 0;

	for (uint32_t i = 0; i < timeline->op_count && !err; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (op->record->operation != TFS_DEVICE_MEMCPY || op->record->copy_kind != TO_HOST)
			err = tfs_intervals_add(&pauses->busy, op->start_ns, op->end_ns);
	}
	for (uint32_t i = 0; i < timeline->window_count && !err; i++)
		err = add_unseen(pauses, timeline, &timeline->windows[i]);
	tfs_intervals_unite(&pauses->busy);
	return err;
}

/* A stretch of the host's time. */
struct stretch {
	uint64_t start_ns, end_ns;
};

/* In a call, and the host's own before it. */
struct spent {
	struct stretch in, before;
};

static struct spent spent(const struct tfs_timeline *timeline, uint32_t call)
{
	const struct tfs_host_call *it = &timeline->calls[call];
	struct spent spent = {{it->start_ns, it->end_ns}, {it->start_ns, it->start_ns}};

	if (call > timeline->threads[it->thread].first_call)
		spent.before.start_ns = timeline->calls[call - 1].end_ns;
	return spent;
}

static double length_ns(struct stretch it)
{
	return it.end_ns > it.start_ns ? (double)(it.end_ns - it.start_ns) : 0;
}

/* What such calls take in judged steps, on average of some. */
struct usual {
	double in_ns, before_ns;
	uint32_t calls;
};

static struct usual usual(const struct tfs_steady *steady, uint32_t call)
{
	const struct tfs_host_call *it = &steady->timeline->calls[call];
	struct usual sum = {0};

	for (uint32_t i = 0; i < steady->call_count && sum.calls < SAMPLES; i++) {
		const struct tfs_host_call *other = tfs_steady_call(steady, i);
		struct spent its;

		if (other == it || other->record->site != it->record->site ||
			other->function != it->function || other->thread != it->thread)
			continue;
		its = spent(steady->timeline, steady->calls[i]);
		sum.in_ns += length_ns(its.in);
		sum.before_ns += length_ns(its.before);
		sum.calls++;
	}
	if (sum.calls) {
		sum.in_ns /= sum.calls;
		sum.before_ns /= sum.calls;
	}
	return sum;
}

/* How much longer than usual it takes, of what the devices do nothing in but copy to the host. */
static double more_ns(const struct tfs_pauses *pauses, struct stretch it, double usual_ns)
{
	const double free_ns = length_ns(it) -
			       (double)tfs_intervals_covered(&pauses->busy, it.start_ns, it.end_ns);

	return fmax(free_ns - usual_ns, 0);
}

double tfs_pause_ns(const struct tfs_steady *steady, const struct tfs_pauses *pauses,
	const struct tfs_pause *pause)
{
	double ns = 0;

	for (uint32_t i = pause->first; i <= pause->next; i++) {
		const struct usual others = usual(steady, i);
		const struct spent its = spent(steady->timeline, i);

		if (i < pause->next)
			ns += more_ns(pauses, its.in, others.in_ns);
		if (i > pause->first && (i < pause->next || others.calls))
			ns += more_ns(pauses, its.before, others.before_ns);
	}
	return ns;
}
