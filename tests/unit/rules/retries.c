/* SPDX-License-Identifier: MIT */
/* Allocations that fail for want of memory, and where they succeed behind what was freed. */
#include "rules/evidence/retries.h"

#include "tests/test.h"

#define MOST 6u
#define FULL 2u /* cudaErrorMemoryAllocation */

enum { MALLOC = 1, MALLOC_HOST, FREE, FREE_ASYNC, LAUNCH };

struct made {
	uint16_t function;
	uint64_t bytes;
	uint16_t status;
	uint32_t thread, step;
};

static const uint16_t families[] = {[MALLOC] = TFS_FAMILY_alloc,
	[MALLOC_HOST] = TFS_FAMILY_host_alloc,
	[FREE] = TFS_FAMILY_free,
	[FREE_ASYNC] = TFS_FAMILY_free_async,
	[LAUNCH] = TFS_FAMILY_launch};

/* Of the calls, where the first one succeeds at last, and how many are freed until then. */
static void check(const struct made *made, uint32_t count, uint32_t where, size_t freed)
{
	struct tfs_call records[MOST] = {0};
	struct tfs_host_call calls[MOST] = {0};
	uint32_t indices[MOST];
	const struct tfs_timeline timeline = {.calls = calls, .call_count = count};
	const struct tfs_steady steady = {
		.timeline = &timeline, .calls = indices, .call_count = count};
	struct tfs_hits hits = {0};

	TEST_NEED(count <= MOST);
	for (uint32_t i = 0; i < count; i++) {
		records[i].amount = made[i].bytes;
		records[i].status = made[i].status;
		calls[i] = (struct tfs_host_call){.record = &records[i],
			.function = made[i].function,
			.family = families[made[i].function],
			.thread = made[i].thread,
			.step = made[i].step};
		indices[i] = i;
	}
	/* What was there before stays. */
	tfs_hits_add(&hits, 77, 1, (struct tfs_edit){.aside = true});
	TEST_EQ(tfs_retry_find(&steady, 0, &hits), where);
	TEST_NEED(hits.count == 1 + freed);
	TEST_EQ(hits.items[0].call, 77);
	for (size_t i = 1; i < hits.count; i++) {
		TEST_EQ(hits.items[i].bytes, made[hits.items[i].call].bytes);
		TEST_TRUE(hits.items[i].edit.gone);
	}
	tfs_hits_finish(&hits);
}
#define CHECK(where, freed, ...)                                                                   \
	check((const struct made[]){__VA_ARGS__},                                                  \
		sizeof((const struct made[]){__VA_ARGS__}) / sizeof(struct made), where, freed)

int main(void)
{
	const struct made full = {MALLOC, 4096, FULL, 0, 3}, succeeds = {MALLOC, 4096, 0, 0, 3};
	const struct made frees = {FREE, 64, 0, 0, 3}, later = {FREE_ASYNC, 32, 0, 0, 3};

	CHECK(2, 1, full, frees, succeeds);
	CHECK(4, 2, full, frees, full, later, succeeds);
	CHECK(3, 1, full, {LAUNCH, 0, 0, 0, 3}, frees, succeeds);
	/* Host memory is had again likewise. */
	CHECK(2, 1, {MALLOC_HOST, 64, FULL, 0, 3}, frees, {MALLOC_HOST, 64, 0, 0, 3});
	/* It succeeded, or failed for something else. */
	CHECK(TFS_NONE, 0, succeeds, frees, succeeds);
	CHECK(TFS_NONE, 0, {MALLOC, 4096, 1, 0, 3}, frees, succeeds);
	CHECK(TFS_NONE, 0, {LAUNCH, 4096, FULL, 0, 3}, frees, {LAUNCH, 4096, 0, 0, 3});
	/* Nothing was freed, or a release failed. */
	CHECK(TFS_NONE, 0, full, succeeds);
	CHECK(TFS_NONE, 0, full, {FREE, 64, 1, 0, 3}, succeeds);
	/* The next try is for something else, fails otherwise, is another thread's or step's. */
	CHECK(TFS_NONE, 0, full, frees, {MALLOC, 2048, 0, 0, 3});
	CHECK(TFS_NONE, 0, full, frees, {MALLOC_HOST, 4096, 0, 0, 3});
	CHECK(TFS_NONE, 0, full, frees, {MALLOC, 4096, 1, 0, 3}, succeeds);
	CHECK(TFS_NONE, 0, full, frees, {MALLOC, 4096, 0, 1, 3});
	CHECK(TFS_NONE, 0, full, frees, {MALLOC, 4096, 0, 0, 4});
	CHECK(TFS_NONE, 0, full, {FREE, 64, 0, 1, 3}, succeeds);
	CHECK(TFS_NONE, 0, full, frees, {LAUNCH, 0, 0, 0, 4}, succeeds);
	return test_result();
}
