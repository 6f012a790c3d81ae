/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

#define LABEL_WIDTH 132.0
#define PLOT_WIDTH 945.0
#define LANE_HEIGHT 24.0
#define LANE_GAP 6.0
#define LANE_SHAPES (TFS_HTML_SHAPES / (TFS_LANE_COUNT + 2))
#define LISTED_NAMES 4u

static const char *const lane_classes[] = {
	[TFS_LANE_HOST] = "host",
	[TFS_LANE_SYNC] = "sync",
	[TFS_LANE_COMPUTE] = "compute",
	[TFS_LANE_H2D] = "h2d",
	[TFS_LANE_D2H] = "d2h",
	[TFS_LANE_D2D] = "d2d",
	[TFS_LANE_NCCL] = "nccl",
};

/* A part of a detail's spans: they are sorted by lane. */
struct lane {
	const struct tfs_chart_span *spans;
	size_t count;
	enum tfs_lane kind;
};

struct pieces {
	double (*items)[2]; /* start and end */
	size_t count;
};

static size_t split_lanes(const struct tfs_chart_detail *detail, struct lane out[TFS_LANE_COUNT])
{
	size_t count = 0;
	for (size_t i = 0; i < detail->span_count;) {
		struct lane *lane = &out[count++];
		lane->spans = &detail->spans[i];
		lane->kind = (enum tfs_lane)detail->spans[i].lane;
		lane->count = 0;
		while (i < detail->span_count && detail->spans[i].lane == lane->kind) {
			lane->count++;
			i++;
		}
	}
	return count;
}

/* The union of a lane's spans, which are sorted by start. */
static struct pieces unite(struct tfs_arena *arena, const struct lane *lane)
{
	struct pieces all = {tfs_arena_alloc(arena, lane->count, sizeof(*all.items)), 0};
	for (size_t i = 0; all.items && i < lane->count; i++) {
		const struct tfs_chart_span *span = &lane->spans[i];
		if (all.count && span->start_ns <= all.items[all.count - 1][1]) {
			all.items[all.count - 1][1] =
				fmax(all.items[all.count - 1][1], span->end_ns);
			continue;
		}
		all.items[all.count][0] = span->start_ns;
		all.items[all.count++][1] = span->end_ns;
	}
	return all;
}

static double total(const struct pieces *pieces)
{
	double ns = 0;
	for (size_t i = 0; i < pieces->count; i++)
		ns += pieces->items[i][1] - pieces->items[i][0];
	return ns;
}

static struct pieces both(struct tfs_arena *arena, const struct pieces *a, const struct pieces *b)
{
	struct pieces out = {tfs_arena_alloc(arena, a->count + b->count, sizeof(*out.items)), 0};
	for (size_t i = 0, j = 0; out.items && i < a->count && j < b->count;) {
		double start = fmax(a->items[i][0], b->items[j][0]);
		double end = fmin(a->items[i][1], b->items[j][1]);
		if (start < end) {
			out.items[out.count][0] = start;
			out.items[out.count++][1] = end;
		}
		if (a->items[i][1] < b->items[j][1])
			i++;
		else
			j++;
	}
	return out;
}

static void label(struct tfs_html *html, double y, const char *title, const char *detail)
{
	tfs_html_print(html,
		"<text class=\"lanename\" x=\"%n\" y=\"%n\" text-anchor=\"end\">%s</text>",
		LABEL_WIDTH - 10, y + (detail ? 11 : 16), title);
	if (detail)
		tfs_html_print(html,
			"<text class=\"tick\" x=\"%n\" y=\"%n\" text-anchor=\"end\">%s</text>",
			LABEL_WIDTH - 10, y + 22, detail);
}

