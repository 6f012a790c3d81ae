/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOST_HOST_TASK_H
#define TFS_SHIM_HOST_HOST_TASK_H

/*
 * A thread of this process as the kernel shows it, from the files stat, schedstat, syscall and io
 * of its folder in /proc. What a kernel or container does not show is not known. One thread; it has
 * descriptors of its own, of which a library that keeps a book of descriptors is not to learn: all
 * calls go past the C library.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shim/trace/format/host.h"

struct tfs_host_task {
	int state; /* descriptors; -1 = there is no such file */
	int times;
	int call;
	int reads;
	pid_t tid; /* 0 = none is open */
	char folder[96];
};

/* Opens the files of a thread below `root` ("/proc"); false where it is not to be seen. */
bool tfs_host_task_open(struct tfs_host_task *task, const char *root, pid_t tid);
void tfs_host_task_close(struct tfs_host_task *task);

/* All of the record but its time; false once the thread has ended. */
bool tfs_host_task_read(const struct tfs_host_task *task, struct tfs_host_record *out_record);

/* What a thread does that is in this system call, whose first argument is a descriptor where calls
 * of this kind have one. */
enum tfs_host_doing tfs_host_call(
	const struct tfs_host_task *task, long number, unsigned long first_argument);

/* Opens to read; -1 where that fails. And closes. */
int tfs_host_open(const char *path);
void tfs_host_close(int file);

/* A file of /proc as a text, cut to the room there is; false where it cannot be read, or is empty.
 */
bool tfs_host_text(const char *path, char *out_text, size_t room);

#endif
