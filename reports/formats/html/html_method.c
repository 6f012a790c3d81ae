/* SPDX-License-Identifier: MIT */
#include "reports/formats/html.h"
#include "reports/model/words.h"

static void facts(struct tfs_html *html, const struct tfs_model_fact *list, size_t count)
{
	tfs_html_raw(html, "<dl class=\"facts\">\n");
	for (size_t i = 0; i < count; i++) {
		tfs_html_raw(html, list[i].limits ? "<div class=\"limits\">" : "<div>");
		tfs_html_print(html, "<dt>%s</dt><dd>%s%s</dd></div>\n", list[i].name,
			list[i].limits ? "! " : "", list[i].text);
	}
	tfs_html_raw(html, "</dl>\n");
}

static void seen(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;

	if (!model->seen_count)
		return;
	tfs_html_raw(html,
		"<details><summary>Call counts by function</summary><table><thead><tr>"
		"<th scope=\"col\">Function</th><th scope=\"col\" class=\"num\">Hooks</th>"
		"<th scope=\"col\" class=\"num\">CUPTI</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < model->seen_count; i++) {
		const struct tfs_model_seen *line = &model->seen[i];

		tfs_html_print(html,
			"<tr><td>%s%s</td><td class=\"num\">%s</td><td class=\"num\">%s</td>"
			"</tr>\n",
			line->differs ? "! " : "", line->function,
			tfs_words_count(&html->arena, (double)line->hooks),
			tfs_words_count(&html->arena, (double)line->cupti));
	}
	tfs_html_raw(html, "</tbody></table></details>\n");
}

void tfs_html_method(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	tfs_html_section(html, "method", "How this was measured", model->sight);
	tfs_html_raw(html, "<div class=\"columns\"><div><h3>Visibility</h3>\n");
	facts(html, model->visibility, model->visibility_count);
	seen(html);
	tfs_html_raw(html, "<h3>Dropped data</h3>\n");
	if (!model->loss_count)
		tfs_html_raw(html, "<p class=\"empty\">No data was dropped.</p>\n");
	for (size_t i = 0; i < model->loss_count; i++)
		tfs_html_print(html, "<p class=\"limits\">! %s <b>(%s)</b></p>\n",
			model->losses[i].text,
			tfs_words_count(&html->arena, (double)model->losses[i].count));
	tfs_html_raw(html, "</div><div><h3>Measurement</h3>\n");
	facts(html, model->method, model->method_count);
	tfs_html_print(html,
		"</div></div>\n<p class=\"dim\">To make this report again: "
		"<code>tfshim report %s</code></p>\n",
		model->recording);
	tfs_html_section_end(html);
}
