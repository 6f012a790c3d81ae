/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

static void row(struct tfs_html *html, const struct tfs_model_expenses *list, double amount,
	const char *place, const char *call, const char *calls)
{
	struct tfs_arena *arena = &html->arena;

	tfs_html_print(html, "<tr><td>%s%s<code>%s</code></td><td class=\"num\">%s</td>", place,
		*place && *call ? " " : "", call, calls);
	tfs_html_print(html, "<td class=\"num\"><b>%s</b></td><td class=\"num\">%s</td></tr>\n",
		list->bytes ? tfs_words_bytes(arena, amount) : tfs_words_time(arena, amount),
		isnan(list->whole) ? "?" : tfs_words_share(arena, amount / list->whole));
}

static void table(struct tfs_html *html, const struct tfs_model_expenses *list)
{
	struct tfs_arena *arena = &html->arena;

	tfs_html_print(html,
		"<div class=\"scroll\" tabindex=\"0\"><table><caption>By %s, with the share of %s</caption><thead><tr>",
		list->title, list->whole_name);
	tfs_html_print(html,
		"<th scope=\"col\">Call site</th><th scope=\"col\" class=\"num\">Calls</th>"
		"<th scope=\"col\" class=\"num\">%s</th>"
		"<th scope=\"col\" class=\"num\">Share</th></tr></thead><tbody>\n",
		list->bytes ? "Bytes" : "Time");
	for (size_t i = 0; i < list->count; i++)
		row(html, list, list->items[i].amount, list->items[i].where,
			list->items[i].function,
			tfs_words_count(arena, (double)list->items[i].calls));
	if (list->more)
		row(html, list, list->more_amount,
			tfs_words_number(
				arena, (double)list->more, "more call site", "more call sites"),
			"", "");
	if (list->unowned > 0)
		row(html, list, list->unowned, "Calls that are not in the recording", "", "");
	tfs_html_raw(html, "</tbody></table></div>\n");
}

void tfs_html_expenses(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;

	if (!model->expense_count)
		return;
	tfs_html_section(html, "run", "Whole run",
		"The most expensive call sites. No step is judged: the figures are of the run. "
		"Host time is that of all threads together, GPU time that of all streams.");
	for (size_t i = 0; i < model->expense_count; i++)
		table(html, &model->expenses[i]);
	tfs_html_section_end(html);
}
