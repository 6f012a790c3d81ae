/* SPDX-License-Identifier: MIT */
#include "rules/timeline/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "rules/support/figures.h"
#include "rules/support/pages.h"
#include "rules/support/sort.h"
#include "rules/timeline/comparable.h"
#include "rules/timeline/families.h"
#include "rules/timeline/pairs_launches.h"
#include "rules/timeline/timeline_build.h"

#define CBIDS 65536u
#define MOST_GAP 0.02
#define NO_PAIR UINT16_MAX

struct search {
	const struct tfs_timeline *timeline;
	struct tfs_arena *arena;
	struct tfs_pairs *out;
	uint16_t *by_cbid; /* places in `out->pairs`: of the runtime's cbids, then the driver's */
	uint16_t *by_function; /* places by function id; NO_PAIR = it is not watched */
	uint32_t function_count;
	bool *paired; /* calls that CUPTI saw */
	uint32_t strange_tid;
};

/* CUDA calls of which one lies inside the other. */
struct group {
	const struct tfs_device_api_record *outer; /* NULL = none yet */
	uint32_t call;                             /* the wrapped call, or TFS_NONE */
};

bool tfs_pair_differs(const struct tfs_pair *pair)
{
	const uint64_t most = pair->hooks > pair->cupti ? pair->hooks : pair->cupti;
	const uint64_t least = pair->hooks > pair->cupti ? pair->cupti : pair->hooks;

	return (double)(most - least) > MOST_GAP * (double)most;
}

const struct tfs_pair *tfs_pairs_hidden(const struct tfs_pairs *pairs, uint32_t about)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct tfs_pair *pair = &pairs->pairs[i];

		if (pair->about & about &&
			(double)pair->hidden > MOST_GAP * (double)(pair->hooks + pair->hidden))
			return pair;
	}
	return NULL;
}

/* What a function is about whose calls went unseen: where that is not known it may be anything. */
static uint32_t about(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_graph_launch:
		return TFS_ABOUT_LAUNCHES;
	case TFS_FAMILY_alloc_async:
	case TFS_FAMILY_free_async:
		return TFS_ABOUT_MEMORY;
	case TFS_FAMILY_other:
		return UINT32_MAX;
	default:
		return tfs_family_about(family);
	}
}

const char *tfs_pairs_work(struct tfs_arena *arena, const uint64_t counts[TFS_WORK_COUNT])
{
	static const char *const one[] = {"launch", "copy", "memset", "other call", "call"};
	static const char *const many[] = {"launches", "copies", "memsets", "other calls", "calls"};
	const char *list = "";

	for (unsigned i = 0; i < TFS_WORK_COUNT; i++)
		if (counts[i])
			list = tfs_arena_print(arena, "%s%s%s", list, *list ? ", " : "",
				tfs_figure_number((double)counts[i], one[i], many[i]).text);
	return list;
}

static enum tfs_work_kind work_of(const struct tfs_pair *pair)
{
	switch (pair->about) {
	case TFS_ABOUT_LAUNCHES:
		return TFS_WORK_LAUNCH;
	case TFS_ABOUT_COPIES:
		return TFS_WORK_COPY;
	case TFS_ABOUT_SETS:
		return TFS_WORK_SET;
	case UINT32_MAX:
		return TFS_WORK_UNKNOWN;
	default:
		return TFS_WORK_OTHER;
	}
}

static bool list_pairs(struct search *search)
{
	const struct tfs_trace *trace = search->timeline->trace;
	const size_t count = tfs_trace_count(trace, TFS_RECORD_api);
	struct tfs_pair *pairs = tfs_arena_alloc(search->arena, count, sizeof(*pairs));

	search->by_cbid = malloc(2 * CBIDS * sizeof(uint16_t));
	search->by_function = malloc((search->function_count + 1u) * sizeof(uint16_t));
	search->paired = tfs_pages_zeroed(search->timeline->call_count + 1u, sizeof(bool));
	if (!pairs || !search->by_cbid || !search->by_function || !search->paired)
		return false;
	memset(search->by_cbid, 0xff, 2 * CBIDS * sizeof(uint16_t));
	memset(search->by_function, 0xff, (search->function_count + 1u) * sizeof(uint16_t));
	for (size_t i = 0; i < count && i < NO_PAIR; i++) {
		const struct tfs_api_record *api = tfs_trace_at(trace, TFS_RECORD_api, i);
		const uint32_t domain = api->domain == TFS_LIBRARY_cuda;

		pairs[i].name = tfs_trace_string(trace, api->name);
		pairs[i].about = about((enum tfs_family)api->family);
		search->by_cbid[domain * CBIDS + api->cbid] = (uint16_t)i;
		for (uint32_t id = 0; id < search->function_count; id++)
			if (!strcmp(tfs_trace_function(trace, id), pairs[i].name))
				search->by_function[id] = (uint16_t)i;
	}
	search->out->pairs = pairs;
	search->out->count = count < NO_PAIR ? count : NO_PAIR;
	return true;
}

