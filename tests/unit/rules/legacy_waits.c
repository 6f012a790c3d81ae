/* SPDX-License-Identifier: MIT */
/* TFS201: the legacy stream stands for the work of all blocking streams. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define EVENT 0x51u

enum { BLOCKING = 0, NON_BLOCKING = 4 }; /* as in tfs_stream_record */

/* Work on a stream, and a wait for the legacy stream, or for an event of it, without any work of
 * its own. */
static void check(uint32_t flags, bool event, enum tfs_state state)
{
	const bool waits = state == TFS_STATE_VIOLATED;
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const unsigned stream = scene_stream(scene, flags);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, stream, 100000, 1024, 1, &memory);
		if (event) {
			scene_event_record(scene, 11, SCENE_LEGACY, EVENT);
			scene_event_sync(scene, 12, EVENT);
		} else {
			scene_stream_sync(scene, 12, SCENE_LEGACY);
		}
		scene_host(scene, 40000);
	}
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS201"), state) ||
		!TEST_EQ((finding = scene_finding(scene, "TFS201", 12)) != NULL, waits) ||
		(finding && !TEST_STR(finding->message,
				    "blocks until the device is done, 1 call/step; "
				    "the device has little work left when the call returns")))
		printf("  flags %u, event %d\n", flags, event);
	scene_destroy(scene);
}

int main(void)
{
	check(BLOCKING, true, TFS_STATE_VIOLATED);
	check(BLOCKING, false, TFS_STATE_VIOLATED);
	check(NON_BLOCKING, true, TFS_STATE_PASSED);
	check(NON_BLOCKING, false, TFS_STATE_PASSED);
	return test_result();
}
