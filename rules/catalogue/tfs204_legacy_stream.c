/* SPDX-License-Identifier: MIT */
/*
 * TFS204: the legacy stream's order keeps work apart that could run at once. Its work waits for
 * what other streams were given before, and these wait for it, whether or not results need that; or
 * all work is on it, though there are chains of work that share nothing.
 */
#include <errno.h>

#include "rules/device/legacy.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/streams.h"
#include "rules/support/figures.h"

/* Of the step, for what work is held up. */
#define LEAST_SHARE 0.01

/* The same of what chains would gain. */
#define CHAIN_SHARE 0.05

struct seen {
	struct tfs_hits splits, chains;
	double split_ns, chain_ns; /* per step */
	uint32_t opaque; /* a call of which it is not seen what it works on, or TFS_NONE */
	bool large;      /* steps have more calls than are looked at */
	uint32_t other;  /* a stream whose work the legacy one's order holds, or TFS_NONE */
	bool others;     /* there are several */
	bool beside;     /* it keeps apart kernels that leave each other room */
};

static void note_other(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call, struct seen *seen)
{
	const uint32_t stream = tfs_stream_of(timeline, call);

	if (!tfs_legacy_held(timeline, call))
		return;
	seen->others |= seen->other != TFS_NONE && seen->other != stream;
	seen->other = stream;
}

static bool copies(const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_copy || call->family == TFS_FAMILY_copy_async;
}

static void look_for_splits(const struct tfs_steady *steady, struct seen *seen)
{
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_legacy_hold hold;

		note_other(steady->timeline, call, seen);
		/* What the host waits for is found by other rules. */
		if (!tfs_legacy_works(steady->timeline, call) || call->record->status ||
			steady->waits[i].wait != TFS_WAIT_NONE)
			continue;
		hold = tfs_legacy_hold_of(steady, call);
		if (hold.opaque)
			seen->opaque = steady->calls[i];
		seen->beside |= hold.beside;
		if (hold.before_ns + hold.behind_ns <= 0)
			continue;
		seen->split_ns += (hold.before_ns + hold.behind_ns) / (double)steady->step_count;
		tfs_hits_add(&seen->splits, steady->calls[i],
			copies(call) ? call->record->amount : 0, (struct tfs_edit){.aside = true});
	}
}

/* What may be gained of steps in which chains cannot be told apart is minded where it is as much.
 */
static int look_for_chains(const struct tfs_steady *steady, double least_ns, struct seen *seen)
{
	uint32_t unseen = TFS_NONE;
	double unsure_ns = 0;

	for (uint32_t i = 0; i < steady->step_count && seen->other == TFS_NONE; i++) {
		struct tfs_legacy_chains chains;

		if (tfs_legacy_chains_find(steady, i, &chains))
			return -ENOMEM;
		if (chains.large || chains.opaque != TFS_NONE) {
			unsure_ns += chains.saved_ns / steady->step_count;
			unseen = chains.large ? unseen : chains.opaque;
		} else if (chains.saved_ns > 0) {
			seen->chain_ns += chains.saved_ns / steady->step_count;
			tfs_hits_add(&seen->chains, chains.first, 0, (struct tfs_edit){0});
		}
	}
	if (unsure_ns <= 0 || unsure_ns < least_ns)
		return 0;
	seen->large = unseen == TFS_NONE;
	seen->opaque = unseen != TFS_NONE ? unseen : seen->opaque;
	return 0;
}

static double hold_ns(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tfs_legacy_hold hold =
			tfs_legacy_hold_of(steady, &steady->timeline->calls[hits[i].call]);

		ns += hold.before_ns + hold.behind_ns;
	}
	return ns;
}

static void report_split(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, bool others)
{
	double before_ns = 0, behind_ns = 0;
	struct tfs_draft *draft;
	bool unsure = others;

	for (size_t i = 0; i < place->count; i++) {
		const uint32_t call = place->items[i].call;
		const struct tfs_legacy_hold hold =
			tfs_legacy_hold_of(steady, &steady->timeline->calls[call]);

		before_ns += hold.before_ns / (double)steady->step_count;
		behind_ns += hold.behind_ns / (double)steady->step_count;
		unsure |= hold.own || tfs_legacy_chained(steady, call);
	}
	draft = tfs_findings_add(findings, place, NULL,
		"%s%s on the legacy stream: this work waits %s %s for other streams, and other streams wait %s for it, although they share no memory",
		tfs_place_calls(place, steady).text, place->spread ? " of several call sites" : "",
		tfs_figure_time(before_ns).text, tfs_steady_each(steady),
		tfs_figure_time(behind_ns).text);
	if (!draft || !unsure)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice = tfs_arena_print(findings->arena,
		"If no call uses memory that its arguments do not name, and no other streams rely on this order among themselves (let a stream that uses the results of another wait for an event recorded after them): %s",
		findings->rule->advice);
}

