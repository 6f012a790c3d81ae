/* SPDX-License-Identifier: MIT */
/*
 * TFS709: every so many steps, training waits while memory is copied to the host, as when a
 * checkpoint is written. Steps take no less without it: what counts is its share of the run's
 * steps, and of what lies between them. What the host does behind the last copy is not known: it
 * may be a part of it, or not.
 */
#include <math.h>
#include <stdlib.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/pauses.h"
#include "rules/support/figures.h"
#include "rules/timeline/reached.h"
#include "rules/whatif/step_thread.h"

#define LEAST_SHARE 0.01
#define LEAST_BYTES (64u << 10)
#define LEAST_STEPS 8u

struct search {
	const struct tfs_steady *steady;
	struct tfs_pauses pauses;
	uint64_t last_step_ns; /* a recorded training step begins last */
	double steps;          /* of the run */
	double each_ns;        /* see each_ns() */
	/* The place that takes most, if all counts that may. */
	double most;
	uint32_t site;
};

static bool is_training(const struct tfs_step *step)
{
	return step->phase == TFS_PHASE_TRAINING || step->phase == TFS_PHASE_WARMUP;
}

static double all_ns(struct tfs_step_times times)
{
	return (double)times.count * times.mean_ns;
}

/* All that lies between the run's steps. */
static double between_ns(const struct tfs_timeline *timeline)
{
	double ns = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (!is_training(&timeline->steps[i]))
			ns += (double)(timeline->steps[i].end_ns - timeline->steps[i].start_ns);
	return ns;
}

/* Of a step, with its share of what lies between steps. */
static double each_ns(const struct tfs_timeline *timeline)
{
	const double ns = all_ns(timeline->inside) + all_ns(timeline->outside) +
			  all_ns(timeline->rewritten) + between_ns(timeline);
	const double steps = (double)timeline->inside.count + (double)timeline->outside.count +
			     (double)timeline->rewritten.count;

	return steps > 0 ? ns / steps : 0;
}

static int look(const struct tfs_steady *steady, struct search *out_search)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t thread = tfs_step_thread(steady, 0, steady->step_count);

	*out_search = (struct search){.steady = steady,
		.steps = (double)(timeline->training_steps + tfs_timeline_warmup(timeline)),
		.each_ns = each_ns(timeline)};
	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (is_training(&timeline->steps[i]) && timeline->steps[i].window != TFS_NONE)
			out_search->last_step_ns = timeline->steps[i].start_ns;
	return thread < timeline->thread_count
		       ? tfs_pauses_find(steady, thread, &out_search->pauses)
		       : 0;
}

/* Pauses that begin at one place, and are followed by training. */
struct place {
	const struct tfs_pause *first;
	uint32_t count;
	double copies, bytes;
	double sure_ns, perhaps_ns; /* of all: what training waits for, and what it may besides */
};

static struct place sum_up(const struct search *search, size_t first, size_t count)
{
	const struct tfs_host_call *calls = search->steady->timeline->calls;
	struct place place = {.first = &search->pauses.items[first]};

	for (size_t i = first; i < first + count; i++) {
		const struct tfs_pause *pause = &search->pauses.items[i];
		double waits_ns, rest_ns;

		if (calls[pause->first].start_ns > search->last_step_ns ||
			pause->bytes < LEAST_BYTES)
			continue;
		tfs_pause_ns(search->steady, &search->pauses, pause, &waits_ns, &rest_ns);
		place.count++;
		place.copies += pause->copies;
		place.bytes += (double)pause->bytes;
		place.sure_ns += pause->doubtful ? 0 : waits_ns;
		place.perhaps_ns += rest_ns + (pause->doubtful ? waits_ns : 0);
	}
	return place;
}

/* How often the run pauses there and goes on, by all calls there; what is in the last step, or
 * behind it, is the end. */
static double times_of(const struct search *search, const struct place *place)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[place->first->first];
	const struct tfs_total *total =
		tfs_trace_total(timeline->trace, call->record->site, call->function);
	const struct tfs_pause_site *site =
		tfs_pauses_site(timeline, &search->pauses, place->first->first);
	double times;

	if (!total || !site || !site->told)
		return 0;
	times = (double)total->sum.count * place->count / site->told;
	if (total->sum.latest_ticks >= tfs_reached_at(timeline->trace, UINT64_MAX).ticks)
		times -= 1;
	return fmax(times, 0);
}

static void report(const struct search *search, struct tfs_findings *findings, struct place place,
	double times, double share)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[place.first->first];
	const double count = place.count;
	struct tfs_draft *draft = tfs_findings_note(findings,
		"training waits for %s while %s, %s in all, are copied from the device, %s: %s of the run",
		tfs_figure_time(place.sure_ns / count).text,
		tfs_figure_number(place.copies / count, "block", "blocks").text,
		tfs_figure_bytes(place.bytes / count).text,
		tfs_figure_number(rint(times), "time", "times").text, tfs_figure_share(share).text);

	if (!draft)
		return;
	draft->finding.site = call->record->site;
	draft->finding.function = call->function;
	draft->finding.count_total =
		tfs_steady_total(search->steady, call->record->site, call->function);
	draft->finding.count_per_step = (double)draft->finding.count_total / search->steps;
	draft->finding.bytes_per_step = place.bytes / count * times / search->steps;
	draft->finding.doubt = place.count < 2 ? "seen once" : NULL;
	draft->finding.evidence = tfs_arena_print(findings->arena, "%s in %s",
		tfs_figure_number(count, "such pause", "such pauses").text,
		tfs_figure_number(search->pauses.steps, "recorded step", "recorded steps").text);
}

