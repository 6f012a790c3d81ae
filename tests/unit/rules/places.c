/* SPDX-License-Identifier: MIT */
/* Hits by call site and function: what is added up of each place, and of several that are joined;
 * and what a finding and a verdict take from there. */
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define RARE 3u /* the most steps that are few of these */
#define CALL_NS 3000.0

static struct scene *scene;
static struct tfs_steady steady;

/* A call of a function from a call site. */
static void put(uint32_t site, enum tfs_family family, const char *name)
{
	struct builder_call call =
		scene_call(scene, 9, SCENE_LEGACY, TFS_LIBRARY_cudart, family, name);

	call.site = site;
	scene_make(scene, &call, 0);
}

static void put_copy(unsigned line)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	scene_make(scene, &call, 0);
}

/* Two at line 10 and one at 11 in each step, few at 12 and 13, all of them of one function. */
static void begin(void)
{
	scene = scene_create(false);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		put_copy(10);
		put_copy(10);
		put_copy(11);
		if (i < RARE)
			put_copy(12);
		if (i < RARE + 1)
			put_copy(13);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
}

static void end(void)
{
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* All copies, of which the first one is larger. */
static void take(struct tfs_hits *hits)
{
	for (uint32_t i = steady.call_count; i-- > 0;)
		if (tfs_steady_call(&steady, i)->family == TFS_FAMILY_copy_async)
			tfs_hits_add(hits, steady.calls[i], i ? 100 : 300, (struct tfs_edit){0});
}

static double by_count(const struct tfs_steady *of, const struct tfs_hit *hits, size_t count)
{
	(void)of;
	(void)hits;
	return (double)count;
}

static void sums(void)
{
	static const struct {
		uint32_t count, steps;
		bool seldom;
	} want[] = {{2 * STEPS, STEPS, false}, {STEPS, STEPS, false}, {RARE, RARE, true},
		{RARE + 1, RARE + 1, false}};
	struct tfs_place place = {0};
	struct tfs_hits hits = {0};
	uint64_t bytes = 0;

	begin();
	take(&hits);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		TEST_NEED(tfs_hits_next(&steady, &hits, &place));
		TEST_EQ(place.count, want[i].count);
		TEST_EQ(place.steps, want[i].steps);
		TEST_EQ(place.seldom, want[i].seldom);
		TEST_EQ(place.time_ns, want[i].count * CALL_NS);
		TEST_TRUE(!place.folded && !place.spread);
		for (size_t j = 0; j < place.count; j++)
			bytes += place.items[j].bytes;
		TEST_EQ(place.bytes, bytes);
		bytes = 0;
		TEST_EQ(place.largest, i ? 100 : 300);
		/* Hits come back in the order of the calls. */
		TEST_TRUE(place.items[0].call < place.items[1].call);
	}
	TEST_TRUE(!tfs_hits_next(&steady, &hits, &place));
	tfs_hits_finish(&hits);
	end();
}

static void joined(void)
{
	struct tfs_hits hits = {0}, usual = {0};
	struct tfs_findings findings = {0};
	struct tfs_arena arena = {0};
	struct tfs_place place;
	const uint64_t *frames;

	begin();
	take(&hits);
	TEST_EQ(tfs_hits_join(&steady, &hits, by_count, &usual, &place), 3);
	TEST_EQ(place.count, 3 * STEPS + RARE + 1);
	TEST_EQ(usual.count, place.count);
	TEST_TRUE(place.spread);
	TEST_EQ(place.steps, STEPS);
	TEST_EQ(place.largest, 300);
	TEST_EQ(place.time_ns, (3 * STEPS + RARE + 1) * CALL_NS);
	TEST_EQ(place.bytes, 100 * place.count + 200);
	TEST_NEED(tfs_trace_frames(steady.timeline->trace, place.site, &frames));
	TEST_EQ(frames[0], 0x401000 + 10 * 16);
	/* Each call site's total once. */
	findings = (struct tfs_findings){
		.steady = &steady, .arena = &arena, .rule = tfs_rule_find("TFS201")};
	TEST_NEED(tfs_findings_add(&findings, &place, NULL, "some"));
	TEST_EQ(findings.items[0].finding.count_total, 3 * STEPS + RARE + 1);
	TEST_EQ(findings.items[0].spread, true);
	free(findings.items);
	tfs_arena_finish(&arena);
	tfs_hits_finish(&usual);
	tfs_hits_finish(&hits);
	end();
}

