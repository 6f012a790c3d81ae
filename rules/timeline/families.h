/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_TIMELINE_FAMILIES_H
#define TFS_RULES_TIMELINE_FAMILIES_H

/*
 * What rules make of a function's family.
 */

#include <stdint.h>

#include "shim/trace/format/function.h"

/* TFS_ABOUT_* of its calls; 0 for those that no rule is about. Any thread. */
uint32_t tfs_family_about(enum tfs_family family);

#endif
