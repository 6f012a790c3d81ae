/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_HOST_H
#define TFS_SHIM_TRACE_FORMAT_HOST_H

/* Part of format.h: what threads of the program do on the host, looked at now and then in windows.
 */

#include "shim/trace/format/record.h"

/* What a thread was doing at a moment: X(number, constant, what it is called). */
#define TFS_HOST_DOINGS(X)                                                                         \
	X(0, unknown, "doing what could not be seen")                                              \
	X(1, code, "running")                                                                      \
	X(2, file, "reading or writing files")                                                     \
	X(3, pipe, "waiting for a pipe")                                                           \
	X(4, socket, "waiting for a socket")                                                       \
	X(5, lock, "waiting for other threads")                                                    \
	X(6, ready, "waiting until descriptors are ready")                                         \
	X(7, process, "starting or awaiting processes")                                            \
	X(8, sleep, "asleep")                                                                      \
	X(9, page, "waiting for pages of memory")                                                  \
	X(10, device, "in the driver of a device")                                                 \
	X(11, other, "in another system call")                                                     \
	X(12, memory, "changing mappings of memory")

enum tfs_host_doing {
#define X(number, constant, text) TFS_HOST_##constant = number,
	TFS_HOST_DOINGS(X)
#undef X
		TFS_HOST_DOING_COUNT
};

#define TFS_HOST_HAS_TIMES 1u /* ran_ns and queued_ns are known */
#define TFS_HOST_HAS_READS 2u /* read_bytes is known */

/* A thread at a moment; the figures are sums since it began. */
struct tfs_host_record {
	struct tfs_record record;
	uint16_t doing; /* enum tfs_host_doing */
	uint32_t tid;
	uint64_t ns;         /* CLOCK_MONOTONIC */
	uint64_t ran_ns;     /* on a processor */
	uint64_t queued_ns;  /* ready to run, and none was to be had */
	uint64_t read_bytes; /* that system calls have read, from whatever */
	uint32_t faults;     /* of pages whose contents had to be fetched */
	uint32_t known;      /* TFS_HOST_HAS_* */
	uint64_t user_ns;    /* in its own code, and in the kernel: to a hundredth of a second */
	uint64_t kernel_ns;
};

/* Where a thread was in its own code, once in each millisecond that it ran there. */
struct tfs_host_code_record {
	struct tfs_record record;
	uint16_t reserved0;
	uint32_t tid;
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t address;
	uint64_t reserved1;
};

/* Who may do something for a thread that waits, at a moment: the process's other threads, less the
 * shim's own, and the processes that it has started. */
struct tfs_host_crowd {
	uint16_t count;
	uint16_t running; /* of these, on a processor or ready to run */
	uint16_t disk;    /* waiting without being interruptible, as for a disk */
};

struct tfs_host_others_record {
	struct tfs_record record;
	struct tfs_host_crowd threads;
	struct tfs_host_crowd children;
	uint16_t reserved0;
	uint64_t ns;  /* CLOCK_MONOTONIC */
	uint32_t tid; /* the thread that waits */
	uint32_t reserved1;
};

TFS_SIZE_IS(struct tfs_host_record, 64);
TFS_SIZE_IS(struct tfs_host_others_record, 32);
TFS_SIZE_IS(struct tfs_host_code_record, 32);

#endif
