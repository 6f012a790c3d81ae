/* SPDX-License-Identifier: MIT */
/*
 * A plain copy's record says the same whether it is written from registers or put together in
 * memory first, for each direction, and with memory that is listed or not; and hooks offer copies
 * to rewrites exactly as long as one may take them.
 */
#include <cuda_runtime_api.h>
#include <string.h>

#include "shim/hooks/note_copy.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/rewrites/rewrite_ops.h"
#include "shim/steps/windows.h"
#include "tests/unit/trace/recording.h"

#define BYTES 4096u
#define STREAM 7u
#define WORDS 8u

extern const struct tfs_rewrite tfs_rewrite_memset_elision, tfs_rewrite_pinned_staging;

static struct tfs_cache_entry entry = {.head = TFS_RECORD_call, .site = 1};
static char pinned[BYTES], plain[BYTES];
static unsigned looked_at;

/* What was recorded of one copy, by either way. */
static const struct tfs_item *record(
	bool at_once, const void *target, const void *source, int kind, uint64_t *out_words)
{
	struct tfs_frame frame = {.thread = tfs_self.owned,
		.entry = &entry,
		.start_ticks = 1000,
		.end_ticks = 1500,
		.amount = BYTES,
		.wanted = TFS_WANT_RECORD};
	const uint64_t *place;

	TEST_NEED(tfs_recorder_has_room(frame.thread, 2) ||
		  tfs_recorder_reserve(frame.thread, TFS_RECORD_call, 2));
	place = (const uint64_t *)frame.thread->next;
	(at_once ? tfs_note_plain_copy : tfs_note_copy)(
		&frame, target, source, BYTES, kind, STREAM);
	memcpy(out_words, place, WORDS * sizeof(*place));
	return (const struct tfs_item *)(out_words + 4);
}

static void compare(const void *target, uint32_t to, const void *source, uint32_t from, int kind)
{
	uint64_t one[WORDS];
	uint64_t other[WORDS];
	const struct tfs_item *items = record(true, target, source, kind, one);

	record(false, target, source, kind, other);
	for (uint32_t i = 0; i < WORDS; i++)
		TEST_EQ(one[i], other[i]);
	TEST_EQ(items[0].value, (uint64_t)(uintptr_t)target);
	TEST_EQ(items[1].value, (uint64_t)(uintptr_t)source);
	TEST_EQ(TFS_ITEM_LOW(&items[0]), BYTES);
	TEST_EQ(TFS_ITEM_LOW(&items[1]), BYTES);
	TEST_EQ(TFS_ITEM_ROLE(&items[0]), TFS_ROLE_OPERAND | TFS_ROLE_WRITE | TFS_ROLE_MEMORY(to));
	TEST_EQ(TFS_ITEM_ROLE(&items[1]), TFS_ROLE_OPERAND | TFS_ROLE_READ | TFS_ROLE_MEMORY(from));
	TEST_EQ(TFS_ITEM_COPY_KIND(&items[0]), (uint8_t)((uint32_t)kind + 1) - 1u);
	TEST_EQ(TFS_ITEM_COPY_KIND(&items[1]), UINT32_MAX);
	looked_at++;
}

/* What the direction says, where the registry has nothing to say. */
static void compare_unlisted(void)
{
	const uint32_t host = TFS_MEMORY_HOST, device = TFS_MEMORY_DEVICE;
	const void *there = (const void *)(uintptr_t)0x700000;

	compare(plain, host, there, host, cudaMemcpyHostToHost);
	compare(plain, device, there, host, cudaMemcpyHostToDevice);
	compare(plain, host, there, device, cudaMemcpyDeviceToHost);
	compare(plain, device, there, device, cudaMemcpyDeviceToDevice);
	compare(plain, host, there, host, cudaMemcpyDefault);
	/* Nonsense that the runtime refuses. */
	compare(plain, host, there, host, 5);
	compare(plain, host, there, host, 77);
}

/* What is listed goes before what the direction says. */
static void compare_listed(void)
{
	const uint32_t host = TFS_MEMORY_HOST, device = TFS_MEMORY_DEVICE;

	tfs_memory_add(&(struct tfs_range){.address = (uint64_t)(uintptr_t)pinned,
		.bytes = sizeof(pinned),
		.kind = TFS_MEMORY_PINNED});
	compare_unlisted();
	for (int i = 0; i < 2; i++) {
		compare(pinned, TFS_MEMORY_PINNED, plain, host, cudaMemcpyHostToDevice);
		compare(plain, host, pinned, TFS_MEMORY_PINNED, cudaMemcpyDeviceToHost);
		compare(pinned, TFS_MEMORY_PINNED, pinned + 1, TFS_MEMORY_PINNED, 77);
		compare(plain, device, pinned + 8, TFS_MEMORY_PINNED, cudaMemcpyDeviceToDevice);
	}
}

static size_t number_of(const struct tfs_rewrite *rewrite)
{
	size_t i = 0;

	while (tfs_rewrite_all[i] && tfs_rewrite_all[i] != rewrite)
		i++;
	TEST_NEED(tfs_rewrite_all[i]);
	return i;
}

static void offered(bool rewriting, uint32_t wanted)
{
	atomic_store(&tfs_windows_rewriting, rewriting);
	tfs_rewrite_offer();
	TEST_EQ(tfs_wanted & TFS_WANT_COPIES, wanted);
	TEST_EQ(tfs_wanted & ~TFS_WANT_COPIES, TFS_WANT_STEPS);
	looked_at++;
}

static void test_offers(void)
{
	const uint32_t copies = TFS_OP_BIT(TFS_OP_COPY);

	tfs_wanted = TFS_WANT_STEPS;
	offered(false, 0);
	offered(true, 0);
	/* This one asks for them while zeros are followed, which is another thing. */
	TEST_EQ(tfs_rewrite_ops_add(number_of(&tfs_rewrite_memset_elision)) & copies, copies);
	offered(true, 0);
	TEST_EQ(tfs_rewrite_ops_add(number_of(&tfs_rewrite_pinned_staging)) & copies, copies);
	for (int i = 0; i < 2; i++) {
		offered(true, TFS_WANT_COPIES);
		offered(false, 0);
	}
	/* Windows say when they change it. */
	tfs_options.record = TFS_RECORD_WINDOWS;
	tfs_windows_without_steps();
	TEST_EQ(tfs_wanted & TFS_WANT_COPIES, TFS_WANT_COPIES);
	tfs_rewrite_ops_finish();
	offered(true, 0);
}

/* Or they would not be asked in windows. */
static void test_switchable(void)
{
	for (size_t i = 0; tfs_rewrite_all[i]; i++) {
		if ((tfs_rewrite_all[i]->acts & TFS_OP_BIT(TFS_OP_COPY)) == 0)
			continue;
		TEST_TRUE(tfs_rewrite_all[i]->switchable);
		looked_at++;
	}
}

int main(void)
{
	recording_start();
	TEST_NEED(tfs_recorder_named_thread("copies"));
	compare_unlisted();
	compare_listed();
	test_offers();
	test_switchable();
	TEST_EQ(looked_at, 7 + 7 + 8 + 8 + 2);
	recording_end(recording_read());
	return test_result();
}
