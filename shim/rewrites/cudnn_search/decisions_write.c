/* SPDX-License-Identifier: MIT */
/*
 * The run that decides. Its lock lasts as long as a mapping of the file that is never touched: no
 * descriptor is kept open, because a program may close or reuse any number. For each line the file
 * is opened anew, and checked to be the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/base/spin.h"
#include "shim/record/files.h"
#include "shim/rewrites/cudnn_search/decisions_file.h"

#define FLAGS (O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
#define PATIENCE_NS UINT64_C(1000000000) /* of whom another thread is before */
#define TRIES 100u /* against runs that only read, and are done in microseconds */

enum { NOT_ASKED, ASKING, OURS, NOT_OURS };

static _Atomic int state;
static enum tfs_fact_code why; /* it is not ours */
static dev_t device;
static ino_t inode;

/* That is being written. */
static struct {
	struct tfs_spin lock; /* of who asks for it */
	_Atomic int state;
	char text[TFS_DECISION_LINE];
	size_t bytes;
	bool written;
} line;

enum { UNWANTED, WANTED, BEGUN };

static bool give_up(enum tfs_fact_code reason)
{
	atomic_store(&state, NOT_OURS);
	tfs_decisions_refuse(reason, NULL, 0, 0);
	return false;
}

/* A write past RLIMIT_FSIZE raises SIGXFSZ: ask first. */
static bool has_room(uint64_t bytes)
{
	struct rlimit limit;

	return bytes < TFS_DECISIONS_BYTES &&
	       (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
		       bytes <= limit.rlim_cur);
}

/* All of it at the file's end, or nothing. */
static bool append(int fd, const char *text, size_t bytes)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !has_room((uint64_t)status.st_size + bytes))
		return false;
	const ssize_t written = write(fd, text, bytes);
	if (written > 0 && (size_t)written != bytes && ftruncate(fd, status.st_size) != 0)
		return false;
	return written >= 0 && (size_t)written == bytes;
}

static bool lock_file(int fd)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		sched_yield();
	}
	return false;
}

/* Keeps the lock when the descriptor is closed; not in a child. */
static bool hold(int fd)
{
	const size_t bytes = 1;
	void *mapping = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);

	return mapping != MAP_FAILED && madvise(mapping, bytes, MADV_DONTFORK) == 0;
}

/* Is the file's last line whole? What a kill cut off must not run into ours. */
static bool ends_in_newline(int fd, off_t bytes)
{
	char last = '\n';

	return bytes == 0 || (pread(fd, &last, 1, bytes - 1) == 1 && last == '\n');
}

/* None, or why the file is not ours. */
static enum tfs_fact_code begin(int fd)
{
	struct stat status;

	if (fd < 0)
		return TFS_FACT_decisions_unwritable;
	if (!lock_file(fd))
		return TFS_FACT_decisions_busy;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return TFS_FACT_decisions_no_file;
	if ((uint64_t)status.st_size != tfs_decisions_bytes())
		return TFS_FACT_decisions_changed;
	if ((status.st_size == 0 && !append(fd, TFS_DECISIONS_HEAD, strlen(TFS_DECISIONS_HEAD))) ||
		(!ends_in_newline(fd, status.st_size) && !append(fd, "\n", 1)) ||
		!has_room((uint64_t)status.st_size + TFS_DECISION_LINE) || !hold(fd))
		return TFS_FACT_decisions_unwritable;
	device = status.st_dev;
	inode = status.st_ino;
	return TFS_FACT_none;
}

static void take_file(void)
{
	int asking = ASKING;
	const int fd = open(tfs_decisions_path(), FLAGS | O_CREAT, 0666);

	why = begin(fd);
	if (fd >= 0)
		close(fd);
	atomic_compare_exchange_strong(&state, &asking, why == TFS_FACT_none ? OURS : NOT_OURS);
}

bool tfs_decisions_ours(void)
{
	int now = NOT_ASKED;

	if (!atomic_compare_exchange_strong(&state, &now, ASKING))
		return now == OURS;
	if (!tfs_decisions_may_write()) {
		atomic_store(&state, NOT_OURS);
		return false;
	}
	if (!tfs_files_ask(take_file))
		return give_up(TFS_FACT_decisions_unwritable);
	return why == TFS_FACT_none || give_up(why);
}

static void write_line(void)
{
	struct stat status;
	int wanted = WANTED;

	if (!atomic_compare_exchange_strong(&line.state, &wanted, BEGUN))
		return;
	const int fd = open(tfs_decisions_path(), FLAGS);
	line.written = fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == device &&
		       status.st_ino == inode && append(fd, line.text, line.bytes);
	if (fd >= 0)
		close(fd);
}

/* Is it there? One that nobody waits for any more is not written, unless that has begun. */
static bool put(const struct tfs_decision *decision)
{
	int wanted = WANTED;

	line.bytes = tfs_decisions_line(decision, line.text);
	line.written = false;
	atomic_store(&line.state, WANTED);
	if (tfs_files_ask(write_line))
		return line.written;
	atomic_compare_exchange_strong(&line.state, &wanted, UNWANTED);
	return false;
}

bool tfs_decisions_write(const struct tfs_decision *decision)
{
	if (atomic_load(&state) != OURS || !tfs_spin_lock_within(&line.lock, PATIENCE_NS))
		return false;
	const bool written = atomic_load(&state) == OURS && put(decision);
	if (!written && atomic_load(&state) == OURS)
		give_up(TFS_FACT_decisions_unwritable);
	tfs_spin_unlock(&line.lock);
	return written;
}
