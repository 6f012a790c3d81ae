/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_UPLOADS_H
#define TFS_RULES_DEVICE_UPLOADS_H

/*
 * What the judged steps copy to the device, by its bytes: whether the same device memory was given
 * the same ones the last time, and whether they could be computed there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

enum tfs_again {
	TFS_AGAIN_NOT,     /* they are others, or it is the first time in this window */
	TFS_AGAIN_UNKNOWN, /* too few of them were looked at */
	TFS_AGAIN_KEPT,    /* nothing has written there since */
	TFS_AGAIN_WRITTEN  /* something has, or may have */
};

struct tfs_upload {
	uint32_t call;  /* index in the timeline */
	uint32_t range; /* of the device's memory */
	uint64_t address;
	uint64_t bytes;
	enum tfs_again again;
	uint32_t pattern; /* TFS_ATTRIBUTE_pattern of all bytes; 0 = none, or not known */
	bool turns; /* its memory is written by others at times, or given other bytes from elsewhere
		     */
	bool supposed; /* pinned memory, which a kernel might have changed behind the call */
};

struct tfs_uploads {
	struct tfs_upload *items;
	size_t count;
	size_t unseen; /* judged ones that were not looked at */
	size_t late;   /* from pinned memory that may have changed between the call and the copy */
};

/* Fills `out_uploads`, which tfs_uploads_finish() empties; 0 or -ENOMEM. */
int tfs_uploads_find(const struct tfs_steady *steady, struct tfs_uploads *out_uploads);
void tfs_uploads_finish(struct tfs_uploads *uploads);

#endif
