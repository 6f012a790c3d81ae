/* SPDX-License-Identifier: MIT */
#include "rules/judge/later.h"

#include <stdlib.h>

#include "rules/rule.h"
#include "rules/support/figures.h"
#include "rules/timeline/families.h"
#include "rules/timeline/reached.h"

#define SHARE_OF_RUN 0.01
#define SHARE_OF_KIND 0.05
/* Of the steps: what happens no more often is rare. */
#define RARE 10u
/* As the search for steps has it, see shim/steps/steps.c. */
#define STEPS_IN_A_ROW 8u
/* A function that the run called from one place. */
struct habit {
	const struct tfs_aggregate *sum;
	uint32_t about;
	uint64_t judged;     /* calls in recorded training steps */
	double more;         /* calls than these explain */
	bool counts_by_time; /* else its time is not in the totals */
};

struct tfs_later {
	const struct tfs_steady *steady;
	struct tfs_arena *arena;
	struct habit *habits; /* one for each total */
	size_t count;
	uint64_t run_ticks;
};

/* Work that the host does not wait for takes a time that is not in the totals. */
static bool counts_by_time(enum tfs_family family)
{
	return family != TFS_FAMILY_copy_async && family != TFS_FAMILY_set_async &&
	       family != TFS_FAMILY_set && family != TFS_FAMILY_launch;
}

/* Calls that did what they were called for. */
static uint64_t worked(const struct tfs_aggregate *sum)
{
	return sum->count > sum->failures ? sum->count - sum->failures : 0;
}

static int compare_habits(const void *key, const void *element)
{
	const struct tfs_host_call *call = key;
	const struct tfs_aggregate *sum = ((const struct habit *)element)->sum;

	if (call->record->site != sum->site)
		return call->record->site < sum->site ? -1 : 1;
	return (call->record->function > sum->function) - (call->record->function < sum->function);
}

/* What was recorded of each habit in the steps that the judged ones are a part of. */
static void count_judged(struct tfs_later *later)
{
	const struct tfs_timeline *timeline = later->steady->timeline;
	bool *whole = calloc((size_t)timeline->step_count + 1, sizeof(*whole));

	for (uint32_t i = 0; whole && i < timeline->judged_count; i++)
		whole[timeline->judged[i]] = true;
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		struct habit *habit;

		if (!whole || call->step == TFS_NONE || !whole[call->step] ||
			call->record->status || !tfs_family_about((enum tfs_family)call->family))
			continue;
		habit = bsearch(call, later->habits, later->count, sizeof(*habit), compare_habits);
		if (habit)
			habit->judged++;
	}
	later->arena->failed |= !whole;
	free(whole);
}

static bool is_phase(const struct tfs_step_record *mark)
{
	return mark->phase == TFS_PHASE_EVALUATION || mark->phase == TFS_PHASE_OTHER;
}

/* Whether a moment lies in evaluation or the like. */
static bool in_phase(const struct tfs_trace *trace, uint64_t ticks)
{
	const struct tfs_step_record *latest = NULL;

	for (size_t i = tfs_trace_count(trace, TFS_RECORD_step); i-- > 0;) {
		const struct tfs_step_record *mark = tfs_trace_at(trace, TFS_RECORD_step, i);

		if (mark->start_ticks <= ticks &&
			(!latest || mark->start_ticks > latest->start_ticks))
			latest = mark;
	}
	return latest && is_phase(latest);
}

static bool is_other(const struct tfs_step *step)
{
	return step->phase != TFS_PHASE_TRAINING && step->phase != TFS_PHASE_WARMUP;
}

/* How many phases from this one on begin at the same place, each one training step behind the one
 * before, and where they end. */
static uint32_t follow_phases(
	const struct tfs_timeline *timeline, uint32_t first, uint32_t *out_end)
{
	const struct tfs_step *steps = timeline->steps;
	uint32_t latest = first, count = 1;

	for (*out_end = first + 1; *out_end < timeline->step_count; ++*out_end) {
		const struct tfs_step *step = &steps[*out_end];

		if (!is_other(step))
			continue;
		if (step->site != steps[first].site || step->index != steps[latest].index + 1)
			break;
		latest = *out_end;
		count++;
	}
	return count;
}

