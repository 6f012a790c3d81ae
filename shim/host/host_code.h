/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOST_HOST_CODE_H
#define TFS_SHIM_HOST_HOST_CODE_H

/*
 * Where in its code a thread of this process is, once in each millisecond that it runs outside of
 * the kernel: the kernel's task clock, of perf_event_open(2), into memory that is read at leisure.
 * One thread, which has descriptors of its own.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tfs_host_code {
	int file;    /* -1 = none is open */
	void *pages; /* the kernel's page, then what it writes */
};

/* An errno: EACCES or EPERM where it is not permitted; 0 = it is sampled from now on. */
int tfs_host_code_open(struct tfs_host_code *code, pid_t tid);
void tfs_host_code_close(struct tfs_host_code *code);

/* Gives what was sampled since the last time: addresses, at CLOCK_MONOTONIC times. */
void tfs_host_code_read(struct tfs_host_code *code, void (*give)(uint64_t ns, uint64_t address));

#endif