static void judge_place(struct search *search, struct tfs_findings *findings, struct place place)
{
	const double times = times_of(search, &place);
	double rate, sure, most;

	if (!place.count || !(search->each_ns > 0))
		return;
	rate = times / place.count / search->steps / search->each_ns;
	sure = place.sure_ns * rate;
	most = (place.sure_ns + place.perhaps_ns) * rate;
	if (sure >= LEAST_SHARE) {
		report(search, findings, place, times, sure);
	} else if (most > search->most) {
		search->most = most;
		search->site = search->steady->timeline->calls[place.first->first].record->site;
	}
}

/* Calls that copy while training goes on, of which no window shows what they belong to. */
static const struct tfs_aggregate *find_unseen(const struct search *search)
{
	const struct tfs_trace *trace = search->steady->timeline->trace;
	const struct tfs_timeline *timeline = search->steady->timeline;
	const uint64_t last = tfs_reached_at(trace, UINT64_MAX).ticks;
	const struct tfs_aggregate *found = NULL;
	const struct tfs_total *totals;
	const size_t count = tfs_trace_totals(trace, &totals, NULL);

	for (size_t i = 0; i < count && timeline->step_count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;
		const struct tfs_pause_site *site = &search->pauses.sites[i];
		const enum tfs_family family =
			(enum tfs_family)tfs_trace_family(trace, sum->function);

		if ((family != TFS_FAMILY_copy && family != TFS_FAMILY_copy_async) ||
			sum->amount < LEAST_BYTES || sum->first_ticks >= last ||
			tfs_trace_ns(trace, sum->latest_ticks) < timeline->steps[0].start_ns)
			continue;
		if ((!site->calls || (site->down && !site->told)) &&
			(!found || sum->amount > found->amount))
			found = sum;
	}
	return found;
}

/* What they may take, at most: all between steps, and by what steps take longer now and then. */
static double unseen_share(const struct search *search)
{
	const struct tfs_timeline *timeline = search->steady->timeline;
	const struct tfs_step_times *times =
		timeline->outside.count ? &timeline->outside : &timeline->rewritten;

	if (!(search->each_ns > 0))
		return 1;
	return (between_ns(timeline) / search->steps + fmax(times->mean_ns - times->median_ns, 0)) /
	       search->each_ns;
}

static void judge(
	struct search *search, struct tfs_findings *findings, struct tfs_verdict *out_verdict)
{
	const struct tfs_trace *trace = search->steady->timeline->trace;
	const struct tfs_aggregate *unseen = find_unseen(search);
	const double share = unseen ? unseen_share(search) : 0;
	const size_t before = findings->count;

	for (size_t i = 0, count; i < search->pauses.count; i += count) {
		count = tfs_pauses_alike(search->steady, &search->pauses, i);
		judge_place(search, findings, sum_up(search, i, count));
	}
	if (search->pauses.steps < LEAST_STEPS) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"too few steps were recorded to tell what happens every so many steps");
	} else if (findings->count == before && share >= LEAST_SHARE) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no window shows whether training waits for what %s copies at one call site, and up to %s of the run is no usual step; "
			"with TFSHIM_OPTIONS=record=all more is recorded",
			tfs_trace_function(trace, unseen->function), tfs_figure_share(share).text);
		out_verdict->site = unseen->site;
	} else if (findings->count == before && search->most >= LEAST_SHARE) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"training pauses for up to %s of the run where memory is copied to the host: "
			"whether it does so for these copies was not seen",
			tfs_figure_share(search->most).text);
		out_verdict->site = search->site;
	} else {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"at no call site does the training thread wait for 1 %% of the run or more for D2H copies made every few steps");
	}
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_total *totals;
	struct search search;

	if (steady->run || !tfs_trace_totals(steady->timeline->trace, &totals, NULL)) {
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			steady->run
				? "no training steps were found: what lies between them is not known"
				: "the recording does not say how often the run made its calls");
		return;
	}
	if (look(steady, &search))
		findings->failed = true;
	else if (search.pauses.sites)
		judge(&search, findings, out_verdict);
	else
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			"it is not known which thread makes the steps");
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
	       "What steps take does not show it. The weights need not be copied out before the next step changes them: a copy of them on the device takes a small part of that time.",
	.advice =
		"Copy these blocks to other memory on the device, on the stream that the steps work on, and record an event after the copy; let another stream wait for it and copy them to pinned memory; "
		"let another thread wait for that copy and write the file while training goes on. Neither memory may be used again before the copy from it, or the file, is done. "
		"Where the device has no room for a second copy, copy to pinned memory, wait, and leave the writing to the thread. Write less often if that will do. "
		"Keep it as it is if what follows needs these values on the host at once. "
		"In PyTorch: torch.distributed.checkpoint.async_save, or copy the state_dict to pinned tensors and torch.save these in another thread.",
	.detect = detect,
};
