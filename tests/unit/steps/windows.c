/* SPDX-License-Identifier: MIT */
/* Steps that a program declares, and the windows that turn with them while CUPTI comes and goes:
 * each step is in the recording once, in a window by its mark, outside by its time. */
#include "shim/steps/windows.h"

#include <pthread.h>

#include "cupti/collector.h"
#include "shim/steps/steps.h"
#include "tests/unit/trace/recording.h"

#define STEPS 1000u
#define CALLER 0x1000u
#define LATER 2u
#define CALLS 1u
#define DEVICE 2u
#define WINDOW_CLOSES 0u

static bool taken = true; /* CUPTI, by us */
static bool fails;        /* when it is switched on for a window */

void tfs_collector_start(void)
{
}

bool tfs_collector_ready(void)
{
	return taken;
}

bool tfs_collector_window(bool open)
{
	taken = taken && !(open && fails);
	return open && taken;
}

void tfs_collector_poll(void)
{
}

void tfs_collector_push(uint64_t unit)
{
	(void)unit;
}

void tfs_collector_pop(void)
{
}

void tfs_collector_finish(void)
{
}

bool tfs_collector_leave(bool *out_was_on)
{
	*out_was_on = taken;
	taken = false;
	return *out_was_on;
}

bool tfs_collector_return(struct tfs_cupti_refusal *out_refusal)
{
	(void)out_refusal;
	taken = true;
	return true;
}

void tfs_collector_taken(const char *by)
{
	(void)by;
}

void *tfs_collector_share(void *request, void *complete)
{
	(void)request;
	return complete;
}

void tfs_collector_forget(void)
{
}

/* A step takes 1000 bytes. Windows take at most half of what is left: at step 40, one step; at step
 * 640, two. */
void __wrap_tfs_writer_used(
	const struct tfs_writer *writer, uint64_t *out_used_bytes, uint64_t *out_left_bytes);

void __wrap_tfs_writer_used(
	const struct tfs_writer *writer, uint64_t *out_used_bytes, uint64_t *out_left_bytes)
{
	const uint64_t step = tfs_steps_count();

	TEST_TRUE(writer == &tfs_recording);
	*out_used_bytes = step == 40 ? 18000 : 26000;
	*out_left_bytes = step == 40 ? 2000 : step == 640 ? 4000 : 1000000;
}

/* Whether a rewrite is on in a step. */
static bool rewritten(uint64_t step)
{
	return step >= 400 && step < 600;
}

bool __wrap_tfs_rewrite_any_switchable(void);

bool __wrap_tfs_rewrite_any_switchable(void)
{
	return rewritten(tfs_steps_now());
}

/* Steps of different length. */
static uint64_t start_of(uint64_t step)
{
	return 1000000 + 1000 * step + step % 7;
}

/* What is told of windows: at which step, and with what. One that opens again without its end goes
 * on with other flags. */
static const struct {
	uint32_t number, opens;
	uint64_t step;
	uint32_t flags;
} turns[] = {
	/* What it recorded would be in the one at step 20 again. */
	{1, 1, 1, CALLS | DEVICE},
	{1, 0, 19, WINDOW_CLOSES},
	/* At step 40 there is no room. CUPTI fails. */
	{2, 1, 80, CALLS},
	{2, 0, 82, WINDOW_CLOSES},
	/* The program has it, and gives it back without a word while a window is open. */
	{3, 1, 160, CALLS},
	{3, 0, 161, WINDOW_CLOSES},
	{4, 1, 161, CALLS | DEVICE},
	{4, 0, 163, WINDOW_CLOSES},
	/* Once more, and says so. */
	{5, 1, 320, CALLS},
	{5, 0, 321, WINDOW_CLOSES},
	{6, 1, 321, CALLS | DEVICE},
	{6, 0, 323, WINDOW_CLOSES},
	/* The program takes it amid a window, and gives it back outside. */
	{7, 1, 640, CALLS | DEVICE},
	{7, 1, 0, CALLS},
	{7, 0, 642, WINDOW_CLOSES},
	{8, 1, 711, CALLS | DEVICE},
	{8, 0, 713, WINDOW_CLOSES},
	/* By the option, from step 800 to 810. */
	{9, 1, 811, CALLS | DEVICE},
	{9, 0, 813, WINDOW_CLOSES},
};
#define TURNS (sizeof(turns) / sizeof(turns[0]))

