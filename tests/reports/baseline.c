/* SPDX-License-Identifier: MIT */
/* What is known, worse, new, fixed or not comparable, on both sides of every edge, in models made
 * up for it. */
#include "reports/gate/baseline.h"

#include <math.h>

#include "tests/test.h"

#define MOST 12u

/* A call at function:line of a file, in main() of that file. */
struct site {
	const char *caller;
	const char *file;
	unsigned line;
	const char *call;
	double calls;
	double bytes;
	const struct tfs_rule_text *rule; /* that finds it; NULL = none */
};

struct run {
	struct tfs_model model;
	struct tfs_model_frame frames[MOST][2];
	struct tfs_model_call calls[MOST];
	struct tfs_model_finding findings[MOST];
	struct tfs_model_rule rules[2];
};

static const struct tfs_rule_text copies = {.id = "TFS101"}, waits = {.id = "TFS201"};
static unsigned cases;

static uint64_t hash(uint64_t key, const char *text)
{
	for (; text && *text; text++)
		key = (key ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return key * 31;
}

static void make(struct run *run, const char *program, const struct site *sites)
{
	memset(run, 0, sizeof(*run));
	run->model.program_name = program;
	run->rules[0] = (struct tfs_model_rule){.rule = &copies, .state = TFS_STATE_VIOLATED};
	run->rules[1] = (struct tfs_model_rule){.rule = &waits, .state = TFS_STATE_PASSED};
	run->model.rules = run->rules;
	run->model.rule_count = 2;
	for (size_t i = 0; sites[i].call; i++) {
		const struct site *site = &sites[i];
		const bool named = site->caller != NULL;
		struct tfs_model_place place = {.frames = run->frames[i], .frame_count = 2};

		run->frames[i][0] = (struct tfs_model_frame){.function = site->caller,
			.file = named ? site->file : NULL,
			.line = named ? site->line : 0,
			.module = named ? "trainer" : site->file};
		run->frames[i][1] = run->frames[i][0];
		run->frames[i][1].function = named ? "main" : NULL;
		place.key = hash(hash(hash(7, site->caller), site->file), "main");
		run->calls[i] = (struct tfs_model_call){.function = site->call,
			.place = place,
			.per_step = site->calls,
			.bytes_per_step = site->bytes};
		run->model.call_count = i + 1;
		if (site->rule)
			run->findings[run->model.finding_count++] =
				(struct tfs_model_finding){.rule = site->rule,
					.call = site->call,
					.place = place,
					.count_per_step = site->calls,
					.bytes_per_step = site->bytes};
	}
	run->model.calls = run->calls;
	run->model.findings = run->findings;
}

/* How the first finding stands. */
static enum tfs_standing standing(const struct site *now, const struct site *before)
{
	static struct run one, two;
	struct tfs_comparison comparison;

	make(&one, "trainer", now);
	make(&two, "trainer", before);
	tfs_baseline_compare(&one.model, &two.model, &comparison);
	TEST_EQ(comparison.apart, TFS_APART_NOT);
	const enum tfs_standing found =
		tfs_baseline_standing(&comparison, &one.model.findings[0]).standing;

	tfs_baseline_finish(&comparison);
	cases++;
	return found;
}

static enum tfs_standing grown(double calls, double bytes, double calls_before, double bytes_before)
{
	const struct site now[] = {{"load", "a.c", 1, "copy", calls, bytes, &copies},
		{"add", "a.c", 9, "launch", 1, 0, NULL}, {0}};
	const struct site before[] = {
		{"load", "a.c", 1, "copy", calls_before, bytes_before, &copies},
		{"add", "a.c", 9, "launch", 1, 0, NULL}, {0}};

	return standing(now, before);
}

static void test_slack(void)
{
	TEST_EQ(grown(1, 100, 1, 100), TFS_STANDING_KNOWN);
	TEST_EQ(grown(0.1, 100, 1, 100), TFS_STANDING_KNOWN);
	/* a twentieth of a call */
	TEST_EQ(grown(1.05, 100, 1, 100), TFS_STANDING_KNOWN);
	TEST_EQ(grown(1.0501, 100, 1, 100), TFS_STANDING_WORSE);
	/* a hundredth */
	TEST_EQ(grown(101, 100, 100, 100), TFS_STANDING_KNOWN);
	TEST_EQ(grown(101.01, 100, 100, 100), TFS_STANDING_WORSE);
	/* as many bytes as that are of 64 */
	TEST_EQ(grown(1, 103.2, 1, 100), TFS_STANDING_KNOWN);
	TEST_EQ(grown(1, 103.21, 1, 100), TFS_STANDING_WORSE);
	TEST_EQ(grown(1, 1010000, 1, 1000000), TFS_STANDING_KNOWN);
	TEST_EQ(grown(1, 1010001, 1, 1000000), TFS_STANDING_WORSE);
	/* what is not known is no growth */
	TEST_EQ(grown(1, NAN, 1, NAN), TFS_STANDING_KNOWN);
}

/* The finding's bytes or calls grow by `factor`, those of `others` other sites by two, and those of
 * `steady` more by nothing. */
static enum tfs_standing scaled(bool by_calls, double factor, size_t others, size_t steady)
{
	static const char *const names[] = {"b", "c", "d", "e", "f", "g"};
	struct site now[MOST] = {{"load", "a.c", 1, "copy", 1, 4096, &copies}};
	struct site before[MOST];

	for (size_t i = 0; i < others + steady; i++)
		now[i + 1] = (struct site){names[i], "a.c", 5, "copy", 1, 1000, NULL};
	memcpy(before, now, sizeof(now));
	*(by_calls ? &now[0].calls : &now[0].bytes) *= factor;
	for (size_t i = 0; i < others; i++)
		*(by_calls ? &now[i + 1].calls : &now[i + 1].bytes) *= 2;
	return standing(now, before);
}

static void test_scale(void)
{
	for (int by_calls = 0; by_calls < 2; by_calls++) {
		TEST_EQ(scaled(by_calls, 2, 1, 0), TFS_STANDING_SCALED);
		/* most of the others: half is enough, less is not */
		TEST_EQ(scaled(by_calls, 2, 0, 0), TFS_STANDING_WORSE);
		TEST_EQ(scaled(by_calls, 2, 0, 1), TFS_STANDING_WORSE);
		TEST_EQ(scaled(by_calls, 2, 2, 2), TFS_STANDING_SCALED);
		TEST_EQ(scaled(by_calls, 2, 2, 3), TFS_STANDING_WORSE);
		/* by as much: a twentieth apart, more not */
		TEST_EQ(scaled(by_calls, 2.1, 1, 0), TFS_STANDING_SCALED);
		TEST_EQ(scaled(by_calls, 2.101, 1, 0), TFS_STANDING_WORSE);
		TEST_EQ(scaled(by_calls, 1.9048, 1, 0), TFS_STANDING_SCALED);
		TEST_EQ(scaled(by_calls, 1.904, 1, 0), TFS_STANDING_WORSE);
	}
	/* A loss of 64 bytes is no part of what grows, one byte more is. */
	const struct site before[] = {{"load", "a.c", 1, "copy", 1, 4096, &copies},
		{"labels", "a.c", 2, "copy", 1, 100, NULL}, {"loss", "a.c", 3, "copy", 1, 64, NULL},
		{"other", "a.c", 4, "copy", 1, 64, NULL}, {0}};
	struct site now[5];

	memcpy(now, before, sizeof(now));
	now[0].bytes = 8192;
	now[1].bytes = 200;
	TEST_EQ(standing(now, before), TFS_STANDING_SCALED);
	struct site larger[5];

	memcpy(larger, before, sizeof(larger));
	larger[2].bytes = larger[3].bytes = now[2].bytes = now[3].bytes = 65;
	TEST_EQ(standing(now, larger), TFS_STANDING_WORSE);
}

/* The only copy doubles, and the sizes of three products by these factors. */
static enum tfs_standing worked(const double (*factors)[3])
{
	static const double usual[3] = {256, 64, 32};
	static const char *const names[] = {"forward", "backward", "update"};
	struct site sites[] = {{"load", "a.c", 1, "copy", 1, 4096, &copies},
		{names[0], "a.c", 2, "gemm", 3, 0, NULL}, {names[1], "a.c", 3, "gemm", 2, 0, NULL},
		{names[2], "a.c", 4, "gemm", 1, 0, NULL}, {"loss", "a.c", 5, "copy", 1, 4, NULL},
		{0}};
	static struct run one, two;
	struct tfs_comparison comparison;

	make(&two, "trainer", sites);
	sites[0].bytes *= 2;
	make(&one, "trainer", sites);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 3; j++) {
			two.calls[1 + i].sizes[j] = usual[j] * sites[1 + i].calls;
			one.calls[1 + i].sizes[j] = usual[j] * sites[1 + i].calls * factors[i][j];
		}
	tfs_baseline_compare(&one.model, &two.model, &comparison);
	const enum tfs_standing found =
		tfs_baseline_standing(&comparison, &one.model.findings[0]).standing;

	tfs_baseline_finish(&comparison);
	cases++;
	return found;
}

