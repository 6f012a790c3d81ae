/* SPDX-License-Identifier: MIT */
#include "rules/whatif/host_load.h"

#include <stdlib.h>

#include "rules/evidence/copies.h"

/* A call that was interrupted takes so many times the median, and so much longer: less than that is
 * the program's own variation. */
#define MANY_TIMES 4.0
#define LONGER_NS 30000.0
/* Calls from which the median is known. */
#define ENOUGH 8u

struct duration {
	uint32_t site;
	double ns;
};

static int compare(const void *a, const void *b)
{
	const struct duration *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* A copy from pageable memory may wait for the work before it, whatever its size: the first of a
 * step for much, the others for nothing. */
static bool may_wait(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_copy copy;

	return tfs_copy_describe(timeline, call, &copy) && copy.direction == TFS_COPY_UP &&
	       copy.host_memory != TFS_MEMORY_PINNED;
}

/* Calls that wait for nothing, with the host's own time in each; not of the first step, in which
 * what fills a queue may have been launched before. */
static size_t collect(const struct tfs_steady *steady, const struct tfs_run *run,
	const struct tfs_replay *replay, struct duration *out)
{
	const double from_ns = run->graph.marks[run->steps > 1];
	size_t count = 0;

	for (uint32_t i = 0; i < run->graph.calls_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, run->first_call + i);

		if (run->graph.calls[i].wait != TFS_WAIT_NONE ||
			run->graph.calls[i].start_ns < from_ns || may_wait(steady->timeline, call))
			continue;
		out[count++] = (struct duration){call->record->site, tfs_replay_own_ns(replay, i)};
	}
	return count;
}

/* Of the calls of one call site, sorted. */
static double excess(const struct duration *durations, size_t count)
{
	const double median = durations[count / 2].ns;
	double sum = 0;

	for (size_t i = count; count >= ENOUGH && i--;) {
		if (durations[i].ns <= MANY_TIMES * median + LONGER_NS)
			break;
		sum += durations[i].ns - median;
	}
	return sum;
}

double tfs_host_load_ns(const struct tfs_steady *steady, const struct tfs_run *runs,
	struct tfs_replay *const *replays, size_t count)
{
	struct duration *durations = malloc((steady->call_count + 1) * sizeof(*durations));
	size_t calls = 0, steps = 0;
	double sum = 0;

	for (size_t i = 0; durations && i < count; i++) {
		calls += collect(steady, &runs[i], replays[i], durations + calls);
		steps += runs[i].steps - (runs[i].steps > 1);
	}
	if (durations)
		qsort(durations, calls, sizeof(*durations), compare);
	for (size_t i = 0, next; i < calls; i = next) {
		for (next = i; next < calls && durations[next].site == durations[i].site; next++)
			;
		sum += excess(durations + i, next - i);
	}
	free(durations);
	return steps ? sum / (double)steps : 0;
}
