/* SPDX-License-Identifier: MIT */
/* What the device has to do in a step whatever the host does: by stream and by engine. */
#include "rules/whatif/device_work.h"

#include <math.h>

#include "rules/evidence/steady.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define US UINT64_C(1000)
#define NON_BLOCKING 4u
#define MOST_CALLS (16 * STEPS)

static struct scene *scene;
static struct tfs_steady steady;
static struct tfs_edit edits[MOST_CALLS];

static void begin(void)
{
	scene = scene_create(false);
	memset(edits, 0, sizeof(edits));
}

static void launch(unsigned line, unsigned stream, uint64_t ns)
{
	scene_launch(scene, line, stream, ns, 1024, 0, NULL);
}

static void copy(unsigned line, unsigned stream, bool up, uint64_t ns)
{
	scene_copy(scene, line, stream, true, up, TFS_MEMORY_PINNED, 0x7e0000000000, 4096, ns);
}

static void judge(void)
{
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	TEST_NEED(steady.call_count <= MOST_CALLS && steady.step_count == STEPS);
}

static void end(void)
{
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

static void edit(unsigned line, struct tfs_edit edit)
{
	const uint64_t *frames;

	for (uint32_t i = 0; i < steady.call_count; i++) {
		TEST_NEED(tfs_trace_frames(steady.timeline->trace,
			tfs_steady_call(&steady, i)->record->site, &frames));
		if (frames[0] == 0x401000 + line * 16)
			edits[i] = edit;
	}
}

static void is_left(uint64_t least, uint64_t all)
{
	struct tfs_device_work *work = tfs_device_work_create(&steady);

	TEST_NEED(work);
	/* Asked again, it is the same. */
	for (int i = 0; i < 2; i++) {
		const struct tfs_work_left left = tfs_device_work_left(work, edits);

		TEST_EQ(lround(left.least_ns), least);
		TEST_EQ(lround(left.all_ns), all);
	}
	tfs_device_work_destroy(work);
}

/* Kernels that run side by side, and copies both ways, of which kernels are slowed down. */
static void of_engines(void)
{
	unsigned streams[4];

	begin();
	for (unsigned i = 0; i < 4; i++)
		streams[i] = scene_stream(scene, NON_BLOCKING);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		launch(10, streams[0], 50 * US);
		launch(11, streams[1], 30 * US);
		copy(12, streams[2], true, 80 * US);
		copy(13, streams[3], false, 20 * US);
		scene_host(scene, 200 * US);
	}
	judge();
	is_left(80 * US, 80 * US);
	edit(12, (struct tfs_edit){.scale = 0.5f});
	is_left(50 * US, 50 * US + 12 * US);
	edit(12, (struct tfs_edit){.gone = true});
	is_left(50 * US, 50 * US + 4 * US);
	/* As much of the rest as was seen runs beside others. */
	edit(10, (struct tfs_edit){.gone = true});
	is_left(30 * US, 30 * US);
	edit(11, (struct tfs_edit){.gone = true});
	is_left(20 * US, 20 * US);
	end();
}

/* Of two streams, behind each other: an engine does one thing at a time. */
static void behind_each_other(void)
{
	unsigned one, other;

	begin();
	one = scene_stream(scene, NON_BLOCKING);
	other = scene_stream(scene, NON_BLOCKING);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		copy(10, one, true, 40 * US);
		scene_host(scene, 50 * US);
		copy(11, other, true, 60 * US);
		launch(12, SCENE_LEGACY, 10 * US);
		scene_host(scene, 100 * US);
	}
	judge();
	is_left(100 * US, 100 * US);
	end();
}

/* Devices have engines of their own. */
static void of_two_devices(void)
{
	unsigned streams[2];

	begin();
	for (unsigned i = 0; i < 2; i++) {
		scene_device(scene, i);
		streams[i] = scene_stream(scene, NON_BLOCKING);
	}
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 2; j++) {
			scene_device(scene, j);
			launch(10, streams[j], 50 * US);
		}
		scene_host(scene, 100 * US);
	}
	judge();
	TEST_EQ(tfs_engine_count(steady.timeline), 6);
	is_left(50 * US, 100 * US);
	end();
}

int main(void)
{
	of_engines();
	behind_each_other();
	of_two_devices();
	return test_result();
}
