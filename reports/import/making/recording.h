/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_RECORDING_H
#define TFS_REPORTS_IMPORT_RECORDING_H

#include <stddef.h>

struct tfs_collected;

/* Makes a recording of ours of what was collected, which is sorted meanwhile; 0 or a negative
 * errno. The bytes are the caller's. */
int tfs_recording_make(struct tfs_collected *collected, void **out_bytes, size_t *out_size);

#endif
