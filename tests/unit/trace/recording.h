/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_TRACE_RECORDING_H
#define TFS_TESTS_UNIT_TRACE_RECORDING_H

/*
 * A recording of the test's own, for modules that write into one: recording_start(), then calls
 * of the module, then recording_read() gives what a reader finds, and recording_end() removes it.
 */

#include <unistd.h>

#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/trace/trace.h"
#include "tests/test.h"

static char recording_folder[] = "/tmp/tfshim-unit-XXXXXX";

/* Ends the test where no file can be had. */
static inline void recording_start(void)
{
	static char pattern[sizeof(recording_folder) + 2];

	TEST_NEED(mkdtemp(recording_folder));
	snprintf(pattern, sizeof(pattern), "%s/x", recording_folder);
	tfs_options.output = pattern;
	tfs_clock_init();
	TEST_NEED(tfs_recorder_begin() == 0);
	tfs_recorder_create();
	TEST_NEED(tfs_recorder_created() == 0);
}

/* Owned by the caller. The module may go on writing; it is not seen. */
static inline struct tfs_trace *recording_read(void)
{
	struct tfs_trace *trace = NULL;

	tfs_recorder_finish();
	TEST_NEED(tfs_trace_open(tfs_recording.path, NULL, &trace) == 0);
	TEST_EQ(tfs_trace_summary(trace)->damages, 0);
	return trace;
}

static inline void recording_end(struct tfs_trace *trace)
{
	tfs_trace_close(trace);
	unlink(tfs_recording.path);
	rmdir(recording_folder);
}

#endif
