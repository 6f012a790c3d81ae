/* SPDX-License-Identifier: MIT */
/* TFS403, TFS404: how much room a device has left, in its kernels and in its memory. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MULTIPROCESSORS 100u
#define MIB (UINT64_C(1) << 20)

/* A step's kernels, by their blocks and nanoseconds, and what is in use meanwhile. */
struct use {
	struct {
		unsigned blocks;
		uint64_t ns;
	} kernels[3];
	uint64_t mib;
	enum tfs_state state;
	const char *says;
};

static void step(struct scene *scene, const struct use *use, unsigned stream, uint64_t memory)
{
	scene_step(scene);
	for (unsigned i = 0; i < 3 && use->kernels[i].ns; i++)
		scene_launch(scene, 10 + i, stream, use->kernels[i].ns,
			UINT64_C(256) * use->kernels[i].blocks, 1, &memory);
}

/* What a finding says, or the reason for none. */
static void says(const struct scene *scene, const char *id, enum tfs_state state, const char *text)
{
	const struct tfs_finding *finding = scene_finding(scene, id, 0);

	TEST_EQ(scene_state(scene, id), state);
	TEST_EQ(finding != NULL, state == TFS_STATE_VIOLATED);
	TEST_STR(finding ? finding->message : scene_reason(scene, id), text);
}

static void check(const struct use *use)
{
	struct scene *scene = scene_create_sized(MULTIPROCESSORS, 0);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, use->mib * MIB);

	for (unsigned i = 0; i < STEPS; i++)
		step(scene, use, SCENE_LEGACY, memory);
	scene_judge(scene, NULL);
	says(scene, "TFS403", use->state, use->says);
	scene_destroy(scene);
}

/* Two kernels that leave room are in each other's. */
static void side_by_side(void)
{
	const struct use use = {{{25, 60000}}, 1024, TFS_STATE_NOT_MEASURABLE, ""};
	struct scene *scene = scene_create_sized(MULTIPROCESSORS, 0);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, use.mib * MIB);
	const unsigned streams[] = {scene_stream(scene, 4), scene_stream(scene, 4)};

	for (unsigned i = 0; i < STEPS; i++) {
		step(scene, &use, streams[0], memory);
		scene_launch(scene, 13, streams[1], 60000, UINT64_C(256) * 25, 1, &memory);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS403"), TFS_STATE_NOT_MEASURABLE);
	TEST_EQ(strncmp(scene_reason(scene, "TFS403"), "small kernels run side by side for ", 35),
		0);
	scene_destroy(scene);
}

/* What is not known of memory is not judged. */
static void unknown(bool devices, const char *text)
{
	const struct use use = {{{25, 60000}}, 1024, TFS_STATE_NOT_MEASURABLE, ""};
	struct scene *scene = scene_create_sized(MULTIPROCESSORS, 0);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, use.mib * MIB);
	size_t size;

	if (devices)
		scene_device(scene, 1);
	for (unsigned i = 0; i < STEPS; i++)
		step(scene, &use, SCENE_LEGACY, memory);
	if (!devices)
		((struct tfs_file_header *)builder_bytes(scene_builder(scene), &size))
			->lost[TFS_LOSS_ranges_full] = 7;
	scene_judge(scene, NULL);
	says(scene, "TFS403", TFS_STATE_NOT_MEASURABLE, text);
	says(scene, "TFS404", TFS_STATE_NOT_MEASURABLE, text);
	scene_destroy(scene);
}

/* So much is in use, and an allocation fails in each of the first steps, with this status. */
static void at_limit(
	uint64_t mib, unsigned failures, uint16_t status, enum tfs_state state, const char *text)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, mib * MIB);

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_alloc, "cudaMalloc");

		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 50000, 1024, 1, &memory);
		call.amount = MIB;
		call.status = status;
		if (i < failures)
			scene_make(scene, &call, 0);
	}
	scene_judge(scene, NULL);
	says(scene, "TFS404", state, text);
	scene_destroy(scene);
}

int main(void)
{
	static const struct use uses[] = {
		/* By the blocks of the small ones, which are weighed by their time. */
		{{{25, 60000}, {50, 30000}, {200, 30000}}, 2048, TFS_STATE_VIOLATED,
			"75 % of the kernels' time passes in those of fewer blocks than the device has multiprocessors (100), "
			"and 2.00 GiB of its 16.0 GiB of memory are in use at most: a batch up to 3 times as large may take hardly longer"},
		/* By memory. */
		{{{20, 60000}, {100, 60000}}, 6144, TFS_STATE_VIOLATED,
			"50 % of the kernels' time passes in those of fewer blocks than the device has multiprocessors (100), "
			"and 6.00 GiB of its 16.0 GiB of memory are in use at most: a batch up to 2 times as large may take hardly longer"},
		/* No further at once. */
		{{{1, 60000}}, 512, TFS_STATE_VIOLATED,
			"100 % of the kernels' time passes in those of fewer blocks than the device has multiprocessors (100), "
			"and 512 MiB of its 16.0 GiB of memory are in use at most: a batch up to 16 times as large may take hardly longer"},
		{{{60, 60000}}, 512, TFS_STATE_PASSED,
			"there is no room for a batch twice as large: 512 MiB of the device's 16.0 GiB of memory are in use at most"},
		{{{25, 60000}}, 8192, TFS_STATE_PASSED,
			"there is no room for a batch twice as large: 8.00 GiB of the device's 16.0 GiB of memory are in use at most"},
		{{{25, 48000}, {100, 52000}}, 512, TFS_STATE_PASSED,
			"48 % of the kernels' time passes in those of fewer blocks than the device has multiprocessors"},
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(*uses); i++)
		check(&uses[i]);
	side_by_side();
	unknown(false, "not all allocations were followed");
	unknown(true, "which of several devices memory belongs to was not recorded");
	at_limit(15 << 10, 0, 0, TFS_STATE_VIOLATED,
		"up to 15.0 GiB of the device's 16.0 GiB of memory are in use (94 %), in what the program allocates itself");
	at_limit(14700, 0, 0, TFS_STATE_PASSED,
		"what the program allocates itself is at most 14.4 GiB of the device's 16.0 GiB of memory (90 %)");
	at_limit(8 << 10, 1, 2, TFS_STATE_VIOLATED,
		"up to 8.00 GiB of the device's 16.0 GiB of memory are in use (50 %), in what the program allocates itself; "
		"1 allocation failed for want of memory in the judged steps");
	at_limit(8 << 10, STEPS, 2, TFS_STATE_VIOLATED,
		"up to 8.00 GiB of the device's 16.0 GiB of memory are in use (50 %), in what the program allocates itself; "
		"30 allocations failed for want of memory in the judged steps");
	at_limit(8 << 10, 1, 1, TFS_STATE_PASSED,
		"what the program allocates itself is at most 8.00 GiB of the device's 16.0 GiB of memory (50 %)");
	return test_result();
}
