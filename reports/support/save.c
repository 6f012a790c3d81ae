/* SPDX-License-Identifier: MIT */
#include "reports/support/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/format.h"
#include "reports/formats/text.h"
#include "reports/model/words.h"
#include "reports/support/load.h"
#include "reports/support/must.h"
#include "reports/support/options.h"

#define NAMED_CARDS 3u

/* "x.tfs" with another suffix; the caller frees it. NULL without memory. */
static char *path_of(const char *recording, const char *suffix)
{
	size_t length = strlen(recording);
	char *path;
	if (length > 4 && !strcmp(recording + length - 4, ".tfs"))
		length -= 4;
	if (asprintf(&path, "%.*s%s", (int)length, recording, suffix) < 0)
		return NULL;
	return path;
}

/* A page is worth its bytes where something was judged, or at least found; and of a program that
 * computes on the device, where its time goes. */
static bool has_page(const struct tfs_model *model)
{
	return model->usable || model->levels[TFS_LEVEL_WARN] || model->levels[TFS_LEVEL_ERROR] ||
	       (model->computes && (model->expense_count || model->steps.iterations));
}

int tfs_save_beside(const struct tfs_model *model)
{
	int first = 0;
	for (size_t i = 0; tfs_formats[i]; i++) {
		const struct tfs_format *format = tfs_formats[i];
		if (!format->beside || (format->judged && !has_page(model)))
			continue;
		char *path = path_of(model->recording, format->suffix);
		int err = path ? tfs_format_save(format, model, path) : -ENOMEM;
		if (err)
			tfs_text_line(stderr, "tfshim: cannot write %s: %s",
				path ? path : format->suffix, strerror(-err));
		if (err && !first)
			first = err;
		free(path);
	}
	return first;
}

static void name_card(const struct tfs_model *model, const struct tfs_model_card *card,
	const struct tfs_paint *paint, struct tfs_arena *arena)
{
	const struct tfs_model_finding *finding = &model->findings[card->lead];
	const char *call = finding->call ? finding->call : "";
	const char *cost = card->cost.ns > 0 ? tfs_words_time(arena, card->cost.ns) : NULL;
	fprintf(stderr, "  %s%s %-5s%s %-27s ", tfs_paint_level(paint, card->level),
		tfs_words_sign(card->level), tfs_words_level(card->level), paint->reset,
		tfs_words_ids(arena, model, card));
	tfs_text_put(stderr, tfs_words_place(arena, &finding->place));
	fputs("  ", stderr);
	tfs_text_put(stderr, call);
	if (cost)
		fprintf(stderr, "  %s %s%s", cost, tfs_words_each(model),
			model->simulated ? ", modelled" : "");
	fputc('\n', stderr);
}

/* What rewrites repaired, in one line; or what they would do. */
static void name_fixed(const struct tfs_model *model, struct tfs_arena *arena)
{
	const char *text = NULL;

	for (size_t i = 0; i < model->rewrite_count; i++) {
		const struct tfs_model_rewrite *rewrite = &model->rewrites[i];

		if (!rewrite->acts || !rewrite->applied)
			continue;
		text = tfs_arena_print(arena, "%s%s%s (%s)", text ? text : "", text ? ", " : "",
			rewrite->name,
			rewrite->proof ? tfs_arena_print(arena, "%s %s, %s",
						 tfs_words_time(arena, rewrite->gain.ns),
						 tfs_words_each(model), rewrite->proof)
				       : "gain not proven");
	}
	if (text)
		tfs_text_line(stderr, "  fixed for you: %s%s", text,
			model->simulated ? "; modelled" : "");
	if (model->headline.rewrites)
		tfs_text_line(stderr, "  %s", model->headline.rewrites);
}

/* At most ten lines. */
void tfs_save_summary(const struct tfs_model *model)
{
	const struct tfs_paint *paint = tfs_colour_choose(TFS_COLOUR_AUTO, stderr);
	const bool headed = model->usable && model->headline.text;
	struct tfs_arena arena = {0};

	tfs_text_line(stderr, "tfshim: %s", headed ? model->headline.text : model->verdict);
	if (headed)
		tfs_text_line(stderr, "tfshim: %s", model->verdict);
	name_fixed(model, &arena);
	for (size_t i = 0; i < model->open_cards && i < NAMED_CARDS; i++)
		name_card(model, &model->cards[i], paint, &arena);
	if (model->open_cards > NAMED_CARDS)
		fprintf(stderr, "  and %zu more\n", model->open_cards - NAMED_CARDS);
	if (model->loss_count)
		fprintf(stderr, "tfshim: data was dropped while recording; the report says what\n");
	char *page = path_of(model->recording, has_page(model) ? ".html" : ".txt");
	fputs("tfshim: report ", stderr);
	tfs_text_put(stderr, page ? page : model->recording);
	fputs(has_page(model) ? " (.txt and .json beside it)\n" : " (.json beside it)\n", stderr);
	free(page);
	tfs_must_finish(&arena);
}

int tfs_save_report(const char *recording, int quiet)
{
	struct tfs_load_options options = {.charts = true, .progress = true};
	struct tfs_model model;
	char *why;
	int err = tfs_load(recording, &options, &model, &why);
	if (err) {
		tfs_text_line(stderr, "tfshim: %s: %s", recording, why ? why : "cannot be read");
		free(why);
		return tfs_load_status(err);
	}
	err = tfs_save_beside(&model);
	if (!quiet && !err)
		tfs_save_summary(&model);
	tfs_model_finish(&model);
	return err ? TFS_EXIT_MISUSE : 0;
}
