/* SPDX-License-Identifier: MIT */
/* TFS201: a wait may be what has one stream's work come after another's. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define EVENT 0x51u

/* As in tfs_stream_record; what has neither is ordered with the legacy stream. */
enum { BLOCKING = 0, NON_BLOCKING = 4 };

enum between { NOTHING, AN_EVENT, AN_EVENT_OF_MANY };

static void check(struct scene *scene, unsigned first, unsigned second, enum between between,
	const char *advice)
{
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, first, 100000, 1024, 1, &memory);
		for (uint64_t other = 1; other <= 60 && between == AN_EVENT_OF_MANY; other++)
			scene_event_record(scene, 10, second, EVENT + other);
		if (between != NOTHING) {
			struct builder_call call = scene_call(scene, 13, second, TFS_LIBRARY_cudart,
				TFS_FAMILY_stream_wait, "cudaStreamWaitEvent");

			scene_event_record(scene, 11, first, EVENT);
			builder_attribute(&call, TFS_ATTRIBUTE_event, EVENT);
			scene_make(scene, &call, 0);
		}
		scene_stream_sync(scene, 12, first);
		scene_launch(scene, 14, second, 60000, 1024, 1, &memory);
		/* The way back, in all of them. */
		scene_stream_sync(scene, 15, second);
		scene_host(scene, 30000);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS201", 12);
	if (!TEST_TRUE(finding) || !TEST_TRUE(!strncmp(finding->advice, advice, strlen(advice))))
		scene_print(scene);
	/* The order costs its time in any case: what is saved is the way to the host and back. */
	if (finding)
		TEST_IN(finding->cost.ns, 1500, 6000);
	scene_destroy(scene);
}

/* Work on one stream, a wait, and work on another; what the advice begins with. */
static void between_streams(enum between between, const char *advice)
{
	struct scene *scene = scene_create(false);
	const unsigned first = scene_stream(scene, NON_BLOCKING);

	check(scene, first, scene_stream(scene, NON_BLOCKING), between, advice);
}

static void of_one_stream(void)
{
	struct scene *scene = scene_create(false);
	const unsigned stream = scene_stream(scene, NON_BLOCKING);

	check(scene, stream, stream, NOTHING, "Remove this");
}

/* One way or the other, the legacy stream orders. */
static void with_the_legacy_stream(bool first, uint32_t flags, const char *advice)
{
	struct scene *scene = scene_create(false);
	const unsigned stream = scene_stream(scene, flags);

	check(scene, first ? SCENE_LEGACY : stream, first ? stream : SCENE_LEGACY, NOTHING, advice);
}

int main(void)
{
	of_one_stream();
	between_streams(NOTHING, "Replace this synchronisation, which only orders");
	between_streams(AN_EVENT, "Remove this");
	between_streams(AN_EVENT_OF_MANY, "Remove this");
	with_the_legacy_stream(false, BLOCKING, "Remove this");
	with_the_legacy_stream(true, BLOCKING, "Remove this");
	with_the_legacy_stream(
		false, NON_BLOCKING, "Replace this synchronisation, which only orders");
	with_the_legacy_stream(
		true, NON_BLOCKING, "Replace this synchronisation, which only orders");
	return test_result();
}
