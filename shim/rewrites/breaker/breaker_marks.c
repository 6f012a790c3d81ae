/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/breaker/breaker_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MARK ".acting-"
#define AGAIN "-again"
#define UNLOCKED_SECONDS 2 /* after so long a living process has its lock */

static bool read_text(const char *path, char *out, size_t bytes)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = file >= 0 ? read(file, out, bytes - 1) : -1;

	if (file >= 0)
		close(file);
	out[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* When the process began, in ticks since the machine did; 0 when there is none, or it is dead. */
static uint64_t start_of(uint32_t pid)
{
	char path[40], text[512];
	uint64_t start = 0;
	char state = 'X';

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (!read_text(path, text, sizeof(text)))
		return 0;
	/* The name in parentheses may hold anything. */
	const char *rest = strrchr(text, ')');
	if (!rest ||
		sscanf(rest,
			") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
			&state, &start) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : start;
}

/* The boot and the namespace in which process numbers count. */
static uint32_t where(void)
{
	char text[64];
	uint32_t hash = UINT32_C(2166136261);
	struct stat space = {.st_ino = 0};

	read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *at = text; *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
	stat("/proc/self/ns/pid", &space);
	return (hash ^ (uint32_t)space.st_ino) * UINT32_C(16777619);
}

static bool read_part(const char **at, int base, uint64_t most, uint64_t *out)
{
	char *end;

	if (**at == '\0' || !strchr("0123456789abcdef", **at))
		return false;
	errno = 0;
	*out = strtoull(*at, &end, base);
	if (errno != 0 || *out > most || (*end != '-' && *end != '\0'))
		return false;
	*at = *end == '-' ? end + 1 : end;
	return true;
}

/* Who made a file; its name behind the program's. */
static bool actor_read(const char *name, const char *program, struct tfs_actor *out_actor)
{
	const size_t length = strlen(program);
	uint64_t pid, start, place;

	if (strncmp(name, program, length) != 0 ||
		strncmp(name + length, MARK, sizeof(MARK) - 1) != 0)
		return false;
	const char *at = name + length + sizeof(MARK) - 1;
	if (!read_part(&at, 10, INT_MAX, &pid) || !read_part(&at, 10, UINT64_MAX, &start) ||
		!read_part(&at, 16, UINT32_MAX, &place))
		return false;
	/* The dash before it is read. */
	const bool again = strcmp(at, &AGAIN[1]) == 0 && at[-1] == '-';
	if (!again && *at != '\0')
		return false;
	*out_actor = (struct tfs_actor){
		.pid = (uint32_t)pid, .start = start, .where = (uint32_t)place, .again = again};
	return true;
}

struct tfs_actor tfs_actor_of(uint32_t pid)
{
	return (struct tfs_actor){.pid = pid, .start = start_of(pid), .where = where()};
}

bool tfs_marks_find(const char *recording, const char *program_path, struct tfs_marks *out_marks)
{
	const char *program = strrchr(program_path, '/');
	const char *slash = strrchr(recording, '/');

	if (!program || program[1] == '\0' || !slash ||
		strlen(program + 1) >= sizeof(out_marks->program) ||
		(size_t)(slash + 1 - recording) >= sizeof(out_marks->folder))
		return false;
	snprintf(out_marks->folder, sizeof(out_marks->folder), "%.*s", (int)(slash + 1 - recording),
		recording);
	strcpy(out_marks->program, program + 1);
	return true;
}

bool tfs_marks_path(const struct tfs_marks *marks, const char *suffix, char *out_path)
{
	return snprintf(out_path, PATH_MAX, "%s%s%s", marks->folder, marks->program, suffix) <
	       PATH_MAX;
}

bool tfs_marks_actor(const struct tfs_marks *marks, const struct tfs_actor *actor, char *out_path)
{
	char suffix[80];

	snprintf(suffix, sizeof(suffix), MARK "%u-%" PRIu64 "-%x%s", actor->pid, actor->start,
		actor->where, actor->again ? AGAIN : "");
	return tfs_marks_path(marks, suffix, out_path);
}

static void turn_off(const struct tfs_marks *marks, const char *path)
{
	char to[PATH_MAX];

	/* Next to the end that this one counts for, that one counts for nothing more. */
	if (tfs_marks_path(marks, TFS_MARKS_OFF, to) && rename(path, to) == 0 &&
		tfs_marks_path(marks, TFS_MARKS_UNFINISHED, to))
		unlink(to);
}

/* Of ranks that end together one makes what all count for. */
static void count_end(const struct tfs_marks *marks, const char *path)
{
	char unfinished[PATH_MAX];

	if (tfs_marks_path(marks, TFS_MARKS_UNFINISHED, unfinished) &&
		(mknod(unfinished, S_IFREG | 0600, 0) == 0 || errno == EEXIST))
		unlink(path);
}

/* Whose process number means nothing here: a lock is held while it lives. */
static bool is_unlocked(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct timespec now;
	struct stat status;

	if (file < 0)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	const bool gone = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
			  now.tv_sec - status.st_mtim.tv_sec > UNLOCKED_SECONDS &&
			  flock(file, LOCK_SH | LOCK_NB) == 0;
	close(file);
	return gone;
}

/* A file of this name lies in the folder. */
static void judge(const struct tfs_marks *marks, const char *name, uint32_t here)
{
	char path[PATH_MAX];
	struct tfs_actor actor;

	if (!actor_read(name, marks->program, &actor) || !tfs_marks_actor(marks, &actor, path))
		return;
	const uint64_t start = actor.where == here ? start_of(actor.pid) : 0;
	if (actor.where != here ? !is_unlocked(path)
				: start == actor.start && actor.pid != (uint32_t)getpid())
		return;
	/* This process, before it became another program by exec. */
	if (actor.where == here && start == actor.start)
		unlink(path);
	else if (actor.again)
		turn_off(marks, path);
	else
		count_end(marks, path);
}

/* opendir() would take memory from the program's heap. */
void tfs_marks_look(const struct tfs_marks *marks)
{
	struct entry {
		uint64_t inode;
		int64_t next;
		uint16_t bytes;
		uint8_t type;
		char name[];
	};
	_Alignas(struct entry) char entries[4096];
	const uint32_t here = where();
	long got;

	const int file = open(marks->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (file >= 0 && (got = syscall(SYS_getdents64, file, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *entry = (const struct entry *)(entries + at);

			judge(marks, entry->name, here);
			at += entry->bytes;
		}
	}
	if (file >= 0)
		close(file);
}

static bool is_crash(int number)
{
	static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (number == crashes[i])
			return true;
	return false;
}

void tfs_marks_settle(const struct tfs_marks *marks, struct tfs_actor actor, int status)
{
	const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	char path[PATH_MAX];

	/* Nobody knows what the wish was: to end one that hangs, or that took too much memory. */
	if (number == SIGKILL)
		return;
	for (int again = 0; again < 2; again++) {
		actor.again = again != 0;
		if (!tfs_marks_actor(marks, &actor, path))
			continue;
		if (is_crash(number))
			turn_off(marks, path);
		else
			unlink(path);
	}
}
