/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_SOURCE_H
#define TFS_REPORTS_IMPORT_SOURCE_H

/*
 * JSON from a file, packed by gzip or not, one value at a time: a file of any length takes the
 * memory of its longest kept value.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfs_source {
	struct gzFile_s *file;
	char *buffer;
	size_t at, end;
	uint64_t before; /* bytes of the text before the buffer */
	char *value;     /* the latest one kept */
	size_t bytes, room;
	const char *why; /* what was wrong */
};

/* Opens a file; 0 or a negative errno. */
int tfs_source_open(struct tfs_source *source, const char *path);
void tfs_source_close(struct tfs_source *source);

/* Whether it is packed. */
bool tfs_source_packed(const struct tfs_source *source);
/* Where it is in the text. */
uint64_t tfs_source_offset(const struct tfs_source *source);
/* The next byte that is not blank, which stays; -1 at the end. */
int tfs_source_next(struct tfs_source *source);
/* The same, and it is passed over where it is `wanted`. */
bool tfs_source_pass(struct tfs_source *source, char wanted);
/* Passes over one value; `keep` has it in `value`, with a NUL behind it. 0 or a negative errno, and
 * `why`. */
int tfs_source_value(struct tfs_source *source, bool keep);

#endif
