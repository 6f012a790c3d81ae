/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_STEPS_H
#define TFS_SHIM_NVTX_NVTX_STEPS_H

/* Which of the program's ranges are its training steps: those it names so, or those that are found
 * to be (nvtx_search.h, fed by tfs_nvtx_feed()). Any thread. */

#include <stdbool.h>
#include <stdint.h>

/* Ranges that a library opens inside a call of ours belong to that call. */
bool tfs_nvtx_is_inside_hook(void);

/* A range of this name was opened by a call at this place, or closed. */
void tfs_nvtx_steps_opened(uint32_t name, uint64_t ticks, const void *caller);
void tfs_nvtx_steps_closed(uint32_t name);

#endif
