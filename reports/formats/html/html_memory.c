/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

#define LEFT 84.0
#define WIDTH 1010.0
#define TOP 14.0
#define HEIGHT 110.0
/* From this part of the device's memory on the chart reaches up to all of it. */
#define NEAR 0.4

static double top_of(const struct tfs_chart_memory *memory)
{
	return memory->device_bytes > 0 && memory->most_bytes >= NEAR * memory->device_bytes
		       ? fmax(memory->device_bytes, memory->most_bytes)
		       : memory->most_bytes * 1.15;
}

static double x_of(const struct tfs_chart_memory *memory, double ns)
{
	return LEFT + WIDTH * fmin(ns / memory->span_ns, 1);
}

static double y_of(double top, double bytes)
{
	return TOP + HEIGHT * (1 - fmin(bytes / top, 1));
}

static void draw_axis(struct tfs_html *html, const struct tfs_chart_memory *memory, double top)
{
	for (unsigned i = 0; i <= 2; i++)
		tfs_html_print(html,
			"<path class=\"grid\" d=\"M%n %nH%n\"/>"
			"<text class=\"tick\" x=\"%n\" y=\"%n\" text-anchor=\"end\">%s</text>",
			LEFT, y_of(top, top * i / 2), LEFT + WIDTH, LEFT - 8,
			y_of(top, top * i / 2) + 4, tfs_words_bytes(&html->arena, top * i / 2));
	tfs_html_print(html,
		"<text class=\"tick\" x=\"%n\" y=\"%n\">start</text>"
		"<text class=\"tick\" x=\"%n\" y=\"%n\" text-anchor=\"end\">%s</text>",
		LEFT, TOP + HEIGHT + 30, LEFT + WIDTH, TOP + HEIGHT + 30,
		tfs_words_time(&html->arena, memory->span_ns));
}

/* One path, with a corner only where the height changes. */
static void draw_area(struct tfs_html *html, const struct tfs_chart_memory *memory, double top)
{
	const double width = WIDTH / (double)memory->count;
	double y = y_of(top, 0);

	tfs_html_print(html, "<path class=\"memory\" d=\"M%n %n", LEFT, y);
	for (size_t i = 0; i < memory->count; i++) {
		const double next = y_of(top, memory->parts[i]);

		if (next == y)
			continue;
		tfs_html_print(html, "H%nV%n", LEFT + (double)i * width, next);
		y = next;
	}
	tfs_html_print(html, "H%nV%nZ\"/>", LEFT + WIDTH, y_of(top, 0));
}

static void draw(struct tfs_html *html, const struct tfs_chart_memory *memory)
{
	const double top = top_of(memory);

	tfs_html_print(html,
		"<div class=\"scroll\" tabindex=\"0\">"
		"<svg class=\"chart\" role=\"img\" viewBox=\"0 0 1110 160\" aria-labelledby=\"memory-t memory-d\">"
		"<title id=\"memory-t\">Device memory in use over the run</title>"
		"<desc id=\"memory-d\">At most %s; the table below has the figures.</desc>",
		tfs_words_bytes(&html->arena, memory->most_bytes));
	draw_axis(html, memory, top);
	draw_area(html, memory, top);
	for (size_t i = 0; i < memory->window_count; i++) {
		const double x = x_of(memory, memory->windows[i].start_ns);

		tfs_html_print(html,
			"<rect class=\"window\" x=\"%n\" y=\"%n\" width=\"%n\" height=\"6\"/>", x,
			TOP + HEIGHT + 5, fmax(x_of(memory, memory->windows[i].end_ns) - x, 1));
	}
	tfs_html_raw(html,
		"</svg></div>\n<ul class=\"legend\"><li><i class=\"k memory\"></i>in use</li>"
		"<li><i class=\"k window\"></i>recorded in full</li></ul>\n");
}

static void draw_table(struct tfs_html *html, const struct tfs_chart_memory *memory)
{
	struct tfs_arena *arena = &html->arena;

	tfs_html_print(html,
		"<details class=\"astable\"><summary>As a table</summary><table><tbody>"
		"<tr><th scope=\"row\">Most in use</th><td class=\"num\">%s</td></tr>"
		"<tr><th scope=\"row\">Reached after</th><td class=\"num\">%s</td></tr>"
		"<tr><th scope=\"row\">In use at the end</th><td class=\"num\">%s</td></tr>",
		tfs_words_bytes(arena, memory->most_bytes), tfs_words_time(arena, memory->most_ns),
		tfs_words_bytes(arena, memory->last_bytes));
	if (memory->device_bytes > 0)
		tfs_html_print(html,
			"<tr><th scope=\"row\">The device has</th><td class=\"num\">%s</td></tr>",
			tfs_words_bytes(arena, memory->device_bytes));
	tfs_html_raw(html, "</tbody></table></details>\n");
}

void tfs_html_memory(struct tfs_html *html)
{
	const struct tfs_chart_memory *memory = &html->model->charts.memory;

	tfs_html_section(html, "memory", "Device memory",
		"What the program allocated and had not released. "
		"What lived only outside of the parts that are recorded in full is not in it, nor is what libraries and the driver take for themselves.");
	if (memory->count) {
		draw(html, memory);
		draw_table(html, memory);
	} else {
		tfs_html_raw(html, "<p class=\"empty\">No allocation was recorded.</p>\n");
	}
	tfs_html_section_end(html);
}
