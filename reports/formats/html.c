/* SPDX-License-Identifier: MIT */
#include "reports/formats/html.h"

#include "reports/formats/format.h"
#include "reports/formats/json.h"
#include "reports/formats/page.h"

static void write_head(struct tfs_html *html)
{
	tfs_html_raw(html,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n");
	tfs_html_print(
		html, "<title>%s: tfshim report</title>\n<style>\n", html->model->program_name);
	tfs_html_raw(html, tfs_page_style);
	tfs_html_raw(html, "</style>\n</head>\n<body>\n");
}

static void write_navigation(struct tfs_html *html)
{
	static const char *const links[][2] = {
		{"run", "Whole run"},
		{"fixed", "Fixed for you"},
		{"findings", "Fix these"},
		{"unjudged", "Not measurable"},
		{"steps", "Steps"},
		{"gpu", "GPU time"},
		{"memory", "Device memory"},
		{"layers", "Layers"},
		{"lanes", "Inside a step"},
		{"tree", "Call sites"},
		{"rules", "Other rules"},
		{"method", "How this was measured"},
	};
	tfs_html_raw(html, "<nav aria-label=\"Sections\"><ul>");
	for (size_t i = html->model->expense_count ? 0 : 1; i < sizeof(links) / sizeof(links[0]);
		i++)
		tfs_html_print(html, "<li><a href=\"#%s\">%s</a></li>", links[i][0], links[i][1]);
	tfs_html_raw(html, "</ul></nav>\n");
}

static void write_data(struct tfs_html *html)
{
	struct tfs_json json;
	tfs_html_raw(html, "<script type=\"application/json\" id=\"data\">");
	tfs_json_init(&json, html->out, true);
	tfs_json_report(html->model, &json, false);
	tfs_html_raw(html, "</script>\n<script>\n");
	tfs_html_raw(html, tfs_page_script);
	tfs_html_raw(html, "</script>\n");
}

static int write_page(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint)
{
	struct tfs_html html = {.out = out, .model = model};
	(void)paint;
	write_head(&html);
	tfs_html_verdict(&html);
	write_navigation(&html);
	tfs_html_raw(&html, "<main>\n");
	tfs_html_expenses(&html);
	tfs_html_fixed(&html);
	tfs_html_findings(&html);
	tfs_html_unjudged(&html);
	tfs_html_timeline(&html);
	tfs_html_gpu(&html);
	tfs_html_memory(&html);
	tfs_html_layers(&html);
	tfs_html_lanes(&html);
	tfs_html_tree(&html);
	tfs_html_rewrites(&html);
	tfs_html_rules(&html);
	tfs_html_method(&html);
	tfs_html_print(&html,
		"</main>\n<footer><p>Made by tfshim %s. One file, no network.</p></footer>\n",
		TFS_VERSION);
	write_data(&html);
	tfs_html_raw(&html, "</body>\n</html>\n");
	return tfs_arena_finish(&html.arena);
}

const struct tfs_format tfs_format_html = {
	.name = "html",
	.suffix = ".html",
	.title = "a page for a browser: one file, no network, complete without JavaScript",
	.beside = true,
	.judged = true,
	.write = write_page,
};
