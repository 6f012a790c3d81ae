/* SPDX-License-Identifier: MIT */
#include "reports/formats/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/format.h"
#include "reports/formats/text_headline.h"
#include "reports/formats/text_steps.h"
#include "reports/formats/text_tables.h"
#include "reports/formats/utf8.h"
#include "reports/model/words.h"

#define WIDTH 88
#define SHOWN_FRAMES 6u
#define WHOLE_CARDS 7u
#define NAMED_CARDS 20u

static void put_some(FILE *out, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	while (text < end) {
		uint32_t code;
		unsigned length = tfs_utf8_next(text, &code);
		if (code == TFS_UTF8_BAD || code < 0x20 || code == 0x7f)
			fputc('?', out);
		else if (tfs_utf8_hides(code))
			fprintf(out, "[U+%04X]", (unsigned)code);
		else
			fwrite(text, 1, length, out);
		text += length;
	}
}

void tfs_text_put(FILE *out, const char *text)
{
	put_some(out, text, strlen(text));
}

void tfs_text_line(FILE *out, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	tfs_text_put(out, text ? text : format);
	fputc('\n', out);
	free(text);
}

void tfs_text_wrapped(FILE *out, const char *text, int indent)
{
	int column = indent;
	while (*text) {
		const size_t length = strcspn(text, " ");
		const int columns = (int)tfs_utf8_count(text, length);

		if (column > indent && column + 1 + columns > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		put_some(out, text, length);
		column += columns;
		text += length;
		text += *text == ' ';
	}
	fputc('\n', out);
}

static void put_item(FILE *out, const char *label, const char *text)
{
	fprintf(out, "     %-9s", label);
	tfs_text_wrapped(out, text, 14);
}

static void write_idle(const struct tfs_model *model, FILE *out, struct tfs_arena *arena)
{
	const char *recorded = "";

	if (!(model->idle_ns > 0))
		return;
	/* Recording may lengthen the step that it is a part of. */
	if (model->steps.written_ns < model->steps.recorded_ns)
		recorded = tfs_arena_print(arena, " of %s as recorded",
			tfs_words_time(arena, model->steps.recorded_ns));
	fprintf(out, "idle      %s%s %s; findings explain %s of it%s\n",
		tfs_words_time(arena, model->idle_ns), recorded, tfs_words_each(model),
		tfs_words_share(arena, model->idle_explained),
		model->idle_count ? ", the largest of the rest:" : "");
	for (size_t i = 0; i < model->idle_count; i++) {
		fprintf(out, "          %9s  ", tfs_words_time(arena, model->idles[i].ns));
		tfs_text_wrapped(out, model->idles[i].text, 21);
	}
}

static void write_head(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	const char *colour = !model->usable                   ? paint->warn
			     : model->levels[TFS_LEVEL_ERROR] ? paint->error
			     : model->levels[TFS_LEVEL_WARN]  ? paint->warn
							      : paint->good;
	const bool headed = model->usable && model->headline.text;
	fprintf(out, "%s", colour);
	tfs_text_put(out, headed ? model->headline.text : model->verdict);
	fprintf(out, "%s\n", paint->reset);
	if (headed)
		tfs_text_line(out, "%s", model->verdict);
	fputc('\n', out);
	fputs("program   ", out);
	tfs_text_put(out, model->program);
	fprintf(out, " (pid %u%s%s", model->pid, model->rank ? ", rank " : "",
		model->rank ? tfs_words_count(arena, model->rank) : "");
	if (model->interpreter) {
		fputs(", run by ", out);
		tfs_text_put(out, model->interpreter);
	}
	fputs(")\n", out);
	fputs("device    ", out);
	tfs_text_put(out, model->device ? model->device : "no GPU seen");
	if (model->simulated)
		fputs(" [simulated: costs are modelled and say nothing about speed]", out);
	fputc('\n', out);
	tfs_text_steps(model, out, arena);
	write_idle(model, out, arena);
}

static const char *per_step(const struct tfs_model_finding *finding, struct tfs_arena *arena)
{
	const char *text = tfs_words_calls(arena, finding->count_per_step);

	if (finding->bytes_per_step > 0)
		text = tfs_arena_print(arena, "%s, %s/step", text,
			tfs_words_bytes(arena, finding->bytes_per_step));
	if (finding->time_per_step_ns > 0)
		text = tfs_arena_print(arena, "%s, %s/step on the host", text,
			tfs_words_time(arena, finding->time_per_step_ns));
	if (finding->count_total)
		text = tfs_arena_print(arena, "%s; %s in the whole run", text,
			tfs_words_number(arena, (double)finding->count_total, "call", "calls"));
	return text;
}

/* The same where no steps are known. */
static const char *in_run(const struct tfs_model_finding *finding, struct tfs_arena *arena)
{
	const char *text = tfs_words_number(arena, finding->count_per_step, "call", "calls");

	if (finding->bytes_per_step > 0)
		text = tfs_arena_print(
			arena, "%s, %s", text, tfs_words_bytes(arena, finding->bytes_per_step));
	return tfs_arena_print(arena, "%s, %s on the host in the recorded run", text,
		tfs_words_time(arena, finding->time_per_step_ns));
}

static const char *cost_text(
	const struct tfs_model *model, const struct tfs_model_card *card, struct tfs_arena *arena)
{
	const struct tfs_cost *cost = &card->cost;
	const char *text = tfs_words_cost(arena, cost);
	/* Why is said once. */
	if (cost->method == TFS_COST_UNKNOWN && model->headline.possible.why)
		text = tfs_arena_print(
			arena, "%s: see the possible %s time", text, tfs_words_step(model));
	if (tfs_words_costless(cost))
		return text;
	if (cost->ns > 0)
		text = tfs_arena_print(arena, "%s %s", text, tfs_words_each(model));
	if (cost->ns > 0 && model->headline.as_written.ns > 0)
		text = tfs_arena_print(arena, "%s = %s of the %s as written", text,
			tfs_words_share(arena, cost->ns / model->headline.as_written.ns),
			tfs_words_step(model));
	text = tfs_arena_print(arena, "%s, method: %s", text, tfs_words_method(cost));
	if (model->simulated)
		text = tfs_arena_print(arena, "%s%ssimulated device", text,
			cost->method == TFS_COST_MODELLED ? ", " : "; modelled, ");
	if (card->finding_count > 1)
		text = tfs_arena_print(arena, "%s; one cost for all findings of this cause", text);
	if (model->findings[card->lead].doubt)
		text = tfs_arena_print(
			arena, "%s; low confidence: %s", text, model->findings[card->lead].doubt);
	return text;
}

static const char *rewrite_text(const struct tfs_model_finding *finding, struct tfs_arena *arena)
{
	if (!finding->rewrite)
		return "none";
	return tfs_arena_print(arena, "%s: %s%s%s", finding->rewrite, finding->rewrite_state,
		finding->rewrite_reason ? ", " : "",
		finding->rewrite_reason ? finding->rewrite_reason : "");
}

static void write_place(FILE *out, const struct tfs_model_finding *finding, struct tfs_arena *arena)
{
	const struct tfs_model_place *place = &finding->place;
	const struct tfs_model_source *source = &finding->source;
	const char *line = source->count ? source->lines[source->marked - source->first] : "";
	size_t first = tfs_model_own_frame(place), frames = place->frame_count - first;

	for (size_t i = 0; i < frames && i < SHOWN_FRAMES; i++)
		put_item(out, i ? "" : "where", tfs_words_frame(arena, &place->frames[first + i]));
	if (frames > SHOWN_FRAMES)
		put_item(out, "",
			tfs_arena_print(arena, "... %s",
				tfs_words_number(arena, (double)(frames - SHOWN_FRAMES),
					"more caller", "more callers")));
	if (source->count)
		put_item(out, "source", line + strspn(line, " "));
}

/* One of several findings of a card, under its own id. */
static void write_member(FILE *out, const struct tfs_model_finding *finding, size_t number,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	fprintf(out, "   %c %s%s %s%s  %s  ", 'a' + (int)(number % 26), paint->bold,
		finding->rule->id, finding->rule->slug, paint->reset,
		tfs_words_level(finding->level));
	tfs_text_put(out, tfs_words_place(arena, &finding->place));
	if (finding->call) {
		fputs("  ", out);
		tfs_text_put(out, finding->call);
	}
	fputc('\n', out);
}

/* As it is, but for the indent, which patch takes away again. */
static void write_patch(FILE *out, const char *patch)
{
	put_item(out, "patch", "the same, for " TFS_PATCH_COMMAND);
	fprintf(out, "%14s", "");
	for (; *patch; patch++) {
		const size_t bytes = strcspn(patch, "\t\n");

		put_some(out, patch, bytes);
		patch += bytes;
		if (!*patch)
			break;
		fputc(*patch, out);
		if (*patch == '\n' && patch[1])
			fprintf(out, "%14s", "");
	}
}

static void write_finding(const struct tfs_model *model, const struct tfs_model_finding *finding,
	FILE *out, struct tfs_arena *arena)
{
	if (finding->message)
		put_item(out, "what", finding->message);
	write_place(out, finding, arena);
	if (finding->count_per_step > 0)
		put_item(out, "count",
			model->per_run ? in_run(finding, arena) : per_step(finding, arena));
	put_item(out, "advice", finding->advice ? finding->advice : "");
	if (finding->patch)
		write_patch(out, finding->patch);
	if (finding->evidence)
		put_item(out, "evidence", finding->evidence);
	put_item(out, "rewrite", rewrite_text(finding, arena));
}

static void write_title(const struct tfs_model *model, size_t number, FILE *out,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	const struct tfs_model_card *card = &model->cards[number];
	const struct tfs_model_finding *lead = &model->findings[card->lead];

	fprintf(out, "%3zu. %s%s %s%s  %s%s%s  ", number + 1, tfs_paint_level(paint, card->level),
		tfs_words_sign(card->level), tfs_words_level(card->level), paint->reset,
		paint->bold, tfs_words_ids(arena, model, card), paint->reset);
	tfs_text_put(out, tfs_words_place(arena, &lead->place));
	if (lead->call) {
		fputs("  ", out);
		tfs_text_put(out, lead->call);
	}
}

static void write_card(const struct tfs_model *model, size_t number, FILE *out,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	const struct tfs_model_card *card = &model->cards[number];

	fputc('\n', out);
	write_title(model, number, out, paint, arena);
	fputc('\n', out);
	put_item(out, "cost", cost_text(model, card, arena));
	for (size_t i = 0; i < card->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[card->findings[i]];

		if (card->finding_count > 1)
			write_member(out, finding, i, paint, arena);
		write_finding(model, finding, out, arena);
	}
}

/* The first ones whole, some more in a line each, and how many there are beside these. */
static void write_cards(const struct tfs_model *model, size_t first, size_t end, FILE *out,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	const size_t whole = end - first < WHOLE_CARDS ? end : first + WHOLE_CARDS;
	const size_t named = end - first < NAMED_CARDS ? end : first + NAMED_CARDS;

	for (size_t i = first; i < whole; i++)
		write_card(model, i, out, paint, arena);
	if (whole < end)
		fputc('\n', out);
	for (size_t i = whole; i < named; i++) {
		write_title(model, i, out, paint, arena);
		fprintf(out, "  %s\n", tfs_words_cost(arena, &model->cards[i].cost));
	}
	if (named < end) {
		fputs("     ", out);
		tfs_text_wrapped(out, tfs_words_more(arena, model, named, end), 5);
	}
	if (whole < end)
		fputs("     The page and the JSON have more of them.\n", out);
}

static void write_findings(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	fprintf(out, "\n%sFIX THESE%s %s\n", paint->bold, paint->reset,
		model->open_cards      ? "(by recoverable time)"
		: model->finding_count ? "nothing: rewrites repair every finding"
				       : "nothing: no rule is broken");
	write_cards(model, 0, model->open_cards, out, paint, arena);
	if (model->open_cards == model->card_count)
		return;
	fprintf(out,
		"\n%sREPAIRED WHILE THE PROGRAM RUNS%s (by rewrites; still to be fixed in the source)\n",
		paint->bold, paint->reset);
	write_cards(model, model->open_cards, model->card_count, out, paint, arena);
}

static void write_facts(const char *title, const char *line, const struct tfs_model_fact *facts,
	size_t count, FILE *out, const struct tfs_paint *paint)
{
	fprintf(out, "\n%s%s%s\n", paint->bold, title, paint->reset);
	if (line) {
		fputs("  ", out);
		tfs_text_wrapped(out, line, 2);
	}
	for (size_t i = 0; i < count; i++) {
		const int length = (int)strlen(facts[i].name);

		fprintf(out, "  %s ", facts[i].limits ? "!" : " ");
		tfs_text_put(out, facts[i].name);
		fprintf(out, "%*s", length < 26 ? 27 - length : 1, "");
		tfs_text_wrapped(out, facts[i].text, 31);
	}
}

static int write_text(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint)
{
	struct tfs_arena arena = {0};
	write_head(model, out, paint, &arena);
	tfs_text_states(model, out, paint, &arena);
	tfs_text_expenses(model, out, paint, &arena);
	tfs_text_fixed(model, out, paint, &arena);
	write_findings(model, out, paint, &arena);
	tfs_text_unjudged(model, out, paint, &arena);
	tfs_text_layers(model, out, paint, &arena);
	tfs_text_rewrites(model, out, paint, &arena);
	tfs_text_passed(model, out, paint, &arena);
	write_facts(
		"VISIBILITY", model->sight, model->visibility, model->visibility_count, out, paint);
	fprintf(out, "\n%sDROPPED DATA%s%s\n", paint->bold, paint->reset,
		model->loss_count ? "" : " none");
	for (size_t i = 0; i < model->loss_count; i++)
		fprintf(out, "  ! %s (%s)\n", model->losses[i].text,
			tfs_words_count(&arena, (double)model->losses[i].count));
	write_facts("HOW THIS WAS MEASURED", NULL, model->method, model->method_count, out, paint);
	return tfs_arena_finish(&arena);
}

const struct tfs_format tfs_format_text = {
	.name = "text",
	.suffix = ".txt",
	.title = "for reading",
	.beside = true,
	.write = write_text,
};
