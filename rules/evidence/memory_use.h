/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_MEMORY_USE_H
#define TFS_RULES_EVIDENCE_MEMORY_USE_H

/*
 * How much memory is in use, and when: of what the program allocates itself.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

/* From this moment on there is so much more, or less, in use. */
struct tfs_memory_event {
	uint64_t ns;
	uint64_t bytes;
	bool frees;
};

/* The events of allocations of the kinds given, as bits 1 << enum tfs_memory_kind, in order of
 * time. The caller frees them; NULL without memory. Any thread. */
struct tfs_memory_event *tfs_memory_events(
	const struct tfs_timeline *timeline, uint32_t kinds, size_t *out_count);

/* The most bytes of device memory that are in use at once in the judged steps, or where none are
 * known in the run; negative without memory. Any thread. */
double tfs_memory_most(const struct tfs_steady *steady);

/* Bytes of the only device's memory; 0 = there are several devices, or it is not known. */
double tfs_memory_of_device(const struct tfs_timeline *timeline);

#endif
