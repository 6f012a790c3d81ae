/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_LOOKUP_OBJECT_H
#define TFS_SHIM_RESOLVE_LOOKUP_OBJECT_H

/*
 * What a loaded object says of itself, read from its tables. Nothing here locks or allocates; all
 * are for dl_iterate_phdr's callbacks, which keep the object in place.
 */

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Does the address lie in one of the object's segments? */
bool tfs_object_contains(const struct dl_phdr_info *object, uint64_t address);

/* The object's file name without its folder; lives as long as the object. Does it begin so? */
const char *tfs_object_file(const struct dl_phdr_info *object);
bool tfs_object_is_named(const struct dl_phdr_info *object, const char *file);

/* The hash of a symbol's name, for the next. */
uint32_t tfs_object_hash(const char *name);

/* A function that the object defines; NULL when it does not. */
void *tfs_object_symbol(const struct dl_phdr_info *object, const char *name, uint32_t hash);

/* A variable that it defines, and its size; NULL when it does not. */
const void *tfs_object_data(
	const struct dl_phdr_info *object, const char *name, uint32_t hash, uint64_t *out_bytes);

/* Does it define anything of that name? True when its tables cannot be read. */
bool tfs_object_may_define(const struct dl_phdr_info *object, const char *name, uint32_t hash);

/* The library of which the object is linked to and whose name begins so; NULL when there is none.
 * Lives as long as the object. */
const char *tfs_object_needs(const struct dl_phdr_info *object, const char *file);

/* For each symbol that it asks others for; `visit` returns false to stop. False when its tables
 * cannot be read. */
bool tfs_object_each_import(const struct dl_phdr_info *object,
	bool (*visit)(const char *name, void *argument), void *argument);

/* Does it ask others for this symbol? */
bool tfs_object_imports(const struct dl_phdr_info *object, const char *name);

#endif