/* Phases that begin between two moments, and how long they last in all. What comes behind each of
 * several steps in a row is none, but what these steps had become. */
static uint64_t phases_between(
	const struct tfs_timeline *timeline, uint64_t first, uint64_t latest, double *out_ns)
{
	uint64_t from_ns = tfs_trace_ns(timeline->trace, first);
	uint64_t until_ns = tfs_trace_ns(timeline->trace, latest);
	uint64_t phases = 0;

	*out_ns = 0;
	for (uint32_t i = 0, end; i < timeline->step_count; i = end) {
		const struct tfs_step *step = &timeline->steps[i];

		if (is_other(step) && follow_phases(timeline, i, &end) >= STEPS_IN_A_ROW)
			continue;
		end = i + 1;
		if (!is_other(step) || step->end_ns <= from_ns || step->start_ns > until_ns)
			continue;
		phases++;
		*out_ns += (double)(step->end_ns - step->start_ns);
	}
	return phases;
}

/* Where a training step that is known begins first. */
static uint64_t first_ticks_of(const struct tfs_trace *trace)
{
	const size_t marks = tfs_trace_count(trace, TFS_RECORD_step);
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_steps); i++) {
		const struct tfs_steps_record *pack = tfs_trace_at(trace, TFS_RECORD_steps, i);

		first = pack->first_start_ticks < first ? pack->first_start_ticks : first;
	}
	for (size_t i = 0; i < marks; i++) {
		const struct tfs_step_record *mark = tfs_trace_at(trace, TFS_RECORD_step, i);

		first = mark->site && mark->start_ticks < first ? mark->start_ticks : first;
	}
	return first;
}

/* Phases that come back behind fewer steps than the search finds them by are a part of the step
 * that it did not know. What comes behind the last step is in none. */
static bool explained(const struct tfs_later *later, const struct habit *habit, uint64_t steps)
{
	const struct tfs_timeline *timeline = later->steady->timeline;
	const struct tfs_trace *trace = timeline->trace;
	const struct tfs_aggregate *sum = habit->sum;
	const struct tfs_reached last = tfs_reached_at(trace, UINT64_MAX);
	const uint64_t first = first_ticks_of(trace);
	double each = (double)sum->ticks / (double)sum->count, ns;
	uint64_t phases = phases_between(timeline, sum->first_ticks, sum->latest_ticks, &ns);

	if (!phases || (phases - 1) * STEPS_IN_A_ROW > steps)
		return false;
	if (!habit->judged && sum->first_ticks < first) {
		/* It may be a phase's where it is one's at last; that phase is one more. */
		if (!in_phase(trace, sum->latest_ticks))
			return false;
		ns += ns / (double)phases;
	} else if (!habit->judged && !in_phase(trace, sum->first_ticks)) {
		return false;
	}
	if (sum->latest_ticks > last.ticks)
		ns += (double)(tfs_trace_ns(trace, sum->latest_ticks) -
			       tfs_trace_ns(trace, last.ticks));
	else if (!habit->judged && !in_phase(trace, sum->latest_ticks))
		return false;
	return (double)tfs_segment_duration(
		       tfs_trace_segment(trace, sum->first_ticks), habit->more * each) <= ns;
}

/* Whether it happens in the steps, far more often than the recorded ones show. */
static bool is_habit(const struct tfs_later *later, const struct habit *habit)
{
	const struct tfs_trace *trace = later->steady->timeline->trace;
	const uint32_t least = later->steady->min_steps;
	uint64_t steps;

	if (habit->more < least)
		return false;
	steps = tfs_reached_at(trace, habit->sum->latest_ticks).step -
		tfs_reached_at(trace, habit->sum->first_ticks).step;
	return steps >= least && habit->more * RARE > (double)steps &&
	       !explained(later, habit, steps);
}

