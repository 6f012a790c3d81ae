/* SPDX-License-Identifier: MIT */
#include "shim/resolve/lookup_object.h"

#include <elf.h>
#include <string.h>

#include "shim/resolve/lookup.h"

/* An address in this library. */
static const char own;

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
};

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *object)
{
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static bool read_dynamic(const ElfW(Dyn) * dynamic, uint64_t base, struct tables *out)
{
	*out = (struct tables){0};
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		/* The loader relocates these entries in place, but not in every object. */
		uint64_t address = dynamic->d_un.d_ptr;
		if (address < base)
			address += base;
		if (dynamic->d_tag == DT_SYMTAB)
			out->symbols = (const void *)address;
		else if (dynamic->d_tag == DT_STRTAB)
			out->strings = (const void *)address;
		else if (dynamic->d_tag == DT_GNU_HASH)
			out->gnu_hash = (const void *)address;
	}
	return out->symbols && out->strings && out->gnu_hash;
}

static bool read_tables(const struct dl_phdr_info *object, struct tables *out)
{
	return read_dynamic(dynamic_of(object), object->dlpi_addr, out);
}

/* https://sourceware.org/gnu-gabi/program-loading-and-dynamic-linking.txt, section DT_GNU_HASH */
uint32_t tfs_object_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* No function of libc's: a sanitizer's stand-ins for them call what is not there yet. */
static bool same_name(const char *one, const char *other)
{
	for (; *one == *other; one++, other++)
		if (*one == '\0')
			return true;
	return false;
}

static const ElfW(Sym) * find_defined(const struct tables *tables, const char *name, uint32_t hash)
{
	const uint32_t bucket_count = tables->gnu_hash[0];
	const uint32_t first = tables->gnu_hash[1];
	const uint32_t *buckets = tables->gnu_hash + 4 +
				  tables->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = buckets + bucket_count;

	if (bucket_count == 0)
		return NULL;
	for (uint32_t i = buckets[hash % bucket_count]; i >= first; i++) {
		const ElfW(Sym) *symbol = &tables->symbols[i];

		if ((chain[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
			same_name(tables->strings + symbol->st_name, name))
			return symbol;
		if ((chain[i - first] & 1) != 0)
			break;
	}
	return NULL;
}

static const ElfW(Sym) * find_symbol(const struct tables *tables, const char *name, uint32_t hash)
{
	const ElfW(Sym) *symbol = find_defined(tables, name, hash);

	return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ? symbol : NULL;
}

bool tfs_object_contains(const struct dl_phdr_info *object, uint64_t address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const uint64_t start = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= start &&
			address < start + segment->p_memsz)
			return true;
	}
	return false;
}

/*
 * Names of objects are read by hand: where the program is watched for races, what watches it sees
 * libc's functions read what the loader wrote for another thread, but not the lock that is held.
 */
#define BY_HAND __attribute__((no_sanitize("thread")))

static BY_HAND bool begins(const char *name, const char *with)
{
	for (; *with != '\0' && *name == *with; name++)
		with++;
	return *with == '\0';
}

BY_HAND const char *tfs_object_file(const struct dl_phdr_info *object)
{
	const char *file = object->dlpi_name;

	for (const char *c = file; *c != '\0'; c++)
		if (*c == '/')
			file = c + 1;
	return file;
}

bool tfs_object_is_named(const struct dl_phdr_info *object, const char *file)
{
	return begins(tfs_object_file(object), file);
}

void *tfs_object_symbol(const struct dl_phdr_info *object, const char *name, uint32_t hash)
{
	const ElfW(Sym) *symbol = NULL;
	struct tables tables;

	if (read_tables(object, &tables))
		symbol = find_symbol(&tables, name, hash);
	return symbol ? (void *)(object->dlpi_addr + symbol->st_value) : NULL;
}

