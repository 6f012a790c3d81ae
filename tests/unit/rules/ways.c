/* SPDX-License-Identifier: MIT */
/*
 * Copies whose direction nobody told: cudaMemcpyDefault between memory that was not seen allocated,
 * without a word from CUPTI. They may be read-backs.
 */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MIB (UINT64_C(1) << 20)

static uint64_t weights;

static struct scene *start(void)
{
	struct scene *scene = scene_create(false);

	weights = scene_memory(scene, TFS_MEMORY_DEVICE, MIB);
	return scene;
}

static void copy(struct scene *scene, unsigned line, bool async, uint32_t target, uint32_t source,
	uint64_t bytes)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart,
		async ? TFS_FAMILY_copy_async : TFS_FAMILY_copy,
		async ? "cudaMemcpyAsync" : "cudaMemcpy");

	call.amount = bytes;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(target), 0x10000000, bytes);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(source), 0x20000000, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 4);
	scene_make(scene, &call, 0);
}

static void expect(struct scene *scene, const char *id, enum tfs_state state)
{
	if (!TEST_EQ(scene_state(scene, id), state)) {
		printf("%s:\n", id);
		scene_print(scene);
	}
}

/* Such a copy may have read what the host changes behind the wait, or brought what it reads. */
static void a_wait_behind_it_is_kept(void)
{
	struct scene *scene = start();
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &weights);
		copy(scene, 11, true, TFS_MEMORY_HOST, TFS_MEMORY_HOST, MIB);
		scene_stream_sync(scene, 12, SCENE_LEGACY);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS201", 12);
	if (finding && !TEST_TRUE(!strstr(finding->advice, "Remove")))
		printf("%s\n", finding->advice);
	scene_destroy(scene);
}

static void rules_about_directions(
	bool async, uint32_t target, uint32_t source, uint64_t bytes, enum tfs_state state)
{
	struct scene *scene = start();

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &weights);
		copy(scene, 11, async, target, source, bytes);
		if (async)
			scene_stream_sync(scene, 12, SCENE_LEGACY);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS101", state);
	expect(scene, "TFS203", bytes < MIB ? state : TFS_STATE_PASSED);
	scene_destroy(scene);
}

int main(void)
{
	const uint32_t host = TFS_MEMORY_HOST, pinned = TFS_MEMORY_PINNED;

	a_wait_behind_it_is_kept();
	rules_about_directions(true, host, host, MIB, TFS_STATE_NOT_MEASURABLE);
	rules_about_directions(false, host, host, 4, TFS_STATE_NOT_MEASURABLE);
	rules_about_directions(true, host, pinned, 4, TFS_STATE_NOT_MEASURABLE);
	rules_about_directions(true, pinned, pinned, 4, TFS_STATE_PASSED);
	rules_about_directions(true, TFS_MEMORY_MANAGED, host, 4, TFS_STATE_PASSED);
	rules_about_directions(false, TFS_MEMORY_DEVICE, TFS_MEMORY_DEVICE, 4, TFS_STATE_PASSED);
	return test_result();
}
