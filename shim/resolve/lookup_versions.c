/* SPDX-License-Identifier: MIT */
#include "shim/resolve/lookup_versions.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "shim/resolve/lookup.h"
#include "shim/resolve/lookup_object.h"

#define ADDRESSES 1024u

/* Libraries of which several versions are mapped: nothing of them is kept. */
static _Atomic uint32_t mixed;
static _Atomic uint32_t untold; /* those that nobody was told of */

bool tfs_lookup_mixed(enum tfs_library library)
{
	return (atomic_load(&mixed) >> library & 1) != 0;
}

struct link {
	uint64_t caller;
	const char *file;
	char *out_name;
	size_t room;
};

static int read_link(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	const struct link *link = argument;
	const char *name;

	(void)bytes;
	if (!tfs_object_contains(object, link->caller))
		return 0;
	name = tfs_object_needs(object, link->file);
	if (name)
		snprintf(link->out_name, link->room, "%s", name);
	return name != NULL;
}

bool tfs_lookup_link(enum tfs_library library, const void *caller, char *out_name, size_t room)
{
	struct link link = {
		(uint64_t)(uintptr_t)caller - 1, tfs_lookup_file(library), out_name, room};

	return dl_iterate_phdr(read_link, &link) != 0;
}

static bool forget_real(struct tfs_function *function, void *argument)
{
	const uint32_t *which = argument;

	if ((*which >> function->library & 1) != 0)
		__atomic_store_n(&function->real, NULL, __ATOMIC_RELAXED);
	return true;
}

struct census {
	uint32_t once;
	uint32_t twice;
};

static int count_object(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct census *census = argument;

	(void)bytes;
	for (uint32_t i = 1; i < TFS_LOOKUP_LIBRARIES; i++) {
		if (i == TFS_LIBRARY_cuda || !tfs_object_is_named(object, tfs_lookup_file(i)))
			continue;
		census->twice |= census->once & 1u << i;
		census->once |= 1u << i;
	}
	return 0;
}

static int read_adds(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs))
		*(unsigned long long *)argument = object->dlpi_adds;
	return 1;
}

void tfs_lookup_recheck(void)
{
	static _Atomic unsigned long long last;
	struct census census = {0};
	unsigned long long adds = 0; /* objects mapped so far */

	dl_iterate_phdr(read_adds, &adds);
	if (atomic_exchange(&last, adds) == adds)
		return;
	dl_iterate_phdr(count_object, &census);
	uint32_t fresh = census.twice & ~atomic_fetch_or(&mixed, census.twice);
	if (fresh == 0)
		return;
	tfs_lookup_unsteady(fresh);
	tfs_lookup_each(forget_real, &fresh);
	atomic_fetch_or(&untold, fresh);
}

uint32_t tfs_lookup_came_twice(void)
{
	return atomic_load_explicit(&untold, memory_order_relaxed) != 0
		       ? atomic_exchange(&untold, 0)
		       : 0;
}

void tfs_lookup_recheck_at(uint64_t address)
{
	static _Atomic uint64_t known[ADDRESSES];
	_Atomic uint64_t *slot = &known[(address * UINT64_C(0x9E3779B97F4A7C15) >> 32) % ADDRESSES];

	if (atomic_load_explicit(slot, memory_order_relaxed) == address)
		return;
	tfs_lookup_recheck();
	atomic_store_explicit(slot, address, memory_order_relaxed);
}
