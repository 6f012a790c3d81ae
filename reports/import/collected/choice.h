/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_CHOICE_H
#define TFS_REPORTS_IMPORT_CHOICE_H

/*
 * Which process of another tool's recording is read: FILE:PID or FILE:rankN, where there is no file
 * of the whole name.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct tfs_choice {
	char file[PATH_MAX];
	const char *path; /* as it was named */
	bool by_process;
	bool by_rank;
	uint64_t number; /* of either */
};

/* The path must outlive the choice. */
void tfs_choice_read(struct tfs_choice *choice, const char *path);

#endif
