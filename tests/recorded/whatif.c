/* SPDX-License-Identifier: MIT */
/*
 * The what-if on a recording of a real GPU: whatif RECORDING SCALE MOST_MS MOST_ERROR. Replays its
 * judged steps with the usual delays, which must come within MOST_ERROR (in thousandths) of each
 * measured one but the first, which may find work on the device that was given before; and with
 * kernels that take SCALE (in hundredths) of their time, when no step may take longer than MOST_MS
 * (0: whatever it takes).
 */
#include <math.h>
#include <unistd.h>

#include "reports/import/import.h"
#include "rules/whatif/graph.h"
#include "tests/test.h"

static struct {
	void *bytes;
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
	struct tfs_steady steady;
} loaded;

static void load(const char *path)
{
	size_t size;
	char *why = NULL;

	TEST_NEED(!tfs_import(path, &loaded.bytes, &size, &why));
	TEST_NEED(!tfs_trace_open_memory(loaded.bytes, size, NULL, &loaded.trace));
	TEST_NEED(!tfs_timeline_create(loaded.trace, &loaded.timeline));
	TEST_NEED(!tfs_steady_init(&loaded.steady, loaded.timeline, 0));
}

static void unload(void)
{
	tfs_steady_finish(&loaded.steady);
	tfs_timeline_destroy(loaded.timeline);
	tfs_trace_close(loaded.trace);
	free(loaded.bytes);
}

static struct tfs_edit *scale_kernels(float scale)
{
	struct tfs_edit *edits = calloc(loaded.steady.call_count + 1u, sizeof(*edits));

	TEST_NEED(edits);
	for (uint32_t i = 0; i < loaded.steady.call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(&loaded.steady, i);
		const struct tfs_device_op *ops = loaded.timeline->ops;
		const uint32_t *of_call = &loaded.timeline->call_ops[call->first_op];

		if (call->op_count && ops[*of_call].record->operation == TFS_DEVICE_KERNEL)
			edits[i].scale = scale;
	}
	return edits;
}

static unsigned check_run(
	const struct tfs_run *run, const struct tfs_edit *edits, double most_ns, double most_error)
{
	const struct tfs_replay_how usual = {.follows_ns = INFINITY, .usual = true};
	const struct tfs_replay_how exact = {.follows_ns = INFINITY};
	struct tfs_replay *replay = tfs_replay_create(&run->graph);
	double *marks = calloc(3 * run->graph.marks_count, sizeof(*marks));
	double *again = marks + run->graph.marks_count, *edited = again + run->graph.marks_count;

	TEST_NEED(replay && marks);
	tfs_replay_measured(replay, marks);
	TEST_NEED(!tfs_replay_run(replay, &usual, NULL, again));
	TEST_NEED(!tfs_replay_run(replay, &exact, &edits[run->first_call], edited));
	for (uint32_t i = 0; i < run->steps; i++) {
		const double measured = marks[i + 1] - marks[i], replayed = again[i + 1] - again[i];
		const double changed = edited[i + 1] - edited[i];

		printf("step %u: measured %.3f ms, replayed %.3f, edited %.3f\n", i, measured / 1e6,
			replayed / 1e6, changed / 1e6);
		if (run->steps == 1 || i)
			TEST_IN(1e6 * fabs(replayed - measured) / measured, 0, 1e6 * most_error);
		if (most_ns > 0)
			TEST_IN(changed, 0, most_ns);
	}
	tfs_replay_destroy(replay);
	free(marks);
	return run->steps;
}

int main(int count, char **arguments)
{
	struct tfs_run *runs;
	struct tfs_edit *edits;
	unsigned steps = 0;
	size_t run_count;

	TEST_NEED(count == 5);
	if (access(arguments[1], R_OK))
		return test_skip("no recordings of real GPUs here");
	load(arguments[1]);
	edits = scale_kernels((float)(atof(arguments[2]) / 100));
	TEST_NEED(!tfs_runs_create(&loaded.steady, &runs, &run_count));
	for (size_t i = 0; i < run_count; i++)
		steps += check_run(
			&runs[i], edits, atof(arguments[3]) * 1e6, atof(arguments[4]) / 1000);
	TEST_TRUE(steps > 0);
	tfs_runs_destroy(runs, run_count);
	free(edits);
	unload();
	return test_result();
}