/* Too many to point at: what shares a pixel becomes one piece of a single path. */
static void draw_merged(struct tfs_html *html, const struct lane *lane, double scale, double y)
{
	double from = -1, until = -1;
	tfs_html_print(html, "<path class=\"span %s\" d=\"", lane_classes[lane->kind]);
	for (size_t i = 0; i <= lane->count; i++) {
		double start = i < lane->count ? lane->spans[i].start_ns * scale : INFINITY;
		if (from >= 0 && start > until + 0.5) {
			double width = fmax(until - from, 0.5);
			tfs_html_print(
				html, "M%n %nh%nv%nh%nz", from, y, width, LANE_HEIGHT, -width);
			from = -1;
		}
		if (i == lane->count)
			break;
		double end = lane->spans[i].end_ns * scale;
		if (from < 0) {
			from = start;
			until = end;
		}
		until = fmax(until, end);
	}
	tfs_html_raw(html, "\"/>");
}

static void draw_spans(struct tfs_html *html, const struct lane *lane, double scale, double y)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	for (size_t i = 0; i < lane->count; i++) {
		const struct tfs_chart_span *span = &lane->spans[i];
		tfs_html_print(html,
			"<rect class=\"span %s\" x=\"%n\" y=\"%n\" width=\"%n\" height=\"%n\">"
			"<title>%s: %s at %s</title></rect>",
			lane_classes[lane->kind], span->start_ns * scale, y,
			fmax((span->end_ns - span->start_ns) * scale, 0.5), LANE_HEIGHT,
			span->name < charts->name_count ? charts->names[span->name] : "",
			tfs_words_time(&html->arena, span->end_ns - span->start_ns),
			tfs_words_time(&html->arena, span->start_ns));
	}
}

static void draw_pieces(struct tfs_html *html, const struct pieces *pieces, const char *class_name,
	double scale, double y)
{
	tfs_html_print(html, "<path class=\"span %s\" d=\"", class_name);
	double last = -1;
	for (size_t i = 0; i < pieces->count; i++) {
		double start = pieces->items[i][0] * scale;
		double width = fmax((pieces->items[i][1] - pieces->items[i][0]) * scale, 0.3);
		if (start + width < last + 0.3)
			continue;
		last = start + width;
		tfs_html_print(html, "M%n %nh%nv%nh%nz", start, y, width, 12.0, -width);
	}
	tfs_html_raw(html, "\"/>");
}

/* A round distance between ticks so that there are five to ten. */
static double tick_distance(double duration_ns)
{
	double power = pow(10, floor(log10(duration_ns / 5)));
	double steps[] = {1, 2, 5};
	double best = power;
	for (unsigned i = 0; i < 3; i++) {
		if (power * steps[i] <= duration_ns / 5)
			best = power * steps[i];
	}
	return best;
}

static void draw_axis(struct tfs_html *html, double duration_ns, double height)
{
	double distance = tick_distance(duration_ns);
	for (double ns = 0; ns <= duration_ns; ns += distance) {
		double x = LABEL_WIDTH + ns / duration_ns * PLOT_WIDTH;
		tfs_html_print(html,
			"<path class=\"grid\" d=\"M%n 0V%n\"/>"
			"<text class=\"tick axis\" x=\"%n\" y=\"%n\" text-anchor=\"middle\">%s</text>",
			x, height, x, height + 16, tfs_words_time(&html->arena, ns));
	}
}

/* Everything the device did, whatever the lane; and what of it overlapped. */
struct derived {
	struct pieces overlap; /* copies to or from the host under computation */
	struct pieces idle;
};

static int by_start(const void *a, const void *b)
{
	const struct tfs_chart_span *one = a;
	const struct tfs_chart_span *two = b;
	return one->start_ns < two->start_ns ? -1 : one->start_ns > two->start_ns;
}

static struct pieces select_lanes(
	struct tfs_arena *arena, const struct tfs_chart_detail *detail, unsigned mask)
{
	struct tfs_chart_span *spans = tfs_arena_alloc(arena, detail->span_count, sizeof(*spans));
	struct lane lane = {spans, 0, TFS_LANE_HOST};
	for (size_t i = 0; spans && i < detail->span_count; i++) {
		if (mask >> detail->spans[i].lane & 1)
			spans[lane.count++] = detail->spans[i];
	}
	if (lane.count)
		qsort(spans, lane.count, sizeof(*spans), by_start);
	return unite(arena, &lane);
}

