/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

static void write_idle(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	struct tfs_arena *arena = &html->arena;

	if (!(model->idle_ns > 0))
		return;
	tfs_html_print(html, "<p>Findings explain %s of the idle time%s</p>\n",
		tfs_words_share(arena, model->idle_explained),
		model->idle_count ? "; the largest of the rest:" : ".");
	if (!model->idle_count)
		return;
	tfs_html_raw(html, "<ul>");
	for (size_t i = 0; i < model->idle_count; i++)
		tfs_html_print(html, "<li>%s: %s</li>", tfs_words_time(arena, model->idles[i].ns),
			model->idles[i].text);
	tfs_html_raw(html, "</ul>\n");
}

void tfs_html_gpu(struct tfs_html *html)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	struct tfs_arena *arena = &html->arena;
	double sum = 0;
	for (size_t i = 0; i < charts->share_count; i++)
		sum += charts->shares[i].ns_per_step;
	tfs_html_section(html, "gpu",
		tfs_arena_print(arena, "GPU time per %s", tfs_words_step(html->model)),
		tfs_arena_print(arena, "GPU time of the judged %s: busy, or idle and why.",
			tfs_words_steps(html->model)));
	if (!(sum > 0)) {
		tfs_html_raw(html, "<p class=\"empty\">No GPU activity was recorded.</p>\n");
		tfs_html_section_end(html);
		return;
	}
	tfs_html_raw(html,
		"<svg class=\"stack\" role=\"img\" viewBox=\"0 0 1000 34\" preserveAspectRatio=\"none\" "
		"aria-label=\"Shares of GPU time; the table below has the figures\">"
		"<defs>"
		"<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		"<rect width=\"2\" height=\"6\" class=\"hatchline\"/></pattern></defs>");
	double x = 0;
	for (size_t i = 0; i < charts->share_count; i++) {
		double width = charts->shares[i].ns_per_step / sum * 1000;
		for (int layer = 0; layer < (charts->shares[i].busy ? 1 : 2); layer++)
			tfs_html_print(html,
				"<rect class=\"%s\" x=\"%n\" width=\"%n\" height=\"34\"><title>%s: "
				"%s</title></rect>",
				layer ? "hatch" : tfs_arena_print(arena, "share s%zu", i), x,
				fmax(width - 1, 0.5), charts->shares[i].name,
				tfs_words_time(arena, charts->shares[i].ns_per_step));
		x += width;
	}
	tfs_html_print(html,
		"</svg>\n<table class=\"shares\"><thead><tr><th scope=\"col\">The GPU was</th>"
		"<th scope=\"col\" class=\"num\">Per %s</th>"
		"<th scope=\"col\" class=\"num\">Share</th></tr></thead><tbody>",
		tfs_words_step(html->model));
	for (size_t i = 0; i < charts->share_count; i++)
		tfs_html_print(html,
			"<tr><td><i class=\"k %s\"></i>%s</td><td class=\"num\">%s</td>"
			"<td class=\"num\">%s</td></tr>",
			tfs_arena_print(
				arena, "share s%zu%s", i, charts->shares[i].busy ? "" : " hatched"),
			charts->shares[i].name,
			tfs_words_time(arena, charts->shares[i].ns_per_step),
			tfs_words_share(arena, charts->shares[i].ns_per_step / sum));
	tfs_html_raw(html, "</tbody></table>\n");
	write_idle(html);
	if (html->model->simulated)
		tfs_html_raw(html, "<p class=\"dim\">Modelled, simulated device.</p>\n");
	tfs_html_section_end(html);
}
