/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_REWRITE_REFUSALS_H
#define TFS_SHIM_REWRITES_REWRITE_REFUSALS_H

/* How often which check (enum tfs_check) of which rewrite refused at which call site. Lock-free,
 * for any thread. */

#include <stdint.h>

/* Counts one; what finds no place any more is counted as such. */
void tfs_refusal_count(uint32_t rewrite, uint32_t check, uint32_t site);

/* Calls `write` for each; at exit. Returns how many refusals found no place. */
uint64_t tfs_refusal_each(
	void (*write)(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count));

#endif