static struct derived derive(struct tfs_arena *arena, const struct tfs_chart_detail *detail)
{
	const unsigned copies = 1u << TFS_LANE_H2D | 1u << TFS_LANE_D2H;
	const unsigned device =
		copies | 1u << TFS_LANE_COMPUTE | 1u << TFS_LANE_D2D | 1u << TFS_LANE_NCCL;
	struct pieces compute = select_lanes(arena, detail, 1u << TFS_LANE_COMPUTE);
	struct pieces moving = select_lanes(arena, detail, copies);
	struct pieces busy = select_lanes(arena, detail, device);
	struct derived out = {both(arena, &compute, &moving), {NULL, 0}};
	double at = 0;

	if (!busy.count)
		return out;
	out.idle.items = tfs_arena_alloc(arena, busy.count + 1, sizeof(*out.idle.items));
	for (size_t i = 0; out.idle.items && i <= busy.count; i++) {
		double until = i < busy.count ? busy.items[i][0] : detail->duration_ns;
		if (until > at) {
			out.idle.items[out.idle.count][0] = at;
			out.idle.items[out.idle.count++][1] = until;
		}
		if (i < busy.count)
			at = busy.items[i][1];
	}
	return out;
}

static void draw(struct tfs_html *html, const struct tfs_chart_detail *detail,
	const struct lane *lanes, size_t count, const struct derived *derived)
{
	double scale = PLOT_WIDTH / detail->duration_ns;
	double height = (double)count * (LANE_HEIGHT + LANE_GAP) + 46;
	struct tfs_arena *arena = &html->arena;
	tfs_html_print(html,
		"<div class=\"scroll\" tabindex=\"0\">"
		"<svg class=\"chart lanes\" role=\"img\" viewBox=\"0 0 1110 %n\" "
		"aria-label=\"Lanes of step %n; the table below has the figures\">",
		height + 24, (double)detail->index);
	draw_axis(html, detail->duration_ns, height);
	for (size_t i = 0; i < count; i++)
		label(html, (double)i * (LANE_HEIGHT + LANE_GAP), tfs_lane_title(lanes[i].kind),
			lanes[i].count > LANE_SHAPES
				? tfs_arena_print(arena, "%zu merged", lanes[i].count)
				: NULL);
	label(html, height - 46, "overlap", NULL);
	label(html, height - 24, "GPU idle", NULL);
	tfs_html_print(html,
		"<svg class=\"plot\" x=\"%n\" y=\"0\" width=\"%n\" height=\"%n\" viewBox=\"0 0 %n %n\" preserveAspectRatio=\"none\">",
		LABEL_WIDTH, PLOT_WIDTH, height, PLOT_WIDTH, height);
	for (size_t i = 0; i < count; i++) {
		double y = (double)i * (LANE_HEIGHT + LANE_GAP);
		if (lanes[i].count > LANE_SHAPES)
			draw_merged(html, &lanes[i], scale, y);
		else
			draw_spans(html, &lanes[i], scale, y);
	}
	draw_pieces(html, &derived->overlap, "overlap", scale, height - 40);
	draw_pieces(html, &derived->idle, "idle", scale, height - 18);
	tfs_html_raw(html, "</svg></svg></div>\n");
}

struct named {
	uint32_t name;
	size_t count;
	double ns;
};

static int by_time(const void *a, const void *b)
{
	const struct named *one = a;
	const struct named *two = b;
	if (one->ns != two->ns)
		return one->ns > two->ns ? -1 : 1;
	return one->name < two->name ? -1 : one->name > two->name;
}

