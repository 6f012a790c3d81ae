/* SPDX-License-Identifier: MIT */
/* The headline of the page: three figures, and a waterfall from one to the next. */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

static void figure(struct tfs_html *html, const char *title, const struct tfs_model_time *state)
{
	struct tfs_arena *arena = &html->arena;

	tfs_html_print(html, "<div class=\"state\"><dt>%s</dt>", title);
	if (state->why) {
		tfs_html_print(html,
			"<dd><b class=\"none\">not measurable</b><small>%s</small></dd></div>\n",
			state->why);
		return;
	}
	tfs_html_print(html, "<dd><b>%s</b>", tfs_words_time(arena, state->ns));
	if (state->factor > 1)
		tfs_html_print(html, " <span class=\"factor\">%s</span>",
			tfs_words_factor(arena, state->factor));
	tfs_html_print(html, "<small>%s%s</small></dd></div>\n",
		isnan(state->low_ns) ? "" : "95 %: ",
		tfs_words_span(arena, state->low_ns, state->high_ns));
}

/* A bar from one time to another, all on the scale of the step as written. */
static void bar(struct tfs_html *html, const char *kind, double from_ns, double to_ns)
{
	const double scale = html->model->headline.as_written.ns / 100;

	tfs_html_print(html,
		"<td class=\"fall\"><svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"10\"/>"
		"<rect class=\"fill %s\" x=\"%n\" width=\"%n\" height=\"10\"/></svg></td>",
		kind, from_ns / scale, fmax(to_ns - from_ns, 0) / scale);
}

static void state_row(struct tfs_html *html, const char *name, const struct tfs_model_time *state)
{
	struct tfs_arena *arena = &html->arena;

	if (state->why)
		return;
	tfs_html_print(html, "<tr class=\"whole\"><th scope=\"row\">%s</th>", name);
	bar(html, "", 0, state->ns);
	tfs_html_print(html, "<td class=\"num\"><b>%s</b></td><td>%s</td></tr>\n",
		tfs_words_time(arena, state->ns), state->from);
}

static void saved_row(struct tfs_html *html, const char *name, const char *kind,
	const struct tfs_span *saved, double below_ns, const char *how)
{
	struct tfs_arena *arena = &html->arena;

	tfs_html_print(html, "<tr><th scope=\"row\">%s</th>", name);
	bar(html, kind, below_ns, below_ns + saved->ns);
	tfs_html_print(html, "<td class=\"num\">\xe2\x88\x92 %s</td><td>%s, 95 %%: %s</td></tr>\n",
		tfs_words_time(arena, saved->ns), how,
		tfs_words_span(arena, saved->low_ns, saved->high_ns));
}

static void waterfall(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	const struct tfs_model_headline *headline = &model->headline;
	double at_ns = headline->as_written.ns;

	tfs_html_print(html,
		"<table class=\"waterfall\"><caption>From the %s as written to the "
		"possible one</caption><tbody>\n",
		tfs_words_step(html->model));
	state_row(html, "as written", &headline->as_written);
	for (size_t i = 0; i < model->rewrite_count && !headline->now.why; i++) {
		const struct tfs_model_rewrite *rewrite = &model->rewrites[i];

		if (!rewrite->proof)
			continue;
		at_ns -= rewrite->gain.ns;
		saved_row(html, rewrite->name, "gained", &rewrite->gain, at_ns, rewrite->proof);
	}
	state_row(html, "now", &headline->now);
	if (!headline->possible.why && headline->causes && headline->open.high_ns > 0)
		saved_row(html, "fix these", "open", &headline->open, headline->possible.ns,
			tfs_words_number(
				&html->arena, headline->causes, "cause", "causes, fixed together"));
	state_row(html, "possible", &headline->possible);
	tfs_html_raw(html, "</tbody></table>\n");
}

void tfs_html_states(struct tfs_html *html)
{
	const struct tfs_model_headline *headline = &html->model->headline;

	if (!headline->text && html->model->per_run)
		return;
	tfs_html_print(html,
		"<div class=\"steptime\"><h2>Time of %s%s</h2>\n<dl class=\"states\">\n",
		html->model->steps.iterations ? "an iteration" : "a step",
		html->model->simulated ? ", modelled" : "");
	figure(html, "As written", &headline->as_written);
	figure(html, "Now", &headline->now);
	figure(html, "Possible", &headline->possible);
	tfs_html_raw(html, "</dl>\n");
	if (headline->text)
		waterfall(html);
	tfs_html_raw(html, "</div>\n");
}
