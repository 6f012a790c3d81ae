/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/support/sort.h"
#include "rules/timeline/timeline_build.h"

/* How many rows before the nearest start address a lookup tries: ranges overlap only when a
 * release was missed. */
#define LOOK_BACK 64
#define CACHE_SLOTS 1024

struct replay {
	struct tfs_timeline *timeline;
	struct tfs_key *events; /* `key` = address, then time */
	size_t count;
	size_t room;
	struct tfs_key *resets; /* `key` = time */
	size_t reset_count;
	size_t reset_room;
};

static bool allocates(uint16_t family)
{
	return family == TFS_FAMILY_alloc || family == TFS_FAMILY_host_alloc ||
	       family == TFS_FAMILY_host_register || family == TFS_FAMILY_alloc_async;
}

static bool releases(uint16_t family)
{
	return family == TFS_FAMILY_free || family == TFS_FAMILY_host_free ||
	       family == TFS_FAMILY_host_unregister || family == TFS_FAMILY_free_async;
}

/* The first operand of a call: what it allocates or releases. */
static const struct tfs_item *first_operand(const struct tfs_host_call *call)
{
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call->record, &items);

	for (unsigned i = 0; i < count; i++)
		if (items[i].tagged >> 63)
			return &items[i];
	return NULL;
}

static uint64_t event_time(const struct tfs_host_call *call)
{
	return allocates(call->family) ? call->end_ns : call->start_ns;
}

static int add_key(struct tfs_key **keys, size_t *count, size_t *room, struct tfs_key key)
{
	if (*count == *room) {
		size_t grown_room = *room ? *room * 2 : 256;
		struct tfs_key *grown = realloc(*keys, grown_room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		*keys = grown;
		*room = grown_room;
	}
	(*keys)[(*count)++] = key;
	return 0;
}

static int collect(struct replay *replay)
{
	const struct tfs_timeline *timeline = replay->timeline;
	int err = 0;

	for (uint32_t n = 0; n < timeline->private->memory_call_count && !err; n++) {
		uint32_t i = timeline->private->memory_calls[n];
		const struct tfs_host_call *call = &timeline->calls[i];
		bool event = allocates(call->family) || releases(call->family);

		if (call->record->status)
			continue;
		if (event && first_operand(call))
			err = add_key(&replay->events, &replay->count, &replay->room,
				(struct tfs_key){event_time(call), i});
		else if (call->family == TFS_FAMILY_reset)
			err = add_key(&replay->resets, &replay->reset_count, &replay->reset_room,
				(struct tfs_key){call->start_ns, i});
	}
	if (!err)
		err = tfs_sort_keys(replay->events, replay->count);
	for (size_t i = 0; i < replay->count && !err; i++)
		replay->events[i].key =
			first_operand(&timeline->calls[replay->events[i].value])->value;
	if (!err)
		err = tfs_sort_keys(replay->events, replay->count);
	return err ? err : tfs_sort_keys(replay->resets, replay->reset_count);
}

static uint32_t memory_kind(const struct tfs_host_call *call, const struct tfs_item *operand)
{
	uint32_t kind = TFS_ITEM_MEMORY(operand);

	if (kind != TFS_MEMORY_UNKNOWN)
		return kind;
	return call->family == TFS_FAMILY_host_alloc || call->family == TFS_FAMILY_host_register
		       ? TFS_MEMORY_PINNED
		       : TFS_MEMORY_DEVICE;
}

/* The first reset after an allocation ends it at the latest. */
static uint64_t reset_after(const struct replay *replay, uint64_t ns)
{
	size_t low = 0, high = replay->reset_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (replay->resets[middle].key <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < replay->reset_count ? replay->resets[low].key : UINT64_MAX;
}

static void open_range(const struct replay *replay, uint32_t nth, struct tfs_allocation *out)
{
	const struct tfs_host_call *call = &replay->timeline->calls[nth];
	const struct tfs_item *operand = first_operand(call);
	uint64_t bytes = TFS_ITEM_LOW(operand) ? TFS_ITEM_LOW(operand) : call->record->amount;

	if (bytes > UINT64_MAX - operand->value)
		bytes = UINT64_MAX - operand->value;
	*out = (struct tfs_allocation){.address = operand->value,
		.bytes = bytes,
		.from_ns = event_time(call),
		.until_ns = reset_after(replay, event_time(call)),
		.alloc_call = nth,
		.free_call = TFS_NONE,
		.site = call->record->site,
		.memory = memory_kind(call, operand)};
}

static int compare_ranges(const void *left, const void *right)
{
	const struct tfs_allocation *a = left, *b = right;

	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return a->alloc_call < b->alloc_call ? -1 : a->alloc_call > b->alloc_call;
}

/* Events come by address and then by time, so one address is done with before the next. */
static int replay_events(struct replay *replay)
{
	struct tfs_timeline *timeline = replay->timeline;
	struct tfs_allocation *ranges = calloc(replay->count + 1, sizeof(*ranges)), *open = NULL;
	uint32_t count = 0;

	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < replay->count; i++) {
		uint32_t nth = replay->events[i].value;
		const struct tfs_host_call *call = &timeline->calls[nth];
		uint64_t ns = event_time(call);

		if (open && (open->address != replay->events[i].key || open->until_ns <= ns))
			open = NULL;
		if (open) {
			open->until_ns = ns;
			open->free_call = allocates(call->family) ? TFS_NONE : nth;
			open = NULL;
		}
		if (allocates(call->family)) {
			open = &ranges[count++];
			open_range(replay, nth, open);
		}
	}
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	timeline->private->ranges = ranges;
	timeline->ranges = ranges;
	timeline->range_count = count;
	return 0;
}

static int index_ranges(struct tfs_timeline *timeline)
{
	struct tfs_range_index *index = &timeline->private->index;
	uint32_t count = timeline->range_count;
	struct tfs_key *keys = malloc((count + 1u) * sizeof(*keys));
	uint64_t reach = 0;
	int err;

	index->order = malloc((count + 1u) * sizeof(*index->order));
	index->reach = malloc((count + 1u) * sizeof(*index->reach));
	index->starts = malloc((count + 1u) * sizeof(*index->starts));
	index->first = malloc((count + 2u) * sizeof(*index->first));
	if (!keys || !index->order || !index->reach || !index->starts || !index->first) {
		free(keys);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		keys[i] = (struct tfs_key){timeline->ranges[i].address, i};
	err = tfs_sort_keys(keys, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct tfs_allocation *range = &timeline->ranges[keys[i].value];

		if (!index->count || index->starts[index->count - 1] != range->address) {
			index->starts[index->count] = range->address;
			index->first[index->count++] = i;
		}
		index->order[i] = keys[i].value;
		if (range->address + range->bytes > reach)
			reach = range->address + range->bytes;
		index->reach[i] = reach;
	}
	index->first[index->count] = count;
	free(keys);
	return err;
}

static bool holds(const struct tfs_allocation *range, uint64_t address, uint64_t ns)
{
	return address - range->address < range->bytes && ns >= range->from_ns &&
	       ns < range->until_ns;
}

/* Of the rows with one start address, the one that was live. */
static uint32_t live_row(
	const struct tfs_timeline *timeline, size_t start, uint64_t address, uint64_t ns)
{
	const struct tfs_range_index *index = &timeline->private->index;
	uint32_t low = index->first[start], high = index->first[start + 1], first = low;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (timeline->ranges[index->order[middle]].from_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first || !holds(&timeline->ranges[index->order[low - 1]], address, ns))
		return TFS_NONE;
	return index->order[low - 1];
}

uint32_t tfs_timeline_range_at(const struct tfs_timeline *timeline, uint64_t address, uint64_t ns)
{
	const struct tfs_range_index *index = &timeline->private->index;
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned tries = 0; low > 0 && tries < LOOK_BACK; tries++) {
		uint32_t found = live_row(timeline, --low, address, ns);

		if (found != TFS_NONE)
			return found;
		if (low && index->reach[index->first[low] - 1] <= address)
			break;
	}
	return TFS_NONE;
}

/* Most calls use the same few ranges again and again: a small cache in front of the search. */
static uint32_t *resolve_call(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	uint32_t *cache, uint32_t *out)
{
	uint64_t ns = event_time(call);
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call->record, &items);

	for (unsigned i = 0; i < count; i++) {
		uint64_t address = items[i].value;
		uint32_t *slot = &cache[(address >> 8 ^ address >> 18) % CACHE_SLOTS];

		if (!(items[i].tagged >> 63))
			continue;
		/* a call that releases still sees what it releases */
		if (releases(call->family) && ns)
			*out++ = tfs_timeline_range_at(timeline, address, ns - 1);
		else if (*slot != TFS_NONE && holds(&timeline->ranges[*slot], address, ns))
			*out++ = *slot;
		else
			*out++ = *slot = tfs_timeline_range_at(timeline, address, ns);
	}
	return out;
}

