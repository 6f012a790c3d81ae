/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_CUPTI_SECOND_H
#define TFS_TESTS_PROGRAMS_CUPTI_SECOND_H

/* The profiler of cupti_second.c, in a library of its own. */

struct profile {
	int memsets;
	int strange;      /* buffers that came back but were never given */
	long long age_ns; /* of the last memset, by CUPTI's clock */
};

/* `how`: "v1", "v2", or "unsubscribed". Return CUPTI's status. */
__attribute__((visibility("default"))) int profiler_start(const char *how);
__attribute__((visibility("default"))) int profiler_stop(struct profile *out);

#endif
