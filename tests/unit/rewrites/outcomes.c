/* SPDX-License-Identifier: MIT */
/* What a rewrite came to: what it may do, counts and predicts, and the state, outcome and reason
 * that the recording is told. Each case in a process of its own, whose ledger is empty. */
#include <errno.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/breaker/breaker.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/rewrites/rewrite_refusals.h"
#include "shim/trace/format/format.h"
#include "tests/test.h"

struct tfs_options tfs_options = {.measure = 4000, .ranks = 1, .quiet = true, .rewrite = "all"};
enum tfs_log_level tfs_log_limit;

static const struct tfs_rewrite first = {.name = "first", .class = 1, .switchable = true},
				steady = {.name = "steady", .class = 2},
				idle = {.name = "idle", .class = 1, .switchable = true};
const struct tfs_rewrite *const tfs_rewrite_all[] = {&first, &steady, &idle, NULL};
_Atomic enum tfs_rewrite_mode tfs_rewrite_mode_of[TFS_REWRITES_MOST];

static struct tfs_rewrite_record told; /* the latest */
static unsigned tellings;
static enum tfs_fact_code fact;
static unsigned arms, given_up, refusals;
static int arm_status;
static uint32_t refused_check;
static struct tfs_measured measured;

void tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	TEST_EQ(kind, TFS_RECORD_rewrite);
	memcpy(&told, record, bytes);
	tellings++;
}

void tfs_recorder_fact(enum tfs_fact_code code, const char *object, uint64_t number, uint64_t more)
{
	(void)object, (void)number, (void)more;
	fact = code;
}

uint32_t tfs_recorder_string(const char *text)
{
	return (uint32_t)strlen(text);
}

void tfs_log_say(const char *format, ...)
{
	TEST_STR(format, "");
}

void tfs_log_write(enum tfs_log_level level, const char *file, int line, const char *format, ...)
{
	(void)level, (void)file, (void)line, (void)format;
}

int tfs_breaker_arm(void)
{
	arms++;
	return arm_status;
}

void tfs_measure_give_up(uint32_t i)
{
	TEST_EQ(i, 0);
	given_up++;
}

void tfs_measure_result(uint32_t i, struct tfs_measured *out_measured)
{
	TEST_EQ(i, 0);
	*out_measured = measured;
}

void tfs_refusal_count(uint32_t rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == 0 && site == 7);
	refused_check = check;
	refusals++;
}

uint64_t tfs_refusal_each(
	void (*take)(uint32_t rewrite, uint32_t check, uint32_t site, uint64_t count))
{
	(void)take;
	return 0;
}

static void mode(enum tfs_rewrite_mode of_first)
{
	tfs_rewrite_mode_of[0] = of_first;
	tfs_rewrite_mode_of[1] = TFS_MODE_APPLY;
	tfs_ledger_start(0);
	tfs_ledger_start(1);
}

/* Acts in apply mode alone, after the circuit breaker's mark was asked for, once. */
static void acts(void)
{
	for (int i = TFS_MODE_OFF; i < TFS_MODE_APPLY; i++) {
		tellings = 0;
		mode((enum tfs_rewrite_mode)i);
		/* That it is there, if it is: a program may be killed before any call. */
		TEST_EQ(tellings, i == TFS_MODE_OFF ? 1 : 2);
		TEST_TRUE(!tfs_rewrite_apply(&first, 8) && !tfs_rewrite_may_act(&first));
	}
	TEST_EQ(arms, 0);
	TEST_EQ(tfs_rewrite_applied(0), 0);
	mode(TFS_MODE_APPLY);
	tellings = 0;
	for (int i = 0; i < 300; i++)
		TEST_TRUE(tfs_rewrite_apply(&first, 8));
	TEST_EQ(arms, 1);
	TEST_EQ(fact, TFS_FACT_none);
	TEST_EQ(tfs_rewrite_applied(0), 300);
	TEST_EQ(tfs_rewrite_applied(1), 0);
	/* In case of a kill: the first, and each power of 16. */
	TEST_EQ(tellings, 3);
	TEST_EQ(told.applied, 256);
	TEST_EQ(told.bytes, 256 * 8);
	TEST_EQ(told.state, TFS_REWRITE_APPLY);
	tfs_rewrite_decided(0);
	TEST_EQ(tellings, 4);
	TEST_EQ(told.applied, 300);
	while (tfs_rewrite_applied(0) < 4096)
		tfs_rewrite_acted(&first, 8);
	TEST_EQ(tellings, 4);
	TEST_TRUE(tfs_rewrite_shadow(&steady, 5));
	TEST_EQ(tfs_rewrite_applied(1), 1);
}

