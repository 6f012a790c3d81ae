/* SPDX-License-Identifier: MIT */
/*
 * TFS709: every so many steps, training waits while memory is copied to the host and something is
 * done with it there, as when a checkpoint is written. Steps take no less without it: what counts
 * is its share of the run's steps, and of what lies between them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/pauses.h"
#include "rules/support/figures.h"
#include "rules/support/sort.h"
#include "rules/whatif/step_thread.h"

#define LEAST_SHARE 0.01
#define LEAST_BYTES (64u << 10)

struct search {
	const struct tfs_steady *steady;
	struct tfs_pauses pauses;
	uint64_t last_step_ns; /* a recorded training step begins last */
	double steps;          /* of the run */
	double each_ns;        /* see each_ns() */
};

static bool is_training(const struct tfs_step *step)
{
	return step->phase == TFS_PHASE_TRAINING || step->phase == TFS_PHASE_WARMUP;
}

static double all_ns(struct tfs_step_times times)
{
	return (double)times.count * times.mean_ns;
}

/* Of a step, with its share of what lies between steps. */
static double each_ns(const struct tfs_timeline *timeline)
{
	double ns =
		all_ns(timeline->inside) + all_ns(timeline->outside) + all_ns(timeline->rewritten);
	const double steps = (double)timeline->inside.count + (double)timeline->outside.count +
			     (double)timeline->rewritten.count;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (!is_training(&timeline->steps[i]))
			ns += (double)(timeline->steps[i].end_ns - timeline->steps[i].start_ns);
	return steps > 0 ? ns / steps : 0;
}

static int look(const struct tfs_steady *steady, struct search *out_search)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t thread = tfs_step_thread(steady, 0, steady->step_count);
	int err = 0;

	*out_search = (struct search){.steady = steady,
		.steps = (double)(timeline->training_steps + tfs_timeline_warmup(timeline)),
		.each_ns = each_ns(timeline)};
	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (is_training(&timeline->steps[i]) && timeline->steps[i].window != TFS_NONE)
			out_search->last_step_ns = timeline->steps[i].start_ns;
	if (thread < timeline->thread_count)
		err = tfs_pauses_find(steady, thread, &out_search->pauses);
	return err;
}

/* Pauses that begin at one place, and are followed by training. */
struct place {
	const struct tfs_pause *first;
	uint32_t count;
	double copies, alike, bytes, ns; /* of all */
};

static struct place sum_up(const struct search *search, size_t first, size_t count)
{
	const struct tfs_host_call *calls = search->steady->timeline->calls;
	struct place place = {.first = &search->pauses.items[first]};

	for (size_t i = first; i < first + count; i++) {
		const struct tfs_pause *pause = &search->pauses.items[i];

		if (calls[pause->first].start_ns > search->last_step_ns ||
			pause->bytes < LEAST_BYTES)
			continue;
		place.count++;
		place.copies += pause->copies;
		place.alike += pause->alike;
		place.bytes += (double)pause->bytes;
		place.ns += tfs_pause_ns(search->steady, &search->pauses, pause);
	}
	return place;
}

static void report(const struct search *search, struct tfs_findings *findings, struct place place)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[place.first->first];
	const uint64_t total = tfs_steady_total(search->steady, call->record->site, call->function);
	const double count = place.count, times = (double)total * count / place.alike;
	const double share = place.ns / count * times / search->steps / search->each_ns;
	struct tfs_draft *draft;

	if (!(share >= LEAST_SHARE))
		return;
	draft = tfs_findings_note(findings,
		"training waits for %s while %s, %s in all, are copied from the device and used by the host, %s: %s of the run",
		tfs_figure_time(place.ns / count).text,
		tfs_figure_number(place.copies / count, "block", "blocks").text,
		tfs_figure_bytes(place.bytes / count).text,
		tfs_figure_number(rint(times), "time", "times").text, tfs_figure_share(share).text);
	if (!draft)
		return;
	draft->finding.site = call->record->site;
	draft->finding.function = call->function;
	draft->finding.count_total = total;
	draft->finding.count_per_step = (double)total / search->steps;
	draft->finding.bytes_per_step = place.bytes / place.alike * (double)total / search->steps;
	draft->finding.low_confidence = place.count < 2;
	draft->finding.evidence = tfs_pool_print(findings->pool, "%s in %s",
		tfs_figure_number(count, "such pause", "such pauses").text,
		tfs_figure_number(timeline->judged_count, "recorded step", "recorded steps").text);
}

