/* SPDX-License-Identifier: MIT */
#include "reports/import/making/totals.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t *find(const struct tfs_totals *totals, uint32_t site, uint16_t function)
{
	const uint64_t hash = ((uint64_t)site << 16 | function) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t slot = (uint32_t)(hash >> 32) & (totals->slot_count - 1);

	for (; totals->slots[slot]; slot = (slot + 1) & (totals->slot_count - 1)) {
		const struct tfs_aggregate *item = &totals->items[totals->slots[slot] - 1];

		if (item->site == site && item->function == function)
			break;
	}
	return &totals->slots[slot];
}

static int grow(struct tfs_totals *totals)
{
	const uint32_t slots = totals->slot_count ? totals->slot_count * 2 : 256;
	struct tfs_aggregate *items = realloc(totals->items, slots / 2 * sizeof(*items));

	if (!items)
		return -ENOMEM;
	totals->items = items;
	free(totals->slots);
	totals->slots = calloc(slots, sizeof(*totals->slots));
	totals->slot_count = totals->slots ? slots : 0;
	for (uint32_t i = 0; totals->slots && i < totals->count; i++)
		*find(totals, items[i].site, items[i].function) = i + 1;
	return totals->slots ? 0 : -ENOMEM;
}

int tfs_totals_add(struct tfs_totals *totals, const struct tfs_call *call)
{
	const uint64_t ticks = (uint64_t)call->duration_ticks;

	if (totals->count >= totals->slot_count / 2 && grow(totals))
		return -ENOMEM;
	uint32_t *slot = find(totals, call->site, call->function);
	if (!*slot) {
		totals->items[totals->count++] = (struct tfs_aggregate){.site = call->site,
			.function = call->function,
			.first_ticks = call->start_ticks};
		*slot = totals->count;
	}
	struct tfs_aggregate *item = &totals->items[*slot - 1];
	item->count++;
	item->amount += call->amount;
	item->ticks += ticks;
	item->longest_ticks = ticks > item->longest_ticks ? ticks : item->longest_ticks;
	item->latest_ticks = call->start_ticks;
	return 0;
}

void tfs_totals_finish(struct tfs_totals *totals)
{
	free(totals->items);
	free(totals->slots);
	*totals = (struct tfs_totals){0};
}
