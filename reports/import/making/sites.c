/* SPDX-License-Identifier: MIT */
#include "reports/import/making/sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/collected/collected.h"

#define MOST_OPEN 1024u /* spans that a call lies in */

struct frames {
	uint64_t items[TFS_MAX_FRAMES];
	uint32_t count;
};

static int compare_calls(const void *left, const void *right)
{
	const struct tfs_collected_call *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	/* ids are given out in the order of the calls */
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}

static void add_frame(struct frames *frames, uint32_t function, uint32_t place)
{
	if (frames->count < TFS_MAX_FRAMES && (function || place))
		frames->items[frames->count++] = TFS_FRAME(function, place);
}

/* "FILE(LINE): FUNCTION;FILE(LINE): FUNCTION". */
static void add_stack(struct frames *frames, struct tfs_texts *names, uint32_t stack)
{
	char text[TFS_TEXT_MOST + 1], *rest = text;

	memcpy(text, tfs_texts_text(names, stack), strlen(tfs_texts_text(names, stack)) + 1);
	for (char *frame; (frame = strsep(&rest, ";"));) {
		char *close = strstr(frame, "): ");
		char *open = close ? memrchr(frame, '(', (size_t)(close - frame)) : NULL;

		if (!open)
			continue;
		*open = ':';
		add_frame(frames, tfs_texts_id(names, close + 3, strlen(close + 3)),
			tfs_texts_id(names, frame, (size_t)(close - frame)));
	}
}

static void list_frames(struct frames *frames, struct tfs_collected *collected,
	const struct tfs_collected_span *const *open, uint32_t count)
{
	uint32_t stack = 0;

	frames->count = 0;
	for (uint32_t i = count; i-- > 0;) {
		const uint32_t name = open[i]->function;

		add_frame(frames, collected->families ? collected->families[name] : name,
			open[i]->place);
		stack = stack ? stack : open[i]->stack;
	}
	if (stack)
		add_stack(frames, &collected->names, stack);
}

static uint32_t *find(const struct tfs_sites *sites, const struct frames *frames)
{
	uint64_t hash = frames->count;

	for (uint32_t i = 0; i < frames->count; i++)
		hash = (hash ^ frames->items[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
	uint32_t slot = (uint32_t)(hash >> 32) & (sites->slot_count - 1);
	for (; sites->slots[slot]; slot = (slot + 1) & (sites->slot_count - 1)) {
		const size_t *start = &sites->starts[sites->slots[slot]];

		if (start[1] - start[0] == frames->count &&
			!memcmp(&sites->frames[start[0]], frames->items,
				frames->count * sizeof(*frames->items)))
			break;
	}
	return &sites->slots[slot];
}

static int grow(struct tfs_sites *sites)
{
	const uint32_t slots = sites->slot_count ? sites->slot_count * 2 : 1024;
	size_t *starts = realloc(sites->starts, (slots + 2u) * sizeof(*starts));
	struct frames frames;

	if (!starts)
		return -ENOMEM;
	if (!sites->count)
		starts[1] = 0;
	sites->starts = starts;
	free(sites->slots);
	sites->slots = calloc(slots, sizeof(*sites->slots));
	sites->slot_count = sites->slots ? slots : 0;
	for (uint32_t id = 1; sites->slots && id <= sites->count; id++) {
		frames.count = (uint32_t)(starts[id + 1] - starts[id]);
		memcpy(frames.items, &sites->frames[starts[id]],
			frames.count * sizeof(*frames.items));
		*find(sites, &frames) = id;
	}
	return sites->slots ? 0 : -ENOMEM;
}

static int name_site(struct tfs_sites *sites, const struct frames *frames, uint32_t *out_site)
{
	if (!frames->count)
		return 0;
	if (sites->count >= sites->slot_count / 2 && grow(sites))
		return -ENOMEM;
	uint32_t *slot = find(sites, frames);
	if (!*slot) {
		if (sites->frames_room - sites->frames_used < frames->count) {
			size_t room = sites->frames_room * 2 + 4096;
			uint64_t *grown = realloc(sites->frames, room * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			sites->frames = grown;
			sites->frames_room = room;
		}
		memcpy(&sites->frames[sites->frames_used], frames->items,
			frames->count * sizeof(*frames->items));
		sites->frames_used += frames->count;
		*slot = ++sites->count;
		sites->starts[*slot + 1] = sites->frames_used;
	}
	*out_site = *slot;
	return 0;
}

/* The spans that have begun and not ended. */
struct walk {
	const struct tfs_collected_span *spans; /* of all threads, sorted */
	size_t span_count;
	const struct tfs_collected_span *open[MOST_OPEN];
	uint32_t count;
	size_t next; /* span */
	bool changed;
};

static void drop_ended(struct walk *walk, int64_t ns, bool at)
{
	while (walk->count && (walk->open[walk->count - 1]->end_ns < ns ||
				      (at && walk->open[walk->count - 1]->end_ns == ns))) {
		walk->count--;
		walk->changed = true;
	}
}

static void come_to(struct walk *walk, const struct tfs_collected_call *call)
{
	if (walk->count && walk->open[0]->tid != call->tid) {
		walk->count = 0;
		walk->changed = true;
	}
	for (; walk->next < walk->span_count; walk->next++) {
		const struct tfs_collected_span *span = &walk->spans[walk->next];

		if (span->tid > call->tid ||
			(span->tid == call->tid && span->start_ns > call->start_ns))
			break;
		if (span->tid < call->tid)
			continue;
		drop_ended(walk, span->start_ns, true);
		if (walk->count < MOST_OPEN)
			walk->open[walk->count++] = span;
		walk->changed = true;
	}
	drop_ended(walk, call->start_ns, false);
}

/* Where its call stack is known, that says more than spans do. */
static int place_by_stack(struct tfs_sites *sites, const struct tfs_collected *collected,
	struct tfs_collected_call *call)
{
	struct frames frames = {.count = 0};
	size_t count;
	const struct tfs_collected_frame *stack =
		tfs_collected_stack(collected, call->stack, &count);

	for (size_t i = 0; i < count && i < TFS_MAX_FRAMES; i++)
		add_frame(&frames, stack[i].function, 0);
	return name_site(sites, &frames, &call->site);
}

int tfs_sites_find(struct tfs_collected *collected, struct tfs_sites *out_sites)
{
	const bool named = collected->span_count;
	struct walk walk = {.changed = true,
		.spans = named ? collected->spans : collected->ranges,
		.span_count = named ? collected->span_count : collected->range_count};
	struct frames frames;
	uint32_t site = 0;
	int err = 0;

	if (collected->call_count)
		qsort(collected->calls, collected->call_count, sizeof(*collected->calls),
			compare_calls);
	if (walk.span_count)
		qsort(named ? collected->spans : collected->ranges, walk.span_count,
			sizeof(*walk.spans), tfs_collected_compare_spans);
	for (size_t i = 0; i < collected->call_count && !err; i++) {
		come_to(&walk, &collected->calls[i]);
		if (walk.changed) {
			site = 0;
			list_frames(&frames, collected, walk.open, walk.count);
			err = name_site(out_sites, &frames, &site);
			walk.changed = false;
		}
		collected->calls[i].site = site;
		if (collected->calls[i].stack && !err)
			err = place_by_stack(out_sites, collected, &collected->calls[i]);
	}
	return err;
}

void tfs_sites_finish(struct tfs_sites *sites)
{
	free(sites->frames);
	free(sites->starts);
	free(sites->slots);
	*sites = (struct tfs_sites){0};
}
