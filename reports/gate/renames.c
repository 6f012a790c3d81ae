/* SPDX-License-Identifier: MIT */
#include "reports/gate/renames.h"

#include <stdlib.h>
#include <string.h>

#include "reports/support/must.h"

void tfs_names_add(struct tfs_names *names, const struct tfs_model_place *place)
{
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];

		if (!frame->function || frame->foreign)
			continue;
		names->names = tfs_must_grow(names->names, names->count, sizeof(*names->names));
		names->names[names->count++] = frame->function;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void tfs_names_sort(struct tfs_names *names)
{
	size_t kept = 0;

	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), by_text);
	for (size_t i = 0; i < names->count; i++)
		if (!kept || strcmp(names->names[kept - 1], names->names[i]) != 0)
			names->names[kept++] = names->names[i];
	names->count = kept;
}

void tfs_names_finish(struct tfs_names *names)
{
	free(names->names);
	memset(names, 0, sizeof(*names));
}

static bool is_known(const struct tfs_names *names, const char *name)
{
	return names->count && bsearch(&name, names->names, names->count, sizeof(name), by_text);
}

static bool is_on(const struct tfs_model_place *place, const char *name)
{
	for (size_t i = 0; i < place->frame_count; i++)
		if (place->frames[i].function && !strcmp(place->frames[i].function, name))
			return true;
	return false;
}

/* Whether the other run knows none of the functions that only this stack has. */
static bool only_here(const struct tfs_model_place *place, const struct tfs_model_place *other,
	const struct tfs_names *all_other)
{
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];

		if (frame->function && !frame->foreign && !is_on(other, frame->function) &&
			is_known(all_other, frame->function))
			return false;
	}
	return true;
}

bool tfs_names_may_differ(const struct tfs_model_place *now, const struct tfs_names *all_now,
	const struct tfs_model_place *before, const struct tfs_names *all_before)
{
	return only_here(now, before, all_before) && only_here(before, now, all_now);
}
