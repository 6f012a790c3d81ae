/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_LINKS_H
#define TFS_CUPTI_LINKS_H

/*
 * Links from a call's record to the number that the device's work has, in the order of CUPTI's
 * buffer, until the call itself comes: the link of a call that is not kept is of no use. Any
 * thread, each its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cupti/decode.h"

#define TFS_LINKS_MOST 8u

struct tfs_links {
	struct tfs_link_record items[TFS_LINKS_MOST];
	unsigned count;
};

/* Adds one. Where there is no room, the oldest is put into the recording. */
void tfs_links_add(struct tfs_links *links, const struct tfs_link_record *record,
	const struct tfs_decoder *decoder);

/* Takes out the link of the call with this number: it comes right before the call, or with one of a
 * call within it between. False if there is none. */
bool tfs_links_take(
	struct tfs_links *links, uint32_t correlation, struct tfs_link_record *out_link);

/* Puts all that are left into the recording: their calls are in another buffer. */
void tfs_links_put(const struct tfs_links *links, const struct tfs_decoder *decoder);

#endif
