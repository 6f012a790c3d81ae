/* SPDX-License-Identifier: MIT */
/* TFS105, TFS106: what is copied to the device again, or could be computed there. */
#include <string.h>

#include "rules/evidence/findings.h"
#include "tests/test.h"
#include "tests/unit/scenes/failing.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(1) << 20)

/* The uploads of a run to one place; by what is recorded of their bytes. */
struct uploads {
	unsigned whole; /* all bytes are hashed in so many steps; 0 = in all */
	bool changes;   /* they differ from step to step, */
	bool alike;     /* though not in the places that are looked at */
	bool some;      /* their values are of the pattern in even steps only */
	uint64_t pattern;
	bool pageable;
	bool written;  /* a GEMM writes there too */
	bool turns;    /* another line copies something else there now and then */
	bool launches; /* a kernel of the program may write anywhere */
	enum tfs_state state;
	const char *says, *advice;
};

static void upload(struct scene *scene, unsigned line, const struct uploads *uploads, unsigned step,
	uint64_t target)
{
	const bool other = line != 10, whole = !uploads->whole || step < uploads->whole;
	const uint64_t what = other ? 5000 + step : uploads->changes ? 1000 + step : 1000;
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	call.amount = BYTES;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), target, BYTES);
	builder_operand(&call,
		TFS_ROLE_READ | TFS_ROLE_MEMORY(uploads->pageable ? TFS_MEMORY_PAGEABLE
								  : TFS_MEMORY_PINNED),
		0x10000000 + line * BYTES, BYTES);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 1);
	if (whole)
		builder_attribute(&call, TFS_ATTRIBUTE_content, what);
	builder_attribute(
		&call, TFS_ATTRIBUTE_sample, uploads->alike && !other ? 7 : what + 100000);
	if (uploads->pattern && (!uploads->some || step % 2 == 0))
		builder_attribute(&call, TFS_ATTRIBUTE_pattern, uploads->pattern);
	scene_make(scene, &call, 90000);
}

static void check(const char *id, const struct uploads *uploads)
{
	struct scene *scene = scene_create(false);
	const uint64_t target = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t result = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const struct tfs_finding *finding;
	bool held;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		if (uploads->turns && i % 10 == 5)
			upload(scene, 12, uploads, i, target);
		upload(scene, 10, uploads, i, target);
		scene_gemm(
			scene, 11, target, uploads->written ? target : result, BYTES, true, 50000);
		if (uploads->launches)
			scene_launch(scene, 13, SCENE_LEGACY, 2000, 1024, 1, &result);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, id, 10);
	held = TEST_EQ(scene_state(scene, id), uploads->state);
	held &= TEST_STR(finding ? finding->message : scene_reason(scene, id), uploads->says);
	if (finding && uploads->advice)
		held &= TEST_EQ(
			strncmp(finding->advice, uploads->advice, strlen(uploads->advice)), 0);
	if (!held)
		printf("  %s: %s\n", id, finding ? finding->advice : scene_reason(scene, id));
	scene_destroy(scene);
}

/* What TFS105 finds; false where it went without memory. */
static bool detect(const struct tfs_steady *steady)
{
	const struct tfs_rule *const rule = tfs_rule_find("TFS105");
	struct tfs_arena arena = {0};
	struct tfs_findings findings = {.steady = steady, .arena = &arena, .rule = rule};
	struct tfs_verdict verdict;
	bool whole;

	rule->detect(steady, &findings, &verdict);
	whole = !findings.failed && !arena.failed;
	free(findings.items);
	tfs_arena_finish(&arena);
	return whole;
}

