/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_RULES_WEIGHTS_H
#define TFS_TESTS_UNIT_RULES_WEIGHTS_H

/* A scene with device memory that its kernels work on, and what its rules are to say. */

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u

static uint64_t weights;

static inline struct scene *start(void)
{
	struct scene *scene = scene_create(false);

	weights = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	return scene;
}

static inline void work(struct scene *scene, unsigned line, unsigned stream, uint64_t ns)
{
	scene_launch(scene, line, stream, ns, 1024, 1, &weights);
}

static inline void expect(
	struct scene *scene, const char *id, enum tfs_state state, unsigned findings)
{
	bool held = TEST_EQ(scene_state(scene, id), state);

	if (!TEST_EQ(scene_findings(scene, id), findings) || !held) {
		printf("%s:\n", id);
		scene_print(scene);
	}
}

#endif
