/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_NEEDS_H
#define TFS_RULES_JUDGE_NEEDS_H

/*
 * What a rule has to see, in words: for its verdict and for the catalogue.
 */

#include <stdbool.h>
#include <stdint.h>

/* Why a rule with this need (one TFS_NEEDS_* bit) is not measurable. Any thread. */
const char *tfs_need_absent(uint32_t need);

/* Why one that needs GPU activity is not: there is some, but most of it is tied to no call, or much
 * was lost; or there is none. Any thread. */
const char *tfs_need_device(bool untied, bool lost);

/* "copies", for one TFS_ABOUT_* bit. */
const char *tfs_about_words(uint32_t about);

#endif
