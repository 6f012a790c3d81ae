/* SPDX-License-Identifier: MIT */
#include "rules/judge/judge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/steady.h"
#include "rules/judge/ahead.h"
#include "rules/judge/joint.h"
#include "rules/judge/later.h"
#include "rules/judge/needs.h"
#include "rules/judge/pricing.h"
#include "rules/judge/registry.h"
#include "rules/judge/summary.h"
#include "rules/judge/visibility.h"
#include "rules/judge/whole_run.h"
#include "rules/support/figures.h"
#include "rules/timeline/pairs.h"
#include "rules/whatif/whatif.h"
#include "shim/trace/format/iterations.h"

static bool runtime_seen(const struct tfs_timeline *timeline)
{
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	size_t count = tfs_trace_totals(timeline->trace, &totals, &shares);

	if (timeline->evidence & TFS_NEEDS_RUNTIME)
		return true;
	/* Driver calls tell the same. */
	for (size_t i = 0; i < count; i++) {
		const struct tfs_function_record *function = tfs_trace_find(
			timeline->trace, TFS_RECORD_function, totals[i].sum.function);

		if (function && function->library == TFS_LIBRARY_cuda)
			return true;
	}
	return false;
}

/* Whether another tool recorded it. */
static bool imported(const struct tfs_steady *steady)
{
	return tfs_trace_fact(steady->timeline->trace, TFS_FACT_imported) != NULL;
}

static bool is_there(const struct tfs_steady *steady, uint32_t need)
{
	switch (need) {
	case TFS_NEEDS_STEPS:
		return steady->step_count;
	case TFS_NEEDS_CALLS:
		return steady->call_count;
	case TFS_NEEDS_DEVICE:
		return steady->activity;
	case TFS_NEEDS_RUNTIME:
		return runtime_seen(steady->timeline);
	case TFS_NEEDS_OPERANDS:
		return !imported(steady);
	case TFS_NEEDS_ALL:
		return true; /* what is found counts, see doubt() */
	default:
		return steady->timeline->evidence & need;
	}
}

/* Whether hooks counted calls. */
static bool counted(const struct tfs_trace *trace)
{
	const struct tfs_total *totals;

	return !tfs_trace_fact(trace, TFS_FACT_hooks_none) &&
	       tfs_trace_totals(trace, &totals, NULL);
}

/* Why a rule cannot be asked, or NULL. */
static const char *missing(const struct tfs_steady *steady, const struct tfs_rule *rule)
{
	uint32_t needs = rule->needs;

	if (steady->run && rule->totals && counted(steady->timeline->trace))
		needs &= ~TFS_NEEDS_CALLS;
	if (steady->run && needs & TFS_NEEDS_CALLS && !steady->call_count)
		return "no training steps were found, and calls outside of steps are only counted "
		       "(record=all records them)";
	for (uint32_t need = 1; need <= needs; need <<= 1)
		if (needs & need && !is_there(steady, need))
			return need == TFS_NEEDS_DEVICE ? tfs_need_device(steady->untied,
								  steady->timeline->work_lost)
							: tfs_need_absent(need);
	return NULL;
}

static bool waived(const struct tfs_judge_options *options, const struct tfs_rule *rule,
	struct tfs_verdict *out_verdict)
{
	const char *by = NULL;

	if (options->select && !tfs_rule_listed(options->select, rule))
		by = "not selected";
	if (options->ignore && tfs_rule_listed(options->ignore, rule))
		by = "ignored";
	if (!by)
		return false;
	out_verdict->state = TFS_STATE_WAIVED;
	snprintf(out_verdict->reason, sizeof(out_verdict->reason), "%s", by);
	return true;
}

/* What was hidden from the hooks, or what the judged steps do not show, may be what the rule looks
 * for. */
static void doubt(const struct tfs_steady *steady, const struct tfs_later *later,
	struct tfs_arena *arena, struct tfs_rule_line *line)
{
	const struct tfs_pair *hidden = tfs_pairs_hidden(steady->pairs, line->rule->about);
	struct tfs_verdict *verdict = &line->verdict;
	const char *more = NULL;

