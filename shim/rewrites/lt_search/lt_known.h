/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_LT_SEARCH_LT_KNOWN_H
#define TFS_SHIM_REWRITES_LT_SEARCH_LT_KNOWN_H

/*
 * The products that the program has met, by their question (product.h). One that could not be
 * measured because of what else was the case is tried again, ever more seldom: at its second,
 * fourth, eighth call and so on, of those that are looked at.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_lt_known;

/* The product is met once more: is it to be measured now? Then it is returned. Any thread; takes no
 * lock. */
struct tfs_lt_known *tfs_lt_known_due(uint64_t question);

/* Nothing more is to be done about it. */
void tfs_lt_known_settle(struct tfs_lt_known *known);

#endif
