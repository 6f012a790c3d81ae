/* SPDX-License-Identifier: MIT */
/*
 * TFS201: explicit synchronisation in the training step that lets the device run dry. A wait that
 * leaves work in other streams or behind the awaited event is how a good pipeline throttles itself,
 * and passes unless replaying the steps without it shows a gain. One that results may rest on is
 * told as needed, or as perhaps needed where the recording does not say which memory is used.
 */
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"
#include "rules/whatif/whatif.h"

/* How many calls after the wait the program may ask for the time between two events. */
#define BRACKET_CALLS 3u
#define WORTHWHILE 0.01

static bool explicit_wait(const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_device_sync || call->family == TFS_FAMILY_stream_sync ||
	       call->family == TFS_FAMILY_event_sync;
}

/* A device or stream wait right behind another one is as pointless as that one; an event that was
 * reached long ago is a check that costs nothing. */
static bool runs_dry(const struct tfs_host_call *call, const struct tfs_waiting *waiting)
{
	return waiting->hardly ||
	       (waiting->drains && (waiting->pending || call->family != TFS_FAMILY_event_sync));
}

/* Whether the host does not go on to other work before a call of this kind. */
static bool leads_to(const struct tfs_steady *steady, uint32_t call, enum tfs_family family)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_thread *thread = &timeline->threads[timeline->calls[call].thread];
	uint32_t end = thread->first_call + thread->call_count;

	for (uint32_t i = call + 1; i < end && i <= call + BRACKET_CALLS; i++) {
		if (timeline->calls[i].family == family)
			return true;
		if (tfs_family_submits(timeline->calls[i].family))
			return false;
	}
	return false;
}

/* Whether the steps would be shorter if these calls returned at once. */
static bool worthwhile(const struct tfs_steady *steady, const struct tfs_place *place)
{
	struct tfs_cost cost = {0};

	if (!steady->whatif || steady->simulated)
		return false;
	tfs_whatif_clear(steady->whatif);
	for (size_t i = 0; i < place->count; i++) {
		struct tfs_hit hit = place->items[i];

		hit.edit = (struct tfs_edit){.no_wait = true, .orders = hit.edit.orders};
		tfs_whatif_add(steady->whatif, &hit, 1);
	}
	return !tfs_whatif_price(steady->whatif, &cost) &&
	       cost.low_ns >= WORTHWHILE * steady->step_ns;
}

/* Whether work of different streams is in order by any of these waits alone. */
static bool orders(const struct tfs_steady *steady, const struct tfs_place *place)
{
	bool any = false;

	for (size_t i = 0; i < place->count; i++)
		any |= steady->waits[steady->place[place->items[i].call]].orders;
	return any;
}

static const char order_advice[] =
	"Replace this synchronisation, which only orders the work of one stream after that of another: "
	"in its place record an event (cudaEventRecord) on each stream that it waits for, "
	"let the other streams wait for these events (cudaStreamWaitEvent) before they get more work, "
	"then remove the call. "
	"No use of the results by the host was seen; "
	"keep the call if something else uses them (another process, a library that was not seen), "
	"and check for errors every so many steps.";

static const char timing_advice[] =
	"Measure with events every so many steps only, "
	"and call cudaEventElapsedTime after the events have completed.";

/* How many of a place's waits are of a kind. */
struct kinds {
	size_t dry;
	size_t brackets; /* what is timed ends there */
	size_t unclear;  /* likewise, perhaps: what is asked was not told from other questions */
};

static struct kinds count_kinds(const struct tfs_steady *steady, const struct tfs_place *place)
{
	const bool divided = steady->timeline->evidence & TFS_NEEDS_FAMILIES;
	struct kinds kinds = {0};

	for (size_t i = 0; i < place->count; i++) {
		const uint32_t call = place->items[i].call;
		const struct tfs_waiting *waiting = &steady->waits[steady->place[call]];

		kinds.dry += runs_dry(&steady->timeline->calls[call], waiting);
		kinds.brackets += leads_to(steady, call, TFS_FAMILY_elapsed);
		kinds.unclear += !divided && leads_to(steady, call, TFS_FAMILY_other);
	}
	return kinds;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, const struct kinds *kinds, uint32_t needed)
{
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"blocks until the device is done, %s%s",
		tfs_figure_calls(tfs_place_per_step(place, steady)).text,
		kinds->dry ? "; the device has little work left when the call returns" : "");

	const bool timing = 2 * kinds->brackets >= place->count;
	const char *other = timing ? timing_advice : orders(steady, place) ? order_advice : NULL;

	if (!draft)
		return;
	draft->finding.removes = !kinds->brackets && !kinds->unclear;
	if (other)
		draft->finding.advice = other;
	if (timing)
		draft->most = TFS_LEVEL_NOTE;
	if (needed)
		tfs_draft_needed(
			findings, draft, needed, needed == TFS_GUARDS_UNKNOWN ? other : NULL);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned harmless = 0, unclear = 0;

	for (uint32_t i = 0; i < steady->call_count; i++)
		if (explicit_wait(tfs_steady_call(steady, i)))
			tfs_hits_add(&hits, steady->calls[i], 0,
				(struct tfs_edit){.gone = true, .orders = steady->waits[i].orders});
	while (tfs_hits_next(steady, &hits, &place)) {
		const struct kinds kinds = count_kinds(steady, &place);
		const uint32_t needed = tfs_guards_or_unknown(steady, &place);

		if (place.seldom || (!steady->run && 2 * kinds.dry < place.count &&
					    !worthwhile(steady, &place)))
			harmless++;
		else if (!needed && 2 * kinds.unclear >= place.count)
			unclear++;
		else
			report(steady, findings, &place, &kinds, needed);
	}
	if (unclear)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"an older tfshim made the recording and did not distinguish waits that end a timing");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no synchronising call leaves the device without work%s",
			tfs_figure_also(harmless, "call site synchronises rarely or at no cost",
				"call sites synchronise rarely or at no cost")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs201 = {
	.id = "TFS201",
	.slug = "sync-in-step",
	.level = TFS_LEVEL_ERROR,
	.any_cost = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_WAITS,
	.title = "explicit synchronisation in the training step",
	.why = "While the host waits for the device, the host launches nothing, "
	       "and after the wait the device is idle until the next launches arrive. "
	       "Streams keep their order without the host; "
	       "the host has to synchronise only for results that it reads.",
	.advice =
		"Remove this synchronisation from the step: no use of the results by the host was seen. "
		"Keep the call if something else uses them (another process, a library that was not seen); "
		"if another stream needs the results, "
		"use cudaEventRecord and cudaStreamWaitEvent instead. "
		"Check for errors every so many steps.",
	.rewrite = "sync-narrowing",
	.rewrite_note = "only when named",
	.detect = detect,
};