	if (verdict->state != TFS_STATE_PASSED && verdict->state != TFS_STATE_NOT_APPLICABLE)
		return;
	if (hidden)
		snprintf(verdict->reason, sizeof(verdict->reason), "the hooks did not see %s of %s",
			tfs_figure_number((double)hidden->hidden, "call", "calls").text,
			hidden->name);
	else if (verdict->state == TFS_STATE_PASSED && steady->run && !line->rule->totals)
		more = tfs_whole_run_unrecorded(steady, line->rule->about, arena, &verdict->site);
	else if (verdict->state == TFS_STATE_PASSED && !steady->run)
		more = tfs_later_calls(later, line->rule->about, &verdict->site);
	if (line->rule->needs & TFS_NEEDS_ALL && imported(steady))
		more = tfs_need_absent(TFS_NEEDS_ALL);
	if (more)
		snprintf(verdict->reason, sizeof(verdict->reason), "%s", more);
	if (hidden || more)
		verdict->state = TFS_STATE_NOT_MEASURABLE;
}

/* Whether the hooks saw calls to a library, and whether there may be one that they do not see. */
static bool library_used(const struct tfs_timeline *timeline, unsigned library, bool *out_unseen)
{
	const struct tfs_total *totals;
	const struct tfs_share *shares;

	*out_unseen = false;
	for (size_t i = tfs_trace_totals(timeline->trace, &totals, &shares); i > 0; i--) {
		const struct tfs_function_record *function = tfs_trace_find(
			timeline->trace, TFS_RECORD_function, totals[i - 1].sum.function);

		if (function && function->library == library && totals[i - 1].sum.count)
			return true;
	}
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_function_record *function = tfs_trace_find(
			timeline->trace, TFS_RECORD_function, timeline->calls[i].function);

		if (function && function->library == library)
			return true;
	}
	for (size_t i = 0; i < tfs_trace_count(timeline->trace, TFS_RECORD_library); i++) {
		const struct tfs_library_record *record =
			tfs_trace_at(timeline->trace, TFS_RECORD_library, i);

		*out_unseen |= record->library == library && (record->flags & 2) != 0;
	}
	return false;
}

/* A rule about a library that the program does not use has not passed. */
static void unused(const struct tfs_steady *steady, struct tfs_rule_line *line)
{
	bool unseen;

	if (!line->rule->library || line->verdict.state != TFS_STATE_PASSED ||
		library_used(steady->timeline, line->rule->library, &unseen))
		return;
	line->verdict.state = unseen ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_NOT_APPLICABLE;
	snprintf(line->verdict.reason, sizeof(line->verdict.reason),
		unseen ? "%s is linked in, and its calls were not seen"
		       : "the program does not call %s",
		tfs_library_title(line->rule->library));
}

/* What a rule is judged by: where no steps are known, the run for those that are about steps. */
static void ask(const struct tfs_steady *steady, const struct tfs_later *later,
	struct tfs_findings *findings, struct tfs_rule_line *line)
{
	size_t before = findings->count;
	const char *why = missing(steady, line->rule);

	findings->steady = steady;
	if (why)
		tfs_verdict_set(
			&line->verdict, findings, before, TFS_STATE_NOT_MEASURABLE, "%s", why);
	else
		line->rule->detect(steady, findings, &line->verdict);
	if (steady->run)
		tfs_whole_run_settle(findings, before, &line->verdict);
	else
		tfs_later_contradict(findings, before, &line->verdict);
	unused(steady, line);
	doubt(steady, later, findings->arena, line);
	line->findings = (uint32_t)(findings->count - before);
}

static int ask_rules(const struct tfs_steady *steady, const struct tfs_steady *run,
	const struct tfs_judge_options *options, struct tfs_findings *findings,
	struct tfs_judgement *judgement)
{
	const struct tfs_later *later = tfs_later_find(steady, judgement->arena);
	size_t count = 0;

	while (tfs_rule_at(count))
		count++;
	judgement->rules = tfs_arena_alloc(judgement->arena, count, sizeof(*judgement->rules));
	if (!judgement->rules || !later)
		return -ENOMEM;
	judgement->rule_count = count;
	for (size_t i = 0; i < count; i++) {
		struct tfs_rule_line *line = &judgement->rules[i];

		line->rule = findings->rule = tfs_rule_at(i);
		if (!waived(options, line->rule, &line->verdict))
			ask(line->rule->needs & TFS_NEEDS_STEPS ? run : steady, later, findings,
				line);
	}
	return findings->failed ? -ENOMEM : 0;
}

/* What a loop does that may be no training is worth knowing, and breaks nothing. */
static bool only_notes(const struct tfs_findings *findings)
{
	return findings->steady->timeline->step_source == TFS_STEP_ITERATIONS;
}

