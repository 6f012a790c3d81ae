/* SPDX-License-Identifier: MIT */
/* The lines of cudnn-search's file: what is written reads back, times included; which line counts
 * of several, for which machine; and what is said of those that are refused. */
#include "shim/rewrites/cudnn_search/decisions.h"

#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/cudnn_search/decisions_file.h"
#include "tests/test.h"

void __wrap_tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t more);

/* What was said last, and how often something was. */
static enum tfs_fact_code told;
static char told_object[256];
static uint64_t told_number, told_more;
static unsigned tells;

void __wrap_tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t more)
{
	told = fact;
	snprintf(told_object, sizeof(told_object), "%s", object ? object : "");
	told_number = number;
	told_more = more;
	tells++;
}

static char text[1 << 20];
static size_t used;

static void begin(void)
{
	used = (size_t)snprintf(text, sizeof(text), "%s", TFS_DECISIONS_HEAD);
	tells = 0;
}

static void add(const char *line)
{
	used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", line);
}

static void read_all(void)
{
	tfs_decisions_read(text, used);
}

static struct tfs_decision decision_of(uint32_t machine, int32_t n)
{
	struct tfs_decision made = {.machine = machine, .asked = 4, .chosen = 1, .workspace = 4096};

	made.problem.fields[TFS_PROBLEM_family] = TFS_FAMILY_conv_forward;
	for (uint32_t i = TFS_PROBLEM_family + 1; i < TFS_PROBLEM_FIELD_COUNT; i++)
		made.problem.fields[i] = n + (int32_t)i;
	return made;
}

static void add_decision(const struct tfs_decision *made)
{
	TEST_NEED(used + TFS_DECISION_LINE < sizeof(text));
	used += tfs_decisions_line(made, text + used);
	TEST_EQ(text[used - 1], '\n');
}

/* In milliseconds, to the nearest millionth, whole ones carried over. */
static void check_times(void)
{
	static const struct {
		float ms;
		const char *written;
		float read;
	} times[] = {{0, " 0.000000 ", 0}, {0.0000004f, " 0.000000 ", 0},
		{0.0000006f, " 0.000001 ", 0.000001f}, {0.25f, " 0.250000 ", 0.25f},
		{0.9999996f, " 1.000000 ", 1}, {1.5f, " 1.500000 ", 1.5f},
		{0.0123455f, " 0.012346 ", 0.012346f},
		{12345.0625f, " 12345.062500 ", 12345.0625f}};
	const uint32_t machine = tfs_decisions_named("times | 1");

	for (int i = 0; i < (int)(sizeof(times) / sizeof(times[0])); i++) {
		struct tfs_decision made = decision_of(machine, 1000 * i);

		made.in_list = i % 2;
		made.asked_ms = times[i].ms;
		made.chosen_ms = 2;
		begin();
		add_decision(&made);
		TEST_TRUE(strstr(text, times[i].written));
		TEST_TRUE(strstr(text, " 2.000000 |"));
		TEST_TRUE(strstr(
			text, i % 2 ? "times | 1 | list 4 1 4096 " : "times | 1 | call 4 1 "));
		read_all();
		const struct tfs_decision *kept = tfs_decisions_find(machine, &made.problem);
		TEST_NEED(kept);
		TEST_TRUE(kept->asked_ms == times[i].read && kept->chosen_ms == 2);
		TEST_EQ(kept->in_list, i % 2);
		TEST_EQ(kept->asked, 4);
		TEST_EQ(kept->chosen, 1);
		TEST_EQ(kept->workspace, 4096);
		TEST_TRUE(kept->replayed);
	}
	TEST_EQ(tells, 0);
}

/* The last line about a problem counts; another machine's is another. */
static void check_lines(void)
{
	const uint32_t one = tfs_decisions_named("one | 1"), other = tfs_decisions_named("one | 2");
	struct tfs_decision made = decision_of(one, 7), elsewhere = decision_of(other, 7);

	TEST_TRUE(one != other && one == tfs_decisions_named("one | 1"));
	TEST_STR(tfs_decisions_name(other), "one | 2");
	TEST_TRUE(!tfs_decisions_complete(one));
	begin();
	add_decision(&made);
	made.chosen = 2;
	add("# no decision");
	add("");
	add_decision(&made);
	read_all();
	TEST_EQ(tells, 0);
	TEST_EQ(tfs_decisions_find(one, &made.problem)->chosen, 2);
	TEST_TRUE(!tfs_decisions_find(other, &made.problem));
	TEST_TRUE(tfs_decisions_complete(one) && !tfs_decisions_complete(other));
	begin();
	add_decision(&elsewhere);
	read_all();
	TEST_EQ(tfs_decisions_find(one, &made.problem)->chosen, 2);
	TEST_EQ(tfs_decisions_find(other, &made.problem)->chosen, 1);
	/* One that differs in its last field only. */
	made.problem.fields[TFS_PROBLEM_FIELD_COUNT - 1]++;
	TEST_TRUE(!tfs_decisions_find(one, &made.problem));
}

