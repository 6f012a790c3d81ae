/* SPDX-License-Identifier: MIT */
/*
 * What a step takes when the work of one stream takes half of its time: order TRACE STREAM MS.
 * Replayed unchanged, each step takes what was recorded; changed, MS less.
 */
#include <math.h>

#include "reports/import/import.h"
#include "rules/whatif/graph.h"
#include "tests/test.h"

#define MOST_STEPS 64

static struct tfs_edit *halve(const struct tfs_steady *steady, uint32_t stream)
{
	struct tfs_edit *edits = calloc(steady->call_count + 1u, sizeof(*edits));
	const struct tfs_timeline *timeline = steady->timeline;
	unsigned changed = 0;

	TEST_NEED(edits);
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (!call->op_count ||
			timeline->ops[timeline->call_ops[call->first_op]].record->stream != stream)
			continue;
		edits[i].scale = 0.5f;
		changed++;
	}
	TEST_TRUE(changed > 0);
	return edits;
}

static void check_run(const struct tfs_run *run, const struct tfs_edit *edits, double less_ms)
{
	const struct tfs_replay_how how = {.follows_ns = INFINITY};
	struct tfs_replay *replay = tfs_replay_create(&run->graph);
	double measured[MOST_STEPS], same[MOST_STEPS], changed[MOST_STEPS];

	TEST_NEED(replay && run->graph.marks_count <= MOST_STEPS);
	tfs_replay_measured(replay, measured);
	TEST_NEED(!tfs_replay_run(replay, &how, NULL, same));
	TEST_NEED(!tfs_replay_run(replay, &how, edits + run->first_call, changed));
	for (uint32_t i = 0; i < run->steps; i++) {
		TEST_IN((same[i + 1] - same[i]) / 1e6, (measured[i + 1] - measured[i]) / 1e6 - 0.01,
			(measured[i + 1] - measured[i]) / 1e6 + 0.01);
		/* What the last step gave is waited for in it. */
		TEST_IN(((same[i + 1] - same[i]) - (changed[i + 1] - changed[i])) / 1e6,
			less_ms - 0.02, less_ms + 0.02);
	}
	tfs_replay_destroy(replay);
}

int main(int argc, char **argv)
{
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
	struct tfs_steady steady;
	struct tfs_run *runs;
	void *bytes;
	size_t size, count;
	char *why = NULL;

	TEST_NEED(argc == 4);
	TEST_NEED(!tfs_import(argv[1], &bytes, &size, &why));
	TEST_NEED(!tfs_trace_open_memory(bytes, size, NULL, &trace));
	TEST_NEED(!tfs_timeline_create(trace, &timeline));
	TEST_NEED(!tfs_steady_init(&steady, timeline, 0));
	TEST_NEED(!tfs_runs_create(&steady, &runs, &count));
	TEST_EQ(count, 1);
	struct tfs_edit *edits = halve(&steady, (uint32_t)strtoul(argv[2], NULL, 10));

	check_run(&runs[0], edits, strtod(argv[3], NULL));
	free(edits);
	tfs_runs_destroy(runs, count);
	tfs_steady_finish(&steady);
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	free(bytes);
	return test_result();
}
