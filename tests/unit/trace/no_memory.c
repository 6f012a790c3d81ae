/* SPDX-License-Identifier: MIT */
/* Reading a recording while the n-th allocation fails, for every n: an error, never a crash. */
#include <errno.h>

#include "rules/timeline/flow.h"
#include "tests/test.h"
#include "tests/unit/scenes/failing.h"
#include "tests/unit/scenes/read_all.h"
#include "tests/unit/scenes/sample.h"

static int read_once(const void *bytes, size_t size)
{
	struct tfs_timeline *timeline = NULL;
	struct tfs_trace *trace = NULL;
	int err = tfs_trace_open_memory(bytes, size, NULL, &trace);

	if (err)
		return err;
	err = tfs_timeline_create(trace, &timeline);
	if (!err)
		read_all_timeline(timeline);
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	return err;
}

int main(void)
{
	struct builder *builder = sample_create(1024, SAMPLE_STEPS);
	unsigned failed = 0;
	size_t size;
	void *bytes = builder_bytes(builder, &size);

	for (long n = 0;; n++) {
		int err;
		bool all_worked;

		left = n;
		err = read_once(bytes, size);
		all_worked = left >= 0;
		left = -1;
		if (all_worked) {
			TEST_EQ(err, 0);
			break;
		}
		/* data flow does without its index */
		TEST_TRUE(err == -ENOMEM || !err);
		failed += err != 0;
	}
	TEST_TRUE(failed > 20);
	builder_destroy(builder);
	return test_result();
}
