/* SPDX-License-Identifier: MIT */
/* TFS101: what it must say of copies, and what must not make it speak. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BIG (UINT64_C(4) << 20)

struct copy {
	enum tfs_memory_kind host;
	bool async, up;
	uint64_t bytes;
	unsigned times; /* per step */
	unsigned every; /* n-th step */
};

static struct scene *run(const struct copy *copy)
{
	struct scene *scene = scene_create(false);
	uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < copy->times && i % copy->every == 0; j++)
			scene_copy(scene, 10, SCENE_LEGACY, copy->async, copy->up, copy->host,
				device, copy->bytes, 2000 + copy->bytes / 6);
		scene_launch(scene, 11, SCENE_LEGACY, 400000, 1024, 1, &device);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	return scene;
}

static void check(const struct copy *copy, enum tfs_state state)
{
	struct scene *scene = run(copy);

	if (!TEST_EQ(scene_state(scene, "TFS101"), state))
		scene_print(scene);
	TEST_EQ(scene_findings(scene, "TFS101"), state == TFS_STATE_VIOLATED);
	scene_destroy(scene);
}

static void pageable_upload_costs(void)
{
	const struct copy copy = {TFS_MEMORY_PAGEABLE, true, true, BIG, 1, 1};
	struct scene *scene = run(&copy);
	const struct tfs_finding *finding = scene_finding(scene, "TFS101", 10);

	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_ERROR);
	TEST_STR(finding->message,
		"copies 4.00 MiB per step to the device from pageable host memory; "
		"the call blocks although its name says Async");
	TEST_EQ(finding->count_per_step, 1);
	TEST_EQ(finding->bytes_per_step, BIG);
	TEST_EQ(finding->count_total, STEPS);
	TEST_EQ(finding->cost.method, TFS_COST_REPLAY);
	/* 6 bytes per nanosecond now, 12 from pinned memory: half of 700 us, and the host need not
	 * wait for the rest. */
	TEST_IN(finding->cost.ns, 340000, 380000);
	TEST_TRUE(finding->cost.low_ns <= finding->cost.ns &&
		  finding->cost.ns <= finding->cost.high_ns);
	TEST_TRUE(finding->repair.name && finding->repair.state == TFS_REPAIR_OFF);
	scene_destroy(scene);
}

/* Where the device reads the host's memory itself. */
static void coherent_memory_passes(void)
{
	struct scene *scene = scene_create(false);
	uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	builder_fact(scene_builder(scene), TFS_FACT_memory_coherent, NULL, 1);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PAGEABLE, device, BIG,
			BIG / 6);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_PASSED);
	TEST_EQ(scene_findings(scene, "TFS101"), 0);
	scene_destroy(scene);
}

/* The pinned twin of the program above gains what was foretold. */
static void twin_gains_what_was_foretold(void)
{
	static const struct copy slow = {TFS_MEMORY_PAGEABLE, false, true, BIG, 1, 1};
	struct scene *scene = run(&slow), *twin = scene_create(false);
	uint64_t device = scene_memory(twin, TFS_MEMORY_DEVICE, BIG);
	const struct tfs_finding *finding = scene_finding(scene, "TFS101", 10);
	double gain;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(twin);
		scene_copy(twin, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PINNED, device, BIG,
			1500 + BIG / 12);
		scene_launch(twin, 11, SCENE_LEGACY, 400000, 1024, 1, &device);
		scene_host(twin, 20000);
	}
	gain = scene_judgement(scene)->steps.judged_median_ns;
	gain -= scene_judge(twin, NULL)->steps.judged_median_ns;
	TEST_NEED(finding);
	TEST_IN(gain, finding->cost.low_ns, finding->cost.high_ns);
	scene_destroy(scene);
	scene_destroy(twin);
}

/* What a step gains that copies 4 MiB at 6 bytes per nanosecond, and how sure that is, on a device
 * of this generation. Pinned copies of another buffer, if any, went at these rates. */
