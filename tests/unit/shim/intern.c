/* SPDX-License-Identifier: MIT */
/* Ids: one per text, one definition each, also among threads and at the table's end. */
#include "shim/record/intern.h"

#include <pthread.h>

#include "tests/unit/trace/recording.h"

#define THREADS 8
#define TEXTS 1000
#define LONGEST 4000
#define CLAIMS 1000000
#define SLOTS (1u << 21)

static void test_table(void)
{
	_Atomic uint64_t table[4] = {0};
	bool fresh = false;

	TEST_EQ(tfs_intern_claim(table, 4, 4, &fresh), 1);
	TEST_TRUE(fresh);
	/* The same place, another text: the next one. */
	TEST_EQ(tfs_intern_claim(table, 4, 8, &fresh), 2);
	TEST_TRUE(fresh);
	TEST_EQ(tfs_intern_claim(table, 4, 4, &fresh), 1);
	TEST_TRUE(!fresh);
	TEST_EQ(tfs_intern_claim(table, 4, 7, &fresh), 4);
	/* Over the end to the start. */
	TEST_EQ(tfs_intern_claim(table, 4, 11, &fresh), 3);
	TEST_TRUE(fresh);
	TEST_EQ(tfs_intern_claim(table, 4, 12, &fresh), 0);
	TEST_TRUE(!fresh);
	TEST_EQ(tfs_intern_claim(table, 4, 11, &fresh), 3);
}

static void test_hash(void)
{
	TEST_TRUE(tfs_intern_hash("", 0) != 0);
	TEST_TRUE(tfs_intern_hash("a", 1) != tfs_intern_hash("b", 1));
	TEST_TRUE(tfs_intern_hash("ab", 2) != tfs_intern_hash("ba", 2));
	TEST_TRUE(tfs_intern_hash("ab", 2) != tfs_intern_hash("ab", 3));
	TEST_TRUE(tfs_intern_hash("ab", 2) == tfs_intern_hash("abc", 2));
}

static _Atomic uint64_t shared[SLOTS];
static atomic_uint fresh_claims;
static pthread_barrier_t all_there;

/* Whoever follows catches up, so that many are claimed by several at once. */
static void *claim_all(void *nothing)
{
	pthread_barrier_wait(&all_there);
	for (uint64_t hash = 1; hash <= CLAIMS; hash++) {
		bool fresh;

		tfs_intern_claim(shared, SLOTS, hash, &fresh);
		if (fresh)
			atomic_fetch_add(&fresh_claims, 1);
	}
	return nothing;
}

static uint32_t ids[THREADS][TEXTS];

static void *intern_all(void *argument)
{
	uint32_t *mine = argument;
	const int first = (int)((mine - ids[0]) / TEXTS) * 100;

	for (int i = 0; i < TEXTS; i++) {
		const int at = (first + i) % TEXTS;
		char text[32];

		snprintf(text, sizeof(text), "text %d", at);
		mine[at] = tfs_recorder_string(text);
	}
	return NULL;
}

static void in_threads(void *(*work)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, work, ids[i]) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void test_threads(void)
{
	TEST_NEED(pthread_barrier_init(&all_there, NULL, THREADS) == 0);
	in_threads(claim_all);
	TEST_EQ(atomic_load(&fresh_claims), CLAIMS);
	in_threads(intern_all);
	for (int i = 1; i < THREADS; i++)
		TEST_EQ(memcmp(ids[0], ids[i], sizeof(ids[0])), 0);
}

static void fill(char *text, size_t length, char last)
{
	memset(text, 'x', length);
	text[length - 1] = last;
	text[length] = '\0';
}

int main(void)
{
	static char text[LONGEST + 2];
	struct tfs_trace *trace;

	test_table();
	test_hash();
	recording_start();
	TEST_EQ(tfs_recorder_string(NULL), 0);
	TEST_EQ(tfs_recorder_kernel(NULL), 0);
	test_threads();
	const uint32_t kernel = tfs_recorder_kernel("text 7");
	TEST_EQ(tfs_recorder_kernel("text 7"), kernel);
	const uint32_t empty = tfs_recorder_string("");
	fill(text, LONGEST, 'y');
	const uint32_t longest = tfs_recorder_string(text);
	fill(text, LONGEST + 1, 'z');
	text[LONGEST - 1] = 'w';
	const uint32_t cut = tfs_recorder_string(text);
	tfs_recorder_fact(TFS_FACT_step_range, "value", 5, 0);
	tfs_recorder_fact(TFS_FACT_step_range, "other", 6, 7);

	trace = recording_read();
	/* The texts, three more here, and two names. */
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_string), TEXTS + 3 + 2);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_kernel), 1);
	for (int i = 0; i < TEXTS; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		TEST_STR(tfs_trace_string(trace, ids[0][i]), text);
	}
	TEST_STR(tfs_trace_kernel(trace, kernel), "text 7");
	TEST_TRUE(empty != 0);
	TEST_EQ(strlen(tfs_trace_string(trace, longest)), LONGEST);
	TEST_EQ(strlen(tfs_trace_string(trace, cut)), LONGEST);
	TEST_EQ(tfs_trace_string(trace, cut)[LONGEST - 1], 'w');
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_strings_cut], 1);
	const struct tfs_fact_record *fact = tfs_trace_fact(trace, TFS_FACT_step_range);
	TEST_EQ(fact->numbers[0], 6);
	TEST_EQ(fact->numbers[1], 7);
	TEST_STR(tfs_trace_string(trace, fact->object), "other");
	recording_end(trace);
	return test_result();
}
