/* SPDX-License-Identifier: MIT */
#include "rules/judge/summary.h"
#include "rules/judge/needs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rules/judge/pricing.h"
#include "rules/judge/visibility.h"
#include "rules/support/figures.h"
#include "rules/support/sentences.h"
#include "rules/whatif/whatif.h"
#include "shim/trace/format/iterations.h"

static const char *source_name(enum tfs_step_source source)
{
	switch (source) {
	case TFS_STEP_LOOPS:
		return "loops";
	case TFS_STEP_API:
		return "api";
	case TFS_STEP_NVTX:
		return "nvtx";
	}
	return (uint32_t)source == TFS_STEP_ITERATIONS ? "iterations" : "none";
}

/* Standard error of the mean of the judged steps. */
static double spread(const struct tfs_steady *steady)
{
	double sum = 0, squares = 0;

	if (steady->step_count < 2)
		return NAN;
	for (uint32_t i = 0; i < steady->step_count; i++) {
		const struct tfs_step *step = &steady->timeline->steps[steady->steps[i]];

		sum += (double)(step->end_ns - step->start_ns);
	}
	for (uint32_t i = 0; i < steady->step_count; i++) {
		const struct tfs_step *step = &steady->timeline->steps[steady->steps[i]];
		const double off =
			(double)(step->end_ns - step->start_ns) - sum / steady->step_count;

		squares += off * off;
	}
	return sqrt(squares / (steady->step_count - 1) / steady->step_count);
}

static void fill_steps(const struct tfs_steady *steady, struct tfs_step_summary *steps)
{
	const struct tfs_timeline *timeline = steady->timeline;
	bool outside = timeline->outside.count > 0;
	const struct tfs_step_times *times = outside ? &timeline->outside : &timeline->inside;

	steps->count = timeline->training_steps;
	steps->warmup = tfs_timeline_warmup(timeline);
	steps->judged = steady->step_count;
	steps->rewritten = timeline->rewritten_steps;
	steps->evaluation = timeline->other_steps;
	steps->median_ns = times->median_ns;
	steps->p95_ns = times->p95_ns;
	steps->judged_median_ns = timeline->inside.median_ns;
	steps->recorded_ns = steady->step_ns;
	steps->written_ns = tfs_whatif_step_ns(steady);
	if (!steps->ahead)
		steps->spread_ns = spread(steady);
	if (steps->ahead) {
		steps->judged_median_ns = steady->step_ns;
		steps->median_ns = fmax(steps->median_ns, steady->step_ns);
		steps->p95_ns = fmax(steps->p95_ns, steps->median_ns);
	}
	steps->source = source_name(timeline->step_source);
	steps->replay_error = -1;
	if (steady->whatif) {
		steps->replayed_ns = tfs_whatif_replayed_ns(steady->whatif);
		steps->replay_error = tfs_whatif_error(steady->whatif);
		steps->worst_step = timeline->steps[tfs_whatif_worst(steady->whatif)].index;
		steps->host_load = tfs_whatif_load(steady->whatif);
		steps->unpriced = tfs_whatif_doubt(steady->whatif);
	}
}

static const char *class_name(uint32_t class)
{
	static const char *const names[] = {"unknown", "exact", "rounding", "reduced"};

	return names[class < 4 ? class : 0];
}

static void fill_refusals(const struct tfs_trace *trace, struct tfs_arena *arena, const char *name,
	struct tfs_rewrite_line *line)
{
	size_t count = tfs_trace_count(trace, TFS_RECORD_refusal);

	line->refusals = tfs_arena_alloc(arena, count, sizeof(*line->refusals));
	for (size_t i = 0; i < count && line->refusals; i++) {
		const struct tfs_refusal_record *record =
			tfs_trace_at(trace, TFS_RECORD_refusal, i);
		const char *check = tfs_trace_check(record->check);
		const char *text = tfs_sentence_refusal(trace, record, arena);
		size_t j = 0;

		if (strcmp(tfs_trace_string(trace, record->rewrite), name))
			continue;
		while (j < line->refusal_count && (line->refusals[j].site != record->site ||
							  strcmp(line->refusals[j].text, text)))
			j++;
		line->refusals[j] =
			(struct tfs_refusal_line){check, text, record->site, record->count};
		line->refusal_count += j == line->refusal_count;
	}
}

