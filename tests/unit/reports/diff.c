/* SPDX-License-Identifier: MIT */
/* What one run has fixed of another, and how sure a difference of step times is. */
#include "reports/gate/diff.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

static const struct tfs_rule_text copies = {.id = "TFS101"}, waits = {.id = "TFS201"};
static const struct tfs_model_frame frame = {.function = "load", .file = "a.c", .line = 3};

/* A run of 100 steps that copies, with the finding or without. */
struct run {
	struct tfs_model model;
	struct tfs_model_call call;
	struct tfs_model_finding finding;
	struct tfs_model_rule rules[2];
};

static void make(struct run *run, const struct tfs_rule_text *rule, struct tfs_model_time written)
{
	const struct tfs_model_place place = {.frames = &frame, .frame_count = 1, .key = 5};

	memset(run, 0, sizeof(*run));
	run->rules[0] = (struct tfs_model_rule){.rule = &copies, .state = TFS_STATE_PASSED};
	run->rules[1] = (struct tfs_model_rule){.rule = &waits, .state = TFS_STATE_PASSED};
	run->call = (struct tfs_model_call){
		.function = "cudaMemcpy", .place = place, .per_step = 1, .bytes_per_step = 1024};
	run->finding = (struct tfs_model_finding){.rule = rule,
		.call = "cudaMemcpy",
		.place = place,
		.count_per_step = 1,
		.bytes_per_step = 1024,
		.cost = {.ns = 5e4}};
	run->model = (struct tfs_model){.program_name = "trainer",
		.rules = run->rules,
		.rule_count = 2,
		.calls = &run->call,
		.call_count = 1,
		.findings = &run->finding,
		.finding_count = rule ? 1 : 0,
		.steps = {.count = 100},
		.headline = {.as_written = written, .now = tfs_headline_unknown("why not")}};
}

static struct tfs_model_time took(double ns, double low_ns, double high_ns)
{
	return (struct tfs_model_time){.ns = ns, .low_ns = low_ns, .high_ns = high_ns};
}

static void check_times(struct tfs_model_time before, struct tfs_model_time now,
	const char *between, const char *text)
{
	struct tfs_diff difference;
	struct run one, two;

	make(&one, NULL, before);
	make(&two, NULL, now);
	TEST_EQ(tfs_diff_find(&one.model, &two.model, &difference), TFS_APART_NOT);
	TEST_STR(difference.times[0].name, "as written");
	TEST_STR(difference.times[0].between, between);
	TEST_STR(difference.times[0].text, text);
	TEST_STR(difference.times[1].name, "now");
	TEST_TRUE(!difference.times[1].between);
	TEST_STR(difference.times[1].text, "why not");
	TEST_EQ(difference.part_count, 0);
	tfs_diff_finish(&difference);
}

/* Each bound of the difference is made of one run's upper bound and the other's lower one. */
static void step_times(void)
{
	const struct tfs_model_time slow = took(2.6e6, 2.3e6, 2.61e6);
	const struct tfs_model_time fast = took(1.5e6, 1.46e6, 1.9e6);

	check_times(slow, fast, "2.60 ms \xe2\x86\x92 1.50 ms",
		"42 % shorter, by 1.10 ms (600 \xc2\xb5s to 1.14 ms)");
	check_times(fast, slow, "1.50 ms \xe2\x86\x92 2.60 ms",
		"73 % longer, by 1.10 ms (600 \xc2\xb5s to 1.14 ms)");
	/* 0.1 ms less by 0.2 at most, and 0.1 ms more. */
	check_times(took(2e6, 1.9e6, 2e6), took(1.9e6, 1.9e6, 2.1e6),
		"2.00 ms \xe2\x86\x92 1.90 ms", "no difference beyond the 95 % intervals");
	check_times(took(1.9e6, 1.9e6, 2.1e6), took(2e6, 1.9e6, 2e6),
		"1.90 ms \xe2\x86\x92 2.00 ms", "no difference beyond the 95 % intervals");
	check_times(took(2e6, 1.9e6, 2.1e6), took(1e6, NAN, NAN), "2.00 ms \xe2\x86\x92 1.00 ms",
		"no interval: one step");
	check_times(tfs_headline_unknown("unknown before"), fast, NULL, "unknown before");
	check_times(fast, tfs_headline_unknown("unknown now"), NULL, "unknown now");
}

