/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_TIMELINE_LAID_OUT_H
#define TFS_TESTS_UNIT_TIMELINE_LAID_OUT_H

/* One recording at a time, from its builder to its timeline. */

#include "rules/timeline/timeline.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

static struct builder *builder;
static struct tfs_trace *trace;
static struct tfs_timeline *timeline;

/* What was built. */
static inline void lay_out(void)
{
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_NEED(tfs_timeline_create(trace, &timeline) == 0);
}

static inline void end(void)
{
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

#endif
