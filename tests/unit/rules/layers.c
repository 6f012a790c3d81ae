/* SPDX-License-Identifier: MIT */
/* NVTX ranges inside judged steps as layers. */
#include <math.h>
#include <string.h>

#include "rules/judge/layers.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u

static const struct tfs_layer *find(const struct scene *scene, const char *name)
{
	const struct tfs_layers *layers = &scene_judgement(scene)->layers;

	for (size_t i = 0; i < layers->count; i++)
		if (strcmp(layers->items[i].name, name) == 0)
			return &layers->items[i];
	return NULL;
}

static void put_range(struct scene *scene, const char *name, uint64_t start_ns, uint16_t level,
	enum tfs_range_kind kind, uint32_t tid)
{
	const struct tfs_range_record record = {.range = (uint16_t)kind,
		.name = builder_string(scene_builder(scene), name),
		.start_ticks = start_ns,
		.duration_ticks = (float)(scene_now(scene) - start_ns),
		.tid = tid,
		.level = level};

	builder_record(scene_builder(scene), TFS_RECORD_range, &record, sizeof(record));
}

/* forward { conv 1 { launch } launch, overlapping on another stream }, then wait { } */
static struct scene *make(bool device)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	unsigned other = scene_stream(scene, 4);
	const uint64_t before = scene_now(scene);

	put_range(scene, "warm-up", before, 0, TFS_RANGE_PUSHED, 77);
	for (unsigned i = 0; i < STEPS; i++) {
		char number[16];
		uint64_t forward, start;

		scene_step(scene);
		forward = start = scene_now(scene);
		scene_launch(scene, 10, SCENE_LEGACY, device ? 100000 : 0, 1024, 1, &memory);
		put_range(scene, "conv 1", start, 1, TFS_RANGE_PUSHED, 77);
		scene_launch(scene, 12, other, device ? 100000 : 0, 1024, 1, &memory);
		put_range(scene, "forward", forward, 0, TFS_RANGE_PUSHED, 77);
		start = scene_now(scene);
		scene_device_sync(scene, 11);
		put_range(scene, "wait", start, 0, TFS_RANGE_STARTED, 77);
		put_range(scene, "here", scene_now(scene), 0, TFS_RANGE_MARK, 77);
		put_range(scene, "loader", start, 0, TFS_RANGE_PUSHED, 99);
		snprintf(number, sizeof(number), "batch %u", i);
		put_range(scene, number, start, 0, TFS_RANGE_PUSHED, 77);
	}
	scene_judge(scene, NULL);
	return scene;
}

static void figures(void)
{
	struct scene *scene = make(true);
	const struct tfs_layers *layers = &scene_judgement(scene)->layers;
	const struct tfs_layer *forward = find(scene, "forward"), *conv = find(scene, "conv 1");
	const struct tfs_layer *wait = find(scene, "wait"), *batch = find(scene, "batch #");

	TEST_EQ(layers->count, 5);
	TEST_EQ(layers->more, 0);
	TEST_NEED(forward && conv && wait && batch && find(scene, "loader"));
	TEST_TRUE(!find(scene, "here") && !find(scene, "warm-up"));
	/* As they begin in a step, the outer one first. */
	TEST_TRUE(forward == &layers->items[0] && conv == &layers->items[1]);
	TEST_EQ(forward->level, 0);
	TEST_EQ(conv->level, 1);
	TEST_EQ(forward->steps, STEPS);
	TEST_EQ(forward->count, 1);
	TEST_EQ(forward->calls, 2);
	TEST_EQ(conv->calls, 1);
	TEST_IN(conv->device_ns, 99990, 100010);
	/* The second launch runs beside the first one: half of it counts twice in a sum. */
	TEST_IN(forward->device_ns, 100010, 110000);
	TEST_IN(forward->host_ns, 6000, 8000);
	TEST_TRUE(wait->host_ns > 80000);
	TEST_EQ(wait->device_ns, 0);
	TEST_EQ(batch->steps, STEPS);
	TEST_EQ(batch->count, 1);
	TEST_EQ(find(scene, "loader")->calls, 0);
	scene_destroy(scene);
}

