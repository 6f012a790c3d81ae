/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_CAUSE_H
#define TFS_SHIM_BASE_CAUSE_H

/*
 * The first of what can be said to be why something holds, for good: the name of a function or an
 * object. No lock; any thread, also before any constructor ran.
 */

#include <stdatomic.h>

struct tfs_cause {
	_Atomic int state; /* 0 none, 1 being written, 2 there */
	char text[160];
};

/* Says "NAME, WAY FILE", or just NAME without a way; only the first is kept. An empty `file` is the
 * program's own. */
void tfs_cause_name(struct tfs_cause *cause, const char *name, const char *way, const char *file);

/* NULL: there is none. The text stays. */
const char *tfs_cause_text(const struct tfs_cause *cause);

#endif
