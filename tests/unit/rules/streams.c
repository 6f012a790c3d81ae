/* SPDX-License-Identifier: MIT */
/* What the stream of calls is called, and how streams are told apart. */
#include "rules/evidence/streams.h"

#include <errno.h>

#include "rules/evidence/findings.h"
#include "tests/test.h"
#include "tests/unit/scenes/failing.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MOST TFS_NUMBERED_STREAMS

enum { LEGACY = 1, PER_THREAD = 2, NON_BLOCKING = 4 }; /* as in tfs_stream_record */

static uint64_t memory;

static const struct tfs_host_call *call_of(const struct tfs_steady *steady, unsigned line)
{
	const uint64_t *frames;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		TEST_NEED(tfs_trace_frames(steady->timeline->trace, call->record->site, &frames));
		if (frames[0] == 0x401000 + line * 16)
			return call;
	}
	TEST_NEED(!"the line makes a call");
	return NULL;
}

/* Of a place with the first calls of these lines. */
static void is_called(
	const struct tfs_steady *steady, unsigned line, unsigned other, const char *name)
{
	const struct tfs_host_call *calls = steady->timeline->calls;
	struct tfs_arena arena = {0};
	const struct tfs_hit items[] = {{.call = (uint32_t)(call_of(steady, line) - calls)},
		{.call = (uint32_t)(call_of(steady, other) - calls)}};
	const struct tfs_place place = {.items = items, .count = 2};

	if (!TEST_STR(tfs_stream_name(&arena, steady->timeline, &place), name))
		printf("  lines %u and %u\n", line, other);
	tfs_arena_finish(&arena);
}

static void launch(struct scene *scene, unsigned line, unsigned stream)
{
	scene_launch(scene, line, stream, 5000, 1024, 1, &memory);
}

static void names(void)
{
	struct scene *scene = scene_create(false);
	const unsigned one = scene_stream(scene, NON_BLOCKING);
	const unsigned other = scene_stream(scene, NON_BLOCKING);
	const unsigned thread = scene_stream(scene, PER_THREAD);
	const unsigned idle = scene_stream(scene, NON_BLOCKING);
	const unsigned idle_thread = scene_stream(scene, PER_THREAD);
	const uint32_t same = builder_stream(scene_builder(scene), 99, 7 + idle, PER_THREAD);
	struct tfs_steady steady;

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_step(scene);
		launch(scene, 10, SCENE_LEGACY);
		launch(scene, 11, one);
		launch(scene, 12, other);
		launch(scene, 13, thread);
		/* Without work of their own. */
		scene_stream_sync(scene, 14, idle);
		scene_stream_sync(scene, 15, idle_thread);
		scene_device_sync(scene, 16);
		call = scene_call(scene, 17, 0, TFS_LIBRARY_cudart, TFS_FAMILY_stream_sync,
			"cudaStreamSynchronize");
		call.stream = (uint16_t)same;
		call.start_ns = scene_now(scene);
		call.duration_ns = 1000;
		builder_call(scene_builder(scene), &call);
		scene_host(scene, 2000);
		/* It does not say which, but what it has done does. */
		call = scene_call(
			scene, 18, one, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");
		call.stream = TFS_NO_STREAM;
		scene_make(scene, &call, 5000);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	is_called(&steady, 10, 10, "legacy");
	is_called(&steady, 11, 11, "8");
	is_called(&steady, 12, 12, "9");
	is_called(&steady, 13, 13, "per-thread");
	is_called(&steady, 14, 14, "11");
	is_called(&steady, 15, 15, "per-thread");
	is_called(&steady, 16, 16, NULL);
	is_called(&steady, 18, 18, "legacy");
	is_called(&steady, 10, 11, "several");
	is_called(&steady, 11, 12, "several");
	is_called(&steady, 11, 16, "several");
	/* Of one number, but not of one kind. */
	is_called(&steady, 14, 17, "several");
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* Streams of which no work was recorded come behind the others, unless one of these may be theirs.
 */
static void numbers(bool unnamed)
{
	struct scene *scene = scene_create(false);
	const unsigned works = scene_stream(scene, NON_BLOCKING);
	const unsigned idle = scene_stream(scene, NON_BLOCKING);
	const unsigned thread = scene_stream(scene, PER_THREAD);
	struct tfs_stream_numbers numbers;
	struct tfs_steady steady;

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		launch(scene, 10, SCENE_LEGACY);
		launch(scene, 11, works);
		for (unsigned j = 0; j < 2; j++) {
			scene_stream_sync(scene, 12, idle);
			scene_stream_sync(scene, 13, thread);
		}
		scene_stream_sync(scene, 14, works);
		if (unnamed)
			builder_device_op(scene_builder(scene), TFS_DEVICE_KERNEL, 0, 55, 90000 + i,
				scene_now(scene), scene_now(scene) + 100, 0);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	TEST_EQ(steady.timeline->stream_count, unnamed ? 3 : 2);
	TEST_EQ(tfs_stream_numbers_init(&numbers, &steady), 0);
	TEST_EQ(numbers.count, unnamed ? 3 : 4);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 10)), 0);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 11)), 1);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 12)), unnamed ? TFS_NONE : 2);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 13)), unnamed ? TFS_NONE : 3);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 14)), 1);
	TEST_EQ(numbers.flags[0] & LEGACY, LEGACY);
	TEST_EQ(numbers.flags[1], NON_BLOCKING);
	if (!unnamed) {
		TEST_EQ(numbers.flags[2], NON_BLOCKING);
		TEST_EQ(numbers.flags[3], PER_THREAD);
	}
	tfs_stream_numbers_free(&numbers);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* No more are told apart, whether they work or not. */
static void too_many(bool work)
{
	struct scene *scene = scene_create(false);
	struct tfs_stream_numbers numbers;
	struct tfs_steady steady;
	unsigned streams[MOST + 2];

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < MOST + 2; i++)
		streams[i] = scene_stream(scene, NON_BLOCKING);
	for (unsigned i = 0; i < 3; i++) {
		scene_step(scene);
		launch(scene, 10, SCENE_LEGACY);
		for (unsigned j = 0; j < MOST + 2; j++)
			if (work)
				launch(scene, 100 + j, streams[j]);
			else
				scene_stream_sync(scene, 100 + j, streams[j]);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	TEST_EQ(tfs_stream_numbers_init(&numbers, &steady), 0);
	TEST_EQ(numbers.count, MOST);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 100 + MOST - 2)), MOST - 1);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 100 + MOST - 1)), TFS_NONE);
	TEST_EQ(tfs_stream_number(&numbers, call_of(&steady, 100 + MOST)), TFS_NONE);
	tfs_stream_numbers_free(&numbers);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* What has no memory for its numbers is to be freed all the same. */
static void no_memory(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_stream_numbers numbers;
	struct tfs_steady steady;

	memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		launch(scene, 10, SCENE_LEGACY);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	left = 0;
	TEST_EQ(tfs_stream_numbers_init(&numbers, &steady), -ENOMEM);
	TEST_EQ(left, -1); /* there was an allocation, and it failed */
	tfs_stream_numbers_free(&numbers);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

int main(void)
{
	names();
	numbers(false);
	numbers(true);
	too_many(true);
	too_many(false);
	no_memory();
	return test_result();
}
