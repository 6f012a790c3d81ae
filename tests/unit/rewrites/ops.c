/* SPDX-License-Identifier: MIT */
/* Which made-up rewrites are asked about a call, in which order, and who is told how it went. */
#include <errno.h>

#include "shim/record/recorder.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/rewrites/rewrite_ops.h"
#include "shim/steps/windows.h"
#include "tests/test.h"

#define ALL UINT32_MAX

uint32_t tfs_wanted, tfs_measure_on = ALL;
_Atomic enum tfs_rewrite_mode tfs_rewrite_mode_of[TFS_REWRITES_MOST];
_Atomic bool tfs_windows_rewriting = true;

/* What was called, by the rewrite's letter: small as it takes part, capital as it only follows. */
static char calls[32];
static enum tfs_answer answers[4];
static bool repeats[4];
static const struct tfs_details *details;

static void call(char letter, const struct tfs_op *op)
{
	calls[strlen(calls)] = op->may_act ? letter : (char)(letter - 'a' + 'A');
	errno = EDOM;
}

#define REWRITE(which)                                                                             \
	static enum tfs_answer before_##which(struct tfs_op *op)                                   \
	{                                                                                          \
		call(#which[0], op);                                                               \
		return answers[#which[0] - 'a'];                                                   \
	}                                                                                          \
	static bool after_##which(struct tfs_op *op)                                               \
	{                                                                                          \
		op->may_act = true;                                                                \
		call(#which[0], op);                                                               \
		return repeats[#which[0] - 'a'];                                                   \
	}                                                                                          \
	static void event_##which(const struct tfs_op *op)                                         \
	{                                                                                          \
		call(#which[0], op);                                                               \
		details = op->details;                                                             \
	}

REWRITE(a)
REWRITE(b)
REWRITE(c)
REWRITE(d)

#define CALLED(which)                                                                              \
	.name = #which, .before = before_##which, .after = after_##which, .event = event_##which
#define FREE TFS_OP_BIT(TFS_OP_FREE)
#define COPY TFS_OP_BIT(TFS_OP_COPY)
#define WAIT TFS_OP_BIT(TFS_OP_WAIT)
#define MADE TFS_OP_BIT(TFS_OP_MADE)
#define OTHER TFS_OP_BIT(TFS_OP_OTHER)

static const struct tfs_rewrite rewrites[] = {
	{CALLED(a), .priority = 70, .switchable = true, .acts = FREE, .follows = MADE},
	{CALLED(b), .priority = 10, .switchable = true, .acts = FREE | COPY},
	{CALLED(c), .priority = 40, .acts = FREE | WAIT, .follows = MADE | OTHER},
	{CALLED(d), .priority = 20, .switchable = true, .follows = FREE},
};
const struct tfs_rewrite *const tfs_rewrite_all[] = {
	&rewrites[0], &rewrites[1], &rewrites[2], &rewrites[3], NULL};

static bool is_offered(void)
{
	tfs_rewrite_offer();
	TEST_EQ(tfs_wanted & ~TFS_WANT_COPIES, TFS_WANT_RECORD);
	return (tfs_wanted & TFS_WANT_COPIES) != 0;
}

static bool done;
static uint16_t minded;

/* Who was asked about a call of this kind. */
static const char *asked(enum tfs_op_kind kind)
{
	struct tfs_op op = {.kind = kind, .minded = 99};

	memset(calls, 0, sizeof(calls));
	errno = ERANGE;
	done = tfs_rewrite_before(&op);
	TEST_EQ(errno, ERANGE);
	minded = op.minded;
	return calls;
}

static const char *told_after(uint16_t who, bool want_again)
{
	struct tfs_op op = {.kind = TFS_OP_FREE, .minded = who};

	memset(calls, 0, sizeof(calls));
	errno = ERANGE;
	TEST_EQ(tfs_rewrite_after(&op), want_again);
	TEST_EQ(errno, ERANGE);
	return calls;
}

/* By priority, whatever their place in the list. */
static void check_order(void)
{
	TEST_STR(asked(TFS_OP_FREE), "bdca");
	TEST_TRUE(!done && minded == 0);
	TEST_STR(asked(TFS_OP_COPY), "b");
	TEST_STR(asked(TFS_OP_WAIT), "c");
	TEST_STR(asked(TFS_OP_QUERY), "");
	TEST_TRUE(!done && minded == 0);
}

/* None after the one that carries the call out; those that mind are told, the last one first. */
static void check_answers(void)
{
	answers[1] = answers[2] = TFS_MINDS;
	TEST_STR(asked(TFS_OP_FREE), "bdca");
	TEST_TRUE(!done);
	TEST_EQ(minded, 1 << 1 | 1 << 2);
	TEST_STR(told_after(minded, false), "cb");
	repeats[2] = true;
	TEST_STR(told_after(minded, true), "c");
	repeats[2] = false;
	TEST_STR(asked(TFS_OP_COPY), "b");
	TEST_EQ(minded, 1 << 1);
	TEST_STR(told_after(1 << 0 | 1 << 3, false), "ad");
	answers[3] = TFS_DONE;
	TEST_STR(asked(TFS_OP_FREE), "bd");
	TEST_TRUE(done);
	TEST_EQ(minded, 0);
	answers[1] = TFS_DONE;
	TEST_STR(asked(TFS_OP_COPY), "b");
	TEST_TRUE(done);
	memset(answers, 0, sizeof(answers));
}

/* One that is off at this step is asked only about kinds that it follows; what cannot be switched
 * goes on in windows. */
static void check_switched(void)
{
	tfs_measure_on = ALL & ~(1u << 0) & ~(1u << 3);
	TEST_STR(asked(TFS_OP_FREE), "bDc");
	tfs_measure_on = 0;
	TEST_STR(asked(TFS_OP_FREE), "Dc");
	TEST_STR(asked(TFS_OP_COPY), "");
	tfs_measure_on = ALL;
	tfs_windows_rewriting = false;
	TEST_STR(asked(TFS_OP_FREE), "Dc");
	TEST_STR(asked(TFS_OP_WAIT), "c");
	tfs_windows_rewriting = true;
	tfs_rewrite_mode_of[1] = tfs_rewrite_mode_of[2] = TFS_MODE_OFF;
	TEST_STR(asked(TFS_OP_FREE), "da");
	TEST_STR(asked(TFS_OP_WAIT), "");
	tfs_rewrite_mode_of[1] = tfs_rewrite_mode_of[2] = TFS_MODE_REPORT;
	TEST_STR(asked(TFS_OP_FREE), "bdca");
}

static const char *told(enum tfs_op_kind kind)
{
	memset(calls, 0, sizeof(calls));
	errno = ERANGE;
	tfs_rewrite_tell(&(struct tfs_op){.kind = kind});
	TEST_EQ(errno, ERANGE);
	return calls;
}

/* Events go to those that hear of the kind, in any order of theirs. */
static void check_told(void)
{
	static const char place;
	const struct tfs_details *made = (const struct tfs_details *)&place;

	TEST_STR(told(TFS_OP_MADE), "ca");
	tfs_measure_on = 0;
	TEST_STR(told(TFS_OP_MADE), "cA");
	TEST_STR(told(TFS_OP_COPY), "");
	tfs_measure_on = ALL;
	TEST_STR(told(TFS_OP_COPY), "b");
	tfs_rewrite_submitted(NULL, made);
	TEST_TRUE(details == made);
	/* Of calls that may use zeros, while any are held back. */
	memset(calls, 0, sizeof(calls));
	tfs_rewrite_call(NULL);
	TEST_STR(calls, "");
	tfs_wanted |= TFS_WANT_FILLS;
	tfs_rewrite_call(NULL);
	TEST_STR(calls, "c");
	tfs_wanted &= ~TFS_WANT_FILLS;
}

/* Hooks offer copies while one that acts on them may. */
static void check_offer(void)
{
	TEST_TRUE(is_offered());
	tfs_windows_rewriting = false;
	TEST_TRUE(!is_offered());
	tfs_windows_rewriting = true;
	TEST_TRUE(is_offered());
}

/* At the exit none acts any more, and what is followed is followed to the end. */
static void check_finish(void)
{
	tfs_rewrites_wanting = FREE | COPY | WAIT | MADE | OTHER;
	tfs_rewrite_ops_finish();
	TEST_EQ(tfs_rewrites_wanting, FREE | MADE | OTHER);
	TEST_STR(asked(TFS_OP_FREE), "D");
	TEST_STR(asked(TFS_OP_WAIT), "");
	TEST_STR(told(TFS_OP_MADE), "CA");
	TEST_TRUE(!is_offered());
}

static void add_all(void)
{
	tfs_wanted = TFS_WANT_RECORD;
	for (size_t i = 0; i < 4; i++) {
		/* Only the second one acts on copies. */
		TEST_EQ(is_offered(), i > 1);
		tfs_rewrite_mode_of[i] = TFS_MODE_APPLY;
		TEST_EQ(tfs_rewrite_ops_add(i), rewrites[i].acts | rewrites[i].follows);
	}
}

int main(void)
{
	add_all();
	check_order();
	check_answers();
	check_switched();
	check_told();
	check_offer();
	check_finish();
	return test_result();
}
