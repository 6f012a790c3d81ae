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

static void write_layer(FILE *out, const struct tfs_model_layer *layer, struct tfs_region *region)
{
	const char *host = tfs_words_time(region, layer->host_ns);
	const char *device = tfs_words_time(region, layer->device_ns);

	fprintf(out, "  %*s %*s %7s %7s  %*s", wide(10, host), host, wide(10, device), device,
		tfs_words_count(region, layer->count), tfs_words_count(region, layer->calls),
		(int)(layer->depth * 2), "");
	tfs_text_put(out, layer->domain);
	fputs(*layer->domain ? ": " : "", out);
	tfs_text_put(out, layer->name);
	fputc('\n', out);
}

void tfs_text_layers(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_region *region)
{
	if (!model->layer_count)
		return;
	fprintf(out, "\n%sLAYERS%s %s, nested ranges included\n", paint->bold, paint->reset,
		tfs_words_each(model));
	fprintf(out, "  %10s %10s %7s %7s  NVTX range\n", "host", "GPU", "times", "calls");
	for (size_t i = 0; i < model->layer_count; i++)
		write_layer(out, &model->layers[i], region);
	if (model->layers_more)
		fprintf(out, "  %s not shown\n",
			tfs_words_number(region, (double)model->layers_more, "shorter range",
				"shorter ranges"));
}

static void write_expense(FILE *out, const struct tfs_model_expenses *list, double amount,
	const char *calls, const char *what, struct tfs_region *region)
{
	const char *text =
		list->bytes ? tfs_words_bytes(region, amount) : tfs_words_time(region, amount);
	const char *share =
		isnan(list->whole) ? "?" : tfs_words_share(region, amount / list->whole);

	fprintf(out, "  %*s %*s %9s  ", wide(10, text), text, wide(7, share), share, calls);
	tfs_text_wrapped(out, what, 32);
}

static const char *several(const struct tfs_model_expense *item, struct tfs_region *region)
{
	return item->sites == 1
		       ? ""
		       : tfs_region_print(region, " (%s)",
				 tfs_words_number(region, (double)item->sites, "", "callers"));
}

void tfs_text_expenses(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_region *region)
{
	if (model->expense_count)
		fprintf(out, "\n%sWHOLE RUN%s most expensive call sites\n", paint->bold,
			paint->reset);
	for (size_t i = 0; i < model->expense_count; i++) {
		const struct tfs_model_expenses *list = &model->expenses[i];

		fprintf(out, "  %s, with the share of %s\n", list->title, list->whole_name);
		for (size_t j = 0; j < list->count; j++)
			write_expense(out, list, list->items[j].amount,
				tfs_words_count(region, (double)list->items[j].calls),
				tfs_region_print(region, "%s  %s%s", list->items[j].function,
					list->items[j].where, several(&list->items[j], region)),
				region);
		if (list->more)
			write_expense(out, list, list->more_amount, "",
				tfs_words_number(region, (double)list->more, "more call site",
					"more call sites"),
				region);
		if (list->unowned > 0)
			write_expense(out, list, list->unowned, "",
				"of calls that are not in the recording", region);
	}
}