static void test_work(void)
{
	static const double batch[3][3] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 1}};
	static const double none[3][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
	static const double half[3][3] = {{2, 1, 1}, {3, 1, 1}, {1, 1, 1}};
	static const double less[3][3] = {{2, 1, 1}, {3, 1, 1}, {1, 1.5, 1}};
	static const double mixed[3][3] = {{2, 3, 1}, {1, 1, 1}, {1, 1, 1}};
	static const double edge[3][3] = {{2.1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
	static const double beyond[3][3] = {{2.101, 1, 1}, {1, 1, 1}, {1, 1, 1}};

	TEST_EQ(worked(batch), TFS_STANDING_SCALED);
	TEST_EQ(worked(none), TFS_STANDING_WORSE);
	TEST_EQ(worked(half), TFS_STANDING_SCALED);
	TEST_EQ(worked(less), TFS_STANDING_WORSE);
	TEST_EQ(worked(mixed), TFS_STANDING_WORSE);
	TEST_EQ(worked(edge), TFS_STANDING_SCALED);
	TEST_EQ(worked(beyond), TFS_STANDING_WORSE);
}

static void test_pairs(void)
{
	const struct site before[] = {{"load", "a.c", 10, "copy", 1, 64, &copies}, {0}};
	const struct site moved[] = {{"load", "a.c", 99, "copy", 1, 64, &copies}, {0}};
	const struct site file[] = {{"load", "b.c", 10, "copy", 5, 64, &copies}, {0}};
	const struct site folder[] = {{"load", "/x/y/a.c", 10, "copy", 1, 64, &copies}, {0}};
	const struct site function[] = {{"fetch", "a.c", 10, "copy", 1, 64, &copies}, {0}};
	const struct site often[] = {{"fetch", "a.c", 10, "copy", 2, 128, &copies}, {0}};
	const struct site call[] = {{"fetch", "a.c", 10, "copy2", 1, 64, &copies},
		{"load", "a.c", 1, "copy", 1, 64, NULL}, {0}};
	const struct site rule[] = {{"load", "a.c", 10, "copy", 1, 64, &waits}, {0}};
	/* nothing but main() is alike */
	const struct site both[] = {{"fetch", "b.c", 10, "copy", 1, 64, &copies},
		{"anchor", "a.c", 1, "launch", 1, 0, NULL}, {0}};
	const struct site anchored[] = {{"load", "a.c", 10, "copy", 1, 64, &copies},
		{"anchor", "a.c", 1, "launch", 1, 0, NULL}, {0}};

	TEST_EQ(standing(before, before), TFS_STANDING_KNOWN);
	TEST_EQ(standing(moved, before), TFS_STANDING_KNOWN);
	TEST_EQ(standing(folder, before), TFS_STANDING_KNOWN);
	TEST_EQ(standing(function, before), TFS_STANDING_KNOWN);
	/* paired, and then compared */
	TEST_EQ(standing(file, before), TFS_STANDING_WORSE);
	TEST_EQ(standing(often, before), TFS_STANDING_WORSE);
	TEST_EQ(standing(call, before), TFS_STANDING_NEW);
	TEST_EQ(standing(rule, before), TFS_STANDING_NEW);
	TEST_EQ(standing(both, anchored), TFS_STANDING_NEW);
}

static void test_rivals(void)
{
	/* Of two that are alike the nearer one is meant, and it is meant once. */
	const struct site before[] = {{"load", "a.c", 10, "copy", 1, 64, NULL},
		{"store", "a.c", 50, "copy", 1, 64, &copies}, {0}};
	const struct site second[] = {{"put", "a.c", 52, "copy", 1, 64, &copies},
		{"get", "a.c", 12, "copy", 1, 64, NULL}, {0}};
	const struct site first[] = {{"get", "a.c", 12, "copy", 1, 64, &copies},
		{"put", "a.c", 52, "copy", 1, 64, NULL}, {0}};
	/* A site that is still there is not another's. */
	const struct site added[] = {{"third", "a.c", 51, "copy", 1, 64, &copies},
		{"load", "a.c", 10, "copy", 1, 64, NULL},
		{"store", "a.c", 50, "copy", 1, 64, &copies}, {0}};

	TEST_EQ(standing(second, before), TFS_STANDING_KNOWN);
	TEST_EQ(standing(first, before), TFS_STANDING_NEW);
	TEST_EQ(standing(added, before), TFS_STANDING_NEW);
}

/* Whether it is new, of so many that were fixed. */
static bool is_new(const struct site *now, const struct site *before, size_t fixed)
{
	static struct run one, two;
	struct tfs_comparison comparison;
	size_t less, unseen;

	make(&one, "trainer", now);
	make(&two, "trainer", before);
	tfs_baseline_compare(&one.model, &two.model, &comparison);
	const enum tfs_standing found =
		tfs_baseline_standing(&comparison, &one.model.findings[0]).standing;

	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), fixed);
	tfs_baseline_finish(&comparison);
	cases++;
	return found == TFS_STANDING_NEW;
}

