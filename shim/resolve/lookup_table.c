/* SPDX-License-Identifier: MIT */
#include "shim/resolve/lookup.h"

/* The table's ends, by names that the linker gives. Weak: a test may have no hooks in it. */
#define TABLE_END __attribute__((weak, visibility("hidden")))
extern struct tfs_function __start_tfs_functions[] TABLE_END;
extern struct tfs_function __stop_tfs_functions[] TABLE_END;

void tfs_lookup_each(bool (*visit)(struct tfs_function *function, void *argument), void *argument)
{
	for (struct tfs_function *row = __start_tfs_functions; row != __stop_tfs_functions; row++)
		if (!visit(row, argument))
			return;
}
