/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_BUILD_CODE_H
#define TFS_REPORTS_BUILD_CODE_H

/* In which functions a thread of the host ran. */

#include "reports/build/places.h"
#include "rules/rule.h"

/* A sentence, and "; it ran in decode of data.c (62 %), memcpy of libc.so.6 (20 %)": those of most
 * samples. The sentence alone where these are too few, or no function is worth naming; NULL without
 * one. */
const char *tfs_code_added(struct tfs_places *places, struct tfs_arena *arena, const char *text,
	const struct tfs_code_samples *samples);

#endif