static uint16_t pair_of(const struct search *search, const struct tfs_device_api_record *api)
{
	const uint32_t domain = api->domain == TFS_LIBRARY_cuda;

	return search->by_cbid[domain * CBIDS + api->cbid];
}

static uint32_t library_of(const struct search *search, uint32_t function)
{
	const struct tfs_function_record *record =
		tfs_trace_find(search->timeline->trace, TFS_RECORD_function, function);

	return record && record->library < 16 ? record->library : 0;
}

static uint32_t thread_of(const struct tfs_timeline *timeline, uint32_t tid)
{
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		if (timeline->threads[i].tid == tid)
			return i;
	return TFS_NONE;
}

/* A thread may be inside a wrapped call from before the window: only behind its first recorded call
 * is what it does unseen. */
static bool is_hidden(struct search *search, const struct tfs_device_api_record *api)
{
	const struct tfs_timeline *timeline = search->timeline;
	const struct tfs_window *window = tfs_pairs_window(timeline, api->start_ns);
	const uint32_t number = thread_of(timeline, api->tid);
	const struct tfs_host_thread *thread = &timeline->threads[number];
	uint32_t first;

	if (!window)
		return false;
	if (number == TFS_NONE || !thread->call_count) {
		search->out->strange_threads += api->tid != search->strange_tid;
		search->strange_tid = api->tid;
		return true;
	}
	first = tfs_timeline_call_before(
		timeline, number, window->start_ns ? window->start_ns - 1 : 0);
	first = first == TFS_NONE ? thread->first_call : first + 1;
	return first < thread->first_call + thread->call_count &&
	       timeline->calls[first].start_ns <= api->start_ns;
}

static void close_group(struct search *search, struct group *group)
{
	const struct tfs_device_api_record *api = group->outer;
	struct tfs_pairs *out = search->out;

	group->outer = NULL;
	if (!api)
		return;
	struct tfs_pair *pair = &out->pairs[pair_of(search, api)];
	if (group->call == TFS_NONE) {
		if (!is_hidden(search, api))
			return;
		pair->cupti++;
		pair->hidden += thread_of(search->timeline, api->tid) != TFS_NONE;
		out->within[0][work_of(pair)]++;
		return;
	}
	const uint32_t library = library_of(search, search->timeline->calls[group->call].function);

	if (library == TFS_LIBRARY_cudart || library == TFS_LIBRARY_cuda)
		search->paired[group->call] = true;
	else
		out->within[library][work_of(pair)]++;
}

/* By thread and time, so that a call inside another one comes right behind it. */
static struct tfs_key *sort_apis(const struct tfs_timeline *timeline, size_t count)
{
	struct tfs_key *keys = tfs_pages_alloc(count + 1, sizeof(*keys));
	int err = keys ? 0 : -1;

	for (size_t i = 0; i < count && !err; i++) {
		const struct tfs_device_api_record *api =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_api, i);

		/* Of two at the same moment the runtime's is the outer one. */
		keys[i] = (struct tfs_key){
			api->start_ns * 2 + (api->domain == TFS_LIBRARY_cuda), (uint32_t)i};
	}
	if (!err)
		err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++)
		keys[i].key = ((const struct tfs_device_api_record *)tfs_trace_at(
				       timeline->trace, TFS_RECORD_device_api, keys[i].value))
				      ->tid;
	if (!err)
		err = tfs_sort_keys(keys, count);
	if (!err)
		return keys;
	free(keys);
	return NULL;
}

