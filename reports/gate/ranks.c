/* SPDX-License-Identifier: MIT */
#include "reports/gate/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "reports/support/must.h"

#define MOST_PROCESSES 65536u

void tfs_ranks_add(struct tfs_ranks *ranks, const struct tfs_model *model)
{
	const bool timed = model->duration_ns >= 0;

	ranks->seen = tfs_must_grow(ranks->seen, ranks->count, sizeof(*ranks->seen));
	ranks->seen[ranks->count++] = (struct tfs_rank_seen){
		.run = model->run,
		.rank = model->rank,
		.processes = model->job_processes,
		.start_ns = model->start_ns,
		.end_ns = timed ? model->start_ns + (uint64_t)model->duration_ns : UINT64_MAX,
	};
}

/* Jobs that `tfshim run` did not number are told apart by how many processes they have. */
static bool same_job(const struct tfs_rank_seen *one, const struct tfs_rank_seen *other)
{
	return one->run == other->run && one->processes == other->processes;
}

static bool is_stale(const struct tfs_ranks *ranks, const struct tfs_rank_seen *seen)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (!seen->run && same_job(&ranks->seen[i], seen) &&
			ranks->seen[i].start_ns > seen->end_ns)
			return true;
	return false;
}

static bool is_there(const struct tfs_ranks *ranks, const struct tfs_rank_seen *of, uint32_t rank)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->seen[i].rank == rank && same_job(&ranks->seen[i], of) &&
			!is_stale(ranks, &ranks->seen[i]))
			return true;
	return false;
}

static bool is_first(const struct tfs_ranks *ranks, size_t which)
{
	for (size_t i = 0; i < which; i++)
		if (same_job(&ranks->seen[i], &ranks->seen[which]))
			return false;
	return true;
}

bool tfs_ranks_next_missing(
	const struct tfs_ranks *ranks, size_t *cursor, struct tfs_ranks_missing *out_missing)
{
	for (; *cursor < ranks->count; ++*cursor) {
		const struct tfs_rank_seen *seen = &ranks->seen[*cursor];
		struct tfs_ranks_missing missing = {.processes = seen->processes};

		if (seen->processes > MOST_PROCESSES || !is_first(ranks, *cursor))
			continue;
		for (uint32_t rank = 0; rank < seen->processes; rank++) {
			if (!is_there(ranks, seen, rank)) {
				missing.rank = rank;
				continue;
			}
			missing.first = missing.present++ ? missing.first : rank;
			missing.last = rank;
		}
		if (missing.present == missing.processes)
			continue;
		++*cursor;
		*out_missing = missing;
		return true;
	}
	return false;
}

bool tfs_ranks_are_a_share(const struct tfs_ranks_missing *missing)
{
	const uint32_t present = missing->present;

	return present && missing->last - missing->first + 1 == present &&
	       missing->processes % present == 0 && missing->first % present == 0;
}

void tfs_ranks_finish(struct tfs_ranks *ranks)
{
	free(ranks->seen);
	memset(ranks, 0, sizeof(*ranks));
}
