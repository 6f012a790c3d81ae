/* SPDX-License-Identifier: MIT */
/* A run without known steps: its call sites by blocked time, GPU time and bytes. */
#include <string.h>

#include "rules/judge/expenses.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define ROUNDS 30u
#define MORE UINT64_C(100000)
#define BESIDE_NS 6000.0 /* of a blocking call in a scene: before and behind its work */

static const struct tfs_expense *at(
	const struct scene *scene, enum tfs_expense_kind kind, size_t nth, unsigned line)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);
	const struct tfs_expenses *list = &judgement->expenses[kind];
	const uint64_t *frames;

	TEST_NEED(nth < list->count);
	TEST_NEED(tfs_trace_frames(judgement->timeline->trace, list->items[nth].site, &frames));
	TEST_EQ(frames[0], 0x401000 + line * 16);
	return &list->items[nth];
}

static struct scene *begin(void)
{
	struct scene *scene = scene_create(false);

	builder_window(scene_builder(scene), true, 1, scene_now(scene) - 100, 3);
	return scene;
}

/* launch 100 us, wait for it; a pinned copy and a pageable one of the same size, both async. */
static void by_kind(void)
{
	struct scene *scene = begin();
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	const struct tfs_expenses *lists;
	uint64_t waited = 0, from;

	for (unsigned i = 0; i < ROUNDS; i++) {
		scene_launch(scene, 10, SCENE_LEGACY, MORE, 1024, 1, &memory);
		from = scene_now(scene);
		scene_device_sync(scene, 11);
		waited += scene_now(scene) - from;
		scene_copy(scene, 12, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory, 1 << 20,
			40000);
		scene_device_sync(scene, 11);
		waited += scene_now(scene) - from - MORE;
		scene_copy(scene, 13, SCENE_LEGACY, true, true, TFS_MEMORY_PAGEABLE, memory,
			1 << 20, 50000);
		scene_set(scene, 14, memory, 1 << 10, 0);
	}
	scene_judge(scene, NULL);
	lists = scene_judgement(scene)->expenses;
	TEST_EQ(lists[TFS_EXPENSE_BLOCKED].count, 3); /* the allocation, too */
	TEST_EQ(at(scene, TFS_EXPENSE_BLOCKED, 0, 11)->calls, 2 * ROUNDS);
	TEST_EQ(at(scene, TFS_EXPENSE_BLOCKED, 1, 13)->amount, ROUNDS * (50000 + BESIDE_NS));
	TEST_TRUE(lists[TFS_EXPENSE_BLOCKED].items[0].amount > (double)(ROUNDS * (MORE + 30000)));
	TEST_TRUE(lists[TFS_EXPENSE_BLOCKED].items[0].amount <= (double)waited + 1);
	/* From 1000 ns on, the start of made-up recordings. */
	TEST_TRUE(lists[TFS_EXPENSE_BLOCKED].whole <= (double)(scene_now(scene) - 1000));
	TEST_TRUE(lists[TFS_EXPENSE_BLOCKED].whole > 0.99 * (double)(scene_now(scene) - 1000));

	TEST_EQ(at(scene, TFS_EXPENSE_DEVICE, 0, 10)->amount, (double)(ROUNDS * MORE));
	TEST_EQ(at(scene, TFS_EXPENSE_DEVICE, 1, 13)->amount, ROUNDS * 50000.0);
	TEST_EQ(at(scene, TFS_EXPENSE_DEVICE, 2, 12)->amount, ROUNDS * 40000.0);
	TEST_EQ(lists[TFS_EXPENSE_DEVICE].unowned, 0);

	TEST_EQ(lists[TFS_EXPENSE_BYTES].count, 3);
	TEST_EQ(lists[TFS_EXPENSE_BYTES].whole, ROUNDS * ((2 << 20) + (1 << 10)));
	TEST_EQ(at(scene, TFS_EXPENSE_BYTES, 2, 14)->amount, ROUNDS * (1 << 10));
	scene_destroy(scene);
}

/* Work whose call is not in the recording belongs to no call site, and is not left out. */
static void without_calls(void)
{
	struct scene *scene = begin();
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);
	const struct tfs_expenses *list;

	scene_launch(scene, 10, SCENE_LEGACY, MORE, 1024, 1, &memory);
	builder_device_op(scene_builder(scene), TFS_DEVICE_KERNEL, 0, 7, 9999, scene_now(scene),
		scene_now(scene) + 70000, 0);
	scene_judge(scene, NULL);
	list = &scene_judgement(scene)->expenses[TFS_EXPENSE_DEVICE];
	TEST_EQ(list->count, 1);
	TEST_EQ(at(scene, TFS_EXPENSE_DEVICE, 0, 10)->amount, (double)MORE);
	TEST_EQ(list->unowned, 70000);
	scene_destroy(scene);
}

/* Of calls that are only counted: which block the host, which move bytes, and how long it all is.
 */
static void counted(void)
{
	static const struct {
		enum tfs_family family;
		bool blocks, moves;
	} kinds[] = {{TFS_FAMILY_copy, true, true}, {TFS_FAMILY_copy_async, false, true},
		{TFS_FAMILY_set, false, true}, {TFS_FAMILY_set_async, false, true},
		{TFS_FAMILY_device_sync, true, false}, {TFS_FAMILY_stream_sync, true, false},
		{TFS_FAMILY_event_sync, true, false}, {TFS_FAMILY_alloc, true, false},
		{TFS_FAMILY_free, true, false}, {TFS_FAMILY_host_alloc, true, false},
		{TFS_FAMILY_host_free, true, false}, {TFS_FAMILY_host_register, true, false},
		{TFS_FAMILY_host_unregister, true, false}, {TFS_FAMILY_module, true, false},
		{TFS_FAMILY_reset, true, false}, {TFS_FAMILY_launch, false, false},
		{TFS_FAMILY_event_record, false, false}, {TFS_FAMILY_alloc_async, false, false}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct scene *scene = scene_create(false);
		struct builder *builder = scene_builder(scene);
		const uint64_t frames[] = {0x401000 + 10 * 16, 0x402000};
		const struct tfs_aggregate sum = {
			.function = builder_function(
				builder, TFS_LIBRARY_cudart, kinds[i].family, "someFunction"),
			.site = builder_site(builder, 2, frames),
			.count = 100,
			.ticks = 5000,
			.amount = 64,
			.first_ticks = 2000,
			.latest_ticks = 91000};
		const struct tfs_expenses *lists;

		builder_aggregate(builder, &sum);
		lists = scene_judge(scene, NULL)->expenses;
		if (!TEST_EQ(lists[TFS_EXPENSE_BLOCKED].count, kinds[i].blocks) ||
			!TEST_EQ(lists[TFS_EXPENSE_BYTES].count, kinds[i].moves))
			printf("  family %d\n", (int)kinds[i].family);
		if (kinds[i].blocks)
			TEST_EQ(at(scene, TFS_EXPENSE_BLOCKED, 0, 10)->amount, 5000);
		if (kinds[i].moves)
			TEST_EQ(at(scene, TFS_EXPENSE_BYTES, 0, 10)->amount, 64);
		/* From 1000 ns on. */
		TEST_EQ(lists[TFS_EXPENSE_BLOCKED].whole, 90000);
		scene_destroy(scene);
	}
}

int main(void)
{
	counted();
	by_kind();
	without_calls();
	return test_result();
}
