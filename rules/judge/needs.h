/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_NEEDS_H
#define TFS_RULES_JUDGE_NEEDS_H

/*
 * What a rule has to see, in words: for its verdict and for the catalogue.
 */

#include <stdint.h>

/* Why a rule with this need (one TFS_NEEDS_* bit) is not measurable. Any thread. */
const char *tfs_need_absent(uint32_t need);

/* Why one that needs GPU activity is not, where there is some. Any thread. */
const char *tfs_need_untied(void);

/* "copies", for one TFS_ABOUT_* bit. */
const char *tfs_about_words(uint32_t about);

#endif
