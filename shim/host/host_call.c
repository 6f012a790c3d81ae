/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/host/host_task.h"

#define BY_DESCRIPTOR TFS_HOST_DOING_COUNT /* it depends on what is read or written */

/* Those that a thread is found in, if it is found in one. */
static const struct known_call {
	long number;
	enum tfs_host_doing doing;
} known_calls[] = {
	{SYS_read, BY_DESCRIPTOR},
	{SYS_pread64, BY_DESCRIPTOR},
	{SYS_readv, BY_DESCRIPTOR},
	{SYS_preadv, BY_DESCRIPTOR},
	{SYS_preadv2, BY_DESCRIPTOR},
	{SYS_write, BY_DESCRIPTOR},
	{SYS_pwrite64, BY_DESCRIPTOR},
	{SYS_writev, BY_DESCRIPTOR},
	{SYS_pwritev, BY_DESCRIPTOR},
	{SYS_pwritev2, BY_DESCRIPTOR},
	{SYS_fsync, TFS_HOST_file},
	{SYS_fdatasync, TFS_HOST_file},
	{SYS_sync, TFS_HOST_file},
	{SYS_syncfs, TFS_HOST_file},
	{SYS_fallocate, TFS_HOST_file},
	{SYS_ftruncate, TFS_HOST_file},
	{SYS_copy_file_range, TFS_HOST_file},
	{SYS_getdents64, TFS_HOST_file},
	{SYS_openat, TFS_HOST_file},
	{SYS_statx, TFS_HOST_file},
	{SYS_newfstatat, TFS_HOST_file},
	{SYS_fstat, TFS_HOST_file},
	{SYS_renameat, TFS_HOST_file},
	{SYS_unlinkat, TFS_HOST_file},
	{SYS_io_getevents, TFS_HOST_file},
	{SYS_sendfile, TFS_HOST_file},
	{SYS_splice, TFS_HOST_file},
	{SYS_futex, TFS_HOST_lock},
	{SYS_flock, TFS_HOST_lock},
	{SYS_semop, TFS_HOST_lock},
	{SYS_semtimedop, TFS_HOST_lock},
	{SYS_msgrcv, TFS_HOST_lock},
	{SYS_mq_timedreceive, TFS_HOST_lock},
	{SYS_recvfrom, TFS_HOST_socket},
	{SYS_recvmsg, TFS_HOST_socket},
	{SYS_sendto, TFS_HOST_socket},
	{SYS_sendmsg, TFS_HOST_socket},
	{SYS_recvmmsg, TFS_HOST_socket},
	{SYS_accept, TFS_HOST_socket},
	{SYS_accept4, TFS_HOST_socket},
	{SYS_connect, TFS_HOST_socket},
	{SYS_ppoll, TFS_HOST_ready},
	{SYS_pselect6, TFS_HOST_ready},
	{SYS_epoll_pwait, TFS_HOST_ready},
	{SYS_io_uring_enter, TFS_HOST_ready},
	{SYS_clone, TFS_HOST_process},
	{SYS_clone3, TFS_HOST_process},
	{SYS_execve, TFS_HOST_process},
	{SYS_wait4, TFS_HOST_process},
	{SYS_waitid, TFS_HOST_process},
	{SYS_nanosleep, TFS_HOST_sleep},
	{SYS_clock_nanosleep, TFS_HOST_sleep},
	{SYS_mmap, TFS_HOST_memory},
	{SYS_munmap, TFS_HOST_memory},
	{SYS_madvise, TFS_HOST_memory},
	{SYS_msync, TFS_HOST_memory},
	{SYS_brk, TFS_HOST_memory},
	{SYS_mremap, TFS_HOST_memory},
	{SYS_mprotect, TFS_HOST_memory},
	{SYS_ioctl, TFS_HOST_device},
#ifdef SYS_open /* older machines have more */
	{SYS_open, TFS_HOST_file},
	{SYS_stat, TFS_HOST_file},
	{SYS_lstat, TFS_HOST_file},
	{SYS_poll, TFS_HOST_ready},
	{SYS_select, TFS_HOST_ready},
	{SYS_epoll_wait, TFS_HOST_ready},
	{SYS_fork, TFS_HOST_process},
	{SYS_vfork, TFS_HOST_process},
#endif
};

/* A path may be that of a named pipe, or of a terminal. */
static enum tfs_host_doing of_path(const char *path)
{
	struct statx about;

	if (syscall(SYS_statx, AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &about) != 0)
		return TFS_HOST_other;
	if (S_ISFIFO(about.stx_mode))
		return TFS_HOST_pipe;
	if (S_ISCHR(about.stx_mode))
		return TFS_HOST_device;
	return S_ISREG(about.stx_mode) || S_ISDIR(about.stx_mode) || S_ISBLK(about.stx_mode)
		       ? TFS_HOST_file
		       : TFS_HOST_other;
}

/* By what the descriptor's link reads: a path, or the kind and number of what has none. */
static enum tfs_host_doing of_descriptor(const struct tfs_host_task *task, unsigned long number)
{
	char path[sizeof(task->folder) + 32];
	char target[64];

	snprintf(path, sizeof(path), "%s/fd/%lu", task->folder, number);
	const long got = syscall(SYS_readlinkat, AT_FDCWD, path, target, (long)sizeof(target) - 1);
	if (got <= 0)
		return TFS_HOST_other;
	target[got] = '\0';
	if (strncmp(target, "pipe:", 5) == 0)
		return TFS_HOST_pipe;
	if (strncmp(target, "socket:", 7) == 0)
		return TFS_HOST_socket;
	/* Threads and processes use it as a semaphore. */
	if (strcmp(target, "anon_inode:[eventfd]") == 0)
		return TFS_HOST_lock;
	return target[0] == '/' ? of_path(path) : TFS_HOST_other;
}

enum tfs_host_doing tfs_host_call(
	const struct tfs_host_task *task, long number, unsigned long first_argument)
{
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		if (known_calls[i].number == number)
			return known_calls[i].doing == BY_DESCRIPTOR
				       ? of_descriptor(task, first_argument)
				       : known_calls[i].doing;
	return TFS_HOST_other;
}
