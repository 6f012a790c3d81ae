/* SPDX-License-Identifier: MIT */
/* A device that is not the program's alone: it is told, and no finding is an error. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define WORK UINT64_C(100000)

struct device {
	const char *name;
	bool mps;
	unsigned of; /* that MPS is said of */
	enum tfs_state state;
	const char *says;
};

/* A wait behind each kernel, which is an error on a device of one's own. */
static void check(const struct device *device)
{
	struct scene *scene = scene_create_named(device->name);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const bool shared = device->state == TFS_STATE_VIOLATED;
	const struct tfs_finding *wait, *told;

	if (device->mps)
		builder_fact(scene_builder(scene), TFS_FACT_mps, device->name, device->of);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		scene_host(scene, WORK);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS907"), device->state);
	wait = scene_finding(scene, "TFS201", 11);
	told = scene_finding(scene, "TFS907", 0);
	TEST_NEED(wait);
	TEST_EQ(wait->level, shared ? TFS_LEVEL_WARN : TFS_LEVEL_ERROR);
	TEST_STR(wait->doubt ? wait->doubt : "none", shared ? "the GPU is shared" : "none");
	TEST_EQ(told != NULL, shared);
	if (told && !TEST_TRUE(strstr(told->message, device->says)))
		printf("  %s\n", told->message);
	if (told)
		TEST_EQ(told->level, TFS_LEVEL_NOTE);
	if (!shared)
		TEST_TRUE(strstr(scene_reason(scene, "TFS907"), device->says));
	scene_destroy(scene);
}

int main(void)
{
	static const struct device devices[] = {
		{"A device", false, 0, TFS_STATE_PASSED,
			"other processes used it was not looked for"},
		{"A device", true, 0, TFS_STATE_VIOLATED,
			"contexts on A device are shared through MPS"},
		{"A device", true, 1, TFS_STATE_PASSED, "no MPS"},
		{"NVIDIA H100 80GB HBM3 MIG 1g.10gb", false, 0, TFS_STATE_VIOLATED,
			"NVIDIA H100 80GB HBM3 MIG 1g.10gb is a slice of a GPU"},
		{"A MIGHTY device", false, 0, TFS_STATE_PASSED, "no slice of a GPU"},
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		check(&devices[i]);
	return test_result();
}
