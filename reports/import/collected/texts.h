/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_TEXTS_H
#define TFS_REPORTS_IMPORT_TEXTS_H

/* Texts by number: each once, from 1; 0 is none. */

#include <stddef.h>
#include <stdint.h>

/* What a record of one text holds. */
#define TFS_TEXT_MOST 8000u

/* Zeroed = empty. */
struct tfs_texts {
	char *texts; /* one behind the other, NUL-terminated */
	size_t used, room;
	size_t *starts; /* by id */
	uint32_t *slots;
	uint32_t count, slot_count;
};

/* The id of a text, of which at most TFS_TEXT_MOST bytes are kept; 0 without memory. */
uint32_t tfs_texts_id(struct tfs_texts *names, const char *text, size_t bytes);
/* Valid until another text is added. "" for 0. */
const char *tfs_texts_text(const struct tfs_texts *names, uint32_t id);
void tfs_texts_finish(struct tfs_texts *names);

#endif
