/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_PERIOD_H
#define TFS_SHIM_REWRITES_MEASURE_PERIOD_H

/*
 * After how many steps do the steps' times repeat? Optimisers that take turns, a log line every k
 * steps, buckets of lengths. Pure.
 */

#include <stdint.h>

#define TFS_PERIOD_MOST 32u
#define TFS_PERIOD_STEPS 128u /* four times the longest */

/* 1 where they do not. `times`: of that many steps in a row. */
uint32_t tfs_period_find(const double times[TFS_PERIOD_STEPS]);

#endif
