/* SPDX-License-Identifier: MIT */
#include "shim/host/host_task.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int tfs_host_open(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

void tfs_host_close(int file)
{
	if (file >= 0)
		syscall(SYS_close, file);
}

static int open_in(const struct tfs_host_task *task, const char *name)
{
	char path[sizeof(task->folder) + 16];

	snprintf(path, sizeof(path), "%s/%s", task->folder, name);
	return tfs_host_open(path);
}

bool tfs_host_task_open(struct tfs_host_task *task, const char *root, pid_t tid)
{
	const int length =
		snprintf(task->folder, sizeof(task->folder), "%s/self/task/%d", root, (int)tid);

	task->tid = 0;
	if (length < 0 || length >= (int)sizeof(task->folder))
		return false;
	task->state = open_in(task, "stat");
	if (task->state < 0)
		return false;
	task->times = open_in(task, "schedstat");
	task->call = open_in(task, "syscall");
	task->reads = open_in(task, "io");
	task->tid = tid;
	return true;
}

void tfs_host_task_close(struct tfs_host_task *task)
{
	const int files[] = {task->state, task->times, task->call, task->reads};

	if (task->tid == 0)
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tfs_host_close(files[i]);
	task->tid = 0;
}

static bool read_text(int file, char *text, size_t room)
{
	const long got = file < 0 ? -1 : syscall(SYS_pread64, file, text, room - 1, 0L);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return true;
}

bool tfs_host_text(const char *path, char *out_text, size_t room)
{
	const int file = tfs_host_open(path);
	const bool got = read_text(file, out_text, room);

	tfs_host_close(file);
	return got;
}

static bool read_state(
	const struct tfs_host_task *task, char *out_letter, struct tfs_host_record *record)
{
	const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	char text[512];
	unsigned long faults, user, kernel;

	if (!read_text(task->state, text, sizeof(text)))
		return false;
	/* The name in parentheses may hold anything. */
	const char *rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %lu %*s %lu %lu",
			     out_letter, &faults, &user, &kernel) != 4)
		return false;
	record->faults = (uint32_t)faults;
	record->user_ns = user * tick_ns;
	record->kernel_ns = kernel * tick_ns;
	return true;
}

static void read_times(const struct tfs_host_task *task, struct tfs_host_record *record)
{
	char text[128];
	unsigned long long ran, queued;

	if (!read_text(task->times, text, sizeof(text)) ||
		sscanf(text, "%llu %llu", &ran, &queued) != 2)
		return;
	record->ran_ns = ran;
	record->queued_ns = queued;
	record->known |= TFS_HOST_HAS_TIMES;
}

static void read_reads(const struct tfs_host_task *task, struct tfs_host_record *record)
{
	char text[256];
	unsigned long long bytes;

	if (!read_text(task->reads, text, sizeof(text)) || sscanf(text, "rchar: %llu", &bytes) != 1)
		return;
	record->read_bytes = bytes;
	record->known |= TFS_HOST_HAS_READS;
}

/* A thread that waits, but in no system call, waits for a page. One that the kernel says nothing of
 * was in a call a moment before. */
static enum tfs_host_doing read_call(const struct tfs_host_task *task)
{
	char text[256];
	unsigned long argument;
	long number;

	if (!read_text(task->call, text, sizeof(text)) ||
		sscanf(text, "%ld 0x%lx", &number, &argument) != 2)
		return TFS_HOST_unknown;
	if (number < 0)
		return TFS_HOST_page;
	return tfs_host_call(task, number, argument);
}

/* By the letter that the kernel has for its state. */
static enum tfs_host_doing doing_of(const struct tfs_host_task *task, char letter)
{
	switch (letter) {
	case 'R':
		return TFS_HOST_code;
	case 'T': /* stopped, by a signal or a debugger */
	case 't':
		return TFS_HOST_other;
	default:
		return read_call(task);
	}
}

bool tfs_host_task_read(const struct tfs_host_task *task, struct tfs_host_record *out_record)
{
	char letter;

	out_record->tid = (uint32_t)task->tid;
	out_record->known = 0;
	if (!read_state(task, &letter, out_record) || letter == 'Z' || letter == 'X')
		return false;
	out_record->doing = (uint16_t)doing_of(task, letter);
	read_times(task, out_record);
	read_reads(task, out_record);
	return true;
}
