/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/build/places.h"
#include "reports/model/words.h"

struct tree {
	struct tfs_build *build;
	struct tfs_chart_node *nodes;
	size_t count;
};

static size_t add_node(
	struct tree *tree, size_t parent, const char *name, const char *place, bool is_call)
{
	struct tfs_chart_node *nodes = tfs_arena_grow(
		&tree->build->model->arena, tree->nodes, tree->count, sizeof(*nodes));
	if (!nodes)
		return 0;
	tree->nodes = nodes;
	size_t at = tree->count++;
	struct tfs_chart_node *node = &tree->nodes[at];
	memset(node, 0, sizeof(*node));
	node->name = name;
	node->place = place;
	node->is_call = is_call;
	if (at) {
		node->next = tree->nodes[parent].first_child;
		tree->nodes[parent].first_child = at;
	}
	return at;
}

static size_t child(
	struct tree *tree, size_t parent, const char *name, const char *place, bool is_call)
{
	for (size_t i = tree->nodes[parent].first_child; i; i = tree->nodes[i].next) {
		const struct tfs_chart_node *node = &tree->nodes[i];
		if (node->is_call != is_call || strcmp(node->name, name))
			continue;
		if (!is_call || !strcmp(node->place ? node->place : "", place ? place : ""))
			return i;
	}
	return add_node(tree, parent, name, place, is_call);
}

static void add_to(struct tfs_chart_node *node, const struct tfs_chart_node *amount, bool own)
{
	node->calls += amount->calls;
	node->bytes += amount->bytes;
	node->host_ns += amount->host_ns;
	node->gpu_ns += amount->gpu_ns;
	if (own) {
		node->own_host_ns += amount->host_ns;
		node->own_gpu_ns += amount->gpu_ns;
	}
}

static const char *frame_name(struct tree *tree, const struct tfs_model_frame *frame)
{
	if (frame->function)
		return frame->function;
	if (frame->module)
		return frame->module;
	return tfs_arena_string(&tree->build->model->arena, "unknown");
}

static void add_site(
	struct tree *tree, uint32_t site, const char *function, const struct tfs_chart_node *amount)
{
	struct tfs_arena *arena = &tree->build->model->arena;
	struct tfs_model_place place = tfs_places_find(tree->build->places, site);
	size_t at = 0;

	size_t first = tfs_model_own_frame(&place);
	add_to(&tree->nodes[0], amount, false);
	for (size_t i = place.frame_count; i-- > first;) {
		const struct tfs_model_frame *frame = &place.frames[i];
		at = child(tree, at, frame_name(tree, frame), frame->file, false);
		add_to(&tree->nodes[at], amount, i == first);
	}
	const char *line = place.frame_count ? tfs_words_place(arena, &place) : NULL;
	at = child(tree, at, function, line, true);
	add_to(&tree->nodes[at], amount, true);
}

static double weight(const struct tfs_chart_node *node)
{
	return node->gpu_ns + node->host_ns;
}

static void sort_children(struct tree *tree, size_t parent)
{
	size_t sorted = 0;
	size_t next;
	for (size_t i = tree->nodes[parent].first_child; i; i = next) {
		next = tree->nodes[i].next;
		size_t *link = &sorted;
		while (*link && weight(&tree->nodes[*link]) >= weight(&tree->nodes[i]))
			link = &tree->nodes[*link].next;
		tree->nodes[i].next = *link;
		*link = i;
	}
	tree->nodes[parent].first_child = sorted;
}

struct gpu_time {
	uint32_t site;
	uint32_t function;
	double ns;
};

static int by_site(const void *a, const void *b)
{
	const struct gpu_time *one = a;
	const struct gpu_time *two = b;
	if (one->site != two->site)
		return one->site < two->site ? -1 : 1;
	return one->function < two->function ? -1 : one->function > two->function;
}

/* Device time by call site and function, sorted; inside windows only. */
static size_t gpu_times(const struct tfs_timeline *timeline, struct gpu_time *out_times)
{
	size_t count = 0;
	for (uint32_t i = 0; i < timeline->op_count; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];
		if (op->call == TFS_NONE || op->end_ns <= op->start_ns)
			continue;
		const struct tfs_host_call *call = &timeline->calls[op->call];
		out_times[count++] = (struct gpu_time){
			call->record->site, call->function, (double)(op->end_ns - op->start_ns)};
	}
	qsort(out_times, count, sizeof(*out_times), by_site);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_site(&out_times[kept - 1], &out_times[i]))
			out_times[kept - 1].ns += out_times[i].ns;
		else
			out_times[kept++] = out_times[i];
	}
	return kept;
}

void tfs_build_tree(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tree tree = {.build = build};
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	size_t count = tfs_trace_totals(build->trace, &totals, &shares);
	struct tfs_arena scratch = {0};
	struct gpu_time *times =
		tfs_arena_alloc(&scratch, build->timeline->op_count, sizeof(*times));
	size_t time_count = times ? gpu_times(build->timeline, times) : 0;

	add_node(&tree, 0, "whole program", NULL, false);
	for (size_t i = 0; tree.count && i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;
		const struct tfs_segment *rate = tfs_trace_segment(build->trace, sum->first_ticks);
		struct gpu_time key = {sum->site, sum->function, 0};
		struct gpu_time *found =
			time_count ? bsearch(&key, times, time_count, sizeof(*times), by_site)
				   : NULL;
		struct tfs_chart_node amount = {.calls = sum->count, .bytes = sum->amount};
		amount.host_ns = (double)tfs_segment_duration(rate, (double)sum->ticks);
		amount.gpu_ns = found ? found->ns : 0;
		add_site(&tree, sum->site,
			tfs_arena_string(
				&model->arena, tfs_trace_function(build->trace, sum->function)),
			&amount);
	}
	for (size_t i = 0; i < tree.count; i++)
		sort_children(&tree, i);
	for (size_t i = 0; i < tree.count && !build->timeline->op_count; i++)
		tree.nodes[i].gpu_ns = tree.nodes[i].own_gpu_ns = NAN;
	model->charts.nodes = tree.nodes;
	model->charts.node_count = tree.count;
	model->arena.failed |= tfs_arena_finish(&scratch) != 0;
}
