/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_PATCH_PATCH_H
#define TFS_REPORTS_PATCH_PATCH_H

/* Changes of the source that are mechanical: a statement that does nothing but one call goes. */

#include "reports/model/model.h"

/* A unified diff without the statement that makes `call`, a function of CUDA's, at the frame's
 * line, by the file's full path. NULL where there is no such statement, or not by itself, where
 * more hangs on it than the call (its result, other effects of its arguments, a condition without
 * braces), or where tfs_source_read() would give no lines. `arena` owns it. Any thread. */
const char *tfs_patch_without(struct tfs_arena *arena, const struct tfs_model_frame *frame,
	const char *call, uint64_t until_ns);

#endif
