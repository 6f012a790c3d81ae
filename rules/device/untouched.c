/* SPDX-License-Identifier: MIT */
#include "rules/device/untouched.h"

void tfs_untouched_remove(struct tfs_untouched *gaps, uint64_t start, uint64_t end)
{
	struct tfs_untouched left = {.full = gaps->full};

	for (unsigned i = 0; i < gaps->count; i++) {
		uint64_t pieces[2][2] = {{gaps->items[i].start, gaps->items[i].end},
			{gaps->items[i].start, gaps->items[i].end}};

		if (start < pieces[0][1])
			pieces[0][1] = start;
		if (end > pieces[1][0])
			pieces[1][0] = end;
		/* Untouched by [start, end): both pieces would be the whole. */
		if (start >= gaps->items[i].end || end <= gaps->items[i].start) {
			pieces[0][1] = gaps->items[i].end;
			pieces[1][0] = pieces[1][1];
		}
		for (unsigned j = 0; j < 2; j++) {
			if (pieces[j][0] >= pieces[j][1])
				continue;
			if (left.count == TFS_UNTOUCHED_MOST) {
				left.full = true;
				continue;
			}
			left.items[left.count].start = pieces[j][0];
			left.items[left.count++].end = pieces[j][1];
		}
	}
	*gaps = left;
}

bool tfs_untouched_any(const struct tfs_untouched *gaps, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < gaps->count; i++)
		if (start < gaps->items[i].end && gaps->items[i].start < end)
			return true;
	return false;
}

bool tfs_untouched_all(const struct tfs_untouched *gaps, uint64_t start, uint64_t end)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < gaps->count; i++) {
		uint64_t first = start > gaps->items[i].start ? start : gaps->items[i].start;
		uint64_t last = end < gaps->items[i].end ? end : gaps->items[i].end;

		held += first < last ? last - first : 0;
	}
	return held == end - start;
}
