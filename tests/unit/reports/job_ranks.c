/* SPDX-License-Identifier: MIT */
/* Whether there is a recording of every process of a job. */
#include "reports/gate/ranks.h"

#include <math.h>

#include "tests/test.h"

#define NEVER_ENDED NAN

static void add(struct tfs_ranks *ranks, uint64_t run, uint32_t processes, uint32_t rank,
	uint64_t start_ns, double duration_ns)
{
	const struct tfs_model model = {.run = run,
		.rank = rank,
		.job_processes = processes,
		.start_ns = start_ns,
		.duration_ns = duration_ns};

	tfs_ranks_add(ranks, &model);
}

/* Ranks of one job that are there together, by bit; what is missing of them. */
static bool missing_of(uint32_t processes, unsigned present, struct tfs_ranks_missing *out_missing)
{
	struct tfs_ranks ranks = {0};
	size_t cursor = 0;

	/* In another order than theirs. */
	for (uint32_t rank = 8; rank-- > 0;)
		if (present >> rank & 1)
			add(&ranks, 0, processes, rank, 1000 + rank, 100);
	const bool missing = tfs_ranks_next_missing(&ranks, &cursor, out_missing);

	if (missing) {
		struct tfs_ranks_missing more;

		TEST_TRUE(!tfs_ranks_next_missing(&ranks, &cursor, &more));
	}
	tfs_ranks_finish(&ranks);
	return missing;
}

static void ranks_of_one_job(void)
{
	struct tfs_ranks_missing missing;

	TEST_TRUE(!missing_of(4, 0xf, &missing));
	TEST_TRUE(!missing_of(1, 0x1, &missing));
	/* Of no job, or of one that nobody has. */
	TEST_TRUE(!missing_of(0, 0x1, &missing));
	TEST_TRUE(!missing_of(65537, 0x1, &missing));
	TEST_NEED(missing_of(4, 0x7, &missing));
	TEST_EQ(missing.processes, 4);
	TEST_EQ(missing.present, 3);
	TEST_EQ(missing.rank, 3);
	TEST_EQ(missing.first, 0);
	TEST_EQ(missing.last, 2);
	TEST_TRUE(!tfs_ranks_are_a_share(&missing));
	/* The second of two machines, and what is no machine's. */
	TEST_NEED(missing_of(4, 0xc, &missing));
	TEST_EQ(missing.first, 2);
	TEST_EQ(missing.last, 3);
	TEST_TRUE(tfs_ranks_are_a_share(&missing));
	TEST_NEED(missing_of(4, 0x6, &missing));
	TEST_TRUE(!tfs_ranks_are_a_share(&missing));
	TEST_NEED(missing_of(4, 0x5, &missing));
	TEST_TRUE(!tfs_ranks_are_a_share(&missing));
	TEST_NEED(missing_of(4, 0x4, &missing));
	TEST_TRUE(tfs_ranks_are_a_share(&missing));
	/* A rank that the job has not does not help. */
	TEST_NEED(missing_of(2, 0x6, &missing));
	TEST_EQ(missing.rank, 0);
	TEST_EQ(missing.present, 1);
}

/* Is a rank missing where rank 0 ended, and rank 1 began then? */
static bool is_missing(uint64_t run, uint64_t start_ns, double duration_ns, uint64_t other_start_ns)
{
	struct tfs_ranks ranks = {0};
	struct tfs_ranks_missing missing = {0};
	size_t cursor = 0;

	add(&ranks, run, 2, 0, start_ns, duration_ns);
	add(&ranks, run, 2, 1, other_start_ns, 100);
	const bool found = tfs_ranks_next_missing(&ranks, &cursor, &missing);

	TEST_TRUE(!found || (missing.rank == 0 && missing.first == 1 && missing.last == 1));
	tfs_ranks_finish(&ranks);
	return found;
}

/* What ended before another process of its job began is of an earlier job, unless one command
 * started both. */
static void ranks_of_earlier_jobs(void)
{
	TEST_TRUE(!is_missing(0, 1000, 50, 1050));
	TEST_TRUE(is_missing(0, 1000, 50, 1051));
	TEST_TRUE(!is_missing(7, 1000, 50, 1051));
	TEST_TRUE(!is_missing(0, 1000, NEVER_ENDED, 1051));
}

static void ranks_of_several_jobs(void)
{
	struct tfs_ranks ranks = {0};
	struct tfs_ranks_missing missing;
	size_t cursor = 0;

	/* Of 3 the last, of 2 none, and of another run with 2 the first. */
	add(&ranks, 0, 3, 0, 1000, 100);
	add(&ranks, 0, 2, 1, 1000, 100);
	add(&ranks, 0, 3, 1, 1000, 100);
	add(&ranks, 0, 2, 0, 1000, 100);
	add(&ranks, 9, 2, 1, 1000, 100);
	TEST_NEED(tfs_ranks_next_missing(&ranks, &cursor, &missing));
	TEST_EQ(missing.processes, 3);
	TEST_EQ(missing.rank, 2);
	TEST_NEED(tfs_ranks_next_missing(&ranks, &cursor, &missing));
	TEST_EQ(missing.processes, 2);
	TEST_EQ(missing.rank, 0);
	TEST_TRUE(!tfs_ranks_next_missing(&ranks, &cursor, &missing));
	tfs_ranks_finish(&ranks);
}

int main(void)
{
	ranks_of_one_job();
	ranks_of_earlier_jobs();
	ranks_of_several_jobs();
	return test_result();
}
