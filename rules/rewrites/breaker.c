/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/breaker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/rewrites/breaker_marks.h"
#include "shim/recorder.h"
#include "shim/threads.h"

static struct tfs_marks marks;
static struct tfs_actor self;
static char marker[PATH_MAX]; /* this process's; "" = it has no name */
static char off_file[PATH_MAX];
static char unfinished[PATH_MAX]; /* of an earlier one */
static _Atomic bool armed;

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

int tfs_breaker_arm(void)
{
	const int saved = errno;
	int failed = *marker == '\0' ? -ENAMETOOLONG : 0;

	/* No descriptor: the program may count on which number it gets next. */
	if (failed == 0 && mknod(marker, S_IFREG | 0600, 0) != 0)
		failed = -errno;
	if (failed == 0) {
		atomic_store(&armed, true);
		at_quick_exit(tfs_breaker_disarm);
		tfs_threads_wake(TFS_CALL_WRITE);
	}
	errno = saved;
	return failed;
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

	if (atomic_load(&armed) && (uint32_t)getpid() == self.pid &&
		atomic_exchange(&armed, false)) {
		unlink(marker);
		/* Two in a row are two with none between them that finished. */
		if (self.again)
			unlink(unfinished);
	}
	errno = saved;
}
