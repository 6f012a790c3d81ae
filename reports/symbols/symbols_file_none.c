/* SPDX-License-Identifier: MIT */
#include "reports/symbols/symbols_file.h"

struct tfs_symbols_file *tfs_symbols_file_open(
	const char *path, const struct tfs_module_record *record, bool *out_changed)
{
	(void)path;
	(void)record;
	(void)out_changed;
	return NULL;
}

size_t tfs_symbols_file_find(
	struct tfs_symbols_file *file, uint64_t address, struct tfs_symbol *out_found, size_t most)
{
	(void)file;
	(void)address;
	(void)out_found;
	(void)most;
	return 0;
}

bool tfs_symbols_file_has_lines(const char *path)
{
	(void)path;
	return false;
}

void tfs_symbols_file_close(struct tfs_symbols_file *file)
{
	(void)file;
}
