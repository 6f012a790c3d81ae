/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOST_HOST_OTHERS_H
#define TFS_SHIM_HOST_HOST_OTHERS_H

/*
 * The process's other threads and its child processes, as the kernel shows them: whoever may be
 * making what a thread waits for. One thread, which has descriptors of its own.
 */

#include <sys/types.h>

#include "shim/trace/format/host.h"

/* Counts them below `root` ("/proc"), but for the thread `tid` and the shim's own. Of a kernel that
 * lists no children, none are counted. Fills all of the record but its time. */
void tfs_host_others_count(const char *root, pid_t tid, struct tfs_host_others_record *out_record);

#endif
