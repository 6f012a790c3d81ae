/* SPDX-License-Identifier: MIT */
#include "reports/import/collected/texts.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

static uint32_t *find(const struct tfs_texts *names, const char *text, size_t bytes)
{
	uint32_t slot = (uint32_t)hash_of(text, bytes) & (names->slot_count - 1);

	for (; names->slots[slot]; slot = (slot + 1) & (names->slot_count - 1)) {
		const char *other = tfs_texts_text(names, names->slots[slot]);

		if (!strncmp(other, text, bytes) && !other[bytes])
			break;
	}
	return &names->slots[slot];
}

/* Room for twice as many. */
static int grow(struct tfs_texts *names)
{
	struct tfs_texts grown = *names;

	grown.slot_count = names->slot_count ? names->slot_count * 2 : 1024;
	grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
	if (!grown.slots)
		return -1;
	size_t *starts = realloc(names->starts, (grown.slot_count + 1u) * sizeof(*starts));
	if (!starts) {
		free(grown.slots);
		return -1;
	}
	grown.starts = starts;
	for (uint32_t id = 1; id <= names->count; id++) {
		const char *text = tfs_texts_text(&grown, id);

		*find(&grown, text, strlen(text)) = id;
	}
	free(names->slots);
	*names = grown;
	return 0;
}

uint32_t tfs_texts_id(struct tfs_texts *names, const char *text, size_t bytes)
{
	bytes = strnlen(text, bytes < TFS_TEXT_MOST ? bytes : TFS_TEXT_MOST);
	if (names->count >= names->slot_count / 2 && grow(names))
		return 0;
	uint32_t *slot = find(names, text, bytes);
	if (*slot)
		return *slot;
	if (names->room - names->used <= bytes) {
		size_t room = names->room * 2 + bytes + 65536;
		char *texts = realloc(names->texts, room);

		if (!texts)
			return 0;
		names->texts = texts;
		names->room = room;
	}
	*slot = ++names->count;
	names->starts[*slot] = names->used;
	memcpy(names->texts + names->used, text, bytes);
	names->texts[names->used + bytes] = 0;
	names->used += bytes + 1;
	return *slot;
}

const char *tfs_texts_text(const struct tfs_texts *names, uint32_t id)
{
	return id ? names->texts + names->starts[id] : "";
}

void tfs_texts_finish(struct tfs_texts *names)
{
	free(names->texts);
	free(names->starts);
	free(names->slots);
	*names = (struct tfs_texts){0};
}
