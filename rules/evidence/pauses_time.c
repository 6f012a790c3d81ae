/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rules/evidence/pauses.h"

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

static int find_busy(struct tfs_pauses *pauses, const struct tfs_timeline *timeline)
{
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

int tfs_pauses_measure(struct tfs_pauses *pauses, const struct tfs_steady *steady, uint32_t thread,
	const bool *inside)
{
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const uint32_t call = steady->calls[i];
		struct tfs_pause_site *site;
		struct spent its;

		if (inside[call] || steady->timeline->calls[call].thread != thread)
			continue;
		site = tfs_pauses_site(steady->timeline, pauses, call);
		if (!site)
			continue;
		its = spent(steady->timeline, call);
		site->in_ns += length_ns(its.in);
		site->before_ns += length_ns(its.before);
		site->usual++;
	}
	return find_busy(pauses, steady->timeline);
}

/* How much longer than usual it takes, of what the devices do nothing in but copy to the host. */
static double more_ns(const struct tfs_pauses *pauses, struct stretch it, double usual_ns)
{
	uint64_t busy_ns = 0;

	if (it.end_ns > it.start_ns)
		busy_ns = tfs_intervals_covered(&pauses->busy, it.start_ns, it.end_ns);
	return fmax(length_ns(it) - (double)busy_ns - usual_ns, 0);
}

void tfs_pause_ns(const struct tfs_steady *steady, const struct tfs_pauses *pauses,
	const struct tfs_pause *pause, double *out_waits_ns, double *out_rest_ns)
{
	*out_waits_ns = *out_rest_ns = 0;
	for (uint32_t i = pause->first; i <= pause->next; i++) {
		const struct tfs_pause_site *site = tfs_pauses_site(steady->timeline, pauses, i);
		const double calls = site && site->usual ? site->usual : 1;
		const struct spent its = spent(steady->timeline, i);
		double *ns = i <= pause->last ? out_waits_ns : out_rest_ns;

		if (i < pause->next)
			*ns += more_ns(pauses, its.in, site ? site->in_ns / calls : 0);
		if (i > pause->first)
			*ns += more_ns(pauses, its.before, site ? site->before_ns / calls : 0);
	}
}