static struct tfs_cost price(uint32_t major, const double *rates, unsigned count)
{
	struct scene *scene = scene_create_on(major);
	uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	struct tfs_cost cost;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, BIG,
			BIG / 6);
		if (count)
			scene_copy(scene, 12, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, device,
				BIG / 8, 1500 + (uint64_t)((double)BIG / 8 / rates[i % count]));
		scene_launch(scene, 11, SCENE_LEGACY, 400000, 1024, 1, &device);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	TEST_NEED(scene_finding(scene, "TFS101", 10));
	cost = scene_finding(scene, "TFS101", 10)->cost;
	scene_destroy(scene);
	return cost;
}

/* The slowest machines of a kind are counted on where the recording has no pinned copy. */
static void links_are_no_faster_than_seen(void)
{
	static const double mostly[] = {9, 9.1, 24}, best[] = {24};
	const double now = BIG / 6.0, usual = BIG / 24.0 + 1500, node = BIG / 8.3 + 1500;
	struct tfs_cost cost = price(8, NULL, 0);

	TEST_IN(cost.ns, now - usual - 5000, now - usual + 5000);
	TEST_IN(cost.low_ns, 0, now - node + 5000);
	cost = price(9, NULL, 0);
	TEST_IN(cost.low_ns, 0, now - BIG / 27.7 + 5000);
	/* And by a rate that most of the copies had, where it has some. */
	cost = price(8, mostly, 3);
	TEST_IN(cost.ns, now - BIG / 9.0 - 5000, now - BIG / 9.1 + 5000);
	cost = price(8, best, 1);
	TEST_IN(cost.ns, now - usual - 5000, now - usual + 5000);
	TEST_IN(cost.low_ns, now - usual - 30000, cost.ns);
}

/* A step with 40 small copies of pageable memory one behind the other, or with one of pinned memory
 * that has all their bytes. */
static struct scene *small_copies(bool merged)
{
	static const uint64_t sizes[] = {4096, 61440};
	const uint64_t all = 20 * (sizes[0] + sizes[1]);
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 12, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, device, BIG / 8,
			1500 + BIG / 8 / 24);
		for (unsigned j = 0; j < 40 && !merged; j++)
			scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE,
				device, sizes[j % 2], 2000 + sizes[j % 2] / 6);
		if (merged)
			scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PINNED, device,
				all, 1500 + all / 24);
		scene_launch(scene, 11, SCENE_LEGACY, 400000, 1024, 1, &device);
		scene_device_sync(scene, 13);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	return scene;
}

/* Pinned memory makes each copy faster, and one of all still has all their bytes. */
static void a_merged_copy_has_all_bytes(void)
{
	struct scene *scene = small_copies(false), *twin = small_copies(true);
	const struct tfs_finding *finding = scene_finding(scene, "TFS104", 10);
	const double gain = scene_judgement(scene)->steps.judged_median_ns -
			    scene_judgement(twin)->steps.judged_median_ns;

	TEST_NEED(finding && scene_finding(scene, "TFS101", 10));
	TEST_EQ(finding->group, scene_finding(scene, "TFS101", 10)->group);
	TEST_IN(finding->cost.ns, gain - 25000, gain + 25000);
	TEST_IN(gain, finding->cost.low_ns, finding->cost.high_ns);
	scene_destroy(scene);
	scene_destroy(twin);
}

/* A step with 40 small copies of pinned memory, where no copy is large enough to tell a rate; or
 * one copy with all that the 40 take besides what the shortest does. */
static struct scene *small_copies_alone(bool merged)
{
	static const uint64_t takes_ns[] = {3000, 9000};
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < (merged ? 1 : 40); j++)
			scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, device,
				4096, merged ? 20 * 6000 + 3000 : takes_ns[j % 2]);
		scene_launch(scene, 11, SCENE_LEGACY, 400000, 1024, 1, &device);
		scene_device_sync(scene, 13);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	return scene;
}

