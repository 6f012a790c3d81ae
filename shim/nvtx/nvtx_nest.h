/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_NEST_H
#define TFS_SHIM_NVTX_NVTX_NEST_H

/*
 * The ranges that are open, and the records of those that were closed in a window. Names and
 * domains are numbers (nvtx_names.h); `caller` is the program's address. Any thread.
 */

#include <stdint.h>

#define TFS_NVTX_DOMAINS 128u /* told apart; 0 is the default one, later ones share the last */

/* A range inside the thread's others of its domain: the level, as NVTX answers it; -1 = none. */
int tfs_nvtx_push(uint16_t domain, uint32_t name, const void *caller);
int tfs_nvtx_pop(uint16_t domain);

/* A range that another thread may end, and its id: the next tool's, unless that is 0. */
uint64_t tfs_nvtx_begin(uint16_t domain, uint32_t name, uint64_t id, const void *caller);
void tfs_nvtx_end(uint64_t id);

void tfs_nvtx_mark(uint16_t domain, uint32_t name);

/* What a domain is called. */
void tfs_nvtx_domain(uint16_t domain, uint32_t name);

#endif