/* The process wrote it to the end, and all of that can be read. */
static bool is_closed(const struct tfs_trace *trace)
{
	const struct tfs_trace_summary *summary = tfs_trace_summary(trace);

	return tfs_trace_header(trace)->finished == 1 && !summary->cut && !summary->damages;
}

/* A later record of the same rewrite replaces an earlier one. */
static void fill_rewrites(const struct tfs_trace *trace, struct tfs_judgement *judgement)
{
	size_t count = tfs_trace_count(trace, TFS_RECORD_rewrite);

	judgement->rewrites =
		tfs_arena_alloc(judgement->arena, count, sizeof(*judgement->rewrites));
	for (size_t i = 0; i < count && judgement->rewrites; i++) {
		const struct tfs_rewrite_record *record =
			tfs_trace_at(trace, TFS_RECORD_rewrite, i);
		const char *name = tfs_trace_string(trace, record->name);
		size_t j = 0;

		/* Cut before the name: whose it is cannot be told. */
		if (!*name)
			continue;
		while (j < judgement->rewrite_count && strcmp(judgement->rewrites[j].name, name))
			j++;
		judgement->rewrites[j] = (struct tfs_rewrite_line){.name = name,
			.class_name = class_name(record->class),
			.state = (enum tfs_rewrite_state)record->state,
			.outcome = (enum tfs_rewrite_outcome)record->outcome,
			.reason = tfs_sentence_reason(trace, record, judgement->arena),
			.applied = record->applied,
			.bytes = record->bytes,
			.predicted_ns = record->predicted_ns,
			.realised_ns = record->realised_ns,
			.realised_low_ns = record->realised_low_ns,
			.realised_high_ns = record->realised_high_ns};
		judgement->rewrite_count += j == judgement->rewrite_count;
	}
	for (size_t i = 0; i < judgement->rewrite_count; i++) {
		struct tfs_rewrite_line *line = &judgement->rewrites[i];

		/* Where calls were dropped, the last word on what acted still has its room. */
		line->more = !judgement->whole && !(is_closed(trace) && line->applied);
		fill_refusals(trace, judgement->arena, line->name, line);
	}
}

static void fill_losses(const struct tfs_file_header *header, struct tfs_judgement *judgement)
{
	static const char *const names[TFS_LOSS_COUNT] = {
#define X(number, name, text) [number] = #name,
		TFS_LOSSES(X)
#undef X
	};
	static const char *const texts[TFS_LOSS_COUNT] = {
#define X(number, name, text) [number] = text,
		TFS_LOSSES(X)
#undef X
	};

	judgement->losses =
		tfs_arena_alloc(judgement->arena, TFS_LOSS_COUNT, sizeof(*judgement->losses));
	for (unsigned i = 0; i < TFS_LOSS_COUNT && judgement->losses; i++)
		if (header->lost[i] && names[i])
			judgement->losses[judgement->loss_count++] =
				(struct tfs_loss_line){names[i], texts[i], header->lost[i]};
}

void tfs_summary_fill(const struct tfs_steady *steady, struct tfs_judgement *judgement)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_file_header *header = tfs_trace_header(timeline->trace);

	judgement->timeline = timeline;
	judgement->program = tfs_arena_print(judgement->arena, "%.*s",
		(int)strnlen(header->program, sizeof(header->program)), header->program);
	judgement->pid = header->pid;
	judgement->rank = header->rank;
	judgement->finished = header->finished == 1;
	judgement->whole = is_closed(timeline->trace) && !header->lost[TFS_LOSS_records_dropped];
	judgement->device_name = "";
	judgement->simulated = steady->simulated;
	for (uint32_t i = 0; i < timeline->device_count && !*judgement->device_name; i++)
		if (timeline->devices[i].record)
			judgement->device_name = tfs_trace_string(
				timeline->trace, timeline->devices[i].record->name);
	tfs_visibility_describe(steady, judgement->arena, &judgement->visibility);
	fill_steps(steady, &judgement->steps);
	fill_rewrites(timeline->trace, judgement);
	fill_losses(header, judgement);
}

