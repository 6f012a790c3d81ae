/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

#define MOST_NODES 1500u
#define MOST_DEPTH 40u
#define OPEN_SHARE 0.1 /* children with more than this of the whole are unfolded */

struct walk {
	struct tfs_html *html;
	const struct tfs_chart_node *nodes;
	double whole;
	size_t written;
};

static double weight(const struct tfs_chart_node *node)
{
	return node->host_ns + (isnan(node->gpu_ns) ? 0 : node->gpu_ns);
}

static void row(struct walk *walk, const struct tfs_chart_node *node)
{
	struct tfs_html *html = walk->html;
	struct tfs_arena *arena = &html->arena;
	double share = walk->whole > 0 ? weight(node) / walk->whole * 100 : 0;
	tfs_html_raw(html, "<span class=\"row\"><span class=\"name\">");
	tfs_html_print(html, node->is_call ? "<code class=\"call\">%s</code>" : "<code>%s</code>",
		node->name);
	if (node->place)
		tfs_html_print(html, " <span class=\"dim\">%s</span>", node->place);
	tfs_html_print(html, "</span><span class=\"num\">%s</span><span class=\"num\">%s</span>",
		tfs_words_count(arena, (double)node->calls),
		node->bytes ? tfs_words_bytes(arena, (double)node->bytes) : "");
	tfs_html_print(html, "<span class=\"num\">%s</span><span class=\"num dim\">%s</span>",
		tfs_words_time(arena, node->host_ns), tfs_words_time(arena, node->own_host_ns));
	tfs_html_print(html, "<span class=\"num\">%s</span><span class=\"num dim\">%s</span>",
		isnan(node->gpu_ns) ? "not recorded" : tfs_words_time(arena, node->gpu_ns),
		isnan(node->own_gpu_ns) ? "" : tfs_words_time(arena, node->own_gpu_ns));
	tfs_html_print(html,
		"<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		"<rect class=\"track\" width=\"100\" height=\"10\"/>"
		"<rect class=\"fill\" width=\"%n\" height=\"10\"/></svg></span>",
		share);
}

static void write_node(struct walk *walk, size_t at, unsigned depth);

static void write_children(struct walk *walk, size_t parent, unsigned depth)
{
	struct tfs_html *html = walk->html;
	size_t left_out = 0;
	tfs_html_raw(html, "<ul>");
	for (size_t i = walk->nodes[parent].first_child; i; i = walk->nodes[i].next) {
		if (walk->written < MOST_NODES && depth < MOST_DEPTH)
			write_node(walk, i, depth);
		else
			left_out++;
	}
	if (left_out)
		tfs_html_print(
			html, "<li class=\"dim\">%n smaller ones not shown</li>", (double)left_out);
	tfs_html_raw(html, "</ul>");
}

static void write_node(struct walk *walk, size_t at, unsigned depth)
{
	const struct tfs_chart_node *node = &walk->nodes[at];
	struct tfs_html *html = walk->html;
	walk->written++;
	if (!node->first_child) {
		tfs_html_raw(html, "<li><div class=\"leaf\">");
		row(walk, node);
		tfs_html_raw(html, "</div></li>\n");
		return;
	}
	bool open = depth < 2 || weight(node) > OPEN_SHARE * walk->whole;
	tfs_html_print(html, "<li><details%s><summary>", open ? " open" : "");
	row(walk, node);
	tfs_html_raw(html, "</summary>");
	write_children(walk, at, depth + 1);
	tfs_html_raw(html, "</details></li>\n");
}

void tfs_html_tree(struct tfs_html *html)
{
	const struct tfs_model_charts *charts = &html->model->charts;
	tfs_html_section(html, "tree", "Call sites",
		"Calls, bytes and host time of the whole run; "
		"GPU time inside the recorded windows. "
		"Grey figures are a line's own time, without its callees.");
	if (charts->node_count < 2) {
		tfs_html_raw(html, "<p class=\"empty\">No calls were seen.</p>\n");
	} else {
		struct walk walk = {html, charts->nodes, weight(&charts->nodes[0]), 0};
		tfs_html_raw(html,
			"<div class=\"scroll\" tabindex=\"0\"><div class=\"tree\"><div class=\"row head\">"
			"<span>Function</span><span class=\"num\">Calls</span>"
			"<span class=\"num\">Bytes</span><span class=\"num\">Host</span>"
			"<span class=\"num\">own</span><span class=\"num\">GPU</span>"
			"<span class=\"num\">own</span><span>Share</span></div>");
		write_children(&walk, 0, 0);
		tfs_html_raw(html, "</div></div>\n");
	}
	tfs_html_section_end(html);
}