static void without_the_device(void)
{
	struct scene *scene = make(false);

	TEST_NEED(find(scene, "forward"));
	TEST_TRUE(isnan(find(scene, "forward")->device_ns));
	TEST_EQ(find(scene, "forward")->calls, 2);
	scene_destroy(scene);
}

/* A range of a domain, `ns` long, behind the launch of a step. */
static void put_long(struct scene *scene, const char *name, uint32_t domain, uint16_t level,
	uint64_t start_ns, float ns)
{
	const struct tfs_range_record record = {.range = TFS_RANGE_PUSHED,
		.name = builder_string(scene_builder(scene), name),
		.domain = domain,
		.start_ticks = start_ns,
		.duration_ticks = ns,
		.tid = 77,
		.level = level};

	builder_record(scene_builder(scene), TFS_RECORD_range, &record, sizeof(record));
}

/* More layers than are listed: the shortest are left out. Layers of two domains are two, and none
 * is longer than its step. */
static void many(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const uint32_t one = builder_string(scene_builder(scene), "one");
	const uint32_t other = builder_string(scene_builder(scene), "other");
	const struct tfs_layers *layers;
	unsigned twins = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		const uint64_t start_ns = scene_now(scene);

		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		for (unsigned j = 0; j < 120; j++) {
			const char name[] = {(char)('a' + j / 26), (char)('a' + j % 26), 0};

			put_long(scene, name, 0, 1, start_ns + 1 + j, (float)(1000 + 10 * j));
		}
		put_long(scene, "twin", one, 2, start_ns + 200, 50000);
		put_long(scene, "twin", other, i % 2 ? 5 : 1, start_ns + 210, 60000);
		put_long(scene, "over", 0, 0, start_ns + 220, 1e9f);
		/* The shortest of all on the host, which has the device work longer than others. */
		put_long(scene, "device", 0, 0, start_ns, 500);
		scene_device_sync(scene, 11);
		scene_host(scene, 50000);
	}
	scene_judge(scene, NULL);
	layers = &scene_judgement(scene)->layers;
	TEST_EQ(layers->count, 100);
	TEST_EQ(layers->more, 24);
	TEST_TRUE(!find(scene, "aa") && !find(scene, "ax") && find(scene, "ay"));
	TEST_TRUE(find(scene, "device"));
	TEST_NEED(find(scene, "over"));
	TEST_TRUE(find(scene, "over")->host_ns < 200000);
	for (size_t i = 0; i < layers->count; i++) {
		const struct tfs_layer *layer = &layers->items[i];
		const bool first = !strcmp(layer->domain, "one");

		if (strcmp(layer->name, "twin"))
			continue;
		twins++;
		TEST_STR(layer->domain, first ? "one" : "other");
		TEST_EQ(layer->level, first ? 2 : 1);
		TEST_EQ(lround(layer->host_ns), first ? 50000 : 60000);
	}
	TEST_EQ(twins, 2);
	scene_destroy(scene);
}

/* How often a layer comes, and in how many steps; it may be told of in any order. What lies in no
 * judged step is none. */
static void often_and_rarely(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	uint64_t starts[STEPS];
	const struct tfs_layer *twice, *rare;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		starts[i] = scene_now(scene);
		put_long(scene, "twice", 0, 0, starts[i] + 10000, 1000);
		if (i % 3 == 0)
			put_long(scene, "rare", 0, 0, starts[i] + 20000, 3000);
		scene_launch(scene, 10, SCENE_LEGACY, 20000, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		scene_host(scene, 20000);
		scene_phase_step(scene, TFS_PHASE_EVALUATION, 0);
		put_long(scene, "twice", 0, 0, scene_now(scene) + 100, 5000);
		put_long(scene, "validate", 0, 0, scene_now(scene) + 200, 5000);
		scene_host(scene, 20000);
	}
	for (unsigned i = 0; i < STEPS; i++)
		put_long(scene, "twice", 0, 0, starts[i] + 15000, 3000);
	scene_judge(scene, NULL);
	TEST_EQ(scene_judgement(scene)->layers.count, 2);
	twice = find(scene, "twice");
	rare = find(scene, "rare");
	TEST_NEED(twice && rare);
	TEST_EQ(twice->steps, STEPS);
	TEST_EQ(twice->count, 2);
	TEST_IN(twice->host_ns, 3990, 4010);
	TEST_EQ(rare->steps, STEPS / 3);
	TEST_EQ(rare->count, 1.0 / 3);
	TEST_IN(rare->host_ns, 990, 1010);
	scene_destroy(scene);
}

