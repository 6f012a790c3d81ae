/* SPDX-License-Identifier: MIT */
/* The recording's file: its name, and what becomes of it. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/record/recorder.h"

#define MOST_NAMES 1000u
#define NAME_ROOM 64u /* for what makes a name another, and the suffix */

/* Rewrites do the same with a recording and without: what an earlier run decided holds. */
static bool goes_on_without(const char *path)
{
	if (strcmp(tfs_options.rewrite, "off") == 0 || strcmp(tfs_options.rewrite, "report") == 0)
		return false;
	tfs_writer_go_without(&tfs_recording, path);
	tfs_options.record = TFS_RECORD_NONE;
	tfs_options.cupti = 0;
	return true;
}

/* What became of the file: written by the thread that makes it, before others are told. */
static struct {
	char path[PATH_MAX];
	char taken[PATH_MAX];
	unsigned apart;
	int err;
} made;

/*
 * A name that is taken is another run's, whose process may have had our number. Asked for anew, a
 * pattern that counts gives another; else the time tells the runs apart.
 */
void tfs_recorder_create(void)
{
	made.err = -EEXIST;
	for (unsigned i = 0; i < MOST_NAMES && made.err == -EEXIST; i++) {
		made.err = tfs_env_output(made.path, sizeof(made.path) - NAME_ROOM);
		if (made.err)
			break;
		if (strcmp(made.path, made.taken) == 0)
			tfs_env_output_apart(
				made.path, sizeof(made.path) - sizeof(".tfs"), ++made.apart);
		else
			strcpy(made.taken, made.path);
		strcat(made.path, ".tfs");
		made.err = tfs_writer_create(&tfs_recording, made.path);
	}
	if (made.err)
		atomic_store(&tfs_recording.lost_file, true);
	tfs_writer_flush(&tfs_recording, true);
}

int tfs_recorder_created(void)
{
	if (!made.err) {
		if (made.apart != 0)
			tfs_log_say("%s.tfs belongs to another run; this run is recorded in %s",
				made.taken, made.path);
		return 0;
	}
	tfs_log_say("nothing is recorded: %s: %s (TFSHIM_OUTPUT sets the path)",
		*made.path != '\0' ? made.path : tfs_options.output, strerror(-made.err));
	return goes_on_without(made.path) ? 0 : made.err;
}