static void list_habits(struct tfs_later *later, const struct tfs_total *totals)
{
	const struct tfs_trace *trace = later->steady->timeline->trace;
	uint64_t first = UINT64_MAX, latest = 0;

	for (size_t i = 0; i < later->count; i++) {
		struct habit *habit = &later->habits[i];
		enum tfs_family family =
			(enum tfs_family)tfs_trace_family(trace, totals[i].sum.function);

		habit->sum = &totals[i].sum;
		habit->about = tfs_family_about(family);
		habit->counts_by_time = counts_by_time(family);
		if (!habit->sum->count || tfs_total_is_count(habit->sum))
			continue;
		first = habit->sum->first_ticks < first ? habit->sum->first_ticks : first;
		latest = habit->sum->latest_ticks > latest ? habit->sum->latest_ticks : latest;
	}
	later->run_ticks = first < latest ? latest - first : 0;
}

const struct tfs_later *tfs_later_find(const struct tfs_steady *steady, struct tfs_arena *arena)
{
	struct tfs_later *later = tfs_arena_alloc(arena, 1, sizeof(*later));
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	double all = (double)(timeline->training_steps + tfs_timeline_warmup(timeline));

	if (!later)
		return NULL;
	later->steady = steady;
	later->arena = arena;
	later->count = tfs_trace_totals(timeline->trace, &totals, &shares);
	later->habits = tfs_arena_alloc(arena, later->count, sizeof(*later->habits));
	if (!later->habits)
		return NULL;
	list_habits(later, totals);
	count_judged(later);
	for (size_t i = 0; i < later->count && timeline->judged_count; i++) {
		struct habit *habit = &later->habits[i];

		habit->more = (double)worked(habit->sum) -
			      (double)habit->judged / timeline->judged_count * all;
	}
	return later;
}

const char *tfs_later_calls(const struct tfs_later *later, uint32_t about, uint32_t *out_site)
{
	uint64_t of_kind = 0;

	for (size_t i = 0; i < later->count; i++)
		of_kind += later->habits[i].about & about ? worked(later->habits[i].sum) : 0;
	for (size_t i = 0; i < later->count; i++) {
		const struct habit *habit = &later->habits[i];
		const struct tfs_aggregate *sum = habit->sum;

		if (!(habit->about & about) || habit->more < SHARE_OF_KIND * (double)of_kind)
			continue;
		if (habit->counts_by_time && habit->more / (double)sum->count * (double)sum->ticks <
						     SHARE_OF_RUN * (double)later->run_ticks)
			continue;
		if (!is_habit(later, habit))
			continue;
		*out_site = sum->site;
		return tfs_arena_print(later->arena,
			"%s was called %s in the run; the judged steps account for %.0f of these calls",
			tfs_trace_function(later->steady->timeline->trace, sum->function),
			tfs_figure_number((double)worked(sum), "time", "times").text,
			(double)worked(sum) - habit->more);
	}
	return NULL;
}

static bool contradicted(const struct tfs_steady *steady, const struct tfs_finding *finding)
{
	const double judged = finding->count_per_step * steady->step_count;
	const double steps = (double)steady->timeline->training_steps;

	/* Totals that lack what was recorded tell nothing. */
	return finding->count_total && (double)finding->count_total >= judged &&
	       (double)finding->count_total * RARE < finding->count_per_step * steps;
}

void tfs_later_contradict(
	struct tfs_findings *findings, size_t before, struct tfs_verdict *out_verdict)
{
	const struct tfs_steady *steady = findings->steady;
	struct tfs_draft taken = {0};
	const struct tfs_finding *gone = &taken.finding;
	size_t kept = before;

	for (size_t i = before; i < findings->count; i++) {
		if (contradicted(steady, &findings->items[i].finding)) {
			taken = findings->items[i];
			continue;
		}
		findings->items[kept] = findings->items[i];
		findings->items[kept].parent = (uint32_t)kept;
		kept++;
	}
	if (kept == findings->count)
		return;
	findings->count = kept;
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
		"%s%s was called %s in the %s, but only %s in the %s of the run",
		tfs_trace_function(steady->timeline->trace, gone->function),
		taken.spread ? ", with other calls," : "",
		tfs_figure_number(gone->count_per_step * steady->step_count, "time", "times").text,
		tfs_figure_number(steady->step_count, "judged step", "judged steps").text,
		tfs_figure_number((double)gone->count_total, "time", "times").text,
		tfs_figure_number((double)steady->timeline->training_steps, "step", "steps").text);
	if (kept == before)
		out_verdict->site = gone->site;
}
