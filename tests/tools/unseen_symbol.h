/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_UNSEEN_SYMBOL_H
#define TFS_TESTS_PROGRAMS_UNSEEN_SYMBOL_H

/*
 * A library's function, past whoever stands between: the library's own table of symbols is read,
 * which neither the order of libraries nor dlsym has a part in.
 */

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

/* How many symbols, by the table through which the loader finds them. */
static inline uint32_t unseen_count(const uint32_t *hash)
{
	const uint32_t *buckets = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chain = buckets + hash[0];
	uint32_t last = 0;

	for (uint32_t i = 0; i < hash[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	while (last != 0 && (chain[last - hash[1]] & 1) == 0)
		last++;
	return last + 1;
}

/* NULL when the library cannot be opened or has no such function. */
static inline void *unseen_symbol(const char *file, const char *name)
{
	const struct link_map *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	const uint32_t *hash = NULL;

	if (!library)
		return NULL;
	for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++) {
		void *table = (void *)entry->d_un.d_ptr;

		symbols = entry->d_tag == DT_SYMTAB ? table : symbols;
		strings = entry->d_tag == DT_STRTAB ? table : strings;
		hash = entry->d_tag == DT_GNU_HASH ? table : hash;
	}
	for (uint32_t i = hash[1]; i < unseen_count(hash); i++)
		if (symbols[i].st_shndx != SHN_UNDEF &&
			strcmp(strings + symbols[i].st_name, name) == 0)
			return (void *)(library->l_addr + symbols[i].st_value);
	return NULL;
}

#endif
