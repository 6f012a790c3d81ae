/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/breaker/breaker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/record/files.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/breaker/breaker_marks.h"

static struct tfs_marks marks;
static struct tfs_actor self;
static char marker[PATH_MAX]; /* this process's; "" = it has no name */
static char off_file[PATH_MAX];
static char unfinished[PATH_MAX]; /* of an earlier one */
static int mark_failed;           /* 0 or -errno */
static _Atomic int mark;

enum { NO_MARK, MARK_ASKED, MARK_MADE };

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

bool tfs_breaker_tripped(const char **out_file)
{
	if (!tfs_marks_find(tfs_recording.path, tfs_recording.header->program, &marks) ||
		!tfs_marks_path(&marks, TFS_MARKS_OFF, off_file) ||
		!tfs_marks_path(&marks, TFS_MARKS_UNFINISHED, unfinished))
		return false;
	tfs_marks_look(&marks);
	self = tfs_actor_of((uint32_t)getpid());
	self.again = exists(unfinished);
	if (!tfs_marks_actor(&marks, &self, marker))
		*marker = '\0';
	*out_file = off_file;
	return exists(off_file);
}

/* No descriptor is opened: where there is no thread for it, the program may count on which number
 * it gets next. */
static void make_mark(void)
{
	int asked = MARK_ASKED;

	mark_failed = mknod(marker, S_IFREG | 0600, 0) == 0 ? 0 : -errno;
	if (!atomic_compare_exchange_strong(
		    &mark, &asked, mark_failed == 0 ? MARK_MADE : NO_MARK) &&
		mark_failed == 0)
		unlink(marker);
}

/* Nobody waits any more: false when it came after all. */
static bool give_up(void)
{
	int asked = MARK_ASKED;

	return atomic_compare_exchange_strong(&mark, &asked, NO_MARK);
}

int tfs_breaker_arm(void)
{
	const int saved = errno;
	int err = -ENAMETOOLONG;

	if (*marker != '\0') {
		atomic_store(&mark, MARK_ASKED);
		err = !tfs_files_ask(make_mark) && give_up() ? -ETIMEDOUT : mark_failed;
	}
	if (!err)
		at_quick_exit(tfs_breaker_disarm);
	errno = saved;
	return err;
}

void tfs_breaker_hold(void)
{
	static bool held;

	if (held || atomic_load(&mark) != MARK_MADE)
		return;
	held = true;
	const int file = open(marker, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	/* Kept for as long as the process lives. */
	if (file >= 0)
		flock(file, LOCK_EX | LOCK_NB);
}

static void remove_mark(void)
{
	unlink(marker);
	/* Two in a row are two with none between them that finished. */
	if (self.again)
		unlink(unfinished);
}

void tfs_breaker_disarm(void)
{
	const int saved = errno;
	int made = MARK_MADE;

	if (atomic_load(&mark) != NO_MARK && (uint32_t)getpid() == self.pid && !give_up() &&
		atomic_compare_exchange_strong(&mark, &made, NO_MARK))
		tfs_files_ask_last(remove_mark);
	errno = saved;
}
