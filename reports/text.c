/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "reports/format.h"
#include "reports/utf8.h"
#include "reports/words.h"

#define WIDTH 88
#define SHOWN_FRAMES 6u

/* Names are other people's bytes: no control character reaches a terminal. */
static void put(FILE *out, const char *text)
{
	while (*text) {
		uint32_t code;
		unsigned length = tfs_utf8_next(text, &code);
		if (code == TFS_UTF8_BAD || code < 0x20 || (code >= 0x7f && code < 0xa0))
			fputc('?', out);
		else
			fwrite(text, 1, length, out);
		text += length;
	}
}

/* A paragraph: the first line after what was already printed, all others behind `indent`. */
static void put_wrapped(FILE *out, const char *text, int indent)
{
	int column = indent;
	while (*text) {
		int length = (int)strcspn(text, " ");
		if (column > indent && column + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		char word[256];
		snprintf(word, sizeof(word), "%.*s", length, text);
		put(out, word);
		column += length;
		text += length;
		text += *text == ' ';
	}
	fputc('\n', out);
}

static void put_item(FILE *out, const char *label, const char *text)
{
	fprintf(out, "     %-9s", label);
	put_wrapped(out, text, 14);
}

static void write_head(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_pool *pool)
{
	const char *colour = !model->usable                   ? paint->warn
			     : model->levels[TFS_LEVEL_ERROR] ? paint->error
			     : model->levels[TFS_LEVEL_WARN]  ? paint->warn
							      : paint->good;
	fprintf(out, "%s", colour);
	put(out, model->verdict);
	fprintf(out, "%s\n\n", paint->reset);
	fputs("program   ", out);
	put(out, model->program);
	fprintf(out, " (pid %u%s%s)\n", model->pid, model->rank ? ", rank " : "",
		model->rank ? tfs_words_count(pool, model->rank) : "");
	fputs("device    ", out);
	put(out, model->device ? model->device : "none seen");
	if (model->simulated)
		fputs(" [simulated: costs are modelled and say nothing about speed]", out);
	fputc('\n', out);
	const struct tfs_model_steps *steps = &model->steps;
	if (!steps->source || !steps->count) {
		fputs("steps     none found\n", out);
	} else {
		fprintf(out, "steps     %s training steps after %s of warm-up, found by %s\n",
			tfs_words_count(pool, (double)steps->count),
			tfs_words_count(pool, (double)steps->warmup), steps->source);
		fprintf(out, "          median %s, p95 %s%s\n",
			tfs_words_time(pool, steps->median_ns), tfs_words_time(pool, steps->p95_ns),
			model->simulated ? " (host clock; device times are modelled)" : "");
	}
	if (!isnan(steps->gpu_busy))
		fprintf(out, "gpu       busy %s of the step; %s of copy time under computation\n",
			tfs_words_share(pool, steps->gpu_busy),
			tfs_words_share(pool, steps->copy_overlap));
}

static const char *per_step(const struct tfs_model_finding *finding, struct tfs_pool *pool)
{
	const char *text = tfs_pool_print(
		pool, "%s calls per step", tfs_words_count(pool, finding->count_per_step));
	if (finding->bytes_per_step > 0)
		text = tfs_pool_print(
			pool, "%s, %s", text, tfs_words_bytes(pool, finding->bytes_per_step));
	if (finding->time_per_step_ns > 0)
		text = tfs_pool_print(pool, "%s, %s on the host", text,
			tfs_words_time(pool, finding->time_per_step_ns));
	if (finding->count_total)
		text = tfs_pool_print(pool, "%s; %s in the whole run", text,
			tfs_words_count(pool, (double)finding->count_total));
	return text;
}

static const char *cost_text(const struct tfs_model *model, const struct tfs_model_finding *finding,
	struct tfs_pool *pool)
{
	const char *text = tfs_words_cost(pool, &finding->cost);
	if (finding->cost.ns > 0)
		text = tfs_pool_print(pool, "%s per step", text);
	if (finding->cost.ns > 0 && model->steps.judged_ns > 0)
		text = tfs_pool_print(pool, "%s = %s", text,
			tfs_words_share(pool, finding->cost.ns / model->steps.judged_ns));
	if (finding->cost.method)
		text = tfs_pool_print(pool, "%s, by %s", text, finding->cost.method);
	if (model->simulated)
		text = tfs_pool_print(pool, "%s; modelled, simulated device", text);
	if (finding->group)
		text = tfs_pool_print(pool, "%s; shared by group %u", text, finding->group);
	if (finding->low_confidence)
		text = tfs_pool_print(pool, "%s; low confidence: few steps", text);
	return text;
}

static const char *rewrite_text(const struct tfs_model_finding *finding, struct tfs_pool *pool)
{
	if (!finding->rewrite)
		return "none";
	return tfs_pool_print(pool, "%s: %s%s%s", finding->rewrite, finding->rewrite_state,
		finding->rewrite_reason ? ", " : "",
		finding->rewrite_reason ? finding->rewrite_reason : "");
}

static void write_finding(const struct tfs_model *model, size_t number, FILE *out,
	const struct tfs_paint *paint, struct tfs_pool *pool)
{
	const struct tfs_model_finding *finding = &model->findings[number];
	const struct tfs_model_place *place = &finding->place;
	fprintf(out, "\n%3zu. %s%s %s%s  %s%s %s%s  ", number + 1,
		tfs_paint_level(paint, finding->level), tfs_words_sign(finding->level),
		tfs_words_level(finding->level), paint->reset, paint->bold, finding->rule->id,
		finding->rule->slug, paint->reset);
	put(out, tfs_words_place(pool, place));
	if (finding->call) {
		fputs("  ", out);
		put(out, finding->call);
	}
	fputc('\n', out);
	if (finding->message)
		put_item(out, "what", finding->message);
	for (size_t i = 0; i < place->frame_count && i < SHOWN_FRAMES; i++)
		put_item(out, i ? "" : "where", tfs_words_frame(pool, &place->frames[i]));
	if (place->frame_count > SHOWN_FRAMES)
		put_item(out, "",
			tfs_pool_print(
				pool, "... %zu more callers", place->frame_count - SHOWN_FRAMES));
	put_item(out, "count", per_step(finding, pool));
	put_item(out, "cost", cost_text(model, finding, pool));
	put_item(out, "advice", finding->advice ? finding->advice : "");
	put_item(out, "rewrite", rewrite_text(finding, pool));
}

static void write_findings(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_pool *pool)
{
	fprintf(out, "\n%sFINDINGS%s %s\n", paint->bold, paint->reset,
		model->finding_count ? "(dearest first within a level)" : "none");
	for (size_t i = 0; i < model->finding_count; i++)
		write_finding(model, i, out, paint, pool);
	if (model->joint_count)
		fprintf(out, "\nTogether, mending the %s would save %s per step%s.\n",
			model->joint_count == 1
				? "first"
				: tfs_pool_print(pool, "first %u", model->joint_count),
			tfs_words_cost(pool, &model->joint),
			model->simulated ? " (modelled, simulated device)" : "");
}

static void write_rules(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint)
{
	static const char *const signs[] = {"+", "x", "?", "-"};
	fprintf(out, "\n%sRULES%s\n", paint->bold, paint->reset);
	for (size_t i = 0; i < model->rule_count; i++) {
		const struct tfs_model_rule *line = &model->rules[i];
		fprintf(out, "  %s %s %-24s %-15s ", signs[line->state & 3], line->rule->id,
			line->rule->slug,
			line->state == TFS_STATE_NOT_MEASURABLE ? "not measurable"
								: tfs_words_state(line->state));
		put_wrapped(out, line->reason ? line->reason : "", 52);
	}
}

static const char *gain(const struct tfs_model_rewrite *rewrite, struct tfs_pool *pool)
{
	const char *text = isnan(rewrite->predicted_ns)
				   ? "gain not predicted"
				   : tfs_pool_print(pool, "predicted %s",
					     tfs_words_time(pool, rewrite->predicted_ns));
	if (isnan(rewrite->realised_ns))
		return tfs_pool_print(pool, "%s, not measured", text);
	return tfs_pool_print(pool, "%s, realised %s (%s to %s) per step", text,
		tfs_words_time(pool, rewrite->realised_ns),
		tfs_words_time(pool, rewrite->realised_low_ns),
		tfs_words_time(pool, rewrite->realised_high_ns));
}

static void write_rewrites(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_pool *pool)
{
	fprintf(out, "\n%sREWRITES%s%s\n", paint->bold, paint->reset,
		model->rewrite_count ? "" : " none");
	for (size_t i = 0; i < model->rewrite_count; i++) {
		const struct tfs_model_rewrite *rewrite = &model->rewrites[i];
		fprintf(out, "  %-16s %s, %s", rewrite->name, rewrite->class_name, rewrite->state);
		fprintf(out, "; took part in %s calls; %s\n",
			tfs_words_count(pool, (double)rewrite->applied), gain(rewrite, pool));
		if (rewrite->reason) {
			fprintf(out, "%19s", "");
			put_wrapped(out, rewrite->reason, 19);
		}
		for (size_t j = 0; j < rewrite->refusal_count; j++) {
			const struct tfs_model_refusal *refusal = &rewrite->refusals[j];
			fprintf(out, "%19s", "");
			put_wrapped(out,
				tfs_pool_print(pool, "refused %s times at %s: %s",
					tfs_words_count(pool, (double)refusal->count),
					tfs_words_place(pool, &refusal->place), refusal->check),
				19);
		}
	}
}

static void write_facts(const char *title, const char *line, const struct tfs_model_fact *facts,
	size_t count, FILE *out, const struct tfs_paint *paint)
{
	fprintf(out, "\n%s%s%s\n", paint->bold, title, paint->reset);
	if (line) {
		fputs("  ", out);
		put_wrapped(out, line, 2);
	}
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "  %s %-26s ", facts[i].limits ? "!" : " ", facts[i].name);
		put_wrapped(out, facts[i].text, 31);
	}
}

static void write_text(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint)
{
	struct tfs_pool pool = {0};
	write_head(model, out, paint, &pool);
	write_findings(model, out, paint, &pool);
	write_rules(model, out, paint);
	write_rewrites(model, out, paint, &pool);
	write_facts(
		"VISIBILITY", model->sight, model->visibility, model->visibility_count, out, paint);
	fprintf(out, "\n%sLOSSES%s%s\n", paint->bold, paint->reset,
		model->loss_count ? "" : " none");
	for (size_t i = 0; i < model->loss_count; i++)
		fprintf(out, "  ! %s %s\n", tfs_words_count(&pool, (double)model->losses[i].count),
			model->losses[i].text);
	write_facts("HOW THIS WAS MEASURED", NULL, model->method, model->method_count, out, paint);
	tfs_pool_finish(&pool);
}

const struct tfs_format tfs_format_text = {
	.name = "text",
	.suffix = ".txt",
	.title = "for reading",
	.beside = true,
	.write = write_text,
};
