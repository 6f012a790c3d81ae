/* SPDX-License-Identifier: MIT */
#include "reports/commands/diff_page.h"

#include <ctype.h>

#include "reports/formats/html.h"
#include "reports/formats/page.h"
#include "reports/gate/diff.h"

static void write_head(struct tfs_html *html, const struct tfs_diff *difference)
{
	tfs_html_raw(html,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; img-src data:\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n");
	tfs_html_print(
		html, "<title>%s: tfshim diff</title>\n<style>\n", difference->now->program_name);
	tfs_html_raw(html, tfs_page_style);
	tfs_html_print(html,
		"</style>\n</head>\n<body>\n<header><p class=\"brand\"><span>tfshim</span> diff</p>\n"
		"<h1>%s</h1>\n</header>\n<main>\n",
		difference->now->program_name);
}

static void write_times(struct tfs_html *html, const struct tfs_diff *difference)
{
	tfs_html_section(html, "time", "Step time",
		difference->simulated ? "Simulated device: times are modelled." : NULL);
	tfs_html_raw(html,
		"<table><thead><tr><th scope=\"col\">Step</th>"
		"<th scope=\"col\" class=\"num\">First \xe2\x86\x92 second run</th>"
		"<th scope=\"col\">Difference, with its 95 % interval</th></tr></thead><tbody>");
	for (size_t i = 0; i < 2; i++) {
		const struct tfs_diff_time *time = &difference->times[i];

		tfs_html_print(html,
			"<tr><th scope=\"row\">%s</th><td class=\"num\">%s</td><td>%s</td></tr>",
			time->name, time->between ? time->between : "not measurable", time->text);
	}
	tfs_html_raw(html, "</tbody></table>\n");
	tfs_html_section_end(html);
}

/* A title of the text, as one of a page. */
static const char *capital(struct tfs_html *html, const char *title)
{
	char *text = tfs_arena_string(&html->arena, title);

	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

static void write_row(struct tfs_html *html, const struct tfs_diff_row *row, bool changed)
{
	tfs_html_print(html,
		"<tr><th scope=\"row\">%s %s<small>%s</small></th><td><code>%s</code></td>"
		"<td><code>%s</code></td>",
		row->rule->id, row->rule->slug, row->rule->title, row->call, row->place);
	if (changed)
		tfs_html_print(html, "<td>%s</td>", row->more);
	tfs_html_print(html, "<td class=\"num\">%s</td></tr>\n", row->costs);
}

static void write_part(struct tfs_html *html, const char *anchor, const struct tfs_diff_part *part)
{
	const bool changed = part->rows[0].more[0];

	tfs_html_section(html, anchor, capital(html, part->title), NULL);
	tfs_html_raw(html,
		"<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Rule</th>"
		"<th scope=\"col\">Call</th><th scope=\"col\">Where</th>");
	if (changed)
		tfs_html_raw(html, "<th scope=\"col\">What changed</th>");
	tfs_html_raw(html, "<th scope=\"col\" class=\"num\">Cost</th></tr></thead><tbody>");
	for (size_t i = 0; i < part->count; i++)
		write_row(html, &part->rows[i], changed);
	tfs_html_raw(html, "</tbody></table></div>\n");
	tfs_html_section_end(html);
}

int tfs_diff_page(const void *difference_, FILE *out)
{
	static const char *const anchors[] = {"one", "two", "three", "four", "five"};
	const struct tfs_diff *difference = difference_;
	struct tfs_html html = {.out = out, .model = difference->now};

	write_head(&html, difference);
	write_times(&html, difference);
	for (size_t i = 0; i < difference->part_count; i++)
		write_part(&html, anchors[i], &difference->parts[i]);
	if (!difference->part_count)
		tfs_html_raw(&html, "<p class=\"empty\">The findings are the same.</p>\n");
	tfs_html_print(&html,
		"</main>\n<footer><p>Made by tfshim %s. One file, no network.</p></footer>\n</body>\n</html>\n",
		TFS_VERSION);
	return tfs_arena_finish(&html.arena);
}