/* The first of those that are refused is named by its number and reason, the others are counted. */
static void check_refused(void)
{
	struct tfs_decision made = decision_of(tfs_decisions_named("refused | 1"), 1);

	begin();
	add_decision(&made);
	add("refused | 1 | call 4 1 0 1.0 1.000000 | 1");
	add_decision(&made);
	add("no machine");
	add("refused | 1 | call 4 99 0 1.000000 1.000000 | 1");
	read_all();
	TEST_EQ(tells, 1);
	TEST_EQ(told, TFS_FACT_line_no_decision);
	TEST_EQ(told_number, 3);
	TEST_EQ(told_more, 2);
	/* One that is cut off. */
	begin();
	add_decision(&made);
	used--;
	read_all();
	TEST_EQ(told, TFS_FACT_line_cut);
	TEST_EQ(told_number, 2);
	TEST_EQ(told_more, 0);
	/* One whose end is behind a zero. */
	begin();
	add_decision(&made);
	text[used - 2] = '\0';
	read_all();
	TEST_EQ(told, TFS_FACT_line_no_text);
	/* A number too many, and one too few. */
	begin();
	add_decision(&made);
	used--;
	add(" 5");
	read_all();
	TEST_EQ(told, TFS_FACT_line_too_long);
	begin();
	add_decision(&made);
	*strrchr(text, ' ') = '\n';
	read_all();
	TEST_EQ(told, TFS_FACT_line_no_problem);
}

/* A GPU that the file says nothing about: said once of each, with the name of one that it does. */
static void check_machines(void)
{
	char name[200];

	tells = 0;
	const uint32_t machine = tfs_decisions_machine("A|B\nC", 91900);
	TEST_STR(tfs_decisions_name(machine), "A/B/C | 91900");
	TEST_EQ(tells, 1);
	TEST_EQ(told, TFS_FACT_decisions_elsewhere);
	TEST_STR(told_object, "refused | 1");
	TEST_EQ(tfs_decisions_machine("A|B\nC", 91900), machine);
	TEST_EQ(tells, 1);
	TEST_TRUE(tfs_decisions_machine("A|B\nC", 91901) != machine);
	TEST_EQ(tells, 2);
	TEST_EQ(tfs_decisions_machine("one", 2), tfs_decisions_named("one | 2"));
	TEST_EQ(tells, 2);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	const char *cut = tfs_decisions_name(tfs_decisions_machine(name, 1));
	TEST_EQ(strspn(cut, "x"), 90);
	TEST_STR(cut + 90, " | 1");
}

/* There is room for 1024: with more, nothing is searched on any machine. */
static void check_surplus(void)
{
	const uint32_t machine = tfs_decisions_named("many | 1");
	const uint32_t none = tfs_decisions_named("none | 1");
	struct tfs_decision made = decision_of(machine, 0);
	int32_t last = 0;

	/* The tests before have left less than 100. */
	begin();
	for (int32_t i = 0; i < 900; i++) {
		made = decision_of(machine, 100 * i);
		add_decision(&made);
	}
	read_all();
	TEST_EQ(tells, 0);
	TEST_TRUE(!tfs_decisions_complete(none));
	begin();
	for (int32_t i = 900; i < 1024; i++) {
		made = decision_of(machine, 100 * i);
		add_decision(&made);
	}
	/* One that is known already needs no room. */
	made = decision_of(machine, 0);
	made.chosen = 3;
	add_decision(&made);
	read_all();
	TEST_EQ(tells, 1);
	TEST_EQ(told, TFS_FACT_line_surplus);
	for (int32_t i = 0; i < 1024; i++) {
		made = decision_of(machine, 100 * i);
		last += tfs_decisions_find(machine, &made.problem) != NULL;
	}
	TEST_TRUE(last < 1024 && last >= 1024 - 100);
	made = decision_of(machine, 0);
	TEST_EQ(tfs_decisions_find(machine, &made.problem)->chosen, 3);
	/* Lines are counted from the file's first, which is the head. */
	TEST_EQ(told_number, 2 + (last - 900));
	TEST_EQ(told_more, 1024 - last - 1);
	TEST_TRUE(tfs_decisions_complete(none));
	TEST_TRUE(!tfs_decisions_find(none, &made.problem));
}

int main(void)
{
	tfs_options.quiet = 1;
	check_times();
	check_lines();
	check_refused();
	check_machines();
	check_surplus();
	return test_result();
}
