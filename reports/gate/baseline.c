/* SPDX-License-Identifier: MIT */
#include "reports/gate/baseline.h"

#include <stdlib.h>
#include <string.h>

#define SAME_FACTOR 1.05 /* between two sites of a step that has grown as a whole */
#define MOST 0.75        /* of the calls of steps without names, to be those of one program */
#define LEAST_BYTES 64   /* less is a counter or a loss, which no batch makes larger */

static size_t steady_count(const struct tfs_pairing *pairing, enum tfs_side side)
{
	size_t count = 0;

	for (size_t i = 0; i < pairing->counts[side]; i++)
		count += pairing->spots[side][i].calls > 0;
	return count;
}

bool tfs_baseline_same_steps(const struct tfs_comparison *comparison)
{
	const struct tfs_pairing *pairing = &comparison->pairing;
	const size_t now = steady_count(pairing, TFS_NOW);
	const size_t before = steady_count(pairing, TFS_BEFORE);

	return pairing->exact && pairing->exact * 2 >= (now > before ? now : before);
}

bool tfs_baseline_shorter(const struct tfs_model *run, const struct tfs_model *other)
{
	return (double)run->steps.count * SAME_FACTOR < (double)other->steps.count;
}

static bool is_named(const struct tfs_spot *spot)
{
	return spot->place.frame_count &&
	       spot->place.frames[tfs_model_own_frame(&spot->place)].function;
}

/* A program of the same name is the same program unless nothing of its step is left. Where no
 * function has a name, calls of other programs look alike: then most of it must be left. */
static bool same_program(const struct tfs_comparison *comparison)
{
	const struct tfs_pairing *pairing = &comparison->pairing;
	const size_t now = steady_count(pairing, TFS_NOW);
	const size_t before = steady_count(pairing, TFS_BEFORE);
	size_t paired = 0;
	bool named = false;

	if (strcmp(comparison->now->program_name, comparison->before->program_name) != 0)
		return tfs_baseline_same_steps(comparison);
	for (size_t i = 0; i < pairing->counts[TFS_NOW]; i++) {
		const struct tfs_spot *spot = &pairing->spots[TFS_NOW][i];

		if (!spot->other || !(spot->calls > 0) || !(spot->other->calls > 0))
			continue;
		paired++;
		named |= is_named(spot);
	}
	if (!now || !before || pairing->exact || named)
		return paired || !now || !before;
	return paired >= MOST * (double)(now > before ? now : before);
}

static enum tfs_apart apart(const struct tfs_comparison *comparison)
{
	const struct tfs_model *now = comparison->now, *before = comparison->before;

	if (!same_program(comparison))
		return TFS_APART_PROGRAM;
	if (now->device && before->device && strcmp(now->device, before->device) != 0)
		return TFS_APART_DEVICE;
	if (now->processes && before->processes && now->processes != before->processes)
		return TFS_APART_PROCESSES;
	return TFS_APART_NOT;
}

void tfs_baseline_compare(const struct tfs_model *now, const struct tfs_model *before,
	struct tfs_comparison *out_comparison)
{
	out_comparison->now = now;
	out_comparison->before = before;
	tfs_pairing_make(now, before, &out_comparison->pairing);
	out_comparison->apart = apart(out_comparison);
}

void tfs_baseline_finish(struct tfs_comparison *comparison)
{
	tfs_pairing_finish(&comparison->pairing);
}

static const struct tfs_spot *spot_of(const struct tfs_comparison *comparison, enum tfs_side side,
	const struct tfs_model_finding *finding)
{
	return tfs_pairing_find(&comparison->pairing, side, &finding->place, finding->call);
}

/* Sums what one rule found at one spot; how many findings that is. */
static size_t sum_up(const struct tfs_comparison *comparison, enum tfs_side side,
	const struct tfs_rule_text *rule, const struct tfs_spot *spot, double *out_calls,
	double *out_bytes)
{
	const struct tfs_model *model = side == TFS_NOW ? comparison->now : comparison->before;
	size_t count = 0;

	*out_calls = *out_bytes = 0;
	for (size_t i = 0; spot && i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];

		if (strcmp(finding->rule->id, rule->id) != 0 ||
			spot_of(comparison, side, finding) != spot)
			continue;
		*out_calls += finding->count_per_step > 0 ? finding->count_per_step : 0;
		*out_bytes += finding->bytes_per_step > 0 ? finding->bytes_per_step : 0;
		count++;
	}
	return count;
}

static bool same_factor(double one, double other)
{
	return one <= other * SAME_FACTOR && other <= one * SAME_FACTOR;
}

/* How what a site works on has grown: 1 by the factor, -1 by another, 0 not at all. Of a larger
 * batch only some of a call's sizes grow: a product with weights keeps these. */
static int work_grew(const struct tfs_spot *now, const struct tfs_spot *before, double factor)
{
	int grew = 0;

	for (unsigned i = 0; now->sizes && before->sizes && i < TFS_MODEL_SIZES; i++) {
		const double is = now->sizes[i] / now->calls;
		const double was = before->sizes[i] / before->calls;

		if (!(was > 0) || same_factor(is, was))
			continue;
		if (!same_factor(is / was, factor))
			return -1;
		grew = 1;
	}
	return grew;
}

/* Where nothing else moves bytes: whether of the calls that work on more now, most work on as much
 * more. */
static bool work_of_step_grew(
	const struct tfs_comparison *comparison, const struct tfs_spot *except, double factor)
{
	const struct tfs_pairing *pairing = &comparison->pairing;
	size_t alike = 0, others = 0;

	for (size_t i = 0; i < pairing->counts[TFS_NOW]; i++) {
		const struct tfs_spot *now = &pairing->spots[TFS_NOW][i];
		const struct tfs_spot *before = now->other;

		if (now == except || !before || !(now->calls > 0) || !(before->calls > 0))
			continue;
		const int grew = work_grew(now, before, factor);

		alike += grew > 0;
		others += grew < 0;
	}
	return alike && alike >= others;
}