static void a_merged_copy_starts_once(void)
{
	struct scene *scene = small_copies_alone(false), *twin = small_copies_alone(true);
	const struct tfs_finding *finding = scene_finding(scene, "TFS104", 10);
	const double gain = scene_judgement(scene)->steps.judged_median_ns -
			    scene_judgement(twin)->steps.judged_median_ns;

	TEST_NEED(finding);
	TEST_IN(finding->cost.ns, gain - 25000, gain + 25000);
	TEST_IN(gain, finding->cost.low_ns, finding->cost.high_ns);
	scene_destroy(scene);
	scene_destroy(twin);
}

/* A copy within device memory. */
static void copy_within(
	struct scene *scene, unsigned line, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), to, bytes);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), from, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 3);
	scene_make(scene, &call, 20000);
}

enum use_of_copy { READ, HALF_WRITTEN, SCALED, NOT_SEEN };

/* The source is written anew behind the copy's use, or before its second half is read; or a
 * kernel's reach is not known. */
static void use_copy(
	struct scene *scene, enum use_of_copy use, uint64_t copy, uint64_t source, uint64_t out)
{
	if (use == HALF_WRITTEN)
		scene_set(scene, 12, copy, 1024, 0);
	if (use == SCALED)
		scene_gemm(scene, 12, out, copy, BIG, true, 50000);
	if (use == NOT_SEEN)
		scene_launch(scene, 12, SCENE_LEGACY, 50000, 1024, 1, &out);
	if (use == HALF_WRITTEN)
		scene_gemm(scene, 13, out, source, BIG, false, 50000);
	scene_gemm(scene, 14, copy + BIG / 2, out, BIG / 2, true, 50000);
	if (use != HALF_WRITTEN)
		scene_gemm(scene, 13, out, source, BIG, false, 50000);
}

static void needless_copies(enum use_of_copy use, bool remove)
{
	struct scene *scene = scene_create(false);
	uint64_t memory[3];
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < 3; i++)
		memory[i] = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		copy_within(scene, 10, memory[0], memory[1], BIG);
		use_copy(scene, use, memory[0], memory[1], memory[2]);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS107", 10);
	TEST_NEED(finding);
	if (!TEST_EQ(!strncmp(finding->advice, "Remove this copy", 16), remove))
		printf("  use %d\n", use);
	TEST_EQ(finding->level, remove ? TFS_LEVEL_WARN : TFS_LEVEL_NOTE);
	scene_destroy(scene);
}

/* Copies at so many lines in each step, beside so much other work; none is seen of the device where
 * that is 0. */
static struct scene *lines(unsigned count, uint64_t work_ns)
{
	struct scene *scene = scene_create(false);
	const uint64_t from = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	const uint64_t to = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 9, from, from, BIG, true, work_ns);
		for (unsigned j = 0; j < count; j++) {
			struct builder_call call = scene_call(scene, 10 + j, SCENE_LEGACY,
				TFS_LIBRARY_cudart, TFS_FAMILY_copy_async, "cudaMemcpyAsync");

			call.amount = 1024;
			builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
				to + 1024 * j, 1024);
			builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
				from + 1024 * j, 1024);
			builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 3);
			scene_make(scene, &call, work_ns ? 2000 : 0);
		}
	}
	scene_judge(scene, NULL);
	return scene;
}

static void copies_at_many_lines(void)
{
	struct scene *scene = lines(30, 540000);
	const struct tfs_finding *finding = scene_finding(scene, "TFS107", 0);

	TEST_EQ(scene_findings(scene, "TFS107"), 1);
	TEST_NEED(finding);
	TEST_STR(finding->message,
		"copies 30.0 KiB per step within device memory in 30 calls/step, which takes 10 % of the GPU's time; "
		"these are of 30 call sites, of which this one takes longest");
	TEST_EQ(finding->count_per_step, 30);
	TEST_EQ(finding->count_total, 30 * STEPS);
	scene_destroy(scene);
	scene = lines(4, 5400000);
	TEST_EQ(scene_state(scene, "TFS107"), TFS_STATE_PASSED);
	TEST_STR(scene_reason(scene, "TFS107"),
		"copies within device memory take 0.1 % of the GPU's time and 0.1 % of the step's, and are fewer than 16 per step");
	scene_destroy(scene);
}

