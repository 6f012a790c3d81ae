/* SPDX-License-Identifier: MIT */
#include "reports/formats/html.h"
#include "reports/model/words.h"

static bool is_open(enum tfs_state state)
{
	return state == TFS_STATE_NOT_MEASURABLE;
}

static void table(struct tfs_html *html, bool open)
{
	static const char *const classes[] = {"good", "error", "warn", "off", "off"};
	static const char *const signs[] = {
		"\xe2\x9c\x93", "\xc3\x97", "?", "\xe2\x80\x93", "\xe2\x80\x93"};
	const struct tfs_model *model = html->model;

	tfs_html_raw(html,
		"<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Rule</th>"
		"<th scope=\"col\">State</th><th scope=\"col\">Reason</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < model->rule_count; i++) {
		const struct tfs_model_rule *line = &model->rules[i];
		const enum tfs_state state = line->state;

		if (state == TFS_STATE_VIOLATED || is_open(state) != open)
			continue;
		tfs_html_print(html,
			"<tr><td><b class=\"id\">%s</b> %s<small>%s</small></td><td>"
			"<span class=\"level %s\"><span aria-hidden=\"true\">%s</span> %s</span>"
			"</td><td>%s</td></tr>\n",
			line->rule->id, line->rule->slug, line->rule->title, classes[state],
			signs[state], tfs_words_state_text(state),
			line->reason ? line->reason : "");
	}
	tfs_html_raw(html, "</tbody></table></div>\n");
}

static void count_rules(const struct tfs_model *model, size_t *counts)
{
	for (size_t i = 0; i < model->rule_count; i++)
		counts[model->rules[i].state]++;
}

void tfs_html_unjudged(struct tfs_html *html)
{
	size_t counts[TFS_STATE_COUNT] = {0}, unwritten;
	const char *names = tfs_words_unwritten(&html->arena, &unwritten);

	count_rules(html->model, counts);
	tfs_html_section(html, "unjudged", "Not measurable, not looked for",
		"A rule whose evidence is missing is not measurable, never passed.");
	if (counts[TFS_STATE_NOT_MEASURABLE])
		table(html, true);
	else
		tfs_html_raw(html, "<p class=\"empty\">Every rule had its evidence.</p>\n");
	tfs_html_print(html,
		"<details><summary id=\"not-looked-for\">Not looked for: %s that this version "
		"does not check</summary><p>%s</p></details>\n",
		tfs_words_number(&html->arena, (double)unwritten, "rule", "rules"), names);
	tfs_html_section_end(html);
}

void tfs_html_rules(struct tfs_html *html)
{
	size_t counts[TFS_STATE_COUNT] = {0};

	count_rules(html->model, counts);
	tfs_html_section(html, "rules", "Other rules",
		tfs_arena_print(&html->arena, "%zu passed, %zu not applicable, %zu waived.",
			counts[TFS_STATE_PASSED], counts[TFS_STATE_NOT_APPLICABLE],
			counts[TFS_STATE_WAIVED]));
	if (counts[TFS_STATE_PASSED] + counts[TFS_STATE_NOT_APPLICABLE] + counts[TFS_STATE_WAIVED])
		table(html, false);
	tfs_html_section_end(html);
}