/* Pauses of training that begin at one call site and that no window has seen: the longest, in all.
 * -ENOMEM, or 0. */
static int find_unseen(const struct tfs_timeline *timeline, double *out_ns, uint32_t *out_site)
{
	struct tfs_key *keys = malloc((timeline->step_count + 1u) * sizeof(*keys));
	size_t count = 0;
	int err;

	*out_ns = 0;
	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (!is_training(&timeline->steps[i]))
			keys[count++] = (struct tfs_key){timeline->steps[i].site, i};
	err = tfs_sort_keys(keys, count);
	for (size_t i = 0, next; i < count && !err; i = next) {
		bool seen = false;
		double ns = 0;

		for (next = i; next < count && keys[next].key == keys[i].key; next++) {
			const struct tfs_step *step = &timeline->steps[keys[next].value];

			seen |= step->window != TFS_NONE;
			ns += (double)(step->end_ns - step->start_ns);
		}
		if (seen || ns <= *out_ns)
			continue;
		*out_ns = ns;
		*out_site = (uint32_t)keys[i].key;
	}
	free(keys);
	return err;
}

static void judge(const struct search *search, struct tfs_findings *findings, double unseen_ns,
	uint32_t unseen_site, struct tfs_verdict *out_verdict)
{
	const double unseen = unseen_ns / search->steps / search->each_ns;
	const size_t before = findings->count;

	for (size_t i = 0, count; i < search->pauses.count; i += count) {
		count = tfs_pauses_alike(search->steady, &search->pauses, i);
		report(search, findings, sum_up(search, i, count));
	}
	if (findings->count > before || !(unseen >= LEAST_SHARE)) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"training never waits for 1 %% of the run while memory is copied to the host every so many steps");
		return;
	}
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
		"training pauses for %s of the run at one place that no window has seen: what it does there is not known; "
		"TFSHIM_OPTIONS=record=all records it",
		tfs_figure_share(unseen).text);
	out_verdict->site = unseen_site;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	uint32_t unseen_site = 0;
	struct search search;
	double unseen_ns;

	if (steady->run) {
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: what lies between them is not known");
		return;
	}
	if (look(steady, &search) || find_unseen(steady->timeline, &unseen_ns, &unseen_site))
		findings->failed = true;
	else
		judge(&search, findings, unseen_ns, unseen_site, out_verdict);
	tfs_pauses_finish(&search.pauses);
}

const struct tfs_rule tfs_rule_tfs709 = {
	.id = "TFS709",
	.slug = "checkpoint-stall",
	.level = TFS_LEVEL_WARN,
	.any_cost = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_COPIES,
	.title = "training waits while a checkpoint is copied out and written",
	.why = "Where the thread that launches the steps' work copies the weights to the host and writes them to a file, every so many steps, "
	       "the device has nothing to do until the file is written: disks are slower than the link, and the link than the device's memory. "
	       "What steps take does not show it. The weights need not be copied out before the next step changes them: a copy of them on the device is made in microseconds.",
	.advice =
		"Copy these blocks to other memory on the device, on the stream that the steps work on, and record an event behind; let another stream wait for it and copy them to pinned memory; "
		"let another thread wait for that copy and write the file while training goes on. Neither memory may be used again before the copy from it, or the file, is done. "
		"Where the device has no room for a second copy, copy to pinned memory, wait, and leave the writing to the thread. Write less often if that will do. "
		"Keep it as it is if what follows needs these values on the host at once. "
		"In PyTorch: torch.distributed.checkpoint.async_save, or copy the state_dict to pinned tensors and torch.save these in another thread.",
	.tips = "",
	.detect = detect,
};