/* Whether most of what else the step does has grown by as much: a larger batch moves more bytes by
 * as many calls, more batches to an update make more calls. */
static bool step_grew(const struct tfs_comparison *comparison, const struct tfs_spot *except,
	bool by_calls, double factor)
{
	const struct tfs_pairing *pairing = &comparison->pairing;
	size_t grown = 0, others = 0;

	for (size_t i = 0; i < pairing->counts[TFS_NOW]; i++) {
		const struct tfs_spot *now = &pairing->spots[TFS_NOW][i];
		const struct tfs_spot *before = now->other;
		const double least = by_calls ? 0 : LEAST_BYTES;

		if (now == except || !before)
			continue;
		const double was = by_calls ? before->calls : before->bytes;
		const double is = by_calls ? now->calls : now->bytes;

		if (!(was > least))
			continue;
		others++;
		grown += (by_calls ? tfs_pairing_more_calls(is, was)
				   : tfs_pairing_more_bytes(is, was)) &&
			 same_factor(is / was, factor);
	}
	if (!by_calls && !others)
		return work_of_step_grew(comparison, except, factor);
	return grown && grown * 2 >= others;
}

static bool explained(const struct tfs_comparison *comparison, const struct tfs_spot *spot,
	const struct tfs_standing_of *of)
{
	if (!(of->calls_before > 0))
		return false;
	if (tfs_pairing_more_calls(of->calls, of->calls_before))
		return step_grew(comparison, spot, true, of->calls / of->calls_before);
	return of->bytes_before > 0 &&
	       step_grew(comparison, spot, false, of->bytes / of->bytes_before);
}

struct tfs_standing_of tfs_baseline_standing(
	const struct tfs_comparison *comparison, const struct tfs_model_finding *finding)
{
	const struct tfs_spot *spot = spot_of(comparison, TFS_NOW, finding);
	struct tfs_standing_of of = {.standing = TFS_STANDING_NEW};

	sum_up(comparison, TFS_NOW, finding->rule, spot, &of.calls, &of.bytes);
	if (!spot || !sum_up(comparison, TFS_BEFORE, finding->rule, spot->other, &of.calls_before,
			     &of.bytes_before))
		return of;
	of.was = spot->other;
	of.standing = TFS_STANDING_KNOWN;
	if (tfs_pairing_more_calls(of.calls, of.calls_before) ||
		tfs_pairing_more_bytes(of.bytes, of.bytes_before))
		of.standing =
			explained(comparison, spot, &of) ? TFS_STANDING_SCALED : TFS_STANDING_WORSE;
	return of;
}

enum tfs_change tfs_baseline_change(const struct tfs_spot *now)
{
	const struct tfs_spot *before = now->other;

	if (!(now->calls > 0))
		return TFS_CHANGE_NONE;
	if (!before || !(before->calls > 0))
		return tfs_pairing_more_calls(now->calls, 0) ? TFS_CHANGE_NEW : TFS_CHANGE_NONE;
	if (tfs_pairing_more_calls(now->calls, before->calls))
		return TFS_CHANGE_CALLS;
	return tfs_pairing_more_bytes(now->bytes, before->bytes) ? TFS_CHANGE_BYTES
								 : TFS_CHANGE_NONE;
}

static bool was_judged(const struct tfs_model *model, const struct tfs_rule_text *rule)
{
	for (size_t i = 0; i < model->rule_count; i++)
		if (!strcmp(model->rules[i].rule->id, rule->id))
			return model->rules[i].state == TFS_STATE_PASSED ||
			       model->rules[i].state == TFS_STATE_NOT_APPLICABLE ||
			       model->rules[i].state == TFS_STATE_VIOLATED;
	return false;
}

/* Several findings at one spot are one. */
static bool is_first(const struct tfs_comparison *comparison, size_t which)
{
	const struct tfs_model *before = comparison->before;
	const struct tfs_model_finding *finding = &before->findings[which];

	for (size_t i = 0; i < which; i++)
		if (!strcmp(before->findings[i].rule->id, finding->rule->id) &&
			spot_of(comparison, TFS_BEFORE, &before->findings[i]) ==
				spot_of(comparison, TFS_BEFORE, finding))
			return false;
	return true;
}

size_t tfs_baseline_fixed(
	const struct tfs_comparison *comparison, size_t *out_less, size_t *out_unseen)
{
	const struct tfs_model *before = comparison->before;
	const bool shorter = tfs_baseline_shorter(comparison->now, before);
	size_t fixed = 0;

	*out_less = *out_unseen = 0;
	for (size_t i = 0; i < before->finding_count; i++) {
		const struct tfs_model_finding *finding = &before->findings[i];
		const struct tfs_spot *spot = spot_of(comparison, TFS_BEFORE, finding);
		double calls, bytes, calls_before, bytes_before;

		if (!is_first(comparison, i))
			continue;
		sum_up(comparison, TFS_BEFORE, finding->rule, spot, &calls_before, &bytes_before);
		if (!sum_up(comparison, TFS_NOW, finding->rule, spot->other, &calls, &bytes)) {
			if (!shorter && was_judged(comparison->now, finding->rule))
				fixed++;
			else
				++*out_unseen;
		} else if (shorter) {
			continue;
		} else if (tfs_pairing_more_calls(calls_before, calls) ||
			   tfs_pairing_more_bytes(bytes_before, bytes)) {
			++*out_less;
		}
	}
	return fixed;
}