static bool walk_apis(struct search *search)
{
	const struct tfs_timeline *timeline = search->timeline;
	const size_t count = tfs_trace_count(timeline->trace, TFS_RECORD_device_api);
	struct tfs_key *keys = sort_apis(timeline, count);
	struct group group = {NULL, TFS_NONE};

	for (size_t i = 0; i < count && keys; i++) {
		const struct tfs_device_api_record *api =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_api, keys[i].value);
		const uint32_t call = tfs_timeline_correlated(timeline, api->correlation);

		if (pair_of(search, api) == NO_PAIR)
			continue;
		if (group.outer && group.outer->tid == api->tid &&
			api->start_ns < group.outer->start_ns + group.outer->duration_ns) {
			group.call = group.call == TFS_NONE ? call : group.call;
			continue;
		}
		close_group(search, &group);
		group = (struct group){api, call};
	}
	close_group(search, &group);
	free(keys);
	return keys != NULL;
}

static void count_memory(struct search *search)
{
	const struct tfs_timeline *timeline = search->timeline;

	for (size_t i = 0; i < tfs_trace_count(timeline->trace, TFS_RECORD_device_memory); i++) {
		const struct tfs_device_memory_record *memory =
			tfs_trace_at(timeline->trace, TFS_RECORD_device_memory, i);
		const uint32_t call = tfs_timeline_correlated(timeline, memory->correlation);
		const uint32_t library =
			call == TFS_NONE ? 0 : library_of(search, timeline->calls[call].function);

		if (memory->operation != 1 || memory->memory != TFS_MEMORY_DEVICE)
			continue;
		search->out->allocations[library]++;
		search->out->allocated[library] += memory->bytes;
	}
}

static void count_call(struct search *search, uint32_t nth, const struct tfs_window *window)
{
	const struct tfs_host_call *call = &search->timeline->calls[nth];
	const uint16_t place = call->function < search->function_count
				       ? search->by_function[call->function]
				       : NO_PAIR;

	if (place == NO_PAIR || (!search->paired[nth] && call->end_ns > window->end_ns))
		return;
	search->out->pairs[place].hooks++;
	search->out->pairs[place].cupti += search->paired[nth];
}

static void walk_calls(struct search *search)
{
	const struct tfs_timeline *timeline = search->timeline;

	for (uint32_t i = 0; i < timeline->thread_count; i++) {
		const struct tfs_host_thread *thread = &timeline->threads[i];

		for (uint32_t j = 0; j < thread->call_count; j++) {
			const uint32_t nth = thread->first_call + j;
			const struct tfs_window *window =
				tfs_pairs_window(timeline, timeline->calls[nth].start_ns);

			if (window)
				count_call(search, nth, window);
		}
	}
}

static uint64_t gap(const struct tfs_pair *pair)
{
	return pair->hooks > pair->cupti ? pair->hooks - pair->cupti : pair->cupti - pair->hooks;
}

static int compare_pairs(const void *left, const void *right)
{
	const struct tfs_pair *a = left, *b = right;

	if (gap(a) != gap(b))
		return gap(a) > gap(b) ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void keep_seen(struct tfs_pairs *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->count; i++) {
		if (!out->pairs[i].hooks && !out->pairs[i].cupti)
			continue;
		out->hooks += out->pairs[i].hooks;
		out->cupti += out->pairs[i].cupti;
		out->pairs[kept++] = out->pairs[i];
	}
	out->count = kept;
	qsort(out->pairs, kept, sizeof(*out->pairs), compare_pairs);
}

const struct tfs_pairs *tfs_pairs_find(const struct tfs_timeline *timeline, struct tfs_arena *arena)
{
	struct search search = {.timeline = timeline,
		.arena = arena,
		.out = tfs_arena_alloc(arena, 1, sizeof(*search.out)),
		.function_count = tfs_trace_limit(timeline->trace, TFS_RECORD_function)};
	bool done = search.out && list_pairs(&search) && walk_apis(&search);

	if (done) {
		walk_calls(&search);
		tfs_pairs_launches(timeline, search.out);
		count_memory(&search);
		keep_seen(search.out);
		search.out->lost = tfs_comparable_lost(timeline->trace, arena);
		search.out->why = tfs_comparable_why_not(timeline, arena);
	}
	free(search.by_cbid);
	free(search.by_function);
	free(search.paired);
	return done ? search.out : NULL;
}
