/* SPDX-License-Identifier: MIT */
#include "reports/formats/html.h"
#include "reports/model/words.h"

void tfs_html_layers(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	struct tfs_arena *arena = &html->arena;

	tfs_html_section(html, "layers", "Layers",
		"The program's NVTX ranges inside the judged steps, in the order of the step. "
		"Times are per step and include nested ranges; "
		"GPU time is that of the work launched there.");
	if (!model->layer_count) {
		tfs_html_raw(html,
			"<p class=\"empty\">The program puts no NVTX ranges inside its steps.</p>\n");
		tfs_html_section_end(html);
		return;
	}
	tfs_html_raw(html,
		"<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Layer</th>"
		"<th scope=\"col\" class=\"num\">Times</th>"
		"<th scope=\"col\" class=\"num\">Calls</th>"
		"<th scope=\"col\" class=\"num\">Host</th><th scope=\"col\" class=\"num\">GPU</th>"
		"<th scope=\"col\" class=\"num\">Of the step</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < model->layer_count; i++) {
		const struct tfs_model_layer *layer = &model->layers[i];

		tfs_html_print(html, "<tr><td style=\"padding-left:%nem\">%s%s%s</td>",
			0.6 + 1.2 * layer->depth, layer->domain, *layer->domain ? ": " : "",
			layer->name);
		tfs_html_print(html,
			"<td class=\"num\">%s</td><td class=\"num\">%s</td>"
			"<td class=\"num\">%s</td><td class=\"num\">%s</td>"
			"<td class=\"num\">%s</td></tr>\n",
			tfs_words_count(arena, layer->count), tfs_words_count(arena, layer->calls),
			tfs_words_time(arena, layer->host_ns),
			tfs_words_time(arena, layer->device_ns),
			tfs_words_share(arena, layer->host_ns / model->steps.judged_ns));
	}
	tfs_html_raw(html, "</tbody></table></div>\n");
	if (model->layers_more)
		tfs_html_print(html, "<p class=\"dim\">%s not shown.</p>\n",
			tfs_words_number(arena, (double)model->layers_more, "shorter range",
				"shorter ranges"));
	tfs_html_section_end(html);
}
