/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/html.h"
#include "reports/words.h"

#define OPEN_FINDINGS 3u

/* A bar for the cost with its interval as a whisker, all on one scale. */
static void cost_bar(struct tfs_html *html, const struct tfs_cost *cost, double scale)
{
	if (!(cost->ns > 0) || !(scale > 0))
		return;
	double x = cost->ns / scale * 100;
	double low = fmax(cost->low_ns / scale * 100, 0);
	double high = fmin(cost->high_ns / scale * 100, 100);
	tfs_html_print(html,
		"<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"10\"/>"
		"<rect class=\"fill\" width=\"%n\" height=\"10\"/>"
		"<path class=\"whisker\" d=\"M%n 5H%nM%n 2V8M%n 2V8\"/></svg>",
		x, low, high, low, high);
}

static void cost_cell(struct tfs_html *html, const struct tfs_model_finding *finding, double scale)
{
	const struct tfs_model *model = html->model;
	struct tfs_region *region = &html->region;
	tfs_html_print(html, "<td class=\"cost\" data-sort=\"%n\">", finding->cost.ns);
	if (!(finding->cost.ns > 0)) {
		tfs_html_print(html, "<span class=\"dim\">%s</span>",
			tfs_words_cost(region, &finding->cost));
		tfs_html_raw(html, "</td>");
		return;
	}
	tfs_html_print(html, "<b>%s</b>", tfs_words_time(region, finding->cost.ns));
	if (model->steps.written_ns > 0)
		tfs_html_print(html, " <span class=\"dim\">%s</span>",
			tfs_words_share(region, finding->cost.ns / model->steps.written_ns));
	cost_bar(html, &finding->cost, scale);
	tfs_html_print(html, "<small>%s to %s", tfs_words_time(region, finding->cost.low_ns),
		tfs_words_time(region, finding->cost.high_ns));
	if (model->simulated)
		tfs_html_raw(html, ", modelled");
	if (finding->group)
		tfs_html_print(html, ", shared in group %n", (double)finding->group);
	tfs_html_raw(html, "</small></td>");
}

static void place_cell(struct tfs_html *html, const struct tfs_model_finding *finding)
{
	const struct tfs_model_frame *best = tfs_model_best_frame(&finding->place);
	tfs_html_print(html, "<td><code class=\"place\">%s</code>",
		tfs_words_place(&html->region, &finding->place));
	if (best && best->function && best->file)
		tfs_html_print(html, "<small>in <code>%s</code></small>", best->function);
	if (finding->call)
		tfs_html_print(html, "<small><code>%s</code></small>", finding->call);
	tfs_html_raw(html, "</td>");
}

static void count_cell(struct tfs_html *html, const struct tfs_model_finding *finding)
{
	struct tfs_region *region = &html->region;
	tfs_html_print(html, "<td class=\"num\" data-sort=\"%n\"><b>%s</b>",
		finding->count_per_step, tfs_words_count(region, finding->count_per_step));
	if (finding->bytes_per_step > 0)
		tfs_html_print(html, "<small>%s</small>",
			tfs_words_bytes(region, finding->bytes_per_step));
	if (finding->time_per_step_ns > 0)
		tfs_html_print(html, "<small>%s on the host</small>",
			tfs_words_time(region, finding->time_per_step_ns));
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

static void stack_list(struct tfs_html *html, const struct tfs_model_place *place)
{
	if (!place->frame_count)
		return;
	tfs_html_raw(html, "<h4>Call stack</h4><ol class=\"stack\">");
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];
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
	tfs_html_raw(html, "</ol>");
}

