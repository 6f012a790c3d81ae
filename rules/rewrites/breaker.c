/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/breaker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/recorder.h"
#include "shim/shim.h"

#define MARK ".acting-"
#define UNLOCKED_SECONDS 2 /* after so long a living process has its lock */

static char marker[PATH_MAX]; /* this process's */
static char off_file[PATH_MAX];
static _Atomic bool armed;
static pid_t own_pid;

/* The folder of the recording with its slash, and the program's name. */
static bool find_place(int *out_folder_bytes, const char **out_program)
{
	const char *program = strrchr(tfs_recording.header->program, '/');
	const char *slash = strrchr(tfs_recording.path, '/');

	if (program == NULL || program[1] == '\0' || slash == NULL)
		return false;
	*out_folder_bytes = (int)(slash + 1 - tfs_recording.path);
	*out_program = program + 1;
	return true;
}

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
	if (rest == NULL ||
		sscanf(rest,
			") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			"%*s %" SCNu64,
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

	if (**at == '\0' || strchr("0123456789abcdef", **at) == NULL)
		return false;
	errno = 0;
	*out = strtoull(*at, &end, base);
	if (errno != 0 || *out > most || (*end != '-' && *end != '\0'))
		return false;
	*at = *end == '-' ? end + 1 : end;
	return true;
}

bool tfs_actor_read(const char *name, const char *program, struct tfs_actor *out_actor)
{
	const size_t length = strlen(program);
	uint64_t pid, start, place;

	if (strncmp(name, program, length) != 0 ||
		strncmp(name + length, MARK, sizeof(MARK) - 1) != 0)
		return false;
	const char *at = name + length + sizeof(MARK) - 1;
	if (!read_part(&at, 10, INT_MAX, &pid) || !read_part(&at, 10, UINT64_MAX, &start) ||
		!read_part(&at, 16, UINT32_MAX, &place) || *at != '\0')
		return false;
	*out_actor =
		(struct tfs_actor){.pid = (uint32_t)pid, .start = start, .where = (uint32_t)place};
	return true;
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
static void judge(const char *name, const char *program, int folder_bytes, uint32_t here)
{
	char path[PATH_MAX];
	struct tfs_actor actor;

	if (!tfs_actor_read(name, program, &actor) ||
		(size_t)snprintf(path, sizeof(path), "%.*s%s", folder_bytes, tfs_recording.path,
			name) >= sizeof(path))
		return;
	if (actor.where != here) {
		if (is_unlocked(path))
			rename(path, off_file);
		return;
	}
	const uint64_t start = start_of(actor.pid);
	/* This process, before it became another program by exec. */
	if (start == actor.start && actor.pid == (uint32_t)getpid())
		unlink(path);
	else if (start != actor.start)
		rename(path, off_file);
}

/* opendir() would take memory from the program's heap. */
static void look_through(const char *program, int folder_bytes)
{
	struct entry {
		uint64_t inode;
		int64_t next;
		uint16_t bytes;
		uint8_t type;
		char name[];
	};
	_Alignas(struct entry) char entries[4096];
	char folder[PATH_MAX];
	const uint32_t here = where();
	long got;

	snprintf(folder, sizeof(folder), "%.*s", folder_bytes, tfs_recording.path);
	const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (file >= 0 && (got = syscall(SYS_getdents64, file, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *entry = (const struct entry *)(entries + at);

			judge(entry->name, program, folder_bytes, here);
			at += entry->bytes;
		}
	}
	if (file >= 0)
		close(file);
}

bool tfs_breaker_tripped(const char **out_file)
{
	const char *program;
	int folder_bytes;
	struct stat status;

	if (!find_place(&folder_bytes, &program) ||
		(size_t)snprintf(off_file, sizeof(off_file), "%.*s%s.rewrites-off", folder_bytes,
			tfs_recording.path, program) >= sizeof(off_file))
		return false;
	look_through(program, folder_bytes);
	own_pid = getpid();
	if ((size_t)snprintf(marker, sizeof(marker), "%.*s%s" MARK "%d-%" PRIu64 "-%x",
		    folder_bytes, tfs_recording.path, program, (int)own_pid,
		    start_of((uint32_t)own_pid), where()) >= sizeof(marker))
		*marker = '\0';
	*out_file = off_file;
	/* Of ranks that start at once one renames what all of them find. */
	return lstat(off_file, &status) == 0;
}

static void ended(int number)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	const int saved = errno;
	struct sigaction now;

	/* A handler of the program's that calls the one before it: nothing would have been there.
	 */
	if (sigaction(number, NULL, &now) == 0 && now.sa_handler == ended) {
		tfs_breaker_disarm();
		sigaction(number, &standard, NULL);
		raise(number); /* once this handler returns */
	}
	errno = saved;
}

static void heed_signals(void)
{
	static const int wishes[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction heed = {.sa_handler = ended, .sa_flags = SA_ONSTACK | SA_RESTART};

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		struct sigaction now;

		if (sigaction(wishes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
			(now.sa_flags & SA_SIGINFO) == 0)
			sigaction(wishes[i], &heed, NULL);
	}
}

void tfs_breaker_arm(void)
{
	const int saved = errno;

	/* No descriptor: the program may count on which number it gets next. */
	if (*marker != '\0' && mknod(marker, S_IFREG | 0600, 0) == 0) {
		atomic_store(&armed, true);
		heed_signals();
		at_quick_exit(tfs_breaker_disarm);
		tfs_shim_wake();
	}
	errno = saved;
}

void tfs_breaker_hold(void)
{
	static bool held;

	if (held || !atomic_load(&armed))
		return;
	held = true;
	const int file = open(marker, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	/* Kept for as long as the process lives. */
	if (file >= 0)
		flock(file, LOCK_EX | LOCK_NB);
}

void tfs_breaker_disarm(void)
{
	const int saved = errno;

	if (atomic_load(&armed) && getpid() == own_pid && atomic_exchange(&armed, false))
		unlink(marker);
	errno = saved;
}
