/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_INTERVALS_H
#define TFS_RULES_SUPPORT_INTERVALS_H

/*
 * Sets of stretches of time. Overlapping work is never added up: collect it, take the union, then
 * measure. A zeroed struct is an empty set.
 */

#include <stddef.h>
#include <stdint.h>

struct tfs_interval {
	uint64_t start_ns;
	uint64_t end_ns;
};

struct tfs_intervals {
	struct tfs_interval *items;
	size_t count;
	size_t room;
};

/* Adds a stretch (an empty one is left out); 0 or -ENOMEM. */
int tfs_intervals_add(struct tfs_intervals *set, uint64_t start_ns, uint64_t end_ns);
/* Sorts the set and joins what overlaps or touches; the functions below need that. */
void tfs_intervals_unite(struct tfs_intervals *set);
/* Sum of the lengths. */
uint64_t tfs_intervals_total(const struct tfs_intervals *set);
/* How much of [start, end) the set covers. */
uint64_t tfs_intervals_covered(const struct tfs_intervals *set, uint64_t start_ns, uint64_t end_ns);
/* `out` becomes what is in both sets; it must be another set. 0 or -ENOMEM. */
int tfs_intervals_both(
	const struct tfs_intervals *a, const struct tfs_intervals *b, struct tfs_intervals *out);
/* Empties a set, keeping its memory. */
void tfs_intervals_clear(struct tfs_intervals *set);
void tfs_intervals_finish(struct tfs_intervals *set);

#endif
