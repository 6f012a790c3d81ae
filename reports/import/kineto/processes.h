/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_KINETO_PROCESSES_H
#define TFS_REPORTS_IMPORT_KINETO_PROCESSES_H

/*
 * Whose an event of Kineto's is. Its traces are of one process; several come of traces that were
 * put together. Calls say whose they are, and device work only by the correlation id of its call,
 * which may be that of another process's as well.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/import/kineto/shares.h"

struct tfs_choice;
struct tfs_collected;

struct tfs_kineto_process {
	int64_t pid;
	uint64_t calls;
	uint32_t name; /* in the names of what is collected */
};

/* Zeroed, but for the choice, before the first event. */
struct tfs_kineto_processes {
	const struct tfs_choice *choice;
	struct tfs_kineto_process *items;
	size_t count;
	struct tfs_kineto_foreign *foreign; /* other processes' calls */
	size_t foreign_count;
	bool ranked; /* the trace says which rank it is of */
};

/* Whether a span of this process is of the one that is read. */
bool tfs_kineto_is_own(const struct tfs_kineto_processes *processes, int64_t pid);
/* The same of a call, which is counted; 0 or -ENOMEM. */
int tfs_kineto_see_call(struct tfs_kineto_processes *processes, int64_t pid,
	const struct tfs_kineto_foreign *call, bool *out_own);
/* What a process is called; 0 or -ENOMEM. */
int tfs_kineto_name_process(struct tfs_kineto_processes *processes, int64_t pid, uint32_t name);

/* After the last event: leaves other processes' work out. A negative errno, and a line in `why`,
 * where the process or rank that was asked for is not there, or several are and none was. */
int tfs_kineto_settle(const struct tfs_kineto_processes *processes, struct tfs_collected *collected,
	char *out_why, size_t why_bytes);
void tfs_kineto_processes_finish(struct tfs_kineto_processes *processes);

#endif
