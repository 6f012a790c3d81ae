/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
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
	{SYS_futex, TFS_HOST_lock},
	{SYS_recvfrom, TFS_HOST_socket},
	{SYS_recvmsg, TFS_HOST_socket},
	{SYS_sendto, TFS_HOST_socket},
	{SYS_sendmsg, TFS_HOST_socket},
	{SYS_accept4, TFS_HOST_socket},
	{SYS_connect, TFS_HOST_socket},
	{SYS_ppoll, TFS_HOST_ready},
	{SYS_pselect6, TFS_HOST_ready},
	{SYS_epoll_pwait, TFS_HOST_ready},
	{SYS_wait4, TFS_HOST_process},
	{SYS_waitid, TFS_HOST_process},
	{SYS_nanosleep, TFS_HOST_sleep},
	{SYS_clock_nanosleep, TFS_HOST_sleep},
	{SYS_mmap, TFS_HOST_page},
	{SYS_munmap, TFS_HOST_page},
	{SYS_madvise, TFS_HOST_page},
	{SYS_msync, TFS_HOST_page},
	{SYS_brk, TFS_HOST_page},
	{SYS_ioctl, TFS_HOST_device},
#ifdef SYS_open /* older machines have more */
	{SYS_open, TFS_HOST_file},
	{SYS_stat, TFS_HOST_file},
	{SYS_lstat, TFS_HOST_file},
	{SYS_poll, TFS_HOST_ready},
	{SYS_select, TFS_HOST_ready},
	{SYS_epoll_wait, TFS_HOST_ready},
#endif
};

/* By what the descriptor's link reads: a path, or the kind and number of what has none. */
static enum tfs_host_doing of_descriptor(const struct tfs_host_task *task, unsigned long number)
{
	char path[sizeof(task->folder) + 32];
	char target[64];

	snprintf(path, sizeof(path), "%s/fd/%lu", task->folder, number);
	const ssize_t got = readlink(path, target, sizeof(target) - 1);
	if (got <= 0)
		return TFS_HOST_other;
	target[got] = '\0';
	if (strncmp(target, "pipe:", 5) == 0)
		return TFS_HOST_pipe;
	if (strncmp(target, "socket:", 7) == 0)
		return TFS_HOST_socket;
	if (strncmp(target, "/dev/nvidia", 11) == 0)
		return TFS_HOST_device;
	return target[0] == '/' ? TFS_HOST_file : TFS_HOST_other;
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