const void *tfs_object_data(
	const struct dl_phdr_info *object, const char *name, uint32_t hash, uint64_t *out_bytes)
{
	const ElfW(Sym) *symbol = NULL;
	struct tables tables;

	if (read_tables(object, &tables))
		symbol = find_defined(&tables, name, hash);
	if (!symbol || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
		return NULL;
	*out_bytes = symbol->st_size;
	return (const void *)(object->dlpi_addr + symbol->st_value);
}

static const struct link_map *own_map(void)
{
	const struct link_map *map = _r_debug.r_map;

	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	return map;
}

bool tfs_object_may_define(const struct dl_phdr_info *object, const char *name, uint32_t hash)
{
	struct tables tables;

	if (begins(object->dlpi_name, "linux-vdso"))
		return false;
	return !read_tables(object, &tables) || find_defined(&tables, name, hash);
}

/*
 * Not by dl_iterate_phdr, which the runtime of a sanitizer replaces, and which it looks up by the
 * very function that is being sought here. What stands between this library and libc was loaded
 * with the program and stays.
 */
void *tfs_lookup_next(const char *name)
{
	const uint32_t hash = tfs_object_hash(name);
	const struct link_map *map = own_map();

	while (map && (map = map->l_next)) {
		const ElfW(Sym) *symbol = NULL;
		struct tables tables;

		if (read_dynamic(map->l_ld, map->l_addr, &tables))
			symbol = find_symbol(&tables, name, hash);
		if (symbol)
			return (void *)(map->l_addr + symbol->st_value);
	}
	return NULL;
}

void *tfs_lookup_own(const char *name)
{
	const struct link_map *map = own_map();
	const ElfW(Sym) *symbol = NULL;
	struct tables tables;

	if (map && read_dynamic(map->l_ld, map->l_addr, &tables))
		symbol = find_symbol(&tables, name, tfs_object_hash(name));
	return symbol ? (void *)(map->l_addr + symbol->st_value) : NULL;
}

const char *tfs_lookup_own_file(void)
{
	const struct link_map *map = own_map();

	return map ? map->l_name : NULL;
}

const char *tfs_object_needs(const struct dl_phdr_info *object, const char *file)
{
	const ElfW(Dyn) *dynamic = dynamic_of(object);
	const char *found = NULL;
	struct tables tables;

	read_tables(object, &tables);
	for (; dynamic && dynamic->d_tag != DT_NULL && tables.strings; dynamic++) {
		const char *name = tables.strings + dynamic->d_un.d_val;

		if (dynamic->d_tag == DT_NEEDED && strncmp(name, file, strlen(file)) == 0)
			found = name;
	}
	return found;
}

static bool each_in(const struct tables *tables, const ElfW(Rela) * entries, uint64_t bytes,
	bool (*visit)(const char *name, void *argument), void *argument)
{
	for (uint64_t i = 0; entries && i < bytes / sizeof(*entries); i++) {
		const uint64_t index = ELF64_R_SYM(entries[i].r_info);

		if (index != 0 && tables->symbols[index].st_shndx == SHN_UNDEF &&
			!visit(tables->strings + tables->symbols[index].st_name, argument))
			return false;
	}
	return true;
}

/* By relocations: an object that exports nothing has an empty hash table, which then does not tell
 * how many symbols there are. */
bool tfs_object_each_import(const struct dl_phdr_info *object,
	bool (*visit)(const char *name, void *argument), void *argument)
{
	const ElfW(Rela) *data = NULL;
	const ElfW(Rela) *calls = NULL;
	uint64_t data_bytes = 0;
	uint64_t call_bytes = 0;
	const ElfW(Dyn) *dynamic = dynamic_of(object);
	struct tables tables;

	read_tables(object, &tables);
	if (!tables.symbols || !tables.strings)
		return false;
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		uint64_t address = dynamic->d_un.d_ptr;
		if (address < object->dlpi_addr)
			address += object->dlpi_addr;
		if (dynamic->d_tag == DT_RELA)
			data = (const void *)address;
		else if (dynamic->d_tag == DT_JMPREL)
			calls = (const void *)address;
		else if (dynamic->d_tag == DT_RELASZ)
			data_bytes = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_PLTRELSZ)
			call_bytes = dynamic->d_un.d_val;
	}
	if (each_in(&tables, data, data_bytes, visit, argument))
		each_in(&tables, calls, call_bytes, visit, argument);
	return true;
}

struct import {
	const char *name;
	bool found;
};

static bool look_for(const char *name, void *argument)
{
	struct import *import = argument;

	import->found = strcmp(name, import->name) == 0;
	return !import->found;
}

bool tfs_object_imports(const struct dl_phdr_info *object, const char *name)
{
	struct import import = {.name = name};

	tfs_object_each_import(object, look_for, &import);
	return import.found;
}

struct locate {
	uint64_t address;
	struct tfs_object *out;
};

static BY_HAND int locate_object(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	const struct locate *locate = argument;
	const char *name = tfs_object_file(object);
	size_t length = 0;

	(void)bytes;
	if (!tfs_object_contains(object, locate->address))
		return 0;
	for (; name[length] != '\0' && length + 1 < sizeof(locate->out->file); length++)
		locate->out->file[length] = name[length];
	locate->out->file[length] = '\0';
	locate->out->start = object->dlpi_addr;
	locate->out->own = tfs_object_contains(object, (uint64_t)&own);
	return 1;
}

bool tfs_lookup_object(const void *address, struct tfs_object *out_object)
{
	struct locate locate = {(uint64_t)(uintptr_t)address, out_object};

	return dl_iterate_phdr(locate_object, &locate) != 0;
}