static void test_elsewhere(void)
{
	/* Fixed in load(), which still works; the same came up in store(), which did already. */
	const struct site before[] = {{"load", "a.c", 10, "copy", 1, 64, &copies},
		{"load", "a.c", 11, "launch", 1, 0, NULL},
		{"store", "a.c", 20, "launch", 1, 0, NULL}, {0}};
	const struct site after[] = {{"store", "a.c", 21, "copy", 1, 64, &copies},
		{"load", "a.c", 11, "launch", 1, 0, NULL},
		{"store", "a.c", 20, "launch", 1, 0, NULL}, {0}};
	/* The old name is still there, the new one was not. */
	const struct site kept[] = {{"fetch", "a.c", 21, "copy", 1, 64, &copies},
		{"load", "a.c", 11, "launch", 1, 0, NULL},
		{"store", "a.c", 20, "launch", 1, 0, NULL}, {0}};
	/* The old name is gone, the new one was there. */
	const struct site gone[] = {{"store", "a.c", 21, "copy", 1, 64, &copies},
		{"store", "a.c", 20, "launch", 1, 0, NULL}, {0}};
	/* Renamed: gone, and not there before. */
	const struct site renamed[] = {{"fetch", "a.c", 21, "copy", 1, 64, &copies},
		{"fetch", "a.c", 22, "launch", 1, 0, NULL},
		{"store", "a.c", 20, "launch", 1, 0, NULL}, {0}};
	/* In one function lines do not tell. */
	const struct site line[] = {{"load", "a.c", 99, "copy", 1, 64, &copies},
		{"load", "a.c", 11, "launch", 1, 0, NULL},
		{"store", "a.c", 20, "launch", 1, 0, NULL}, {0}};

	TEST_TRUE(is_new(after, before, 1));
	TEST_TRUE(is_new(kept, before, 1));
	TEST_TRUE(is_new(gone, before, 1));
	TEST_TRUE(!is_new(renamed, before, 0));
	TEST_TRUE(!is_new(line, before, 0));
}