/* A crash would go unnoticed: no rewrite acts, */
static void silent_folder(void)
{
	mode(TFS_MODE_APPLY);
	arm_status = -ETIMEDOUT;
	TEST_TRUE(!tfs_rewrite_apply(&first, 8));
	TEST_EQ(fact, TFS_FACT_folder_silent);
	TEST_EQ(tfs_rewrite_mode(&first), TFS_MODE_OFF);
	TEST_EQ(tfs_rewrite_mode(&steady), TFS_MODE_OFF);
	TEST_TRUE(!tfs_rewrite_may_act(&steady) && !tfs_rewrite_shadow(&steady, 1));
	TEST_EQ(arms, 1);
	TEST_EQ(tfs_rewrite_applied(0) + tfs_rewrite_applied(1), 0);
}

/* unless it is plain that there can be no mark. */
static void no_mark(void)
{
	mode(TFS_MODE_APPLY);
	arm_status = -ENAMETOOLONG;
	tfs_rewrite_acted(&first, 8);
	TEST_EQ(arms, 1);
	TEST_EQ(fact, TFS_FACT_breaker_none);
	TEST_TRUE(tfs_rewrite_apply(&first, 8));
}

static void predict(unsigned calls, double ns)
{
	while (calls--)
		tfs_rewrite_predict_call(&first, ns);
}

/* By the step, where there are steps; else by the call, after some of them. */
static void predicts(void)
{
	mode(TFS_MODE_APPLY);
	TEST_TRUE(isnan(tfs_rewrite_predicted(0)) && isnan(tfs_rewrite_predicted(1)));
	predict(15, 30);
	TEST_TRUE(isnan(tfs_rewrite_predicted(0)));
	predict(1, 190);
	TEST_EQ(tfs_rewrite_predicted(0), 40);
	for (int i = 0; i < 4; i++) {
		tfs_ledger_step(0);
		tfs_ledger_step(2);
	}
	TEST_EQ(tfs_rewrite_predicted(0), 160);
	TEST_TRUE(isnan(tfs_rewrite_predicted(2)));
	tfs_rewrite_predict(&steady, 70);
	TEST_EQ(tfs_rewrite_predicted(1), 70);
	TEST_EQ(given_up, 0);
}

/* Without steps nothing can be measured: its own model ends it. */
static void gives_up(void)
{
	mode(TFS_MODE_APPLY);
	predict(15, -1);
	TEST_EQ(given_up, 0);
	predict(1, -1);
	TEST_EQ(given_up, 1);
	tfs_options.measure = 0;
	predict(1, -1);
	tfs_options.measure = 4000;
	tfs_ledger_step(0);
	predict(1, -1);
	TEST_EQ(given_up, 1);
}

static void expect(enum tfs_rewrite_state state, enum tfs_rewrite_outcome outcome)
{
	tfs_rewrite_decided(0);
	TEST_EQ(told.state, state);
	TEST_EQ(told.outcome, outcome);
}

