/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_REWRITE_LEDGER_H
#define TFS_SHIM_REWRITES_REWRITE_LEDGER_H

/*
 * What each rewrite did and gained, by its number in the list: counted as it runs, by the functions
 * of rewrite.h that rewrites call, and written into the recording.
 */

#include "shim/rewrites/rewrite.h"

#define TFS_REWRITES_MOST 16u

/* The list, ended by NULL, and what each is set to. */
extern const struct tfs_rewrite *const tfs_rewrite_all[];
extern _Atomic enum tfs_rewrite_mode tfs_rewrite_mode_of[TFS_REWRITES_MOST];

/* May the rewrite take part in a call now: is it not off, nor switched off at this step? Any
 * thread. */
bool tfs_rewrite_takes_part(size_t i);

/* Before the rewrite's first call. */
void tfs_ledger_start(size_t i);

/* A step outside windows ended in which the rewrite took part. */
void tfs_ledger_step(size_t i);

/* Writes the refusals; at exit. tfs_rewrite_decided() writes what a rewrite came to. */
void tfs_ledger_write_refusals(void);

#endif
