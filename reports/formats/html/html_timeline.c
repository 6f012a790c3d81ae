/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

#define PLOT_LEFT 64.0
#define PLOT_WIDTH 1030.0
#define PLOT_TOP 14.0
#define PLOT_HEIGHT 150.0
#define COLUMNS 1000u

/* One bar: the longest of the steps that share its column. */
struct column {
	const struct tfs_chart_step *worst;
	size_t steps;
};

struct plot {
	struct column columns[COLUMNS];
	size_t count;
	double top_ns; /* what the upper edge stands for; longer steps are cut and marked */
	double bar;
};

static int by_size(const void *a, const void *b)
{
	double one = *(const double *)a;
	double two = *(const double *)b;
	return one < two ? -1 : one > two;
}

/* The upper edge: well above the 95th percentile of what is no warm-up, so that outliers do not
 * flatten all the rest. */
static double upper_edge(const struct tfs_model_charts *charts, struct tfs_arena *arena)
{
	double *sizes = tfs_arena_alloc(arena, charts->step_count, sizeof(*sizes));
	double most = 1;
	size_t count = 0;
	for (size_t i = 0; sizes && i < charts->step_count; i++) {
		most = fmax(most, charts->steps[i].duration_ns);
		if (charts->steps[i].phase != TFS_CHART_WARMUP)
			sizes[count++] = charts->steps[i].duration_ns;
	}
	if (!count)
		return most * 1.05;
	qsort(sizes, count, sizeof(*sizes), by_size);
	double high = sizes[(count - 1) * 95 / 100] * 1.5;
	return most <= high * 1.3 ? most * 1.05 : high;
}

static void make_plot(struct tfs_html *html, struct plot *plot)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	size_t per = (charts->step_count + COLUMNS - 1) / COLUMNS;
	memset(plot, 0, sizeof(*plot));
	for (size_t i = 0; i < charts->step_count; i++) {
		struct column *column = &plot->columns[i / per];
		const struct tfs_chart_step *step = &charts->steps[i];
		if (!column->worst || step->duration_ns > column->worst->duration_ns)
			column->worst = step;
		column->steps++;
		plot->count = i / per + 1;
	}
	plot->top_ns = upper_edge(charts, &html->arena);
	plot->bar = PLOT_WIDTH / (double)plot->count;
}

static double x_of(const struct plot *plot, size_t column)
{
	return PLOT_LEFT + (double)column * plot->bar;
}

static double y_of(const struct plot *plot, double ns)
{
	return PLOT_TOP + PLOT_HEIGHT * (1 - fmin(ns / plot->top_ns, 1));
}

static const char *step_class(const struct tfs_chart_step *step)
{
	static const char *const names[] = {"warmup", "training", "evaluation", "other"};
	if (step->phase == TFS_CHART_TRAINING && step->rewritten)
		return "rewritten";
	return names[(unsigned)step->phase & 3];
}

static void draw_axis(struct tfs_html *html, const struct plot *plot)
{
	for (unsigned i = 0; i <= 2; i++) {
		double ns = plot->top_ns * i / 2;
		double y = y_of(plot, ns);
		tfs_html_print(html,
			"<path class=\"grid\" d=\"M%n %nH%n\"/>"
			"<text class=\"tick\" x=\"%n\" y=\"%n\" text-anchor=\"end\">%s</text>",
			PLOT_LEFT, y, PLOT_LEFT + PLOT_WIDTH, PLOT_LEFT - 8, y + 4,
			tfs_words_time(&html->arena, ns));
	}
	tfs_html_print(html, "<text class=\"tick\" x=\"%n\" y=\"%n\">step %n</text>", PLOT_LEFT,
		PLOT_TOP + PLOT_HEIGHT + 32, (double)plot->columns[0].worst->index);
	tfs_html_print(html,
		"<text class=\"tick\" x=\"%n\" y=\"%n\" text-anchor=\"end\">step %n</text>",
		PLOT_LEFT + PLOT_WIDTH, PLOT_TOP + PLOT_HEIGHT + 32,
		(double)plot->columns[plot->count - 1].worst->index);
}

/* Stretches of columns for which `is` holds, as bands. */
static void draw_bands(struct tfs_html *html, const struct plot *plot, const char *class_name,
	double y, double height, bool (*is)(const struct tfs_chart_step *step))
{
	for (size_t i = 0; i < plot->count; i++) {
		size_t start = i;
		while (i < plot->count && is(plot->columns[i].worst))
			i++;
		if (i > start)
			tfs_html_print(html,
				"<rect class=\"%s\" x=\"%n\" y=\"%n\" width=\"%n\" height=\"%n\"/>",
				class_name, x_of(plot, start), y, (double)(i - start) * plot->bar,
				height);
	}
}

static bool is_warmup(const struct tfs_chart_step *step)
{
	return step->phase == TFS_CHART_WARMUP;
}

static bool is_recorded(const struct tfs_chart_step *step)
{
	return step->in_window;
}