static void resolve_operands(struct tfs_timeline *timeline)
{
	const struct tfs_timeline_private *own = timeline->private;
	uint32_t *out = own->operand_ranges;
	uint32_t cache[CACHE_SLOTS];

	for (unsigned i = 0; i < CACHE_SLOTS; i++)
		cache[i] = TFS_NONE;
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		uint32_t next = i + 1 < timeline->call_count ? own->calls[i + 1].first_operand
							     : own->operand_count;

		/* the records of plain calls need not be touched again */
		if (next != own->calls[i].first_operand)
			out = resolve_call(timeline, &own->calls[i], cache, out);
	}
}

int tfs_timeline_build_ranges(struct tfs_timeline *timeline)
{
	struct replay replay = {.timeline = timeline};
	int err = collect(&replay);

	if (!err)
		err = replay_events(&replay);
	if (!err)
		err = index_ranges(timeline);
	if (!err)
		resolve_operands(timeline);
	free(replay.events);
	free(replay.resets);
	return err;
}

bool tfs_operand_next(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	unsigned *cursor, struct tfs_operand *out_operand)
{
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call->record, &items), nth = 0, i;

	for (i = 0; i < count; i++) {
		if (items[i].tagged >> 63 && nth++ == *cursor)
			break;
	}
	if (i == count)
		return false;
	out_operand->address = items[i].value;
	out_operand->bytes = TFS_ITEM_LOW(&items[i]);
	out_operand->range = timeline->private->operand_ranges[call->first_operand + *cursor];
	out_operand->memory = TFS_ITEM_MEMORY(&items[i]);
	out_operand->role = TFS_ITEM_ROLE(&items[i]) & 15;
	if (out_operand->range != TFS_NONE && (out_operand->memory == TFS_MEMORY_UNKNOWN ||
						      out_operand->memory == TFS_MEMORY_HOST))
		out_operand->memory = timeline->ranges[out_operand->range].memory;
	++*cursor;
	return true;
}
