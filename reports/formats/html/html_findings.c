/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

#define OPEN_FINDINGS 7u
#define SHOWN_CARDS 100u

/* A bar for the cost with its interval as a whisker, all on one scale. */
static void cost_bar(struct tfs_html *html, const struct tfs_cost *cost, double scale)
{
	if (!(cost->ns > 0) || !(scale > 0))
		return;
	double x = cost->ns / scale * 100;
	double low = fmax(cost->low_ns / scale * 100, 0);
	double high = fmin(cost->high_ns / scale * 100, 100);
	tfs_html_print(html,
		"<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		"<rect class=\"track\" width=\"100\" height=\"10\"/>"
		"<rect class=\"fill\" width=\"%n\" height=\"10\"/>"
		"<path class=\"whisker\" d=\"M%n 5H%nM%n 2V8M%n 2V8\"/></svg>",
		x, low, high, low, high);
}

static void cost_cell(struct tfs_html *html, const struct tfs_model_card *card, double scale)
{
	const struct tfs_cost *cost = &card->cost;
	const struct tfs_model *model = html->model;
	struct tfs_arena *arena = &html->arena;
	tfs_html_print(html, "<td class=\"cost\" data-sort=\"%n\">", cost->ns);
	if (!(cost->ns > 0)) {
		tfs_html_print(html, "<span class=\"dim\">%s</span>", tfs_words_cost(arena, cost));
		tfs_html_raw(html, "</td>");
		return;
	}
	tfs_html_print(html, "<b>%s</b>", tfs_words_time(arena, cost->ns));
	if (model->headline.as_written.ns > 0)
		tfs_html_print(html, " <span class=\"dim\">%s of the %s as written</span>",
			tfs_words_share(arena, cost->ns / model->headline.as_written.ns),
			tfs_words_step(model));
	cost_bar(html, cost, scale);
	tfs_html_print(html, "<small>%s to %s", tfs_words_time(arena, cost->low_ns),
		tfs_words_time(arena, cost->high_ns));
	if (model->simulated)
		tfs_html_raw(html, ", modelled");
	if (card->finding_count > 1)
		tfs_html_raw(html, ", one cost for all findings of this cause");
	tfs_html_raw(html, "</small></td>");
}

static void place_cell(struct tfs_html *html, const struct tfs_model_finding *finding)
{
	const struct tfs_model_frame *best = tfs_model_best_frame(&finding->place);
	tfs_html_print(html, "<td><code class=\"place\">%s</code>",
		tfs_words_place(&html->arena, &finding->place));
	if (best && best->function && best->file)
		tfs_html_print(html, "<small>in <code>%s</code></small>", best->function);
	if (finding->call)
		tfs_html_print(html, "<small><code>%s</code></small>", finding->call);
	tfs_html_raw(html, "</td>");
}

static void count_cell(struct tfs_html *html, const struct tfs_model_finding *finding)
{
	struct tfs_arena *arena = &html->arena;
	tfs_html_print(html, "<td class=\"num\" data-sort=\"%n\"><b>%s</b>",
		finding->count_per_step, tfs_words_count(arena, finding->count_per_step));
	if (finding->bytes_per_step > 0)
		tfs_html_print(
			html, "<small>%s</small>", tfs_words_bytes(arena, finding->bytes_per_step));
	if (finding->time_per_step_ns > 0)
		tfs_html_print(html, "<small>%s on the host</small>",
			tfs_words_time(arena, finding->time_per_step_ns));
	tfs_html_raw(html, "</td>");
}

static void rewrite_cell(struct tfs_html *html, const struct tfs_model_finding *finding)
{
	if (!finding->rewrite) {
		tfs_html_raw(html, "<td><span class=\"dim\">none</span></td>");
		return;
	}
	tfs_html_print(html, "<td><span class=\"chip %s\">%s</span><small>%s</small></td>",
		finding->rewrite_state, finding->rewrite_state, finding->rewrite);
}

