/* SPDX-License-Identifier: MIT */
#include "shim/resolve/direct.h"

#include <stdatomic.h>

static const struct {
	const char *name;
	enum tfs_library library;
} calls[] = {
#define X(runtime, driver) {#runtime, TFS_LIBRARY_cudart}, {#driver, TFS_LIBRARY_cuda},
	TFS_DIRECT_TWINS(X)
#undef X
#define X(library, name) {#name, TFS_LIBRARY_##library},
		TFS_DIRECT_CALLS(X)
#undef X
};

_Static_assert(TFS_DIRECT_COUNT <= UINT8_MAX, "lists of them are of bytes");

void *tfs_direct_known[TFS_DIRECT_COUNT];
static _Atomic bool looked[TFS_DIRECT_COUNT];

void *tfs_direct_anew(enum tfs_direct call)
{
	return tfs_lookup_named(calls[call].library, calls[call].name);
}

/* Two threads may do this at once; both find the same. */
void *tfs_direct_look_up(enum tfs_direct call)
{
	void *found;

	if (atomic_load_explicit(&looked[call], memory_order_acquire))
		return __atomic_load_n(&tfs_direct_known[call], __ATOMIC_RELAXED);
	if (!tfs_lookup_steady(calls[call].library))
		return NULL;
	found = tfs_direct_anew(call);
	__atomic_store_n(&tfs_direct_known[call], found, __ATOMIC_RELAXED);
	atomic_store_explicit(&looked[call], true, memory_order_release);
	return found;
}

/* 1 = there, 2 = not. */
bool tfs_direct_there(const uint8_t *list, size_t count, _Atomic int *known)
{
	int state = atomic_load_explicit(known, memory_order_acquire);

	if (state == 0) {
		state = 1;
		for (size_t i = 0; i < count; i++)
			if (!tfs_direct((enum tfs_direct)list[i]))
				state = 2;
		atomic_store_explicit(known, state, memory_order_release);
	}
	return state == 1;
}