static void draw_bars(struct tfs_html *html, const struct plot *plot)
{
	struct tfs_arena *arena = &html->arena;
	double gap = plot->bar > 3 ? 1 : 0;
	for (size_t i = 0; i < plot->count; i++) {
		const struct column *column = &plot->columns[i];
		double y = y_of(plot, column->worst->duration_ns);
		bool cut = column->worst->duration_ns > plot->top_ns;
		tfs_html_print(html,
			"<rect class=\"step %s\" x=\"%n\" y=\"%n\" width=\"%n\" height=\"%n\">"
			"<title>step %n (%s): %s",
			step_class(column->worst), x_of(plot, i), y, fmax(plot->bar - gap, 0.5),
			PLOT_TOP + PLOT_HEIGHT - y, (double)column->worst->index,
			step_class(column->worst),
			tfs_words_time(arena, column->worst->duration_ns));
		if (column->steps > 1)
			tfs_html_print(html, ", the longest of %n", (double)column->steps);
		tfs_html_raw(html, "</title></rect>");
		if (cut)
			tfs_html_print(html,
				"<path class=\"outlier\" d=\"M%n %nl4 6h-8z\"><title>%s</title>"
				"</path>",
				x_of(plot, i) + plot->bar / 2, PLOT_TOP - 9,
				tfs_words_time(arena, column->worst->duration_ns));
	}
}

static void draw_line(
	struct tfs_html *html, const struct plot *plot, const char *name, double ns, double label_y)
{
	if (!(ns > 0) || ns > plot->top_ns)
		return;
	tfs_html_print(html, "<path class=\"line\" d=\"M%n %nH%n\"/>", PLOT_LEFT, y_of(plot, ns),
		PLOT_LEFT + PLOT_WIDTH);
	tfs_html_print(html,
		"<text class=\"linename\" x=\"%n\" y=\"%n\" text-anchor=\"end\">%s %s</text>",
		PLOT_LEFT + PLOT_WIDTH - 4, label_y, name, tfs_words_time(&html->arena, ns));
}

static void draw(struct tfs_html *html, const struct plot *plot)
{
	const struct tfs_model_steps *steps = &html->model->steps;
	tfs_html_print(html,
		"<div class=\"scroll\" tabindex=\"0\">"
		"<svg class=\"chart\" role=\"img\" viewBox=\"0 0 1110 204\" aria-labelledby=\"steps-t steps-d\">"
		"<title id=\"steps-t\">Duration of each step</title>"
		"<desc id=\"steps-d\">Median %s, 95th percentile %s; "
		"the table below has the figures.</desc>",
		tfs_words_time(&html->arena, steps->median_ns),
		tfs_words_time(&html->arena, steps->p95_ns));
	draw_bands(html, plot, "band", PLOT_TOP, PLOT_HEIGHT, is_warmup);
	draw_axis(html, plot);
	draw_bars(html, plot);
	draw_bands(html, plot, "window", PLOT_TOP + PLOT_HEIGHT + 5, 6, is_recorded);
	draw_line(html, plot, "p95", steps->p95_ns, y_of(plot, steps->p95_ns) - 6);
	draw_line(html, plot, "median", steps->median_ns, y_of(plot, steps->median_ns) + 16);
	tfs_html_raw(html,
		"</svg></div>\n<ul class=\"legend\"><li><i class=\"k training\"></i>training</li>"
		"<li><i class=\"k warmup\"></i>warm-up</li>"
		"<li><i class=\"k evaluation\"></i>evaluation and other</li>"
		"<li><i class=\"k rewritten\"></i>with a rewrite on</li>"
		"<li><i class=\"k window\"></i>recorded in full</li>"
		"<li><i class=\"k outlier\"></i>outlier, cut at the edge</li></ul>\n");
}

static void draw_table(struct tfs_html *html)
{
	static const char *const names[] = {"warm-up", "training", "evaluation", "other"};
	const struct tfs_model_charts *charts = &html->model->charts;
	struct tfs_arena *arena = &html->arena;
	tfs_html_raw(html,
		"<details class=\"astable\"><summary>As a table</summary><table><thead><tr>"
		"<th scope=\"col\">Phase</th><th scope=\"col\" class=\"num\">Steps</th>"
		"<th scope=\"col\" class=\"num\">Shortest</th>"
		"<th scope=\"col\" class=\"num\">Mean</th>"
		"<th scope=\"col\" class=\"num\">Longest</th></tr></thead><tbody>");
	for (unsigned phase = 0; phase < 4; phase++) {
		double sum = 0, least = INFINITY, most = 0;
		size_t count = 0;
		for (size_t i = 0; i < charts->step_count; i++) {
			if ((unsigned)charts->steps[i].phase != phase)
				continue;
			double ns = charts->steps[i].duration_ns;
			count++;
			sum += ns;
			least = fmin(least, ns);
			most = fmax(most, ns);
		}
		if (count)
			tfs_html_print(html,
				"<tr><td>%s</td><td class=\"num\">%n</td><td class=\"num\">%s</td>"
				"<td class=\"num\">%s</td><td class=\"num\">%s</td></tr>",
				names[phase], (double)count, tfs_words_time(arena, least),
				tfs_words_time(arena, sum / (double)count),
				tfs_words_time(arena, most));
	}
	tfs_html_raw(html, "</tbody></table></details>\n");
}

void tfs_html_timeline(struct tfs_html *html)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	struct tfs_arena *arena = &html->arena;
	const char *lead = NULL;
	if (charts->steps_merged > 1)
		lead = tfs_arena_print(arena,
			"Each bar is the longest of %zu consecutive steps or more.",
			charts->steps_merged);
	tfs_html_section(
		html, "steps", html->model->steps.iterations ? "Iterations" : "Steps", lead);
	if (!charts->step_count) {
		tfs_html_raw(html, "<p class=\"empty\">No training steps were found.</p>\n");
	} else {
		struct plot *plot = tfs_arena_alloc(arena, 1, sizeof(*plot));
		if (plot) {
			make_plot(html, plot);
			draw(html, plot);
		}
		draw_table(html);
	}
	tfs_html_section_end(html);
}
