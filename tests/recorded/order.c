/* SPDX-License-Identifier: MIT */
/*
 * The order of events in a recording of a real GPU: order RECORDING WAITS RECORDS. So many waits of
 * a stream name their stream and the record that they are for, and so many records their stream.
 */
#include <unistd.h>

#include "reports/import/import.h"
#include "rules/timeline/timeline.h"
#include "tests/test.h"

/* Calls of a family that name both; each event is recorded once. */
static long known(const struct tfs_timeline *timeline, enum tfs_family family)
{
	long count = 0;

	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		uint64_t event;

		count += call->family == family && call->record->stream != TFS_NO_STREAM &&
			 tfs_call_attribute(call->record, TFS_ATTRIBUTE_event, &event) && event;
	}
	return count;
}

int main(int argc, char **argv)
{
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
	void *bytes;
	size_t size;
	char *why = NULL;

	TEST_NEED(argc == 4);
	if (access(argv[1], R_OK))
		return test_skip("no recordings of real GPUs here");
	TEST_NEED(!tfs_import(argv[1], &bytes, &size, &why));
	TEST_NEED(!tfs_trace_open_memory(bytes, size, NULL, &trace));
	TEST_NEED(!tfs_timeline_create(trace, &timeline));
	TEST_EQ(known(timeline, TFS_FAMILY_stream_wait), strtol(argv[2], NULL, 10));
	TEST_EQ(known(timeline, TFS_FAMILY_event_record), strtol(argv[3], NULL, 10));
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	free(bytes);
	return test_result();
}
