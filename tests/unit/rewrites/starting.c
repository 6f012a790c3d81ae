/* SPDX-License-Identifier: MIT */
/* Which rewrites a run starts, by what was asked for and by what earlier runs left, which of them
 * take part in a step, and what is done at the end; all of them made up. Each case in a process of
 * its own. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/record/files.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/breaker/breaker.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/rewrites/rewrite_modes.h"
#include "shim/rewrites/rewrite_ops.h"
#include "shim/rewrites/rewrites_list.h"
#include "shim/state/capture.h"
#include "shim/steps/windows.h"
#include "shim/trace/format/format.h"
#include "tests/test.h"

#define BIT(number) (1u << (number))
#define ALL UINT32_MAX

/* Their numbers in the list; the first four are these, the others are off throughout. */
enum {
#define X(name) NUMBER_##name,
	TFS_REWRITES(X) COUNT,
#undef X
	COMPARING = 0,
	FREEING,
	STEADY,
	UNABLE
};

struct tfs_options tfs_options = {.measure = 4000, .ranks = 1, .rewrite = "all"};
uint32_t tfs_wanted, tfs_rewrites_wanting, tfs_measure_on = ALL, tfs_measure_against;
_Atomic bool tfs_windows_rewriting = true;
unsigned tfs_captures_open;

static enum tfs_rewrite_mode asked_for[COUNT];
static unsigned fetched, files_fetched, started, finished, said;
static bool folder_answers = true, has_tripped, asked_breaker;
static enum tfs_fact_code fact;
static char fact_object[40];
static uint32_t explained, stepped, measured = ALL, decided, added; /* bits */
static uint64_t applied[COUNT];

static void fetch(void)
{
	fetched++;
}

static bool start(void)
{
	started++;
	return true;
}

static bool start_not(void)
{
	return false;
}

static void finish(void)
{
	finished++;
}

#define X(which)                                                                                   \
	extern const struct tfs_rewrite tfs_rewrite_##which;                                       \
	const struct tfs_rewrite tfs_rewrite_##which = {                                           \
		.name = #which,                                                                    \
		.switchable = NUMBER_##which != STEADY,                                            \
		.compares = NUMBER_##which == COMPARING,                                           \
		.acts = NUMBER_##which == FREEING ? TFS_OP_BIT(TFS_OP_FREE)                        \
						  : TFS_OP_BIT(TFS_OP_COPY),                       \
		.fetch = fetch,                                                                    \
		.start = NUMBER_##which == UNABLE ? start_not : start,                             \
		.finish = finish,                                                                  \
	};
TFS_REWRITES(X)
#undef X

void tfs_rewrite_modes(const char *text, const struct tfs_rewrite *const *rewrites,
	_Atomic enum tfs_rewrite_mode *modes, void (*unknown)(const char *word, int length))
{
	TEST_STR(text, "all");
	TEST_TRUE(rewrites == tfs_rewrite_all && unknown);
	for (unsigned i = 0; i < COUNT; i++)
		modes[i] = asked_for[i];
}

bool tfs_files_ask(void (*job)(void))
{
	if (folder_answers)
		job();
	return folder_answers;
}

static bool kept;

bool tfs_files_ask_last(void (*job)(void))
{
	job();
	return true;
}

void tfs_measure_keep(void)
{
	TEST_EQ(decided, (1u << COUNT) - 1);
	kept = true;
}

bool tfs_breaker_tripped(const char **out_file)
{
	asked_breaker = true;
	*out_file = has_tripped ? "a file" : NULL;
	return has_tripped;
}

static bool disarmed;

void tfs_breaker_disarm(void)
{
	TEST_TRUE(kept);
	disarmed = true;
}

void tfs_measure_file_fetch(void)
{
	files_fetched++;
}

void tfs_measure_start(uint32_t switchable)
{
	measured = switchable;
}

static uint64_t step_ns, step_bytes;

void tfs_measure_step(uint64_t ns, uint64_t bytes)
{
	step_ns = ns;
	step_bytes = bytes;
}

void tfs_recorder_fact(enum tfs_fact_code code, const char *object, uint64_t number, uint64_t more)
{
	TEST_EQ(number + more, 0);
	fact = code;
	snprintf(fact_object, sizeof(fact_object), "%s", object ? object : "");
}

void tfs_log_say(const char *format, ...)
{
	TEST_TRUE(*format != '\0');
	said++;
}

void tfs_ledger_start(size_t i)
{
	TEST_TRUE(i < COUNT);
}

void tfs_ledger_step(size_t i)
{
	stepped |= BIT(i);
}

static bool refusals_written;

void tfs_ledger_write_refusals(void)
{
	refusals_written = true;
}