static void stack_frames(struct tfs_html *html, const struct tfs_model_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tfs_model_frame *frame = &frames[i];
		tfs_html_print(
			html, "<li><code>%s</code>", frame->function ? frame->function : "?");
		if (frame->file && frame->line)
			tfs_html_print(html, " <span class=\"dim\">%s:%n</span>", frame->file,
				(double)frame->line);
		else if (frame->module)
			tfs_html_print(html, " <span class=\"dim\">%s</span>", frame->module);
		tfs_html_raw(html,
			frame->inlined ? " <span class=\"dim\">inlined</span></li>" : "</li>");
	}
}

static void stack_list(struct tfs_html *html, const struct tfs_model_place *place)
{
	const size_t folded = place->folded;

	if (!place->frame_count)
		return;
	tfs_html_raw(html, "<h3 class=\"minor\">Call stack</h3>");
	if (folded) {
		tfs_html_raw(html, "<details><summary>C code that Python called</summary>"
				   "<ol class=\"stack\">");
		stack_frames(html, place->frames, folded);
		tfs_html_raw(html, "</ol></details>");
	}
	tfs_html_raw(html, "<ol class=\"stack\">");
	stack_frames(html, place->frames + folded, place->frame_count - folded);
	tfs_html_raw(html, "</ol>");
}

static void source_lines(struct tfs_html *html, const struct tfs_model_source *source)
{
	if (!source->count)
		return;
	tfs_html_raw(html, "<pre class=\"source\" tabindex=\"0\">");
	for (size_t i = 0; i < source->count; i++) {
		const unsigned number = source->first + (unsigned)i;

		tfs_html_print(html,
			number == source->marked ? "<mark><b>%n</b> %s</mark>\n" : "<b>%n</b> %s\n",
			(double)number, source->lines[i]);
	}
	tfs_html_raw(html, "</pre>");
}

static void advice(struct tfs_html *html, const struct tfs_model_finding *finding)
{
	struct tfs_arena *arena = &html->arena;

	source_lines(html, &finding->source);
	tfs_html_print(html,
		"<div class=\"columns\"><div><h3 class=\"minor\">What to do</h3><p>%s</p>",
		finding->advice);
	tfs_html_print(
		html, "<h3 class=\"minor\">Why it costs time</h3><p>%s</p>", finding->rule->why);
	if (finding->patch)
		tfs_html_print(html,
			"<details><summary>The same as a patch, for <code>" TFS_PATCH_COMMAND
			"</code></summary><pre class=\"source\" tabindex=\"0\">%s</pre></details>",
			finding->patch);
	if (finding->rewrite_reason)
		tfs_html_print(html, "<h3 class=\"minor\">Rewrite %s</h3><p>%s: %s</p>",
			finding->rewrite, finding->rewrite_state, finding->rewrite_reason);
	tfs_html_raw(html, "</div><div>");
	stack_list(html, &finding->place);
	tfs_html_print(html, "<p class=\"dim\">%s in the whole run",
		tfs_words_number(arena, (double)finding->count_total, "call", "calls"));
	if (!tfs_words_costless(&finding->cost))
		tfs_html_print(html, " \xc2\xb7 cost: %s", tfs_words_method(&finding->cost));
	if (finding->evidence)
		tfs_html_print(html, " \xc2\xb7 %s", finding->evidence);
	if (finding->doubt)
		tfs_html_print(html, " \xc2\xb7 low confidence: %s", finding->doubt);
	tfs_html_raw(html, "</p></div></div>");
}

static const char *what(const struct tfs_model_finding *finding)
{
	return finding->message ? finding->message : finding->rule->title;
}

static void detail_row(struct tfs_html *html, const struct tfs_model_card *card, bool open)
{
	const struct tfs_model *model = html->model;

	tfs_html_print(html,
		"<tr class=\"detail\"><td colspan=\"7\"><details%s><summary>%s</summary>",
		open ? " open" : "", what(&model->findings[card->lead]));
	for (size_t i = 0; i < card->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[card->findings[i]];

		if (card->finding_count > 1)
			tfs_html_print(html,
				"<h3><b class=\"id\">%s</b> %s: %s</h3><p>"
				"<code class=\"place\">%s</code> <code>%s</code></p><p>%s</p>",
				finding->rule->id, finding->rule->slug,
				tfs_words_level(finding->level),
				tfs_words_place(&html->arena, &finding->place),
				finding->call ? finding->call : "", what(finding));
		advice(html, finding);
	}
	tfs_html_raw(html, "</details></td></tr>");
}

