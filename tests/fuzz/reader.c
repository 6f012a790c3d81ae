/* SPDX-License-Identifier: MIT */
/* Opens any bytes as a recording and reads all of it, and of the timeline made from it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/scenes/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfs_timeline *timeline = NULL;
	struct tfs_trace *trace = NULL;

	if (tfs_trace_open_memory(data, size, NULL, &trace))
		return 0;
	read_all_trace(trace);
	if (tfs_timeline_create(trace, &timeline) == 0) {
		read_all_timeline(timeline);
		tfs_timeline_destroy(timeline);
	}
	tfs_trace_close(trace);
	return 0;
}