static double number(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count)
{
	(void)steady, (void)hits;
	return (double)count;
}

static void report_chains(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, double ns)
{
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"starts one of several chains of work that share no memory, and run one after the other as all are on the legacy stream; of their time, kernels that leave half of the device idle take %s %s",
		tfs_figure_time(ns).text, tfs_steady_each(steady));

	if (!draft)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->priced = true;
	draft->finding.cost = (struct tfs_cost){
		ns / 2, 0, ns, steady->simulated ? TFS_COST_MODELLED : TFS_COST_BOUND};
	draft->finding.advice =
		"If the kernels of the chains work on nothing but the memory that their arguments name, give each chain a stream of its own, created with cudaStreamNonBlocking. "
		"Where a chain reads, overwrites or frees what another chain or the host has written, record an event after that work and let the chain's stream wait for it (cudaStreamWaitEvent): the legacy stream's order is gone then. "
		"Where the host waits for the legacy stream, it has to wait for these as well. "
		"Calls of cuBLAS or cuDNN need a handle for each stream. "
		"In PyTorch: torch.cuda.Stream for each, and wait_stream() where they meet.";
}

static void conclude(const struct tfs_steady *steady, const struct seen *seen,
	const struct tfs_findings *findings, size_t before, struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;

	if (steady->run) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found");
	} else if (seen->opaque != TFS_NONE) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"whether results need the order of the legacy stream was not seen, as it is not known what a call of %s works on",
			tfs_trace_function(
				timeline->trace, timeline->calls[seen->opaque].function));
		out_verdict->site = timeline->calls[seen->opaque].record->site;
	} else if (seen->beside) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the legacy stream's order keeps kernels apart that leave each other room; what they would gain side by side was not recorded");
	} else if (seen->large) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"all work is on the legacy stream, and steps have too many calls to look for chains among them");
	} else {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			seen->other != TFS_NONE
				? "the legacy stream's order delays work that could run in parallel by less than %.0f %% of the step"
				: "no other stream is ordered with the legacy stream, and independent work on it would save less than %.0f %% of the step if it ran in parallel",
			100 * (seen->other != TFS_NONE ? LEAST_SHARE : CHAIN_SHARE));
	}
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const double whole = steady->simulated ? steady->busy_ns : steady->step_ns;
	const size_t before = findings->count;
	struct seen seen = {.opaque = TFS_NONE, .other = TFS_NONE};
	struct tfs_hits usual = {0};
	struct tfs_place place = {0};

	look_for_splits(steady, &seen);
	if (!steady->run && look_for_chains(steady, CHAIN_SHARE * whole, &seen))
		findings->failed = true;
	/* What one call alone would gain, others may still hold up. */
	if (!steady->run && seen.split_ns >= LEAST_SHARE * whole)
		tfs_hits_join(steady, &seen.splits, hold_ns, &usual, &place);
	if (place.count)
		report_split(steady, findings, &place, seen.others);
	tfs_hits_finish(&usual);
	place = (struct tfs_place){0};
	if (seen.chain_ns >= CHAIN_SHARE * whole)
		tfs_hits_join(steady, &seen.chains, number, &usual, &place);
	if (place.count)
		report_chains(steady, findings, &place, seen.chain_ns);
	conclude(steady, &seen, findings, before, out_verdict);
	tfs_hits_finish(&usual);
	tfs_hits_finish(&seen.splits);
	tfs_hits_finish(&seen.chains);
}

const struct tfs_rule tfs_rule_tfs204 = {
	.id = "TFS204",
	.slug = "legacy-stream",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE | TFS_NEEDS_FAMILIES |
		 TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_COPIES | TFS_ABOUT_SETS | TFS_ABOUT_LAUNCHES,
	.title = "the legacy stream keeps apart what could run at once",
	.why = "Work of the legacy stream (stream 0, unless a program is built with a default stream per thread) waits for what all other streams have been given, and what they are given later waits for it. "
	       "Streams created with cudaStreamNonBlocking are not held by that order.",
	.advice =
		"Give this work a stream of its own, created with cudaStreamNonBlocking, and keep by events the order that results need: "
		"record an event after the last work that writes or reads what this work uses, and let the new stream wait for it (cudaStreamWaitEvent); "
		"record another event after this work, and let the streams that use its results wait for it. "
		"Where the host waits for the legacy stream, let it wait for the new one as well, or for the event after this work: the host reads and refills memory that this work uses. "
		"Or create the other streams with cudaStreamNonBlocking, with the same events. "
		"A buffer that is written while earlier work still reads it needs a second one, used by turns, and calls of cuBLAS or cuDNN on another stream need another handle. "
		"In PyTorch: torch.cuda.Stream, and wait_stream() on either side.",
	.detect = detect,
};