static void detail_row(struct tfs_html *html, const struct tfs_model_finding *finding, bool open)
{
	struct tfs_region *region = &html->region;
	tfs_html_print(html,
		"<tr class=\"detail\"><td colspan=\"7\"><details%s><summary>%s</summary>",
		open ? " open" : "", finding->message ? finding->message : finding->rule->title);
	tfs_html_print(
		html, "<div class=\"columns\"><div><h4>What to do</h4><p>%s</p>", finding->advice);
	tfs_html_print(html, "<h4>Why it costs time</h4><p>%s</p>", finding->rule->why);
	if (finding->rewrite_reason)
		tfs_html_print(html, "<h4>Rewrite %s</h4><p>%s: %s</p>", finding->rewrite,
			finding->rewrite_state, finding->rewrite_reason);
	tfs_html_raw(html, "</div><div>");
	stack_list(html, &finding->place);
	tfs_html_print(html, "<p class=\"dim\">%s calls in the whole run",
		tfs_words_count(region, (double)finding->count_total));
	if (finding->cost.method)
		tfs_html_print(html, " \xc2\xb7 cost: %s", finding->cost.method);
	if (finding->evidence)
		tfs_html_print(html, " \xc2\xb7 %s", finding->evidence);
	if (finding->low_confidence)
		tfs_html_raw(html, " \xc2\xb7 low confidence: few steps");
	tfs_html_raw(html, "</p></div></div></details></td></tr>");
}

static void finding_rows(struct tfs_html *html, size_t number, double scale)
{
	const struct tfs_model_finding *finding = &html->model->findings[number];
	const char *level = tfs_words_level(finding->level);
	tfs_html_print(html, "<tbody class=\"finding\" data-level=\"%s\"><tr>", level);
	tfs_html_print(html, "<td class=\"num dim\" data-sort=\"%n\">%n</td>", (double)number + 1,
		(double)number + 1);
	tfs_html_print(html,
		"<td data-sort=\"%n\"><span class=\"level %s\"><span "
		"aria-hidden=\"true\">%s</span> %s</span></td>",
		(double)finding->level, level, tfs_words_sign(finding->level), level);
	tfs_html_print(html, "<td data-sort=\"%s\"><b class=\"id\">%s</b> %s<small>%s</small></td>",
		finding->rule->id, finding->rule->id, finding->rule->slug, finding->rule->title);
	place_cell(html, finding);
	count_cell(html, finding);
	cost_cell(html, finding, scale);
	rewrite_cell(html, finding);
	tfs_html_raw(html, "</tr>\n");
	detail_row(html, finding, number < OPEN_FINDINGS);
	tfs_html_raw(html, "</tbody>\n");
}

static void joint_line(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	struct tfs_region *region = &html->region;
	if (!model->joint_count || !(model->joint.ns > 0))
		return;
	tfs_html_print(html,
		"<p class=\"joint\">Mending the dearest <b>%s</b> together would save <b>%s</b> "
		"per "
		"step%s. "
		"Costs of findings in one group are shared and do not add up.</p>\n",
		tfs_words_count(region, model->joint_count), tfs_words_cost(region, &model->joint),
		model->simulated ? " (modelled, simulated device)" : "");
}

void tfs_html_findings(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	double scale = 0;
	for (size_t i = 0; i < model->finding_count; i++)
		scale = fmax(
			scale, fmax(model->findings[i].cost.ns, model->findings[i].cost.high_ns));
	tfs_html_section(html, "findings", "Findings",
		model->finding_count ? "What the program does as it is written; rewrites do not "
				       "change the verdict."
				     : NULL);
	if (!model->finding_count) {
		tfs_html_raw(html,
			"<p class=\"empty\">No rule is broken. What could not be measured is "
			"listed under <a href=\"#rules\">Rules</a>.</p>\n");
		tfs_html_section_end(html);
		return;
	}
	joint_line(html);
	tfs_html_raw(html,
		"<div class=\"controls\" id=\"finding-controls\"></div>\n<div class=\"scroll\">"
		"<table id=\"finding-table\" class=\"findings\"><thead><tr><th scope=\"col\">#</th>"
		"<th scope=\"col\">Level</th><th scope=\"col\">Rule</th><th scope=\"col\">Call "
		"site</th>"
		"<th scope=\"col\" class=\"num\">Per step</th><th scope=\"col\">Cost per step</th>"
		"<th scope=\"col\">Rewrite</th></tr></thead>\n");
	for (size_t i = 0; i < model->finding_count; i++)
		finding_rows(html, i, scale);
	tfs_html_raw(html, "</table></div>\n");
	tfs_html_section_end(html);
}