/* What part of the GPU's time copies take is not told where it was not seen. */
static void copies_without_the_device(void)
{
	struct scene *scene = lines(30, 0);

	TEST_EQ(scene_state(scene, "TFS107"), TFS_STATE_VIOLATED);
	TEST_NEED(scene_finding(scene, "TFS107", 10));
	TEST_STR(scene_finding(scene, "TFS107", 10)->message,
		"copies 1.00 KiB per step within device memory in 1 call/step");
	scene_destroy(scene);
	scene = lines(4, 0);
	TEST_EQ(scene_state(scene, "TFS107"), TFS_STATE_NOT_MEASURABLE);
	TEST_STR(scene_reason(scene, "TFS107"),
		"copies within device memory are fewer than 16 per step; what they take of the GPU's time was not recorded");
	scene_destroy(scene);
}

/* Copies of memory that was not seen allocated, many in each step: what they are for is not known.
 */
static void copies_of_unknown_memory(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 16; j++)
			copy_within(scene, 10, 0x20000000, 0x10000000, 1024);
		scene_gemm(scene, 11, memory, memory, BIG, true, 50000);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS107", 10);
	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_NOTE);
	TEST_STR(finding->advice, finding->rule->advice);
	scene_destroy(scene);
}

/* A copy that brings back what the step has changed is needed, if nothing writes its source. */
static void copies_that_bring_back(bool written, enum tfs_state state, const char *says)
{
	struct scene *scene = scene_create(false);
	const uint64_t from = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	const uint64_t to = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		if (written)
			scene_gemm(scene, 9, to, from, BIG, true, 50000);
		copy_within(scene, 10, to, from, BIG);
		scene_gemm(scene, 11, to, to, BIG, true, 50000);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS107"), state);
	TEST_STR(scene_reason(scene, "TFS107"), says);
	scene_destroy(scene);
}

int main(void)
{
	a_merged_copy_has_all_bytes();
	a_merged_copy_starts_once();
	static const struct copy broken[] = {
		{TFS_MEMORY_PAGEABLE, false, true, BIG, 1, 1},
		{TFS_MEMORY_PAGEABLE, true, false, BIG, 1, 1},
		{TFS_MEMORY_PAGEABLE, false, true, 60000, 20, 1}, /* small, but 1.2 MB in sum */
		{TFS_MEMORY_PAGEABLE, false, true, BIG, 1, 3},
		/* Small, but the host is in them for a tenth of the step. */
		{TFS_MEMORY_PAGEABLE, false, true, 65536, 4, 1},
	};
	static const struct copy clean[] = {
		{TFS_MEMORY_PINNED, true, true, BIG, 1, 1},
		{TFS_MEMORY_PINNED, false, false, BIG, 1, 1},
		{TFS_MEMORY_MANAGED, false, true, BIG, 1, 1},
		{TFS_MEMORY_PAGEABLE, false, true, 2560, 1, 1},
		{TFS_MEMORY_PAGEABLE, false, true, BIG, 1, 15},
	};
	static const struct copy unknown = {TFS_MEMORY_UNKNOWN, false, true, BIG, 1, 1};

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		check(&broken[i], TFS_STATE_VIOLATED);
	for (size_t i = 0; i < sizeof(clean) / sizeof(*clean); i++)
		check(&clean[i], TFS_STATE_PASSED);
	check(&unknown, TFS_STATE_NOT_MEASURABLE);
	pageable_upload_costs();
	coherent_memory_passes();
	twin_gains_what_was_foretold();
	links_are_no_faster_than_seen();
	needless_copies(READ, true);
	needless_copies(HALF_WRITTEN, false);
	needless_copies(SCALED, false);
	needless_copies(NOT_SEEN, false);
	copies_at_many_lines();
	copies_without_the_device();
	copies_of_unknown_memory();
	copies_that_bring_back(false, TFS_STATE_PASSED,
		"nothing is copied within device memory but what was changed");
	copies_that_bring_back(true, TFS_STATE_VIOLATED, "1 finding");
	return test_result();
}
