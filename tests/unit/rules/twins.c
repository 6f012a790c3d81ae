/* SPDX-License-Identifier: MIT */
/* A program and its twin with one thing fixed: the twin gains what the finding foretold. */
#include "rules/timeline/timeline.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 40u
#define BYTES (UINT64_C(1) << 20)

enum fix { FIX_NONE, FIX_SYNC, FIX_READ, FIX_CHURN, FIX_ZEROING, FIX_CHAIN };

struct memory {
	uint64_t x, y, grad;
};

static void pointwise(struct scene *scene, unsigned line, uint64_t at, uint64_t work_ns)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_activation, "cudnnActivationForward");

	builder_operand(&call, TFS_ROLE_READ, at, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, at, BYTES);
	scene_make(scene, &call, work_ns);
}

static void step(struct scene *scene, const struct memory *memory, unsigned index, enum fix fix)
{
	uint64_t temporary = UINT64_C(0x7e0000000000);

	scene_step(scene);
	/* The program's own work differs from step to step. */
	scene_host(scene, 5000 + index * 7919 % 3000);
	scene_copy(scene, 9, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory->x, BYTES, 90000);
	if (fix != FIX_ZEROING)
		scene_set(scene, 10, memory->grad, BYTES, 0);
	if (fix != FIX_CHURN)
		scene_malloc(scene, 11, temporary, BYTES);
	scene_gemm(scene, 12, memory->x, memory->y, BYTES, false, 150000);
	pointwise(scene, 13, memory->y, 40000);
	if (fix != FIX_CHAIN)
		pointwise(scene, 14, memory->y, 40000);
	scene_gemm(scene, 15, memory->y, memory->grad, BYTES, fix != FIX_ZEROING, 150000);
	if (fix != FIX_CHURN)
		scene_free(scene, 16, temporary);
	scene_host(scene, 10000);
	scene_gemm(scene, 17, memory->grad, memory->x, BYTES, false, 60000);
	if (fix != FIX_READ || index % 20 == 0)
		scene_copy(scene, 18, SCENE_LEGACY, false, false, TFS_MEMORY_PAGEABLE, memory->x, 4,
			2000);
	scene_host(scene, 25000);
	scene_gemm(scene, 19, memory->grad, memory->x, BYTES, false, 60000);
	if (fix != FIX_SYNC)
		scene_device_sync(scene, 20);
}

static struct scene *run(enum fix fix)
{
	struct scene *scene = scene_create(false);
	struct memory memory;

	memory.x = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory.y = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory.grad = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	for (unsigned i = 0; i < STEPS; i++)
		step(scene, &memory, i, fix);
	scene_judge(scene, NULL);
	return scene;
}

static void check(
	const char *what, enum fix fix, const char *id, unsigned line, unsigned other_line)
{
	struct scene *scene = run(FIX_NONE), *twin = run(fix);
	const struct tfs_finding *finding = scene_finding(scene, id, line);
	double gain = scene_judgement(scene)->steps.replayed_ns;

	gain -= scene_judgement(twin)->steps.replayed_ns;
	TEST_NEED(finding);
	TEST_TRUE(!scene_finding(twin, id, line));
	TEST_TRUE(!other_line || !scene_finding(twin, id, other_line));
	/* The clock of the made-up host is no finer than this. */
	if (!TEST_IN(gain, finding->cost.low_ns - 1500, finding->cost.high_ns + 1500))
		printf("%s: foretold %.0f [%.0f, %.0f] ns\n", what, finding->cost.ns,
			finding->cost.low_ns, finding->cost.high_ns);
	TEST_TRUE(finding->cost.high_ns > 0);
	scene_destroy(scene);
	scene_destroy(twin);
}

int main(void)
{
	check("no wait", FIX_SYNC, "TFS201", 20, 0);
	check("seldom read back", FIX_READ, "TFS203", 18, 0);
	check("kept buffer", FIX_CHURN, "TFS401", 16, 11);
	check("no zeroing", FIX_ZEROING, "TFS402", 10, 0);
	check("one pass", FIX_CHAIN, "TFS301", 13, 0);
	return test_result();
}