static bool in_window(uint64_t step)
{
	bool in = false;

	for (size_t i = 0; i < TURNS; i++)
		if (turns[i].step != 0 && turns[i].step <= step)
			in = turns[i].opens != 0;
	return in;
}

static void *declare_too(void *nothing)
{
	tfs_steps_begin(TFS_STEP_API, start_of(STEPS), CALLER);
	tfs_steps_end(TFS_STEP_API, start_of(STEPS), CALLER);
	return nothing;
}

/* What happens while this step runs. */
static void during(uint64_t step)
{
	pthread_t thread;

	switch (step) {
	case 90:
		taken = true;
		break;
	case 100:
	case 200:
	case 640:
		TEST_TRUE(tfs_windows_leave(TFS_LEFT_BY_PROGRAM, NULL));
		break;
	case 160:
		taken = true;
		tfs_windows_activity();
		break;
	case 320:
	case 710:
		TEST_TRUE(tfs_windows_return());
		break;
	case 500:
		/* Neither ranges nor another thread's steps count now. */
		tfs_steps_begin(TFS_STEP_NVTX, start_of(STEPS), CALLER);
		TEST_NEED(pthread_create(&thread, NULL, declare_too, NULL) == 0);
		pthread_join(thread, NULL);
		break;
	}
}

static void run(void)
{
	for (uint64_t step = 1; step <= STEPS; step++) {
		fails = step == 80;
		tfs_steps_begin(TFS_STEP_API, start_of(step), CALLER);
		TEST_EQ(tfs_steps_now(), step);
		TEST_EQ(tfs_steps_count(), step);
		const bool in = in_window(step);
		TEST_EQ(tfs_windows_open(), in);
		TEST_EQ((tfs_wanted & TFS_WANT_RECORD) != 0, in);
		TEST_EQ((tfs_wanted & TFS_WANT_CONTENTS) != 0, in);
		TEST_EQ((tfs_wanted & TFS_WANT_DEVICE) != 0, in && taken);
		/* Findings judge the program as it was written. */
		TEST_EQ(tfs_windows_rewrites(), !in);
		during(step);
		TEST_EQ(tfs_steps_now(), step);
	}
	TEST_TRUE((tfs_wanted & TFS_WANT_STEPS) == 0);
	tfs_steps_end(TFS_STEP_API, start_of(STEPS + 1), CALLER);
	TEST_EQ(tfs_steps_now(), 0);
	TEST_EQ(tfs_steps_count(), STEPS);
	/* What follows is training again, and its first step is marked wherever it is. */
	tfs_steps_begin(TFS_STEP_API, start_of(STEPS + 5), CALLER);
	TEST_EQ(tfs_steps_now(), STEPS + 1);
	tfs_steps_finish();
	tfs_windows_finish();
}

static void check_windows(const struct tfs_trace *trace)
{
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_window), TURNS);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_window) && i < TURNS; i++) {
		const struct tfs_window_record *record = tfs_trace_at(trace, TFS_RECORD_window, i);

		TEST_EQ(record->number, turns[i].number);
		TEST_EQ(record->opens, turns[i].opens);
		TEST_EQ(record->step, turns[i].step);
		TEST_EQ(record->flags, turns[i].flags);
	}
}

static void check_times(const struct tfs_trace *trace, unsigned *seen)
{
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_steps); i++) {
		const struct tfs_steps_record *record = tfs_trace_at(trace, TFS_RECORD_steps, i);
		const float *ticks = (const float *)(record + 1);

		TEST_NEED(record->count > 0 && record->first_index > 0 &&
			  record->first_index + record->count <= STEPS + 1);
		TEST_EQ(record->first_start_ticks, start_of(record->first_index));
		TEST_EQ(record->flags, rewritten(record->first_index));
		for (uint64_t j = 0; j < record->count; j++) {
			const uint64_t step = record->first_index + j;

			seen[step]++;
			TEST_TRUE(!in_window(step));
			TEST_EQ(rewritten(step), rewritten(record->first_index));
			TEST_EQ(ticks[j], start_of(step + 1) - start_of(step));
		}
	}
}

