/* SPDX-License-Identifier: MIT */
/*
 * The ledger of rewrites while many threads count into it, one turns a rewrite off, and another one
 * tells what they came to: what stands last in the recording is the outcome.
 */
#include <pthread.h>
#include <time.h>

#include "shim/base/clock.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/trace/format/format.h"
#include "tests/unit/trace/recording.h"

#define THREADS 6
#define CALLS 5000u
#define TOLD 400 /* times: there must be room in the recording for it */
#define HELD_NS UINT64_C(50000000)

void __real_tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes);
void __wrap_tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes);

/* Some are counted and told by many at once; of the others a count and the outcome meet. */
#define RACED 5u

static size_t rewrites;
static atomic_uint told;    /* of the latter, those that were decided */
static atomic_uint holding; /* those whose count is on its way */
static atomic_bool over;

/* A count that is slow to get there: time enough for the outcome to pass it. */
void __wrap_tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	const struct tfs_rewrite_record *rewrite = record;
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const unsigned before = atomic_load(&told);

	if (kind == TFS_RECORD_rewrite && rewrite->applied == 1 && atomic_load(&over) &&
		rewrite->reason.code == TFS_REASON_none) {
		atomic_fetch_add(&holding, 1);
		while (atomic_load(&told) == before &&
			tfs_clock_ns(CLOCK_MONOTONIC) - start_ns < HELD_NS)
			sched_yield();
	}
	__real_tfs_recorder_put(record, kind, bytes);
}

static void *count(void *nothing)
{
	const struct tfs_reason evidence = {.code = TFS_REASON_zeroed_differs};

	for (unsigned i = 0; i < CALLS; i++) {
		const struct tfs_rewrite *rewrite = tfs_rewrite_all[i % RACED];

		tfs_rewrite_apply(rewrite, 8);
		tfs_rewrite_predict_call(rewrite, 5);
		tfs_rewrite_predict(rewrite, i);
		tfs_rewrite_check_cause(rewrite, TFS_CHECK_size, "a cause", 3);
		tfs_rewrite_explain(rewrite, TFS_REASON_ended_abnormally, "some file");
		if (i % 1000 == 999)
			tfs_rewrite_differs(tfs_rewrite_all[0], 3, &evidence);
	}
	return nothing;
}

static void *tell(void *nothing)
{
	for (int round = 0; round < TOLD && !atomic_load(&over); round++) {
		for (uint32_t i = 0; i < RACED; i++)
			tfs_rewrite_decided(i);
		usleep(100);
	}
	return nothing;
}

/* The step's own thread. */
static void *step(void *nothing)
{
	while (!atomic_load(&over))
		for (size_t i = 0; i < RACED; i++)
			if (tfs_rewrite_takes_part(i))
				tfs_ledger_step(i);
	return nothing;
}

static void race(void)
{
	pthread_t threads[THREADS], teller, stepper;

	TEST_NEED(pthread_create(&teller, NULL, tell, NULL) == 0);
	TEST_NEED(pthread_create(&stepper, NULL, step, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, count, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&over, true);
	pthread_join(teller, NULL);
	pthread_join(stepper, NULL);
	for (uint32_t i = 1; i < RACED; i++)
		TEST_EQ(tfs_rewrite_applied(i), THREADS * CALLS / RACED);
	TEST_TRUE(tfs_rewrite_applied(0) < THREADS * CALLS / RACED);
}

/* Tells each as soon as its first count is on its way. */
static void *decide(void *nothing)
{
	for (unsigned i = RACED; i < rewrites; i++) {
		while (atomic_load(&holding) <= i - RACED)
			sched_yield();
		tfs_rewrite_decided(i);
		atomic_fetch_add(&told, 1);
	}
	return nothing;
}

static void meet(void)
{
	pthread_t decider;

	TEST_NEED(pthread_create(&decider, NULL, decide, NULL) == 0);
	for (unsigned i = RACED; i < rewrites; i++) {
		tfs_rewrite_explain(tfs_rewrite_all[i], TFS_REASON_ended_abnormally, "some file");
		tfs_rewrite_apply(tfs_rewrite_all[i], 8);
		while (atomic_load(&told) <= i - RACED)
			sched_yield();
	}
	pthread_join(decider, NULL);
}

/* Only an outcome has a reason. */
static void check_last(void)
{
	struct tfs_trace *trace = recording_read();
	const size_t records = tfs_trace_count(trace, TFS_RECORD_rewrite);

	for (size_t i = 0; i < rewrites; i++) {
		const struct tfs_rewrite_record *last = NULL;

		for (size_t k = 0; k < records; k++) {
			const struct tfs_rewrite_record *record =
				tfs_trace_at(trace, TFS_RECORD_rewrite, k);

			if (strcmp(tfs_trace_string(trace, record->name),
				    tfs_rewrite_all[i]->name) == 0)
				last = record;
		}
		TEST_NEED(last);
		TEST_TRUE(last->reason.code != TFS_REASON_none);
	}
	printf("%u calls of %d threads, %zu outcomes, %zu records\n", THREADS * CALLS, THREADS,
		rewrites, records);
	recording_end(trace);
}

int main(void)
{
	tfs_options.ranks = 1;
	recording_start();
	while (tfs_rewrite_all[rewrites])
		rewrites++;
	TEST_NEED(rewrites > RACED);
	for (size_t i = 0; i < rewrites; i++) {
		tfs_rewrite_mode_of[i] = TFS_MODE_APPLY;
		tfs_ledger_start(i);
	}
	race();
	meet();
	check_last();
	return test_result();
}
