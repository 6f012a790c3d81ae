/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/build/code.h"
#include "reports/build/places.h"
#include "reports/model/words.h"

#define MOST_SHOWN 3u
#define LEAST_SHOWN 0.01 /* of the idle time */

static const struct {
	const char *key;
	const char *before; /* the call's name; NULL: never told of a call */
	const char *alone;  /* where no call is known */
} kinds[] = {
	[TFS_IDLE_UNKNOWN] = {"unknown", NULL, "reason unknown"},
	[TFS_IDLE_QUEUED] = {"queued", NULL, "work was queued: latency or dependencies"},
	[TFS_IDLE_DRAINED] = {"drained", "no work was queued after",
		"no work was queued after the host synchronised"},
	[TFS_IDLE_CALL] = {"call", "the host was inside",
		"the host was inside a CUDA call whose call site is not known"},
	[TFS_IDLE_HOST] = {"host", "the host ran its own code after",
		"the host ran its own code; the call before it is not known"},
};

static const char *sentence(
	struct tfs_arena *arena, const struct tfs_model_idle *item, enum tfs_idle_why why)
{
	return item->function ? tfs_arena_print(arena, "%s %s, %s", kinds[why].before,
					item->function, item->where)
			      : kinds[why].alone;
}

static struct tfs_model_idle describe(
	const struct tfs_build *build, const struct tfs_idle_owner *owner)
{
	struct tfs_arena *arena = &build->model->arena;
	struct tfs_model_idle item = {.key = kinds[owner->why].key, .ns = owner->ns};

	if (owner->site) {
		const struct tfs_model_place place = tfs_places_find(build->places, owner->site);

		item.function =
			tfs_arena_string(arena, tfs_trace_function(build->trace, owner->function));
		item.where =
			place.frame_count ? tfs_words_place(arena, &place) : "unknown call site";
	}
	item.text = sentence(arena, &item, owner->why);
	item.samples = tfs_code_added(build->places, arena, owner->samples, &owner->code);
	return item;
}

/* What was sampled need not have been the host's own code. */
static const char *sampled(struct tfs_arena *arena, const struct tfs_model_idle *item)
{
	if (!item->samples)
		return item->text;
	if (!item->function)
		return tfs_arena_print(arena, "the host made no CUDA call: %s", item->samples);
	return tfs_arena_print(arena, "the host made no CUDA call after %s, %s: %s", item->function,
		item->where, item->samples);
}

static int by_text(const void *a, const void *b)
{
	const struct tfs_model_idle *one = a, *two = b;

	return strcmp(one->text, two->text);
}

static int by_time(const void *a, const void *b)
{
	const struct tfs_model_idle *one = a, *two = b;

	if (one->ns != two->ns)
		return one->ns > two->ns ? -1 : 1;
	return by_text(a, b);
}

/* Call sites that read alike, as they differ only in their callers, become one. */
static size_t join(struct tfs_model_idle *items, size_t count)
{
	size_t kept = 0;

	qsort(items, count, sizeof(*items), by_text);
	for (size_t i = 0; i < count; i++) {
		if (!kept || by_text(&items[kept - 1], &items[i])) {
			items[kept++] = items[i];
			continue;
		}
		items[kept - 1].ns += items[i].ns;
		if (!items[kept - 1].samples)
			items[kept - 1].samples = items[i].samples;
	}
	qsort(items, kept, sizeof(*items), by_time);
	return kept;
}

void tfs_build_idle(struct tfs_build *build)
{
	const struct tfs_idle_summary *idle = &build->judgement->idle;
	struct tfs_model *model = build->model;
	const struct tfs_model_charts *charts = &model->charts;
	struct tfs_model_idle *items;
	double whole = 0;
	size_t count = 0;

	for (size_t i = 0; i < charts->share_count; i++)
		whole += charts->shares[i].busy ? 0 : charts->shares[i].ns_per_step;
	model->idle_ns = charts->share_count ? whole : NAN;
	if (!(whole > 0))
		return;
	model->idle_explained = fmin(idle->explained_ns / whole, 1);
	items = tfs_arena_alloc(&model->arena, idle->count + 1, sizeof(*items));
	if (!items)
		return;
	for (size_t i = 0; i < idle->count; i++)
		if (!idle->items[i].explained)
			items[count++] = describe(build, &idle->items[i]);
	if (count)
		count = join(items, count);
	while (count > MOST_SHOWN || (count && items[count - 1].ns < LEAST_SHOWN * whole))
		count--;
	for (size_t i = 0; i < count; i++)
		items[i].text = sampled(&model->arena, &items[i]);
	model->idles = items;
	model->idle_count = count;
}