/* What was measured decides; what could not be, its own model. */
static void states(void)
{
	mode(TFS_MODE_APPLY);
	measured = (struct tfs_measured){.asked = true,
		.outcome = TFS_OUTCOME_SLOWER,
		.gain = {-5, -9, -1},
		.reason = {.code = TFS_REASON_slower}};
	/* An earlier run found that, though in this one it was never applicable; */
	expect(TFS_REWRITE_LOST, TFS_REWRITE_SLOWER);
	TEST_EQ(told.realised_ns, -5);
	TEST_EQ(told.realised_low_ns, -9);
	TEST_EQ(told.realised_high_ns, -1);
	TEST_EQ(told.reason.code, TFS_REASON_slower);
	/* what none has found is no answer then. */
	measured.outcome = TFS_OUTCOME_UNDECIDED;
	expect(TFS_REWRITE_APPLY, TFS_REWRITE_NOT_MEASURED);
	TEST_TRUE(isnan(told.realised_ns));
	tfs_options.ranks = 2;
	expect(TFS_REWRITE_OFF, TFS_REWRITE_UNDECIDED);
	tfs_options.ranks = 1;
	tfs_rewrite_apply(&first, 8);
	expect(TFS_REWRITE_OFF, TFS_REWRITE_UNDECIDED);
	measured.outcome = TFS_OUTCOME_FASTER;
	expect(TFS_REWRITE_APPLY, TFS_REWRITE_FASTER);
	measured.outcome = TFS_OUTCOME_NO_DIFFERENCE;
	expect(TFS_REWRITE_LOST, TFS_REWRITE_NO_DIFFERENCE);
	measured.asked = false;
	expect(TFS_REWRITE_OFF, TFS_REWRITE_NOT_MEASURED);
	tfs_options.measure = 0;
	expect(TFS_REWRITE_APPLY, TFS_REWRITE_NOT_MEASURED);
	tfs_options.measure = 4000;
	predict(16, 5);
	expect(TFS_REWRITE_APPLY, TFS_REWRITE_NOT_MEASURED);
	predict(16, -6);
	expect(TFS_REWRITE_OFF, TFS_REWRITE_NOT_MEASURED);
	tfs_rewrite_mode_of[0] = TFS_MODE_REPORT;
	expect(TFS_REWRITE_REPORT, TFS_REWRITE_NOT_MEASURED);
	/* One that cannot be switched is not measured. */
	tfs_rewrite_decided(1);
	TEST_EQ(told.state, TFS_REWRITE_APPLY);
	TEST_EQ(told.class, 2);
}

static uint16_t reason(void)
{
	tfs_rewrite_decided(0);
	return told.reason.code;
}

/* Of several reasons the one that says most. */
static void reasons(void)
{
	const struct tfs_reason evidence = {.code = TFS_REASON_zeroed_differs, .numbers = {3}};

	mode(TFS_MODE_APPLY);
	TEST_EQ(reason(), TFS_REASON_none);
	TEST_TRUE(tfs_rewrite_check_cause(&first, TFS_CHECK_size, NULL, 7));
	TEST_EQ(refusals, 0);
	TEST_TRUE(!tfs_rewrite_check_cause(&first, TFS_CHECK_size, "a cause", 7));
	TEST_TRUE(!tfs_rewrite_check_cause(&first, TFS_CHECK_not_shared, "a later one", 7));
	TEST_EQ(refusals, 2);
	TEST_EQ(reason(), TFS_REASON_caused);
	TEST_EQ(told.reason.object, strlen("a cause"));
	TEST_EQ(told.reason.numbers[0], TFS_CHECK_size);
	tfs_rewrite_explain(&first, TFS_REASON_ended_abnormally, "some file");
	TEST_EQ(reason(), TFS_REASON_ended_abnormally);
	TEST_EQ(told.reason.object, strlen("some file"));
	tfs_rewrite_apply(&first, 8);
	measured = (struct tfs_measured){.asked = true,
		.outcome = TFS_OUTCOME_FASTER,
		.reason = {.code = TFS_REASON_faster}};
	TEST_EQ(reason(), TFS_REASON_faster);
	tfs_rewrite_differs(&first, 7, &evidence);
	TEST_EQ(refused_check, TFS_CHECK_shadow_differs);
	TEST_EQ(reason(), TFS_REASON_zeroed_differs);
	TEST_EQ(told.reason.numbers[0], 3);
	TEST_EQ(told.state, TFS_REWRITE_OFF);
	TEST_TRUE(!tfs_rewrite_apply(&first, 8));
}

static void alone(const char *name, void (*test)(void))
{
	int status = -1;

	fflush(stdout);
	const pid_t child = fork();
	TEST_NEED(child >= 0);
	if (child == 0) {
		test();
		fflush(stdout);
		exit(test_result()); /* not _exit: coverage is counted at the end */
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	if (!TEST_EQ(status, 0))
		printf("in %s\n", name);
}

int main(void)
{
	alone("acts", acts);
	alone("silent_folder", silent_folder);
	alone("no_mark", no_mark);
	alone("predicts", predicts);
	alone("gives_up", gives_up);
	alone("states", states);
	alone("reasons", reasons);
	return test_result();
}