/* One line of code, called from two others; another function there, and another line. */
static void folded(void)
{
	struct tfs_place place = {0};
	struct tfs_hits hits = {0};
	struct tfs_arena arena = {0};
	struct tfs_findings findings = {0};
	uint32_t sites[3];

	scene = scene_create(false);
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t frames[] = {i < 2 ? 0x501000 : 0x502000, 0x503000 + i * 16};

		sites[i] = builder_site(scene_builder(scene), 2, frames);
	}
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		put(sites[0], TFS_FAMILY_copy_async, "cudaMemcpyAsync");
		put(sites[1], TFS_FAMILY_copy_async, "cudaMemcpyAsync");
		put(sites[0], TFS_FAMILY_set_async, "cudaMemsetAsync");
		put(sites[2], TFS_FAMILY_copy_async, "cudaMemcpyAsync");
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	for (uint32_t i = 0; i < steady.call_count; i++)
		tfs_hits_add(&hits, steady.calls[i], 4, (struct tfs_edit){0});
	tfs_hits_fold(&hits);
	findings = (struct tfs_findings){
		.steady = &steady, .arena = &arena, .rule = tfs_rule_find("TFS104")};
	for (unsigned i = 0; i < 3; i++) {
		TEST_NEED(tfs_hits_next(&steady, &hits, &place));
		TEST_EQ(place.folded, i == 0);
		TEST_NEED(tfs_findings_add(&findings, &place, NULL, "some"));
		TEST_EQ(findings.items[i].finding.count_total, i ? STEPS : 2 * STEPS);
		TEST_EQ(findings.items[i].hit_count, i ? STEPS : 2 * STEPS);
	}
	TEST_TRUE(!tfs_hits_next(&steady, &hits, &place));
	/* A wait that is needed costs nothing, and no rewrite takes it away. */
	tfs_draft_needed(&findings, &findings.items[1], TFS_GUARDS_READ, "Then do this.");
	TEST_EQ(findings.items[1].most, TFS_LEVEL_NOTE);
	TEST_EQ(findings.items[0].most, TFS_LEVEL_ERROR);
	TEST_TRUE(findings.items[1].needed && findings.items[1].unrepaired);
	TEST_TRUE(strstr(findings.items[1].finding.advice,
		"on the buffer's event of an earlier step. With that done: Then do this."));
	tfs_draft_needed(&findings, &findings.items[2], TFS_GUARDS_REFILL | TFS_GUARDS_READ, NULL);
	TEST_TRUE(strstr(findings.items[2].finding.advice, "may overwrite a buffer"));
	free(findings.items);
	tfs_arena_finish(&arena);
	tfs_hits_finish(&hits);
	end();
}

/* Where findings are left out the verdict of their rule says so, and no other's. */
static void verdicts(void)
{
	const struct tfs_rule *const rule = tfs_rule_find("TFS201");
	struct tfs_findings findings = {.rule = rule, .asked = rule, .count = 5};
	struct tfs_verdict verdict;

	tfs_verdict_set(&verdict, &findings, 2, TFS_STATE_PASSED, "none");
	TEST_STR(verdict.reason, "3 findings");
	findings.dropped = 1;
	tfs_verdict_set(&verdict, &findings, 4, TFS_STATE_PASSED, "none");
	TEST_STR(verdict.reason, "1 finding; more are not listed");
	findings.rule = tfs_rule_find("TFS202");
	tfs_verdict_set(&verdict, &findings, 4, TFS_STATE_PASSED, "none");
	TEST_STR(verdict.reason, "1 finding");
	TEST_EQ(verdict.state, TFS_STATE_VIOLATED);
	tfs_verdict_set(&verdict, &findings, 5, TFS_STATE_PASSED, "none");
	TEST_STR(verdict.reason, "none");
	TEST_EQ(verdict.state, TFS_STATE_PASSED);
}

int main(void)
{
	sums();
	joined();
	folded();
	verdicts();
	return test_result();
}
