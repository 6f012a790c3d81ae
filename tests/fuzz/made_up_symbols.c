/* SPDX-License-Identifier: MIT */
/*
 * Names and lines as the recording wishes, in place of reports/symbols/symbols_file.c: a file's
 * path is also the name of its source and its functions, and an address is a line.
 */
#include <stdlib.h>

#include "reports/symbols/symbols_file.h"

struct tfs_symbols_file {
	const char *path;
	uint64_t start;
};

struct tfs_symbols_file *tfs_symbols_file_open(
	const char *path, const struct tfs_module_record *record, bool *out_changed)
{
	struct tfs_symbols_file *file;

	*out_changed = record->build_id_bytes == 1;
	if (record->build_id_bytes > 1)
		return NULL;
	file = malloc(sizeof(*file));
	if (file)
		*file = (struct tfs_symbols_file){path, record->start};
	return file;
}

size_t tfs_symbols_file_find(
	struct tfs_symbols_file *file, uint64_t address, struct tfs_symbol *out_found, size_t most)
{
	const uint64_t offset = address - file->start;
	size_t count = offset % 4;

	for (size_t i = 0; i < count && i < most; i++)
		out_found[i] = (struct tfs_symbol){.function = offset & 8 && !i ? NULL : file->path,
			.file = offset & 16 ? NULL : file->path,
			.line = (unsigned)offset,
			.inlined = i + 1 < count};
	return count < most ? count : most;
}

bool tfs_symbols_file_has_lines(const char *path)
{
	(void)path;
	return true;
}

void tfs_symbols_file_close(struct tfs_symbols_file *file)
{
	free(file);
}
