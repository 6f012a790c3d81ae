/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMSET_ELISION_FILL_TRIAL_H
#define TFS_SHIM_REWRITES_MEMSET_ELISION_FILL_TRIAL_H

/*
 * Memory in which a call writes its result aside, and the comparison with the program's own.
 */

#include <stdbool.h>
#include <stdint.h>

enum tfs_fill_trial { TFS_FILL_SAME, TFS_FILL_SIGNS, TFS_FILL_DIFFERS, TFS_FILL_UNREAD };

/* So many bytes of NaN, as far from a boundary as `like`; NULL when there is no room. The filling
 * is in the stream's order. */
void *tfs_fill_trial_memory(const void *like, uint64_t bytes, void *stream);
void tfs_fill_trial_free(void *memory);

/* How long, at the least, those fillings kept the host and the device; 0: not known. */
uint64_t tfs_fill_trial_ns(void);

/* Waits for the device. TFS_FILL_SIGNS: they differ, but only where the program's is zero and the
 * one aside minus zero. `element` is 2, 4 or 8 bytes. */
enum tfs_fill_trial tfs_fill_trial_compare(
	const void *own, const void *aside, uint64_t bytes, uint32_t element);

#endif
