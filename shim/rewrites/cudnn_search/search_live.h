/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_LIVE_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_LIVE_H

/*
 * Holds what the search chose against what the program asked, on the program's own numbers: right
 * behind a convolution the other algorithm runs too, in the order of the same stream and from the
 * same inputs, into memory of ours. When the stream has got there, a later call compares. Nothing
 * waits for a stream of the program's. One such check at a time per device; what has no room, or
 * comes during another one, is not checked.
 */

#include "shim/rewrites/convolution.h"
#include "shim/rewrites/search/search_device.h"

/* Before the call, which is about to be made as it stands: prepares the other algorithm, which may
 * need so many bytes of workspace. The stream is not being captured. */
struct tfs_known;
void tfs_live_begin(struct tfs_search_device *device, struct tfs_convolution_call *call,
	const struct tfs_known *known, int other, uint64_t workspace_bytes);

/* After the call; nothing, where no check was begun. */
void tfs_live_end(struct tfs_convolution_call *call, bool succeeded);

/* Compares what has been reached and gives its memory back: true. */
bool tfs_live_settle(struct tfs_search_device *device);

/* The same; false when an output was another one: with the problem, the call site and the evidence.
 */
bool tfs_live_holds(
	const struct tfs_known **out_known, uint32_t *out_site, struct tfs_reason *out_evidence);

/* Gives the memory back of what has not been compared yet: it will not be. The device's work is
 * over, its equipment taken. */
void tfs_live_drop(struct tfs_search_device *device);

/* Comparisons that were made. Any thread. */
uint64_t tfs_live_count(void);

/* A device was reset: the memory is gone. */
void tfs_live_forget(uint32_t device);

#endif