static void card_rows(struct tfs_html *html, size_t number, double scale)
{
	const struct tfs_model *model = html->model;
	const struct tfs_model_card *card = &model->cards[number];
	const struct tfs_model_finding *lead = &model->findings[card->lead];
	const char *level = tfs_words_level(card->level);
	tfs_html_print(html, "<tbody class=\"finding\" data-level=\"%s\"><tr>", level);
	tfs_html_print(html, "<td class=\"num dim\" data-sort=\"%n\">%n</td>", (double)number + 1,
		(double)number + 1);
	tfs_html_print(html,
		"<td data-sort=\"%n\"><span class=\"level %s\">"
		"<span aria-hidden=\"true\">%s</span> %s</span></td>",
		(double)card->level, level, tfs_words_sign(card->level), level);
	tfs_html_print(html, "<td data-sort=\"%s\">", lead->rule->id);
	for (size_t i = 0; i < card->finding_count; i++) {
		const struct tfs_rule_text *rule = model->findings[card->findings[i]].rule;
		bool named = false;

		for (size_t j = 0; j < i; j++)
			named |= model->findings[card->findings[j]].rule == rule;
		if (!named)
			tfs_html_print(html,
				"<div><b class=\"id\">%s</b> %s</div><small>%s</small>", rule->id,
				rule->slug, rule->title);
	}
	tfs_html_raw(html, "</td>");
	place_cell(html, lead);
	count_cell(html, lead);
	cost_cell(html, card, scale);
	rewrite_cell(html, lead);
	tfs_html_raw(html, "</tr>\n");
	detail_row(html, card, number < OPEN_FINDINGS && !card->repaired);
	tfs_html_raw(html, "</tbody>\n");
}

void tfs_html_cards(struct tfs_html *html, size_t first, size_t end)
{
	const struct tfs_model *model = html->model;
	const size_t shown = end - first < SHOWN_CARDS ? end : first + SHOWN_CARDS;
	double scale = 0;

	for (size_t i = 0; i < model->card_count; i++)
		scale = fmax(scale, fmax(model->cards[i].cost.ns, model->cards[i].cost.high_ns));
	tfs_html_raw(html,
		"<div class=\"scroll\" tabindex=\"0\"><table class=\"findings\"><thead><tr>"
		"<th scope=\"col\">#</th><th scope=\"col\">Level</th><th scope=\"col\">Rule</th>"
		"<th scope=\"col\">Call site</th>");
	tfs_html_print(html,
		"<th scope=\"col\" class=\"num\">%s</th><th scope=\"col\">Cost %s</th>"
		"<th scope=\"col\">Rewrite</th></tr></thead>\n",
		model->per_run            ? "In the run"
		: model->steps.iterations ? "Per iteration"
					  : "Per step",
		first ? "as written" : tfs_words_each(model));
	for (size_t i = first; i < shown; i++)
		card_rows(html, i, scale);
	tfs_html_raw(html, "</table></div>\n");
	if (shown < end)
		tfs_html_print(html, "<p>%s. The JSON beside this page has them.</p>\n",
			tfs_words_more(&html->arena, model, shown, end));
}

void tfs_html_findings(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;

	tfs_html_section(html, "findings", "Fix these",
		model->open_cards ? "One card per cause, by recoverable time: what is still to be "
				    "gained beside the rewrites. Levels are tags."
				  : NULL);
	if (!model->open_cards) {
		tfs_html_print(html, "<p class=\"empty\">%s</p>\n",
			model->finding_count ? "Rewrites repair every finding."
					     : "No rule is broken.");
		tfs_html_section_end(html);
		return;
	}
	tfs_html_raw(html, "<div class=\"controls\" id=\"finding-controls\"></div>\n");
	tfs_html_cards(html, 0, model->open_cards);
	tfs_html_section_end(html);
}
