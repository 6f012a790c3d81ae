/* SPDX-License-Identifier: MIT */
#include "rules/judge/doubt.h"

#include <stdbool.h>

/* A replay that is further off than this has not understood the steps. */
#define MOST_ERROR 0.10

/* Whether more than one host thread gives the device work: in which order they do that without
 * the fixed calls is not known. */
static bool many_threads(const struct tfs_graph *graph)
{
	uint32_t first = TFS_NONE;

	for (size_t i = 0; i < graph->calls_count; i++) {
		const struct tfs_graph_call *call = &graph->calls[i];

		if (!call->ops)
			continue;
		if (first != TFS_NONE && call->thread != first)
			return true;
		first = call->thread;
	}
	return false;
}

const char *tfs_replay_doubt(const struct tfs_run *runs, size_t count, double error)
{
	if (error > MOST_ERROR)
		return "replayed unchanged, the judged steps differ by more than 10 % from the "
		       "measured step time";
	for (size_t i = 0; i < count; i++)
		if (many_threads(&runs[i].graph))
			return "several host threads launch device work, "
			       "and the order between their calls is not recorded";
	return NULL;
}
