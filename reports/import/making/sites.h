/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_SITES_H
#define TFS_REPORTS_IMPORT_SITES_H

/*
 * Call sites by name: a call was made in the spans of its thread that it lies in, innermost first.
 */

#include <stddef.h>
#include <stdint.h>

#include "shim/trace/format/format.h"

struct tfs_collected;

struct tfs_sites {
	uint64_t *frames; /* of all sites, as in their records */
	size_t frames_used, frames_room;
	size_t *starts; /* by id, from 1; one more at the end */
	uint32_t *slots;
	uint32_t count, slot_count;
};

/* Sorts calls (by thread and time) and spans, and gives each call its site; 0 or -ENOMEM. */
int tfs_sites_find(struct tfs_collected *collected, struct tfs_sites *out_sites);
void tfs_sites_finish(struct tfs_sites *sites);

#endif