void tfs_rewrite_explain(
	const struct tfs_rewrite *rewrite, enum tfs_reason_code reason, const char *object)
{
	TEST_EQ(reason, TFS_REASON_ended_abnormally);
	TEST_STR(object, "a file");
	for (unsigned i = 0; i < COUNT; i++)
		if (tfs_rewrite_all[i] == rewrite)
			explained |= BIT(i);
}

uint64_t tfs_rewrite_applied(uint32_t i)
{
	return applied[i];
}

void tfs_rewrite_decided(uint32_t i)
{
	decided |= BIT(i);
}

uint32_t tfs_rewrite_ops_add(size_t i)
{
	added |= BIT(i);
	return tfs_rewrite_all[i]->acts | (i == STEADY ? TFS_OP_BIT(TFS_OP_MADE) : 0);
}

static bool ops_finished;
static unsigned offered;

void tfs_rewrite_ops_finish(void)
{
	ops_finished = true;
}

void tfs_rewrite_offer(void)
{
	offered++;
}

static unsigned flushed, forgotten;

bool tfs_blocks_flush(bool driver, uint32_t device)
{
	TEST_TRUE(driver && device == 3);
	flushed++;
	errno = EDOM;
	return true;
}

void tfs_held_forget(void)
{
	forgotten++;
}

static void ask_for(enum tfs_rewrite_mode comparing, enum tfs_rewrite_mode freeing,
	enum tfs_rewrite_mode steady, enum tfs_rewrite_mode unable)
{
	asked_for[COMPARING] = comparing;
	asked_for[FREEING] = freeing;
	asked_for[STEADY] = steady;
	asked_for[UNABLE] = unable;
	tfs_rewrite_start();
}

/* The modes of the first four, by first letter. */
static const char *modes(void)
{
	static char text[5];

	for (int i = 0; i < 4; i++)
		text[i] = "-rsa"[tfs_rewrite_mode_of[i]];
	return text;
}

static void all_apply(void)
{
	ask_for(TFS_MODE_APPLY, TFS_MODE_APPLY, TFS_MODE_APPLY, TFS_MODE_OFF);
	TEST_STR(modes(), "aaa-");
}

static void starts(void)
{
	ask_for(TFS_MODE_SHADOW, TFS_MODE_SHADOW, TFS_MODE_APPLY, TFS_MODE_APPLY);
	/* What cannot compare reports; what cannot work here is off. */
	TEST_STR(modes(), "sra-");
	TEST_EQ(said, 1);
	TEST_EQ(fetched, 4);
	TEST_EQ(started, 3);
	TEST_TRUE(asked_breaker);
	TEST_EQ(files_fetched, 1);
	TEST_EQ(added, BIT(COMPARING) | BIT(FREEING) | BIT(STEADY));
	TEST_EQ(tfs_rewrites_wanting,
		TFS_OP_BIT(TFS_OP_COPY) | TFS_OP_BIT(TFS_OP_FREE) | TFS_OP_BIT(TFS_OP_MADE));
	TEST_EQ(tfs_wanted, TFS_WANT_WORK);
	TEST_EQ(offered, 1);
	/* Nothing that can be switched acts. */
	TEST_EQ(measured, 0);
	TEST_EQ(fact, TFS_FACT_none);
}

static void starts_none(void)
{
	folder_answers = false;
	ask_for(TFS_MODE_OFF, TFS_MODE_OFF, TFS_MODE_OFF, TFS_MODE_OFF);
	TEST_EQ(fact, TFS_FACT_none);
	TEST_EQ(fetched + started + said + added, 0);
	TEST_EQ(tfs_rewrites_wanting | tfs_wanted, 0);
}

/* An earlier run ended abnormally: only what would act is off. */
static void trips(void)
{
	has_tripped = true;
	ask_for(TFS_MODE_APPLY, TFS_MODE_REPORT, TFS_MODE_APPLY, TFS_MODE_OFF);
	TEST_STR(modes(), "-r--");
	TEST_EQ(explained, BIT(COMPARING) | BIT(STEADY));
	TEST_EQ(fact, TFS_FACT_rewrites_off);
	TEST_STR(fact_object, "a file");
	TEST_EQ(said, 1);
	TEST_EQ(measured, 0);
}

static void trips_shadow(void)
{
	has_tripped = true;
	tfs_options.rank = 1;
	ask_for(TFS_MODE_SHADOW, TFS_MODE_OFF, TFS_MODE_OFF, TFS_MODE_OFF);
	TEST_STR(modes(), "----");
	TEST_EQ(said, 0);
}

