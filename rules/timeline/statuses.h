/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_STATUSES_H
#define TFS_RULES_TIMELINE_STATUSES_H

/*
 * What the statuses mean that calls of CUDA's libraries return.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/timeline/timeline.h"

/* The name of a library's status, or NULL. */
const char *tfs_status_name(enum tfs_library library, uint32_t status);

/* Whether a call did not do what it was called for. What is not ready yet, done already, or asked
 * for only to learn whether it can be done, is no failure. */
bool tfs_status_fails(enum tfs_library library, enum tfs_family family, uint32_t status);

/* Whether errors of such calls may be of that kind. */
bool tfs_status_harmless(enum tfs_family family);

#endif