static void test_bare(void)
{
	/* Without symbols another build moves all offsets; then the figures have to be the same. */
	const struct site before[] = {{NULL, "trainer+0x100", 0, "copy", 1, 64, &copies},
		{NULL, "trainer+0x300", 0, "copy", 1, 64, NULL}, {0}};
	const struct site rebuilt[] = {{NULL, "trainer+0x110", 0, "copy", 1, 64, &copies},
		{NULL, "trainer+0x310", 0, "copy", 1, 64, NULL}, {0}};
	const struct site grew[] = {{NULL, "trainer+0x110", 0, "copy", 2, 128, &copies},
		{NULL, "trainer+0x300", 0, "copy", 1, 64, NULL}, {0}};
	const struct site library[] = {{NULL, "libdata.so+0x110", 0, "copy", 1, 64, &copies},
		{NULL, "trainer+0x300", 0, "copy", 1, 64, NULL}, {0}};

	TEST_EQ(standing(rebuilt, before), TFS_STANDING_KNOWN);
	TEST_EQ(standing(grew, before), TFS_STANDING_NEW);
	TEST_EQ(standing(library, before), TFS_STANDING_NEW);
}

static bool comparable(const char *program, const struct site *now, const struct site *before)
{
	static struct run one, two;
	struct tfs_comparison comparison;

	make(&one, program, now);
	make(&two, "trainer", before);
	tfs_baseline_compare(&one.model, &two.model, &comparison);
	const bool is = comparison.apart == TFS_APART_NOT;

	tfs_baseline_finish(&comparison);
	cases++;
	return is;
}