static int keep_findings(const struct tfs_findings *findings, struct tfs_judgement *judgement)
{
	judgement->findings =
		tfs_arena_alloc(judgement->arena, findings->count, sizeof(*judgement->findings));
	if (!judgement->findings)
		return -ENOMEM;
	judgement->finding_count = findings->count;
	for (size_t i = 0; i < findings->count; i++) {
		const struct tfs_draft *draft = &findings->items[i];
		struct tfs_finding *finding = &judgement->findings[i];

		*finding = draft->finding;
		if (only_notes(findings))
			finding->level = TFS_LEVEL_NOTE;
		finding->repair = tfs_summary_repair(
			judgement, draft->unrepaired ? NULL : finding->rule->rewrite, finding);
	}
	return 0;
}

/* `run` is `steady` itself where steps are known. */
static int judge(const struct tfs_steady *steady, const struct tfs_steady *run,
	const struct tfs_judge_options *options, struct tfs_judgement *judgement)
{
	struct tfs_findings findings = {.steady = steady, .arena = judgement->arena};
	int err;

	tfs_summary_fill(steady, judgement);
	err = tfs_layers_find(steady, judgement->arena, &judgement->layers);
	if (!err)
		err = tfs_expenses_find(steady->timeline, judgement->arena, judgement->expenses);
	if (!err)
		err = ask_rules(steady, run, options, &findings, judgement);
	if (!err)
		err = tfs_findings_price(
			run, &findings, &judgement->groups, &judgement->group_count);
	if (!err) {
		tfs_findings_rank(&findings);
		err = keep_findings(&findings, judgement);
	}
	if (!err)
		err = tfs_joint_find(steady, &findings, judgement);
	/* Where the host runs ahead, its steps are not those that the device is idle in. */
	if (!err && !judgement->steps.ahead)
		err = tfs_idle_find(steady->timeline, judgement->findings, judgement->finding_count,
			tfs_findings_owned(&findings), judgement->arena, &judgement->idle);
	if (!err)
		tfs_summary_conclude(steady->timeline, judgement);
	free(findings.items);
	return judgement->arena->failed ? -ENOMEM : err;
}

/* The steps of a host that runs ahead of the device are the device's. */
static int follow_device(struct tfs_steady *steady, struct tfs_step_summary *steps)
{
	struct tfs_ahead ahead;
	const int err = tfs_ahead_find(steady, &ahead);

	if (err || !ahead.found)
		return err;
	steps->ahead = true;
	steps->ahead_busy = ahead.busy;
	steps->spread_ns = ahead.spread_ns;
	/* A replayed step is over when its work on the device is. */
	if (steady->whatif)
		tfs_whatif_follow_device(steady->whatif);
	else
		steady->step_ns = ahead.step_ns;
	return 0;
}

int tfs_judge(const struct tfs_timeline *timeline, const struct tfs_judge_options *options,
	struct tfs_judgement **out_judgement)
{
	static const struct tfs_judge_options usual = {0};
	struct tfs_judgement *judgement;
	struct tfs_steady steady, run = {0};
	int err = 0;

	options = options ? options : &usual;
	if ((options->ignore && !tfs_rule_list_valid(options->ignore)) ||
		(options->select && !tfs_rule_list_valid(options->select)))
		return -EINVAL;
	judgement = calloc(1, sizeof(*judgement));
	if (!judgement)
		return -ENOMEM;
	judgement->arena = calloc(1, sizeof(*judgement->arena));
	if (!judgement->arena || tfs_steady_init(&steady, timeline, options->min_steps)) {
		tfs_judgement_destroy(judgement);
		return -ENOMEM;
	}
	steady.whatif = tfs_whatif_create(&steady);
	if (steady.whatif)
		steady.step_ns = tfs_whatif_written_ns(steady.whatif);
	err = follow_device(&steady, &judgement->steps);
	steady.pairs = tfs_pairs_find(timeline, judgement->arena);
	if (!err && !timeline->step_source)
		err = tfs_steady_init_run(&run, timeline);
	run.pairs = steady.pairs;
	err = steady.pairs ? err : -ENOMEM;
	if (!err)
		err = judge(&steady, timeline->step_source ? &steady : &run, options, judgement);
	tfs_whatif_destroy(steady.whatif);
	tfs_steady_finish(&run);
	tfs_steady_finish(&steady);
	if (err) {
		tfs_judgement_destroy(judgement);
		return err;
	}
	*out_judgement = judgement;
	return 0;
}

void tfs_judgement_destroy(struct tfs_judgement *judgement)
{
	if (!judgement)
		return;
	if (judgement->arena)
		tfs_arena_finish(judgement->arena);
	free(judgement->arena);
	free(judgement);
}