/* The check that failed most often at a call site, or NULL. */
static const struct tfs_refusal_line *refusal_at(const struct tfs_rewrite_line *line, uint32_t site)
{
	const struct tfs_refusal_line *most = NULL;

	for (size_t i = 0; i < line->refusal_count; i++)
		if (line->refusals[i].site == site &&
			(!most || line->refusals[i].count > most->count))
			most = &line->refusals[i];
	return most;
}

struct tfs_repair tfs_summary_repair(const struct tfs_judgement *judgement, const char *rewrite,
	const struct tfs_finding *finding)
{
	const struct tfs_rewrite_line *line = NULL;
	const struct tfs_refusal_line *refusal;

	for (size_t i = 0; rewrite && i < judgement->rewrite_count; i++)
		if (!strcmp(judgement->rewrites[i].name, rewrite))
			line = &judgement->rewrites[i];
	if (!rewrite)
		return (struct tfs_repair){NULL, TFS_REPAIR_NONE, ""};
	/* Where records are missing, nothing is denied. */
	if (!judgement->whole && (!line || (line->state == TFS_REWRITE_APPLY && !line->applied)))
		return (struct tfs_repair){rewrite, TFS_REPAIR_NOT_KNOWN,
			"the recording is incomplete and does not say what the rewrite did"};
	if (!line)
		return (struct tfs_repair){rewrite, TFS_REPAIR_OFF, "not enabled in this run"};
	if (line->state == TFS_REWRITE_LOST)
		return (struct tfs_repair){line->name, TFS_REPAIR_OFF,
			*line->reason ? line->reason : "its A/B test showed no gain"};
	refusal = refusal_at(line, finding->site);
	/* At some calls of a site that it else repairs, it may have refused: the first ones, say.
	 */
	if (refusal && (!line->applied || 4 * refusal->count >= finding->count_total))
		return (struct tfs_repair){line->name, TFS_REPAIR_REFUSED, refusal->text};
	if (line->state != TFS_REWRITE_APPLY)
		return (struct tfs_repair){line->name, TFS_REPAIR_OFF,
			*line->reason                       ? line->reason
			: line->state == TFS_REWRITE_REPORT ? "in report mode"
							    : "not switched on"};
	if (!line->applied)
		return (struct tfs_repair){line->name, TFS_REPAIR_OFF,
			*line->reason ? line->reason : "not applicable: no matching call"};
	return (struct tfs_repair){line->name, TFS_REPAIR_APPLIED, line->reason};
}

static bool usable(const struct tfs_timeline *timeline, struct tfs_judgement *judgement)
{
	const char *why = NULL;

	if (timeline->step_source == TFS_STEP_ITERATIONS)
		why = "no weight update was seen; iterations of the loop with most calls stand for "
		      "training steps, and what breaks a rule there is a note";
	else if (!judgement->visibility.steps)
		why = "no training steps were found";
	else if (!judgement->steps.judged || !judgement->visibility.calls)
		why = "no training step was recorded in full";
	else if (!judgement->visibility.device)
		why = tfs_need_device(judgement->visibility.untied, judgement->visibility.lost);
	else if (!*judgement->device_name)
		why = "the recording does not name the GPU";
	if (why)
		snprintf(judgement->verdict, sizeof(judgement->verdict), "not judged: %s", why);
	return !why;
}

void tfs_summary_conclude(const struct tfs_timeline *timeline, struct tfs_judgement *judgement)
{
	unsigned errors, warnings, notes;

	for (size_t i = 0; i < judgement->finding_count; i++)
		judgement->levels[judgement->findings[i].level]++;
	errors = judgement->levels[TFS_LEVEL_ERROR];
	warnings = judgement->levels[TFS_LEVEL_WARN];
	notes = judgement->levels[TFS_LEVEL_NOTE];
	judgement->usable = usable(timeline, judgement);
	if (!judgement->usable)
		return;
	snprintf(judgement->verdict, sizeof(judgement->verdict), "%s, %s, %s",
		tfs_figure_number(errors, "error", "errors").text,
		tfs_figure_number(warnings, "warning", "warnings").text,
		tfs_figure_number(notes, "note", "notes").text);
}
