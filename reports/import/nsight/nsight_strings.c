/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/nsight/nsight_part.h"

struct tfs_nsight_name {
	int64_t id;
	uint32_t text;
	bool used;
};

static struct tfs_nsight_name *find(const struct tfs_nsight *nsight, int64_t id)
{
	const uint64_t hash = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t slot = (uint32_t)(hash >> 32) & (nsight->name_slots - 1);

	while (nsight->names[slot].used && nsight->names[slot].id != id)
		slot = (slot + 1) & (nsight->name_slots - 1);
	return &nsight->names[slot];
}

static bool grow(struct tfs_nsight *nsight)
{
	struct tfs_nsight grown = *nsight;

	grown.name_slots = nsight->name_slots ? nsight->name_slots * 2 : 1024;
	grown.names = calloc(grown.name_slots, sizeof(*grown.names));
	if (!grown.names)
		return false;
	for (uint32_t i = 0; i < nsight->name_slots; i++)
		if (nsight->names[i].used)
			*find(&grown, nsight->names[i].id) = nsight->names[i];
	free(nsight->names);
	nsight->names = grown.names;
	nsight->name_slots = grown.name_slots;
	return true;
}

/* Only what is asked for is read: among the strings are whole outputs of programs. */
static uint32_t look_up(
	struct tfs_nsight *nsight, int64_t id, size_t (*cut)(const char *text, size_t bytes))
{
	static const char *const columns[] = {"id", "value", NULL};
	uint32_t found = 0;
	size_t bytes = 0;

	if (!nsight->strings.database)
		nsight->err =
			tfs_rows_open_of(&nsight->strings, &nsight->database, "StringIds", columns);
	nsight->err = nsight->err == -ENOENT ? 0 : nsight->err;
	if (nsight->err || !nsight->strings.statement)
		return 0;
	tfs_rows_set(&nsight->strings, id);
	const int row = tfs_rows_next(&nsight->strings);
	const char *text = row > 0 ? tfs_rows_text(&nsight->strings, 1, &bytes) : NULL;

	nsight->err = row < 0 ? row : 0;
	if (text)
		found = tfs_texts_id(
			&nsight->collected->names, text, cut ? cut(text, bytes) : bytes);
	return found;
}

uint32_t tfs_nsight_string(
	struct tfs_nsight *nsight, int64_t id, size_t (*cut)(const char *text, size_t bytes))
{
	if (nsight->name_count >= nsight->name_slots / 2 && !grow(nsight))
		return 0;
	struct tfs_nsight_name *name = find(nsight, id);
	if (!name->used) {
		*name = (struct tfs_nsight_name){id, look_up(nsight, id, cut), true};
		nsight->name_count++;
	}
	return name->text;
}

void tfs_nsight_finish_strings(struct tfs_nsight *nsight)
{
	tfs_rows_close(&nsight->strings, 0);
	free(nsight->names);
	nsight->names = NULL;
}
