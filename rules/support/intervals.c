/* SPDX-License-Identifier: MIT */
#include "rules/support/intervals.h"

#include <errno.h>
#include <stdlib.h>

int tfs_intervals_add(struct tfs_intervals *set, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns <= start_ns)
		return 0;
	if (set->count == set->room) {
		size_t room = set->room ? set->room * 2 : 16;
		struct tfs_interval *grown = realloc(set->items, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		set->items = grown;
		set->room = room;
	}
	set->items[set->count++] = (struct tfs_interval){start_ns, end_ns};
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct tfs_interval *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

void tfs_intervals_unite(struct tfs_intervals *set)
{
	size_t kept = 0;

	for (size_t i = 1; i < set->count; i++) {
		if (set->items[i].start_ns < set->items[i - 1].start_ns) {
			qsort(set->items, set->count, sizeof(*set->items), compare);
			break;
		}
	}
	for (size_t i = 0; i < set->count; i++) {
		struct tfs_interval *item = &set->items[i];

		if (kept && item->start_ns <= set->items[kept - 1].end_ns) {
			if (item->end_ns > set->items[kept - 1].end_ns)
				set->items[kept - 1].end_ns = item->end_ns;
		} else {
			set->items[kept++] = *item;
		}
	}
	set->count = kept;
}

uint64_t tfs_intervals_total(const struct tfs_intervals *set)
{
	uint64_t total = 0;

	for (size_t i = 0; i < set->count; i++)
		total += set->items[i].end_ns - set->items[i].start_ns;
	return total;
}

/* The first item that ends after a moment. */
static size_t first_after(const struct tfs_intervals *set, uint64_t ns)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t tfs_intervals_covered(const struct tfs_intervals *set, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t total = 0;

	for (size_t i = first_after(set, start_ns);
		i < set->count && set->items[i].start_ns < end_ns; i++) {
		uint64_t from = set->items[i].start_ns, until = set->items[i].end_ns;

		if (from < start_ns)
			from = start_ns;
		if (until > end_ns)
			until = end_ns;
		if (until > from)
			total += until - from;
	}
	return total;
}

int tfs_intervals_both(
	const struct tfs_intervals *a, const struct tfs_intervals *b, struct tfs_intervals *out)
{
	size_t i = 0, j = 0;
	int err = 0;

	out->count = 0;
	while (i < a->count && j < b->count && !err) {
		const struct tfs_interval *x = &a->items[i], *y = &b->items[j];

		err = tfs_intervals_add(out, x->start_ns > y->start_ns ? x->start_ns : y->start_ns,
			x->end_ns < y->end_ns ? x->end_ns : y->end_ns);
		if (x->end_ns < y->end_ns)
			i++;
		else
			j++;
	}
	return err;
}

void tfs_intervals_clear(struct tfs_intervals *set)
{
	set->count = 0;
}

void tfs_intervals_finish(struct tfs_intervals *set)
{
	free(set->items);
	*set = (struct tfs_intervals){0};
}
