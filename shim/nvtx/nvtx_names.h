/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_NAMES_H
#define TFS_SHIM_NVTX_NVTX_NAMES_H

/*
 * Names of NVTX ranges and domains as small numbers, in fixed memory, for any thread. Programs
 * number their ranges ("iteration 17"): such names share a family, and once the table is half
 * full only the family is kept.
 */

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#define TFS_NVTX_NAMES 4096u

/* Reserves the memory; false when there is none. Once, before anything else here. */
bool tfs_nvtx_names_init(void);

/* The number of a name, from 1; 0 = no room, or no text. */
uint32_t tfs_nvtx_name(const char *text);
uint32_t tfs_nvtx_name_wide(const wchar_t *text);

/* The name without a running number at its end: itself if there is none. */
uint32_t tfs_nvtx_name_family(uint32_t name);

/* "" = unknown. Lives for ever. */
const char *tfs_nvtx_name_text(uint32_t name);

/* Its id in the recording, written on first use. */
uint32_t tfs_nvtx_name_string(uint32_t name);

/* What handles stand for: domains, registered names. Full or unknown: 0. */
struct tfs_nvtx_handles {
	struct {
		_Atomic uint64_t handle;
		_Atomic uint32_t value;
	} slots[TFS_NVTX_NAMES];
};
void tfs_nvtx_handle_set(struct tfs_nvtx_handles *handles, const void *handle, uint32_t value);
uint32_t tfs_nvtx_handle_get(struct tfs_nvtx_handles *handles, const void *handle);

#endif