/* The names that take most of a lane, "conv (3, 1.2 ms), ...". */
static void list_names(struct tfs_html *html, const struct lane *lane)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	struct named *names = tfs_arena_alloc(&html->arena, charts->name_count, sizeof(*names));
	if (!names)
		return;
	for (size_t i = 0; i < charts->name_count; i++)
		names[i].name = (uint32_t)i;
	for (size_t i = 0; i < lane->count; i++) {
		if (lane->spans[i].name >= charts->name_count)
			continue;
		names[lane->spans[i].name].count++;
		names[lane->spans[i].name].ns += lane->spans[i].end_ns - lane->spans[i].start_ns;
	}
	if (charts->name_count)
		qsort(names, charts->name_count, sizeof(*names), by_time);
	for (size_t i = 0; i < LISTED_NAMES && i < charts->name_count && names[i].count; i++)
		tfs_html_print(html, "%s<code>%s</code> \xc3\x97%n, %s", i ? "; " : "",
			charts->names[names[i].name], (double)names[i].count,
			tfs_words_time(&html->arena, names[i].ns));
}

static void draw_table(struct tfs_html *html, const struct tfs_chart_detail *detail,
	const struct lane *lanes, size_t count, const struct derived *derived)
{
	struct tfs_arena *arena = &html->arena;
	tfs_html_raw(html,
		"<details class=\"astable\"><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\">"
		"<table><thead><tr><th scope=\"col\">Lane</th>"
		"<th scope=\"col\" class=\"num\">Items</th>"
		"<th scope=\"col\" class=\"num\">Time, overlaps counted once</th>"
		"<th scope=\"col\" class=\"num\">Share</th><th scope=\"col\">Longest items</th></tr>"
		"</thead><tbody>");
	for (size_t i = 0; i < count; i++) {
		struct pieces all = unite(arena, &lanes[i]);
		double ns = total(&all);
		tfs_html_print(html,
			"<tr><td><i class=\"k %s\"></i>%s</td><td class=\"num\">%n</td>"
			"<td class=\"num\">%s</td><td class=\"num\">%s</td><td>",
			lane_classes[lanes[i].kind], tfs_lane_title(lanes[i].kind),
			(double)lanes[i].count, tfs_words_time(arena, ns),
			tfs_words_share(arena, ns / detail->duration_ns));
		list_names(html, &lanes[i]);
		tfs_html_raw(html, "</td></tr>");
	}
	const struct pieces *extra[] = {&derived->overlap, &derived->idle};
	static const char *const titles[] = {"copies overlapped by computation", "GPU idle"};
	for (unsigned i = 0; i < 2; i++)
		tfs_html_print(html,
			"<tr><td><i class=\"k %s\"></i>%s</td><td class=\"num\">%n</td>"
			"<td class=\"num\">%s</td><td class=\"num\">%s</td><td></td></tr>",
			i ? "idle" : "overlap", titles[i], (double)extra[i]->count,
			tfs_words_time(arena, total(extra[i])),
			tfs_words_share(arena, total(extra[i]) / detail->duration_ns));
	tfs_html_raw(html, "</tbody></table></div></details>\n");
}

static void write_detail(struct tfs_html *html, const struct tfs_chart_detail *detail, bool open)
{
	struct lane lanes[TFS_LANE_COUNT];
	size_t count = split_lanes(detail, lanes);
	tfs_html_print(html,
		"<details class=\"lanestep\"%s><summary><b>%s</b> step %n "
		"<span class=\"dim\">%s</span></summary>\n",
		open ? " open" : "", detail->title, (double)detail->index,
		tfs_words_time(&html->arena, detail->duration_ns));
	if (!count || !(detail->duration_ns > 0)) {
		tfs_html_raw(html, "<p class=\"empty\">Nothing was recorded in this step.</p>");
	} else {
		struct derived derived = derive(&html->arena, detail);
		draw(html, detail, lanes, count, &derived);
		draw_table(html, detail, lanes, count, &derived);
	}
	tfs_html_raw(html, "</details>\n");
}

void tfs_html_lanes(struct tfs_html *html)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	tfs_html_section(html, "lanes", "Inside a step",
		"What the host and the GPU did at each moment of a few selected steps.");
	if (!charts->detail_count)
		tfs_html_raw(html, "<p class=\"empty\">No step was recorded in full.</p>\n");
	for (size_t i = 0; i < charts->detail_count; i++)
		write_detail(html, &charts->details[i], i == 0);
	tfs_html_section_end(html);
}
