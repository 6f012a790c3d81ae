/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_PATCH_SOURCE_H
#define TFS_REPORTS_PATCH_SOURCE_H

/*
 * The lines of source around a call site, from the machine that makes the report. A recording names
 * files, and may be anybody's: only what is named like source is read.
 */

#include "reports/model/model.h"

#include <limits.h>

#define TFS_SOURCE_LINES 5u

/* A file whole, with a zero behind it, under the path that it has on this machine. */
struct tfs_source_file {
	char path[PATH_MAX];
	char *text; /* to be freed */
	size_t bytes;
};

/* False where tfs_source_read() would give no lines. Any thread. */
bool tfs_source_load(
	const struct tfs_model_frame *frame, uint64_t until_ns, struct tfs_source_file *out_file);

/* Is it C, C++ or CUDA? */
bool tfs_source_is_c(const char *path);

/* Lines around the frame's, without what all of them are indented by, tabs as four spaces; each of
 * at most 160 bytes. Empty where the frame has no line, where its file is not there, is no text or
 * larger than 4 MiB, or was changed behind `until_ns` (since 1970), when the program had started.
 * `arena` owns the lines. Any thread. */
struct tfs_model_source tfs_source_read(
	struct tfs_arena *arena, const struct tfs_model_frame *frame, uint64_t until_ns);

#endif