/* Who only reports is not asked to delete anything. */
static void trips_none(void)
{
	has_tripped = true;
	ask_for(TFS_MODE_REPORT, TFS_MODE_OFF, TFS_MODE_OFF, TFS_MODE_OFF);
	TEST_STR(modes(), "r---");
	TEST_TRUE(!asked_breaker);
	TEST_EQ(said + explained, 0);
}

static void folder_is_late(void)
{
	folder_answers = false;
	ask_for(TFS_MODE_APPLY, TFS_MODE_REPORT, TFS_MODE_OFF, TFS_MODE_OFF);
	TEST_STR(modes(), "----");
	TEST_EQ(fact, TFS_FACT_folder_late);
	TEST_STR(tfs_options.rewrite, "off");
	TEST_EQ(tfs_options.measure, 0);
	TEST_EQ(said, 1);
	TEST_EQ(added, 0);
}

static uint32_t take_part(void)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < COUNT; i++)
		bits |= tfs_rewrite_takes_part(i) ? BIT(i) : 0;
	stepped = 0;
	tfs_rewrite_step(5, 6);
	TEST_EQ(stepped, bits & ~BIT(STEADY));
	TEST_EQ(step_ns, 5);
	TEST_EQ(step_bytes, 6);
	return bits;
}

/* In a step, where they are not switched off; what cannot be switched always. */
static void takes_part(void)
{
	all_apply();
	/* Measured is what can be switched. */
	TEST_EQ(measured, BIT(COMPARING) | BIT(FREEING));
	TEST_EQ(take_part(), BIT(COMPARING) | BIT(FREEING) | BIT(STEADY));
	applied[STEADY] = 9;
	TEST_TRUE(!tfs_rewrite_any_switchable());
	applied[FREEING] = 9;
	TEST_TRUE(tfs_rewrite_any_switchable());
	tfs_measure_on = ALL & ~BIT(FREEING);
	TEST_EQ(take_part(), BIT(COMPARING) | BIT(STEADY));
	TEST_TRUE(!tfs_rewrite_any_switchable());
	tfs_measure_on = ALL;
	tfs_windows_rewriting = false;
	TEST_EQ(take_part(), BIT(STEADY));
	TEST_TRUE(!tfs_rewrite_any_switchable());
	tfs_windows_rewriting = true;
	tfs_rewrite_mode_of[FREEING] = TFS_MODE_REPORT;
	TEST_EQ(take_part(), BIT(COMPARING) | BIT(FREEING) | BIT(STEADY));
	TEST_TRUE(!tfs_rewrite_any_switchable());
	tfs_rewrite_mode_of[FREEING] = TFS_MODE_OFF;
	TEST_EQ(take_part(), BIT(COMPARING) | BIT(STEADY));
}

static unsigned tidies(void)
{
	const unsigned before = flushed;

	errno = ERANGE;
	tfs_rewrite_tidy(true, 3);
	TEST_EQ(errno, ERANGE);
	return flushed - before;
}

/* Blocks are given back once no rewrite that frees wants them: none acts, or each was decided
 * against. */
static void gives_back(void)
{
	all_apply();
	TEST_EQ(tidies(), 0);
	tfs_measure_against = BIT(COMPARING);
	TEST_EQ(tidies(), 0);
	tfs_measure_against = BIT(FREEING);
	TEST_EQ(tidies(), 1);
	tfs_captures_open = 1;
	TEST_EQ(tidies(), 0);
	tfs_captures_open = 0;
	tfs_measure_against = 0;
	tfs_rewrite_mode_of[FREEING] = TFS_MODE_REPORT;
	TEST_EQ(tidies(), 1);
}

static void finishes(void)
{
	all_apply();
	offered = 0;
	tfs_rewrite_finish();
	TEST_TRUE(ops_finished && refusals_written && disarmed);
	TEST_EQ(offered, 1);
	TEST_EQ(finished, 3);
}

/* In a forked child, which has none of it. */
static void forgets(void)
{
	all_apply();
	tfs_rewrite_forget();
	TEST_EQ(forgotten, 1);
	TEST_EQ(tfs_rewrites_wanting, 0);
	tfs_rewrite_finish();
	TEST_EQ(finished + decided, 0);
	TEST_TRUE(!ops_finished && !disarmed);
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
	_Static_assert(COUNT > UNABLE, "enough of them");
	alone("starts", starts);
	alone("starts_none", starts_none);
	alone("trips", trips);
	alone("trips_shadow", trips_shadow);
	alone("trips_none", trips_none);
	alone("folder_is_late", folder_is_late);
	alone("takes_part", takes_part);
	alone("gives_back", gives_back);
	alone("finishes", finishes);
	alone("forgets", forgets);
	return test_result();
}