static void check_marks(const struct tfs_trace *trace, unsigned *seen)
{
	const size_t count = tfs_trace_count(trace, TFS_RECORD_step);
	const struct tfs_step_record *last[3];

	TEST_NEED(count > 3);
	for (size_t i = 0; i < count - 3; i++) {
		const struct tfs_step_record *record = tfs_trace_at(trace, TFS_RECORD_step, i);

		TEST_NEED(record->index > 0 && record->index <= STEPS);
		seen[record->index]++;
		TEST_TRUE(in_window(record->index));
		TEST_EQ(record->start_ticks, start_of(record->index));
		TEST_EQ(record->phase, TFS_PHASE_TRAINING);
		TEST_EQ(record->source, TFS_STEP_API);
		TEST_EQ(record->flags, 2);
		TEST_TRUE(record->site != 0);
	}
	for (size_t i = 0; i < 3; i++)
		last[i] = tfs_trace_at(trace, TFS_RECORD_step, count - 3 + i);
	/* Where training stops, where it goes on, and the end. */
	TEST_EQ(last[0]->phase, TFS_PHASE_OTHER);
	TEST_EQ(last[0]->index, STEPS);
	TEST_EQ(last[0]->start_ticks, start_of(STEPS + 1));
	TEST_EQ(last[1]->phase, TFS_PHASE_TRAINING);
	TEST_EQ(last[1]->index, STEPS + 1);
	TEST_EQ(last[1]->start_ticks, start_of(STEPS + 5));
	TEST_EQ(last[2]->index, STEPS + 1);
}

/* What is said of CUPTI, in its order, each with the number of steps until then. */
static void check_facts(const struct tfs_trace *trace)
{
	static const struct {
		enum tfs_fact_code fact;
		uint64_t steps;
	} facts[] = {{TFS_FACT_steps_told, 0}, {TFS_FACT_cupti_lost, 80},
		{TFS_FACT_cupti_given_back, 100}, {TFS_FACT_cupti_given_back, 200},
		{TFS_FACT_cupti_again, 320}, {TFS_FACT_cupti_given_back, 640},
		{TFS_FACT_cupti_again, 710}, {TFS_FACT_cupti_lent, 800},
		{TFS_FACT_cupti_again, 811}};
	const size_t count = sizeof(facts) / sizeof(facts[0]);

	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_fact), count);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact) && i < count; i++) {
		const struct tfs_fact_record *record = tfs_trace_at(trace, TFS_RECORD_fact, i);

		TEST_EQ(record->fact, facts[i].fact);
		TEST_EQ(record->numbers[0], facts[i].steps);
	}
}

int main(void)
{
	static unsigned seen[STEPS + 2];

	tfs_options.record = TFS_RECORD_WINDOWS;
	tfs_options.window_steps = 18;
	tfs_options.later_steps = LATER;
	tfs_options.window_at = 20;
	tfs_options.window_seconds = 1000000;
	tfs_options.cupti_off = UINT64_C(800) << 32 | 810;
	tfs_options.limit_bytes = UINT64_C(256) << 20;
	tfs_options.quiet = true;
	recording_start();
	tfs_recorder_named_thread("test");
	tfs_steps_start();
	tfs_windows_start();
	TEST_TRUE(!tfs_windows_open() && !tfs_windows_rewrites());
	TEST_TRUE((tfs_wanted & TFS_WANT_STEPS) != 0);
	run();
	struct tfs_trace *trace = recording_read();
	check_windows(trace);
	check_times(trace, seen);
	check_marks(trace, seen);
	check_facts(trace);
	for (unsigned step = 1; step <= STEPS; step++)
		if (!TEST_EQ(seen[step], 1))
			printf("  for step %u\n", step);
	recording_end(trace);
	return test_result();
}
