/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/reasons.h"
#include "reports/model/words.h"

static void gain_cell(struct tfs_html *html, const struct tfs_model_rewrite *rewrite)
{
	struct tfs_arena *arena = &html->arena;
	bool measured = !isnan(rewrite->realised_ns);
	double scale = fmax(fmax(rewrite->predicted_ns, rewrite->realised_high_ns),
		fmax(rewrite->realised_ns, 1));
	if (isnan(rewrite->predicted_ns) && !measured) {
		tfs_html_raw(html, "<td><span class=\"dim\">not measured</span></td>");
		return;
	}
	tfs_html_raw(html, "<td>");
	if (!isnan(rewrite->predicted_ns))
		tfs_html_print(html,
			"<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
			"<rect class=\"track\" width=\"100\" height=\"10\"/>"
			"<rect class=\"fill soft\" width=\"%n\" height=\"10\"/></svg>"
			"<small>predicted gain %s</small>",
			fmax(rewrite->predicted_ns / scale * 100, 0),
			tfs_words_time(arena, rewrite->predicted_ns));
	if (measured)
		tfs_html_print(html,
			"<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
			"<rect class=\"track\" width=\"100\" height=\"10\"/>"
			"<rect class=\"fill\" width=\"%n\" height=\"10\"/>"
			"<path class=\"whisker\" d=\"M%n 5H%n\"/></svg>"
			"<small>measured gain %s (%s)</small>",
			fmax(rewrite->realised_ns / scale * 100, 0),
			fmax(rewrite->realised_low_ns / scale * 100, 0),
			fmax(rewrite->realised_high_ns / scale * 100, 0),
			tfs_words_time(arena, rewrite->realised_ns),
			tfs_words_span(arena, rewrite->realised_low_ns, rewrite->realised_high_ns));
	if (rewrite->acts)
		tfs_html_print(html, "<small>%s</small><small>off with <code>%s</code></small>",
			rewrite->proof ? tfs_arena_print(arena, "proven by %s", rewrite->proof)
				       : "not proven: not counted as gained",
			rewrite->off);
	tfs_html_raw(html, "</td>");
}

static void rewrite_row(struct tfs_html *html, const struct tfs_model_rewrite *rewrite)
{
	struct tfs_arena *arena = &html->arena;
	tfs_html_print(
		html, "<tr><td><b>%s</b><small>%s</small>", rewrite->name, rewrite->class_name);
	if (rewrite->where)
		tfs_html_print(html, "<small>%s</small>", rewrite->where);
	tfs_html_print(html,
		"</td><td><span class=\"chip %s\">%s</span> %s<small>%s</small></td>"
		"<td class=\"num\">%s%s<small>%s</small></td>",
		rewrite->state, tfs_words_rewrite_state(rewrite->state),
		rewrite->measured ? rewrite->measured : "", rewrite->reason ? rewrite->reason : "",
		rewrite->more ? "at least " : "", tfs_words_count(arena, (double)rewrite->applied),
		rewrite->bytes ? tfs_words_bytes(arena, (double)rewrite->bytes) : "");
	gain_cell(html, rewrite);
	tfs_html_raw(html, "<td>");
	size_t count;
	const struct tfs_refusal_reason *reasons = tfs_reasons_find(arena, rewrite, &count);

	for (size_t i = 0; i < count; i++)
		tfs_html_print(html, "<div>%s <span class=\"dim\">%s</span></div>", reasons[i].text,
			tfs_reasons_print(arena, &reasons[i]));
	tfs_html_raw(html, rewrite->refusal_count ? "</td></tr>\n"
						  : "<span class=\"dim\">none</span></td></tr>\n");
}

static size_t count_rewrites(const struct tfs_model *model, bool acting)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rewrite_count; i++)
		count += model->rewrites[i].acts == acting;
	return count;
}

static void table(struct tfs_html *html, bool acting)
{
	const struct tfs_model *model = html->model;

	tfs_html_raw(html,
		"<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Rewrite</th>"
		"<th scope=\"col\">State</th><th scope=\"col\" class=\"num\">Applied to calls</th>"
		"<th scope=\"col\">Gain per step</th>"
		"<th scope=\"col\">Refused because</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < model->rewrite_count; i++)
		if (model->rewrites[i].acts == acting && !model->rewrites[i].silent)
			rewrite_row(html, &model->rewrites[i]);
	tfs_html_raw(html, "</tbody></table></div>\n");
}

/* Of those that were not applied, which have more to tell than that they are off. */
static size_t count_told(const struct tfs_model *model)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rewrite_count; i++)
		count += !model->rewrites[i].acts && !model->rewrites[i].silent;
	return count;
}

void tfs_html_fixed(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	tfs_html_section(html, "fixed", "Fixed for you",
		"What tfshim repaired while the program ran; the source is unchanged.");
	if (count_rewrites(model, true))
		table(html, true);
	else
		tfs_html_print(html, "<p class=\"empty\">%s</p>\n",
			model->whole ? "Nothing." : "Not known: the recording is incomplete.");
	if (!count_rewrites(model, true) && count_told(model))
		tfs_html_raw(
			html, "<p><a href=\"#rewrites\">Why each rewrite fixed nothing</a></p>\n");
	if (model->headline.rewrites)
		tfs_html_print(html, "<p>%s</p>\n", model->headline.rewrites);
	if (model->open_cards < model->card_count)
		tfs_html_cards(html, model->open_cards, model->card_count);
	tfs_html_section_end(html);
}

void tfs_html_rewrites(struct tfs_html *html)
{
	const char *off = tfs_words_off(&html->arena, html->model);

	if (!count_rewrites(html->model, false))
		return;
	tfs_html_section(html, "rewrites", "Rewrites that fixed nothing", NULL);
	if (count_told(html->model))
		table(html, false);
	if (*off)
		tfs_html_print(html, "<p>Off: %s</p>\n", off);
	tfs_html_section_end(html);
}
