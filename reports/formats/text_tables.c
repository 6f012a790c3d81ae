/* SPDX-License-Identifier: MIT */
#include "reports/formats/text_tables.h"

#include <math.h>
#include <string.h>

#include "reports/formats/text.h"
#include "reports/formats/utf8.h"
#include "reports/model/words.h"

/* The width for printf() that gives a text this many columns: it counts bytes. */
static int wide(int columns, const char *text)
{
	const size_t bytes = strlen(text);

	return columns + (int)(bytes - tfs_utf8_count(text, bytes));
}

static void write_layer(FILE *out, const struct tfs_model_layer *layer, struct tfs_arena *arena)
{
	const char *host = tfs_words_time(arena, layer->host_ns);
	const char *device = tfs_words_time(arena, layer->device_ns);

	fprintf(out, "  %*s %*s %7s %7s  %*s", wide(10, host), host, wide(10, device), device,
		tfs_words_count(arena, layer->count), tfs_words_count(arena, layer->calls),
		(int)(layer->depth * 2), "");
	tfs_text_put(out, layer->domain);
	fputs(*layer->domain ? ": " : "", out);
	tfs_text_put(out, layer->name);
	fputc('\n', out);
}

void tfs_text_layers(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	if (!model->layer_count)
		return;
	fprintf(out, "\n%sLAYERS%s %s, nested ranges included\n", paint->bold, paint->reset,
		tfs_words_each(model));
	fprintf(out, "  %10s %10s %7s %7s  NVTX range\n", "host", "GPU", "times", "calls");
	for (size_t i = 0; i < model->layer_count; i++)
		write_layer(out, &model->layers[i], arena);
	if (model->layers_more)
		fprintf(out, "  %s not shown\n",
			tfs_words_number(arena, (double)model->layers_more, "shorter range",
				"shorter ranges"));
}

static void write_expense(FILE *out, const struct tfs_model_expenses *list, double amount,
	const char *calls, const char *what, struct tfs_arena *arena)
{
	const char *text =
		list->bytes ? tfs_words_bytes(arena, amount) : tfs_words_time(arena, amount);
	const char *share = isnan(list->whole) ? "?" : tfs_words_share(arena, amount / list->whole);

	fprintf(out, "  %*s %*s %9s  ", wide(10, text), text, wide(7, share), share, calls);
	tfs_text_wrapped(out, what, 32);
}

static const char *several(const struct tfs_model_expense *item, struct tfs_arena *arena)
{
	return item->sites == 1
		       ? ""
		       : tfs_arena_print(arena, " (%s)",
				 tfs_words_number(arena, (double)item->sites, "", "callers"));
}

void tfs_text_expenses(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena)
{
	if (model->expense_count)
		fprintf(out, "\n%sWHOLE RUN%s most expensive call sites\n", paint->bold,
			paint->reset);
	for (size_t i = 0; i < model->expense_count; i++) {
		const struct tfs_model_expenses *list = &model->expenses[i];

		fprintf(out, "  %s, with the share of %s\n", list->title, list->whole_name);
		for (size_t j = 0; j < list->count; j++)
			write_expense(out, list, list->items[j].amount,
				tfs_words_count(arena, (double)list->items[j].calls),
				tfs_arena_print(arena, "%s  %s%s", list->items[j].function,
					list->items[j].where, several(&list->items[j], arena)),
				arena);
		if (list->more)
			write_expense(out, list, list->more_amount, "",
				tfs_words_number(arena, (double)list->more, "more call site",
					"more call sites"),
				arena);
		if (list->unowned > 0)
			write_expense(out, list, list->unowned, "",
				"of calls that are not in the recording", arena);
	}
}
