/* SPDX-License-Identifier: MIT */
#include "shim/python/interpreter.h"

#include <link.h>
#include <stddef.h>

#include "shim/base/spin.h"
#include "shim/resolve/lookup_object.h"

#define MOST 4u /* one after another, in a program that unloads and loads it */

static struct tfs_python interpreters[MOST];
static uint32_t used;
static struct tfs_spin lock;
static _Atomic(struct tfs_python *) found;
static _Atomic unsigned long long seen; /* objects mapped and unmapped, when it was looked for */

static const void *data(const struct dl_phdr_info *object, const char *name, uint64_t *out_bytes)
{
	return tfs_object_data(object, name, tfs_object_hash(name), out_bytes);
}

static bool has_function(const struct dl_phdr_info *object, const char *name)
{
	return tfs_object_symbol(object, name, tfs_object_hash(name)) != NULL;
}

/* Py_Version came with 3.11. Before it the version shows in functions that came with each. */
static uint32_t version_of(const struct dl_phdr_info *object)
{
	uint64_t bytes;
	const unsigned long *version = data(object, "Py_Version", &bytes);

	if (version && bytes == sizeof(*version))
		return (uint32_t)*version;
	if (has_function(object, "PyModule_AddObjectRef"))
		return 0x030a0000;
	return has_function(object, "PyModule_AddType") ? 0x03090000 : 0;
}

static void span(const struct dl_phdr_info *object, struct tfs_python *out)
{
	out->start = UINT64_MAX;
	out->end = 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const uint64_t start = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (start < out->start)
			out->start = start;
		if (start + segment->p_memsz > out->end)
			out->end = start + segment->p_memsz;
	}
}

struct search {
	unsigned long long changes;
	struct tfs_python python;
};

static int count_changes(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct search *search = argument;

	(void)bytes;
	search->changes = object->dlpi_adds + object->dlpi_subs;
	return 1;
}

static int look_at(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct search *search = argument;
	struct tfs_python *python = &search->python;
	uint64_t type_bytes;

	(void)bytes;
	python->runtime = data(object, "_PyRuntime", &python->runtime_bytes);
	if (!python->runtime)
		return 0;
	python->code_type = (uint64_t)data(object, "PyCode_Type", &type_bytes);
	span(object, python);
	if (python->code_type == 0 || !tfs_python_layout(version_of(object), python->runtime,
					      python->runtime_bytes, &python->layout))
		python->layout.version = 0;
	return 1;
}

struct tfs_python *tfs_python_found(void)
{
	return atomic_load_explicit(&found, memory_order_acquire);
}

/* The one that was found before, or a new one; NULL when there is no more room. */
static struct tfs_python *keep(const struct search *search)
{
	struct tfs_python *python = tfs_python_found();

	if (python && python->runtime == search->python.runtime &&
		python->layout.version == search->python.layout.version)
		return python;
	if (used == MOST)
		return NULL;
	python = &interpreters[used++];
	python->layout = search->python.layout;
	python->runtime = search->python.runtime;
	python->runtime_bytes = search->python.runtime_bytes;
	python->code_type = search->python.code_type;
	python->start = search->python.start;
	python->end = search->python.end;
	return python;
}

struct tfs_python *tfs_python_find(void)
{
	struct search search = {0};

	dl_iterate_phdr(count_changes, &search);
	if (atomic_load_explicit(&seen, memory_order_acquire) == search.changes)
		return tfs_python_found();
	dl_iterate_phdr(look_at, &search);
	tfs_spin_lock(&lock);
	struct tfs_python *python = search.python.runtime ? keep(&search) : NULL;
	atomic_store_explicit(&found, python, memory_order_release);
	atomic_store_explicit(&seen, search.changes, memory_order_release);
	tfs_spin_unlock(&lock);
	return python;
}