/* Numbered ranges of two domains, and of a thread that makes its first call in one of them. */
static void numbered(unsigned steps)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const uint32_t one = builder_string(scene_builder(scene), "one");
	const struct tfs_thread_record loader = {.index = 1, .tid = 78};
	const struct tfs_layers *layers;

	builder_thread(scene_builder(scene), 1);
	builder_record(scene_builder(scene), TFS_RECORD_thread, &loader, sizeof(loader));
	builder_thread(scene_builder(scene), 0);
	for (unsigned i = 0; i < steps; i++) {
		struct builder_call query;
		char name[16];

		snprintf(name, sizeof(name), "batch %u", 7 + i);
		scene_step(scene);
		put_long(scene, name, one, 0, scene_now(scene) + 100, 2000);
		put_long(scene, name, 0, 0, scene_now(scene) + 200, 1000);
		query = scene_call(
			scene, 12, 0, TFS_LIBRARY_cudart, TFS_FAMILY_other, "cudaGetDevice");
		query.start_ns = scene_now(scene) + 1000;
		query.duration_ns = 100;
		builder_thread(scene_builder(scene), 1);
		builder_call(scene_builder(scene), &query);
		builder_thread(scene_builder(scene), 0);
		scene_launch(scene, 10, SCENE_LEGACY, 20000, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		put_range(scene, "load", query.start_ns - 100, 0, TFS_RANGE_PUSHED, 78);
	}
	scene_judge(scene, NULL);
	layers = &scene_judgement(scene)->layers;
	TEST_NEED(layers->count == 3);
	for (size_t i = 0; i < 2; i++) {
		/* Of one step nothing says what its number counts. */
		TEST_STR(layers->items[i].name, steps > 1 ? "batch #" : "batch 7");
		TEST_STR(layers->items[i].domain, i ? "" : "one");
		TEST_EQ(layers->items[i].steps, steps);
		TEST_EQ(layers->items[i].count, 1);
	}
	TEST_STR(layers->items[2].name, "load");
	TEST_EQ(layers->items[2].calls, 1);
	scene_destroy(scene);
}

/* Where ranges are the steps, the one that opens a step is no part of it. */
static void steps_by_name(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	struct tfs_arena arena = {0};
	struct tfs_timeline timeline;
	struct tfs_steady steady;
	struct tfs_layers layers;

	for (unsigned i = 0; i < STEPS; i++) {
		const uint64_t start_ns = scene_now(scene);

		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 20000, 1024, 1, &memory);
		put_long(scene, "train", 0, 0, start_ns, 2000);
		put_long(scene, "forward", 0, 1, start_ns + 1, 1000);
		scene_device_sync(scene, 11);
	}
	timeline = *scene_judge(scene, NULL)->timeline;
	TEST_EQ(scene_judgement(scene)->layers.count, 2);
	timeline.step_source = TFS_STEP_NVTX;
	TEST_NEED(tfs_steady_init(&steady, &timeline, 0) == 0);
	TEST_EQ(tfs_layers_find(&steady, &arena, &layers), 0);
	TEST_NEED(layers.count == 1);
	TEST_STR(layers.items[0].name, "forward");
	tfs_arena_finish(&arena);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

int main(void)
{
	often_and_rarely();
	numbered(STEPS);
	numbered(1);
	steps_by_name();
	figures();
	without_the_device();
	many();
	return test_result();
}