/* While the n-th allocation fails, for every n, the rule says that it failed. */
static void without_memory(void)
{
	const struct uploads uploads = {.launches = true};
	struct scene *scene = scene_create(false);
	const uint64_t target = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	struct tfs_steady steady;
	unsigned failed = 0;
	bool all_worked = false;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		upload(scene, 10, &uploads, i, target);
		scene_launch(scene, 13, SCENE_LEGACY, 2000, 1024, 1, &target);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	for (long n = 0; !all_worked; n++) {
		bool whole;

		left = n;
		whole = detect(&steady);
		all_worked = left >= 0;
		left = -1;
		if (all_worked)
			TEST_TRUE(whole);
		failed += !whole;
	}
	TEST_TRUE(failed > 2);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

#define AGAIN "copies the same 990 KiB to the same device memory again in 0.97 calls/step; "
#define ONCE                                                                                       \
	"Copy this data to the device once, before the loop and on the stream that uses it, and again only where"
#define FROM_DEVICE                                                                                      \
	"Copy these bytes once, before the loop, to device memory of their own that nothing writes to, " \
	"and in the loop let cudaMemcpyAsync copy them from there in place of the copy from the host, "  \
	"both on the stream that uses them; "

int main(void)
{
	static const struct uploads again[] = {
		{.state = TFS_STATE_VIOLATED,
			.says = AGAIN "nothing else writes there",
			.advice = ONCE},
		{.pageable = true,
			.state = TFS_STATE_VIOLATED,
			.says = AGAIN "nothing else writes there",
			.advice = ONCE},
		{.written = true,
			.state = TFS_STATE_VIOLATED,
			.says = AGAIN "other work writes there as well, or may do so",
			.advice = FROM_DEVICE},
		{.turns = true,
			.state = TFS_STATE_VIOLATED,
			.says = "copies the same 887 KiB to the same device memory again in 0.87 calls/step; "
				"something else is written there now and then",
			.advice = ONCE},
		/* A kernel may write to the device's memory, and to the host's if it is pinned. */
		{.launches = true,
			.state = TFS_STATE_VIOLATED,
			.says = AGAIN "other work writes there as well, or may do so",
			.advice = "If only the host writes to this pinned memory: " FROM_DEVICE},
		{.launches = true,
			.pageable = true,
			.state = TFS_STATE_VIOLATED,
			.says = AGAIN "other work writes there as well, or may do so",
			.advice = FROM_DEVICE},
		{.changes = true,
			.state = TFS_STATE_PASSED,
			.says = "no call site copies much to the device that is there already"},
		/* Some places stand for all bytes where they did three times, */
		{.whole = 3,
			.state = TFS_STATE_VIOLATED,
			.says = AGAIN "nothing else writes there"},
		{.whole = 2,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "the bytes of 28 H2D copies were not looked at"},
		/* and not where they were alike and the rest was not. */
		{.whole = 3,
			.changes = true,
			.alike = true,
			.state = TFS_STATE_PASSED,
			.says = "no call site copies much to the device that is there already"},
	};
	static const struct uploads generated[] = {
		{.changes = true,
			.pattern = 4,
			.state = TFS_STATE_VIOLATED,
			.says = "copies 1.00 MiB per step to the device in 1 call/step: one value again and again",
			.advice = "If these values are the same whatever the data, let"},
		{.changes = true,
			.pattern = TFS_PATTERN_RAMP,
			.state = TFS_STATE_VIOLATED,
			.says = "copies 1.00 MiB per step to the device in 1 call/step: integers at equal distances"},
		{.changes = true,
			.pattern = 4,
			.some = true,
			.state = TFS_STATE_PASSED,
			.says = "no call site copies much to the device that is the same value throughout, or evenly spaced integers"},
		/* In some places of them, as all bytes were three times, or two. */
		{.changes = true,
			.pattern = 4,
			.whole = 3,
			.state = TFS_STATE_VIOLATED,
			.says = "copies 1.00 MiB per step to the device in 1 call/step: one value again and again"},
		{.changes = true,
			.pattern = 4,
			.whole = 2,
			.state = TFS_STATE_PASSED,
			.says = "no call site copies much to the device that is the same value throughout, or evenly spaced integers"},
		/* What the device has is another rule's. */
		{.pattern = 4,
			.state = TFS_STATE_PASSED,
			.says = "no call site copies much to the device that is the same value throughout, or evenly spaced integers"},
	};

	for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++)
		check("TFS105", &again[i]);
	for (size_t i = 0; i < sizeof(generated) / sizeof(*generated); i++)
		check("TFS106", &generated[i]);
	without_memory();
	return test_result();
}
