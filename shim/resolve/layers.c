/* SPDX-License-Identifier: MIT */
#include "shim/resolve/layers.h"

static enum tfs_library library_of(bool driver)
{
	return driver ? TFS_LIBRARY_cuda : TFS_LIBRARY_cudart;
}

/* Two threads may do this at once; both find the same. */
bool tfs_layer_fill(void *functions, const struct tfs_layer_row *rows, size_t count, bool driver)
{
	for (size_t i = 0; i < count; i++) {
		void **field = (void **)((char *)functions + rows[i].at);
		const enum tfs_direct call = rows[i].calls[driver];

		if (call == TFS_DIRECT_NONE)
			continue;
		void *found = tfs_direct_anew(call);
		if (!found)
			return false;
		__atomic_store_n(field, found, __ATOMIC_RELAXED);
	}
	return true;
}

const void *tfs_layer_functions(struct tfs_layer_table *layers, bool driver)
{
	void *functions = layers->functions[driver];
	int state = atomic_load_explicit(&layers->known[driver], memory_order_acquire);

	if (!tfs_lookup_steady(library_of(driver)))
		return NULL;
	if (state == 0) {
		state = tfs_layer_fill(functions, layers->rows, layers->count, driver) ? 1 : 2;
		atomic_store_explicit(&layers->known[driver], state, memory_order_release);
	}
	return state == 1 ? functions : NULL;
}
