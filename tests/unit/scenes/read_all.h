/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_SCENES_READ_ALL_H
#define TFS_TESTS_UNIT_SCENES_READ_ALL_H

/*
 * Touches every byte that a trace or a timeline gives out, so that a sanitizer sees what lies
 * outside. The sums mean nothing, but are the same for the same recording.
 */

#include "rules/timeline/timeline.h"

uint64_t read_all_trace(const struct tfs_trace *trace);
uint64_t read_all_timeline(const struct tfs_timeline *timeline);

#endif
