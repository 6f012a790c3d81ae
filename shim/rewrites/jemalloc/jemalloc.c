/* SPDX-License-Identifier: MIT */
/*
 * jemalloc: the program's own heap is jemalloc's, which many threads that allocate at once wait
 * for less than for glibc's.
 *
 * Contract (exact: memory is memory):
 * - The whole process has one heap from its start to its end, so jemalloc has to be there before
 *   the program: 'tfshim run --rewrite jemalloc' preloads it behind this library. It cannot come
 *   later, nor go; there is nothing to switch, and so nothing is measured.
 * - Only by name: the order and the alignment of a program's blocks may change, which one that
 *   reads memory that it never wrote may notice.
 */
#include <link.h>
#include <string.h>

#include "shim/resolve/lookup_object.h"
#include "shim/rewrites/rewrite.h"

enum check {
	CHECK_PRELOADED = TFS_CHECK_preloaded,
};

extern const struct tfs_rewrite tfs_rewrite_jemalloc;

static int find_jemalloc(struct dl_phdr_info *object, size_t bytes, void *nothing)
{
	(void)bytes, (void)nothing;
	return tfs_object_is_named(object, "libjemalloc.so");
}

static bool start(void)
{
	const bool there = dl_iterate_phdr(find_jemalloc, NULL) != 0;

	if (!tfs_rewrite_check(&tfs_rewrite_jemalloc, CHECK_PRELOADED, there, 0))
		return false;
	tfs_rewrite_apply(&tfs_rewrite_jemalloc, 0);
	return true;
}

const struct tfs_rewrite tfs_rewrite_jemalloc = {
	.name = "jemalloc",
	.class = TFS_CLASS_EXACT,
	.rules = "",
	.by_name = true,
	.start = start,
};
