/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_VERDICTS_FILE_H
#define TFS_SHIM_REWRITES_MEASURE_VERDICTS_FILE_H

/* The file of verdicts on disk. What is no plain file of ours, a link or a pipe, say, is neither
 * read nor written nor replaced. One thread at a time. */

#include "shim/rewrites/measure/verdict.h"

#define TFS_VERDICTS_BYTES 32768u /* of the file, at most */

/* The file's text, NUL-terminated. 0, or -errno: -ENOENT when there is none, -EINVAL when it is not
 * ours. */
int tfs_verdicts_load(const char *path, char out_text[TFS_VERDICTS_BYTES]);

/* Puts these into the file in place of what it says of the same rewrites and ranks. 0 or -errno. */
int tfs_verdicts_save(const char *path, const struct tfs_proof *verdicts, uint32_t count);

#endif
