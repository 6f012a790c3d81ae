/* SPDX-License-Identifier: MIT */
/* Allocations that no window saw: each is kept until it is released or recorded, once, and none
 * takes another's place. */
#include "shim/record/live.h"

#include "tests/test.h"

#define MANY 5000u
#define MOST 12288u /* that there is room for */

static uint8_t recorded[MOST + 1]; /* how often, by the allocation's number */
static unsigned put_count;

void __wrap_tfs_recorder_put(const void *record, uint32_t kind, size_t bytes);

void __wrap_tfs_recorder_put(const void *record, uint32_t kind, size_t bytes)
{
	const uint64_t *words = record;

	TEST_EQ(kind, TFS_RECORD_call);
	TEST_EQ(bytes, 2 * TFS_UNIT);
	TEST_NEED(words[1] <= MOST);
	recorded[words[1]]++;
	put_count++;
}

static uint64_t address_of(uint64_t number)
{
	return 0x7f0000000000 + number * 512;
}

static bool add(uint64_t number, uint64_t end_ticks)
{
	struct tfs_live live = {.address = address_of(number), .end_ticks = end_ticks};
	struct tfs_record *record = (struct tfs_record *)live.words;

	record->units = 2;
	live.words[1] = number;
	return tfs_live_add(&live);
}

/* The number of the allocation that was there; -1: none. */
static long long take(uint64_t number, uint64_t ticks)
{
	struct tfs_live live;

	return tfs_live_take(address_of(number), ticks, &live) ? (long long)live.words[1] : -1;
}

static void test_times(void)
{
	TEST_TRUE(add(1, 100));
	TEST_EQ(take(2, 200), -1);
	/* Its release began before: another's. */
	TEST_EQ(take(1, 99), -1);
	TEST_EQ(take(1, 100), 1);
	TEST_EQ(take(1, 200), -1);
	tfs_live_record();
	TEST_EQ(put_count, 0);
}

/* Every third is released; what is left is recorded, and is there no more. */
static void test_record(void)
{
	for (uint64_t i = 0; i < MANY; i++)
		TEST_TRUE(add(i, 100 + i));
	for (uint64_t i = 0; i < MANY; i += 3)
		TEST_EQ(take(i, 100 + i), i);
	tfs_live_record();
	for (uint64_t i = 0; i < MANY; i++) {
		TEST_EQ(recorded[i], i % 3 != 0);
		TEST_EQ(take(i, UINT64_MAX), -1);
	}
	tfs_live_record();
	TEST_EQ(put_count, MANY - (MANY + 2) / 3);
}

/* The same address again is the newer one; beyond the room there is none. */
static void test_room(void)
{
	memset(recorded, 0, sizeof(recorded));
	put_count = 0;
	for (uint64_t i = 0; i < MOST; i++)
		TEST_TRUE(add(i, 1));
	TEST_TRUE(!add(MOST, 1));
	TEST_TRUE(add(7, 5));
	TEST_EQ(take(7, 4), -1);
	TEST_EQ(take(7, 5), 7);
	TEST_TRUE(add(MOST, 1));
	tfs_live_record();
	TEST_EQ(put_count, MOST);
	for (uint64_t i = 0; i <= MOST; i++)
		TEST_EQ(recorded[i], i != 7);
}

int main(void)
{
	test_times();
	test_record();
	test_room();
	return test_result();
}
