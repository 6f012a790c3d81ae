/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_ENTRIES_H
#define TFS_REPORTS_GATE_ENTRIES_H

/*
 * The recordings that a command line names, by themselves or by their folder.
 */

#include <stdbool.h>
#include <stddef.h>

#include "reports/support/options.h"

struct tfs_entry {
	char *path;
	bool named;     /* by people, not by a folder */
	char *replaced; /* by this recording, if both are of one program; NULL = not */
};

/* Zeroed = empty. */
struct tfs_entries {
	struct tfs_entry *entries;
	size_t count;
};

/* Adds a recording, or those of a folder: all, or only those that no later run of their program
 * replaces. 0, or TFS_EXIT_NO_DATA after a message. */
int tfs_entries_add(struct tfs_entries *entries, const struct tfs_command *command,
	const char *path, bool newest);

void tfs_entries_finish(struct tfs_entries *entries);

/* Prints "tfshim NAME: PATH: text" on stderr. */
void tfs_entries_complain(const struct tfs_command *command, const char *path, const char *text);

#endif