static void test_programs(void)
{
	const struct site before[] = {{"a", "a.c", 1, "w", 1, 0, NULL},
		{"b", "a.c", 1, "x", 1, 0, NULL}, {"c", "a.c", 1, "y", 1, 0, NULL},
		{"d", "a.c", 1, "z", 1, 0, NULL}, {0}};
	struct site now[MOST] = {0};

	memcpy(now, before, sizeof(before));
	TEST_TRUE(comparable("trainer", now, before));
	TEST_TRUE(comparable("other", now, before));
	now[0].call = "1";
	now[1].call = "2";
	TEST_TRUE(comparable("other", now, before)); /* half */
	now[4] = (struct site){"e", "a.c", 1, "5", 1, 0, NULL};
	TEST_TRUE(!comparable("other", now, before)); /* less than half */
	TEST_TRUE(comparable("trainer", now, before));
	now[2].call = "3";
	TEST_TRUE(comparable("trainer", now, before)); /* one is left */
	now[3].call = "4";
	TEST_TRUE(!comparable("trainer", now, before));    /* none is */
	TEST_TRUE(comparable("trainer", now + 5, before)); /* nothing was done in a step */
}

/* Without names, calls of the same functions are found in every program. */
static void test_bare_programs(void)
{
	const struct site before[] = {{NULL, "trainer+0x100", 0, "w", 1, 0, NULL},
		{NULL, "trainer+0x200", 0, "x", 1, 0, NULL},
		{NULL, "trainer+0x300", 0, "y", 1, 0, NULL},
		{NULL, "trainer+0x400", 0, "z", 1, 0, NULL}, {0}};
	struct site now[MOST] = {0};

	memcpy(now, before, sizeof(before));
	for (size_t i = 0; i < 4; i++)
		now[i].file = "trainer+0x500";
	TEST_TRUE(comparable("trainer", now, before));
	now[3].call = "1";
	TEST_TRUE(comparable("trainer", now, before)); /* three quarters */
	now[2].call = "2";
	TEST_TRUE(!comparable("trainer", now, before)); /* less */
	now[0].file = "trainer+0x100";
	TEST_TRUE(comparable("trainer", now, before)); /* but the same code */
}

static enum tfs_apart apart(const char *device, uint32_t processes, const char *device_before,
	uint32_t processes_before)
{
	const struct site sites[] = {{"load", "a.c", 1, "copy", 1, 64, &copies}, {0}};
	static struct run one, two;
	struct tfs_comparison comparison;

	make(&one, "trainer", sites);
	make(&two, "trainer", sites);
	one.model.device = device;
	one.model.processes = processes;
	two.model.device = device_before;
	two.model.processes = processes_before;
	tfs_baseline_compare(&one.model, &two.model, &comparison);
	tfs_baseline_finish(&comparison);
	cases++;
	return comparison.apart;
}

static void test_machines(void)
{
	TEST_EQ(apart("A", 2, "A", 2), TFS_APART_NOT);
	TEST_EQ(apart("A", 2, "B", 2), TFS_APART_DEVICE);
	TEST_EQ(apart("A", 2, "A", 4), TFS_APART_PROCESSES);
	TEST_EQ(apart("A", 1, "A", 2), TFS_APART_PROCESSES);
	/* What is not known is no reason. */
	TEST_EQ(apart(NULL, 2, "A", 2), TFS_APART_NOT);
	TEST_EQ(apart("A", 2, NULL, 0), TFS_APART_NOT);
	TEST_EQ(apart("A", 0, "A", 8), TFS_APART_NOT);
}

