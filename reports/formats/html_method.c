/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/reasons.h"
#include "reports/model/words.h"

static void gain_cell(struct tfs_html *html, const struct tfs_model_rewrite *rewrite)
{
	struct tfs_region *region = &html->region;
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
			tfs_words_time(region, rewrite->predicted_ns));
	if (measured)
		tfs_html_print(html,
			"<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
			"<rect class=\"track\" width=\"100\" height=\"10\"/>"
			"<rect class=\"fill\" width=\"%n\" height=\"10\"/>"
			"<path class=\"whisker\" d=\"M%n 5H%n\"/></svg>"
			"<small>measured gain %s (%s to %s)</small>",
			fmax(rewrite->realised_ns / scale * 100, 0),
			fmax(rewrite->realised_low_ns / scale * 100, 0),
			fmax(rewrite->realised_high_ns / scale * 100, 0),
			tfs_words_time(region, rewrite->realised_ns),
			tfs_words_time(region, rewrite->realised_low_ns),
			tfs_words_time(region, rewrite->realised_high_ns));
	tfs_html_raw(html, "</td>");
}

static void rewrite_row(struct tfs_html *html, const struct tfs_model_rewrite *rewrite)
{
	struct tfs_region *region = &html->region;
	tfs_html_print(html,
		"<tr><td><b>%s</b></td><td>%s</td><td><span class=\"chip %s\">%s</span> %s"
		"<small>%s</small></td><td class=\"num\">%s%s<small>%s</small></td>",
		rewrite->name, rewrite->class_name, rewrite->state,
		tfs_words_rewrite_state(rewrite->state), rewrite->measured ? rewrite->measured : "",
		rewrite->reason ? rewrite->reason : "", rewrite->more ? "at least " : "",
		tfs_words_count(region, (double)rewrite->applied),
		rewrite->bytes ? tfs_words_bytes(region, (double)rewrite->bytes) : "");
	gain_cell(html, rewrite);
	tfs_html_raw(html, "<td>");
	size_t count;
	const struct tfs_refusal_reason *reasons = tfs_reasons_find(region, rewrite, &count);

	for (size_t i = 0; i < count; i++)
		tfs_html_print(html, "<div>%s <span class=\"dim\">%s</span></div>", reasons[i].text,
			tfs_reasons_print(region, &reasons[i]));
	tfs_html_raw(html, rewrite->refusal_count ? "</td></tr>\n"
						  : "<span class=\"dim\">none</span></td></tr>\n");
}

void tfs_html_rewrites(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	tfs_html_section(html, "rewrites", "Rewrites",
		"What tfshim repaired while the program ran, with the predicted and the measured gain per step.");
	if (!model->rewrite_count) {
		tfs_html_raw(html,
			model->whole
				? "<p class=\"empty\">No rewrite was on.</p>\n"
				: "<p class=\"empty\">Not known: the recording is incomplete.</p>\n");
	} else {
		tfs_html_raw(html,
			"<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Rewrite</th>"
			"<th scope=\"col\">Class</th><th scope=\"col\">State</th>"
			"<th scope=\"col\" class=\"num\">Applied to calls</th>"
			"<th scope=\"col\">Gain per step</th>"
			"<th scope=\"col\">Refused because</th></tr></thead><tbody>\n");
		for (size_t i = 0; i < model->rewrite_count; i++)
			rewrite_row(html, &model->rewrites[i]);
		tfs_html_raw(html, "</tbody></table></div>\n");
	}
	tfs_html_section_end(html);
}

void tfs_html_rules(struct tfs_html *html)
{
	static const char *const classes[] = {"good", "error", "warn", "off", "off"};
	static const char *const signs[] = {
		"\xe2\x9c\x93", "\xc3\x97", "?", "\xe2\x80\x93", "\xe2\x80\x93"};
	const struct tfs_model *model = html->model;
	size_t counts[TFS_STATE_COUNT] = {0}, unwritten;
	const char *not_looked_for = tfs_words_unwritten(&html->region, &unwritten);
	for (size_t i = 0; i < model->rule_count; i++)
		counts[model->rules[i].state]++;
	tfs_html_section(html, "rules", "Rules",
		tfs_region_print(&html->region,
			"%zu violated, %zu passed, %zu not measurable, %zu not applicable, %zu waived, %zu not looked for. "
			"A rule whose evidence is missing is not measurable, never passed.",
			counts[TFS_STATE_VIOLATED], counts[TFS_STATE_PASSED],
			counts[TFS_STATE_NOT_MEASURABLE], counts[TFS_STATE_NOT_APPLICABLE],
			counts[TFS_STATE_WAIVED], unwritten));
	tfs_html_raw(html,
		"<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Rule</th>"
		"<th scope=\"col\">State</th><th scope=\"col\">Reason</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < model->rule_count; i++) {
		const struct tfs_model_rule *line = &model->rules[i];
		const enum tfs_state state = line->state;
		tfs_html_print(html,
			"<tr><td><b class=\"id\">%s</b> %s<small>%s</small></td><td>"
			"<span class=\"level %s\"><span aria-hidden=\"true\">%s</span> %s</span>"
			"</td><td>%s</td></tr>\n",
			line->rule->id, line->rule->slug, line->rule->title, classes[state],
			signs[state], tfs_words_state_text(state),
			line->reason ? line->reason : "");
	}
	tfs_html_raw(html, "</tbody></table></div>\n");
	tfs_html_print(html,
		"<h3 id=\"not-looked-for\">Not looked for</h3>"
		"<p>%s that this version does not check: %s</p>\n",
		tfs_words_number(&html->region, (double)unwritten, "rule", "rules"),
		not_looked_for);
	tfs_html_section_end(html);
}

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
			tfs_words_count(&html->region, (double)line->hooks),
			tfs_words_count(&html->region, (double)line->cupti));
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
			tfs_words_count(&html->region, (double)model->losses[i].count));
	tfs_html_raw(html, "</div><div><h3>Measurement</h3>\n");
	facts(html, model->method, model->method_count);
	tfs_html_print(html,
		"</div></div>\n<p class=\"dim\">To make this report again: "
		"<code>tfshim report %s</code></p>\n",
		model->recording);
	tfs_html_section_end(html);
}
