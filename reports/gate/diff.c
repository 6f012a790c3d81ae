/* SPDX-License-Identifier: MIT */
#include "reports/gate/diff.h"

#include <math.h>
#include <string.h>

#include "reports/model/words.h"
#include "reports/support/must.h"

/* The runs, compared both ways, and what is made of that. */
struct work {
	struct tfs_diff *out;
	struct tfs_comparison later;   /* how the findings of `now` stand to `before` */
	struct tfs_comparison earlier; /* and those of `before` to `now` */
};

/* The difference of two times that have nothing to do with each other. */
static const char *difference_of(struct tfs_arena *arena, const struct tfs_model_time *before,
	const struct tfs_model_time *now)
{
	const double ns = before->ns - now->ns;
	const double less = hypot(before->ns - before->low_ns, now->high_ns - now->ns);
	const double more = hypot(before->high_ns - before->ns, now->ns - now->low_ns);

	if (isnan(less) || isnan(more))
		return "no interval: one step";
	if (ns - less <= 0 && ns + more >= 0)
		return "no difference beyond the 95 % intervals";
	if (ns > 0)
		return tfs_arena_print(arena, "%s shorter, by %s (%s)",
			tfs_words_share(arena, ns / before->ns), tfs_words_time(arena, ns),
			tfs_words_span(arena, ns - less, ns + more));
	return tfs_arena_print(arena, "%s longer, by %s (%s)",
		tfs_words_share(arena, -ns / before->ns), tfs_words_time(arena, -ns),
		tfs_words_span(arena, -ns - more, -ns + less));
}

static void set_time(struct tfs_diff *difference, size_t nth, const char *name,
	const struct tfs_model_time *before, const struct tfs_model_time *now)
{
	struct tfs_arena *arena = &difference->arena;
	struct tfs_diff_time *time = &difference->times[nth];

	time->name = name;
	if (before->why || now->why) {
		time->text = before->why ? before->why : now->why;
		return;
	}
	time->between = tfs_arena_print(arena, "%s \xe2\x86\x92 %s",
		tfs_words_time(arena, before->ns), tfs_words_time(arena, now->ns));
	time->text = difference_of(arena, before, now);
}

static struct tfs_diff_row row_of(struct tfs_arena *arena, const struct tfs_model *model,
	const struct tfs_model_finding *finding, const char *more)
{
	const bool costs = finding->cost.ns > 0 && !model->per_run;

	return (struct tfs_diff_row){
		.rule = finding->rule,
		.place = tfs_words_place(arena, &finding->place),
		.call = finding->call ? finding->call : "",
		.more = more,
		.costs = costs ? tfs_arena_print(arena, "%s per step%s",
					 tfs_words_time(arena, finding->cost.ns),
					 model->simulated ? ", modelled" : "")
			       : "",
	};
}

/* Where the rows of a model's findings go: as many as there are at most. */
static struct tfs_diff_row *rows_for(struct tfs_diff *difference, size_t most)
{
	return tfs_must(tfs_arena_alloc(&difference->arena, most + 1, sizeof(struct tfs_diff_row)));
}

static void add_part(struct tfs_diff *difference, const char *title,
	const struct tfs_diff_row *rows, size_t count)
{
	if (count)
		difference->parts[difference->part_count++] =
			(struct tfs_diff_part){title, rows, count};
}

/* Whether a rule's silence about a run means that the run does not break it. */
static bool is_judged(const struct tfs_model *model, const struct tfs_rule_text *rule)
{
	for (size_t i = 0; i < model->rule_count; i++)
		if (!strcmp(model->rules[i].rule->id, rule->id))
			return model->rules[i].state != TFS_STATE_NOT_MEASURABLE &&
			       model->rules[i].state != TFS_STATE_WAIVED;
	return false;
}

/* What one run has and the other does not; `sure` asks for those that the other could have. */
static void add_missing(struct tfs_diff *difference, const struct tfs_comparison *comparison,
	const char *title, bool sure)
{
	const struct tfs_model *model = comparison->now, *other = comparison->before;
	const bool shorter = tfs_baseline_shorter(other, model);
	struct tfs_diff_row *rows = rows_for(difference, model->finding_count);
	size_t count = 0;

	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];
		const bool known = !shorter && is_judged(other, finding->rule);

		if (tfs_baseline_standing(comparison, finding).standing == TFS_STANDING_NEW &&
			known == sure)
			rows[count++] = row_of(&difference->arena, model, finding, "");
	}
	add_part(difference, title, rows, count);
}

static void add_changed(struct tfs_diff *difference, const struct tfs_comparison *comparison)
{
	const struct tfs_model *model = comparison->now;
	struct tfs_diff_row *rows = rows_for(difference, model->finding_count);
	struct tfs_arena *arena = &difference->arena;
	size_t count = 0;

	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];
		const struct tfs_standing_of of = tfs_baseline_standing(comparison, finding);

		if (of.standing == TFS_STANDING_WORSE || of.standing == TFS_STANDING_SCALED)
			rows[count++] = row_of(arena, model, finding,
				tfs_arena_print(arena,
					"%s \xe2\x86\x92 %s, %s \xe2\x86\x92 %s per step",
					tfs_words_calls(arena, of.calls_before),
					tfs_words_calls(arena, of.calls),
					tfs_words_bytes(arena, of.bytes_before),
					tfs_words_bytes(arena, of.bytes)));
	}
	add_part(difference, "changed", rows, count);
}

static void find(const struct work *work)
{
	struct tfs_diff *out = work->out;

	set_time(out, 0, "as written", &out->before->headline.as_written,
		&out->now->headline.as_written);
	set_time(out, 1, "now", &out->before->headline.now, &out->now->headline.now);
	add_missing(out, &work->earlier, "fixed", true);
	add_missing(out, &work->earlier,
		"not known to be fixed: not judged, or not reached, in the second run", false);
	add_missing(out, &work->later, "new", true);
	add_missing(out, &work->later, "perhaps new: not judged, or not reached, in the first run",
		false);
	add_changed(out, &work->later);
}

enum tfs_apart tfs_diff_find(const struct tfs_model *before, const struct tfs_model *now,
	struct tfs_diff *out_difference)
{
	struct work work = {.out = out_difference};

	*out_difference = (struct tfs_diff){
		.before = before, .now = now, .simulated = before->simulated || now->simulated};
	tfs_baseline_compare(now, before, &work.later);
	tfs_baseline_compare(before, now, &work.earlier);
	const enum tfs_apart apart = work.later.apart;

	if (!apart)
		find(&work);
	tfs_baseline_finish(&work.later);
	tfs_baseline_finish(&work.earlier);
	return apart;
}

void tfs_diff_finish(struct tfs_diff *difference)
{
	tfs_must_finish(&difference->arena);
}