static void test_changes(void)
{
	static const double edges[][3] = {{0.05, 0, TFS_CHANGE_NONE}, {0.051, 0, TFS_CHANGE_NEW},
		{1.05, 1, TFS_CHANGE_NONE}, {1.06, 1, TFS_CHANGE_CALLS}, {1, 2, TFS_CHANGE_NONE}};

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		struct tfs_spot before = {.calls = edges[i][1]};
		const struct tfs_spot now = {.calls = edges[i][0], .other = &before};

		TEST_EQ(tfs_baseline_change(&now), edges[i][2]);
		cases++;
	}
	struct tfs_spot before = {.calls = 1, .bytes = 1000};
	struct tfs_spot now = {.calls = 1, .bytes = 1010, .other = &before};

	TEST_EQ(tfs_baseline_change(&now), TFS_CHANGE_NONE);
	now.bytes = 1011;
	TEST_EQ(tfs_baseline_change(&now), TFS_CHANGE_BYTES);
	cases += 2;
}

/* What moved nothing, or nothing that is known, moved no byte. */
static void test_first_bytes(void)
{
	static const double none[] = {0, NAN, -1};
	static struct run one, two;
	struct tfs_comparison comparison;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		make(&one, "trainer",
			(const struct site[]){{"a", "a.c", 1, "copy", 1, 4, NULL}, {0}});
		make(&two, "trainer",
			(const struct site[]){{"a", "a.c", 1, "copy", 1, none[i], NULL}, {0}});
		tfs_baseline_compare(&one.model, &two.model, &comparison);
		TEST_EQ(comparison.pairing.counts[TFS_NOW], 1);
		const struct tfs_spot *now = comparison.pairing.spots[TFS_NOW];

		TEST_NEED(now && now->other);
		TEST_EQ(tfs_baseline_change(now), TFS_CHANGE_BYTES);
		TEST_TRUE(now->other->bytes == 0);
		tfs_baseline_finish(&comparison);
		cases++;
	}
}

static void test_fixed(void)
{
	/* Two findings of one line are one. */
	const struct site before[] = {{"load", "a.c", 1, "copy", 2, 64, &copies},
		{"load", "a.c", 2, "copy", 1, 64, &copies},
		{"wait", "a.c", 3, "sync", 1, 0, &waits},
		{"store", "a.c", 4, "copy", 3, 64, &copies}, {0}};
	const struct site now[] = {{"load", "a.c", 1, "copy", 1, 64, NULL},
		{"store", "a.c", 4, "copy", 2, 64, &copies}, {0}};
	static struct run one, two;
	struct tfs_comparison comparison;
	size_t less, unseen;

	make(&one, "trainer", now);
	make(&two, "trainer", before);
	tfs_baseline_compare(&one.model, &two.model, &comparison);
	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), 2);
	TEST_EQ(less, 1);
	TEST_EQ(unseen, 0);
	/* What could not be judged is not fixed. */
	one.rules[1].state = TFS_STATE_NOT_MEASURABLE;
	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), 1);
	TEST_EQ(unseen, 1);
	/* Nor is what a run of fewer steps may not have reached; a twentieth less is not fewer. */
	one.rules[1].state = TFS_STATE_PASSED;
	two.model.steps.count = 1050;
	one.model.steps.count = 1000;
	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), 2);
	one.model.steps.count = 999;
	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), 0);
	TEST_EQ(less, 0);
	TEST_EQ(unseen, 2);
	TEST_TRUE(!tfs_baseline_shorter(&two.model, &one.model));
	two.model.steps.count = one.model.steps.count = 0;
	/* What the program does not do any more is. */
	one.rules[1].state = TFS_STATE_NOT_APPLICABLE;
	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), 2);
	TEST_EQ(unseen, 0);
	one.rules[1].state = TFS_STATE_NOT_MEASURABLE;
	one.rules[0].state = TFS_STATE_WAIVED;
	TEST_EQ(tfs_baseline_fixed(&comparison, &less, &unseen), 0);
	TEST_EQ(unseen, 2);
	tfs_baseline_finish(&comparison);
	cases += 3;
}

int main(void)
{
	test_slack();
	test_scale();
	test_work();
	test_pairs();
	test_rivals();
	test_elsewhere();
	test_bare();
	test_programs();
	test_bare_programs();
	test_machines();
	test_changes();
	test_first_bytes();
	test_fixed();
	printf("%u comparisons\n", cases);
	return test_result();
}