/* The only part, of one row; or none. */
static void check_part(const struct run *before, const struct run *now, const char *title,
	const char *more, const char *costs)
{
	struct tfs_diff difference;

	TEST_EQ(tfs_diff_find(&before->model, &now->model, &difference), TFS_APART_NOT);
	if (TEST_EQ(difference.part_count, title ? 1 : 0) && title) {
		TEST_STR(difference.parts[0].title, title);
		TEST_EQ(difference.parts[0].count, 1);
		TEST_STR(difference.parts[0].rows[0].place, "a.c:3");
		TEST_STR(difference.parts[0].rows[0].call, "cudaMemcpy");
		TEST_STR(difference.parts[0].rows[0].more, more);
		TEST_STR(difference.parts[0].rows[0].costs, costs);
	}
	tfs_diff_finish(&difference);
}

static void findings(void)
{
	static const char cost[] = "50.0 \xc2\xb5s per step";
	const struct tfs_model_time same = took(2e6, 2e6, 2e6);
	struct run with, without;

	make(&with, &copies, same);
	make(&without, NULL, same);
	check_part(&with, &without, "fixed", "", cost);
	check_part(&without, &with, "new", "", cost);
	check_part(&with, &with, NULL, NULL, NULL);
	/* A rule that was not judged has nothing to say of either run. */
	without.rules[0].state = TFS_STATE_NOT_MEASURABLE;
	check_part(&with, &without,
		"not known to be fixed: not judged, or not reached, in the second run", "", cost);
	check_part(&without, &with, "perhaps new: not judged, or not reached, in the first run", "",
		cost);
	without.rules[0].state = TFS_STATE_WAIVED;
	check_part(&with, &without,
		"not known to be fixed: not judged, or not reached, in the second run", "", cost);
	without.rules[0].state = TFS_STATE_NOT_APPLICABLE;
	check_part(&with, &without, "fixed", "", cost);
	/* Nor has a run of fewer steps, of what may come later. */
	without.model.steps.count = 90;
	check_part(&with, &without,
		"not known to be fixed: not judged, or not reached, in the second run", "", cost);
	check_part(&without, &with, "perhaps new: not judged, or not reached, in the first run", "",
		cost);
	without.model.steps.count = 200;
	check_part(&with, &without, "fixed", "", cost);
	/* Modelled costs are told as such, and none of a run without steps, or that is not known.
	 */
	with.model.simulated = true;
	check_part(&with, &without, "fixed", "", "50.0 \xc2\xb5s per step, modelled");
	with.model.per_run = true;
	check_part(&with, &without, "fixed", "", "");
	with.model.per_run = false;
	with.finding.cost.ns = NAN;
	check_part(&with, &without, "fixed", "", "");
}

static void changes(void)
{
	const struct tfs_model_time same = took(2e6, 2e6, 2e6);
	struct run before, now;

	make(&before, &copies, same);
	make(&now, &copies, same);
	now.call.per_step = now.finding.count_per_step = 3;
	now.call.bytes_per_step = now.finding.bytes_per_step = 4096;
	check_part(&before, &now, "changed",
		"1 call/step \xe2\x86\x92 3 calls/step, 1.00 KiB \xe2\x86\x92 4.00 KiB per step",
		"50.0 \xc2\xb5s per step");
	/* What happens less often is no change for the worse. */
	check_part(&now, &before, NULL, NULL, NULL);
}

/* Of two programs nothing is compared. */
static void other_programs(void)
{
	const struct tfs_model_time same = took(2e6, 2e6, 2e6);
	struct tfs_diff difference;
	struct run one, two;

	make(&one, &copies, same);
	make(&two, NULL, same);
	one.model.device = "A";
	two.model.device = "B";
	TEST_EQ(tfs_diff_find(&one.model, &two.model, &difference), TFS_APART_DEVICE);
	TEST_EQ(difference.part_count, 0);
	TEST_TRUE(!difference.times[0].text);
	tfs_diff_finish(&difference);
}

int main(void)
{
	step_times();
	findings();
	changes();
	other_programs();
	return test_result();
}
