/* SPDX-License-Identifier: MIT */
/* The registry of ranges: against a plain list, when it is full, among threads, after a fork. */
#include "shim/state/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/record/recorder.h"
#include "tests/test.h"

#define MODEL 64u     /* places in the plain list */
#define APART 0x1000u /* from one place to the next */
#define MOST 16384u   /* what the registry holds */
#define TAKEN (UINT64_C(1) << 40)
#define LONG_NS UINT64_C(900000000) /* a lock that nobody gives back is taken after 1 s */

static struct tfs_file_header header;

static struct tfs_range range_at(uint64_t address, uint64_t bytes)
{
	return (struct tfs_range){.address = address,
		.bytes = bytes,
		.kind = TFS_MEMORY_DEVICE,
		.site = (uint32_t)(address ^ bytes)};
}

static void add(uint64_t address, uint64_t bytes)
{
	const struct tfs_range range = range_at(address, bytes);

	tfs_memory_add(&range);
}

/* The start of the range that holds the address; 0 = none. */
static uint64_t holder(uint64_t address)
{
	struct tfs_range range;

	if (!tfs_memory_find(address, &range))
		return 0;
	TEST_EQ(range.site, (uint32_t)(range.address ^ range.bytes));
	return range.address;
}

static void test_edges(void)
{
	struct tfs_range was = {.site = 77};

	add(0, 64);
	add(0x5000, 0);
	TEST_EQ(holder(0), 0);
	TEST_EQ(holder(0x5000), 0);
	add(0x1000, 16);
	TEST_EQ(holder(0xfff), 0);
	TEST_EQ(holder(0x1000), 0x1000);
	TEST_EQ(holder(0x100f), 0x1000);
	TEST_EQ(holder(0x1010), 0);
	/* Only from its start may a range be freed, and what is asked for in vain stays untouched.
	 */
	TEST_TRUE(!tfs_memory_remove(0x1008, &was));
	TEST_EQ(was.site, 77);
	TEST_TRUE(tfs_memory_remove(0x1000, &was));
	TEST_EQ(was.bytes, 16);
	TEST_EQ(holder(0x1000), 0);
	/* A free that failed. */
	tfs_memory_add(&was);
	TEST_EQ(holder(0x1008), 0x1000);
	tfs_memory_forget();
	TEST_EQ(holder(0x1008), 0);
}

/* What a thread remembers holds until anything is added or removed. */
static void test_remembered(void)
{
	static struct tfs_address table[TFS_ADDRESSES];
	struct tfs_range was;

	TEST_EQ(tfs_memory_ask(table, 0)->left, 0);
	TEST_EQ(tfs_memory_ask(table, 0x1008)->left, 0);
	add(0x1000, 16);
	for (int i = 0; i < 2; i++) {
		TEST_EQ(tfs_memory_ask(table, 0x1008)->left, 8);
		TEST_EQ(tfs_memory_ask(table, 0x1008)->kind, TFS_MEMORY_DEVICE);
		TEST_EQ(tfs_memory_ask(table, 0x1010)->left, 0);
	}
	TEST_TRUE(tfs_memory_remove(0x1000, &was));
	TEST_EQ(tfs_memory_ask(table, 0x1008)->left, 0);
	add(0x1000, 32);
	TEST_EQ(tfs_memory_ask(table, 0x1008)->left, 24);
	/* More of them than the table has room for. */
	for (uint64_t i = 0; i < 8 * TFS_ADDRESSES; i++)
		add(0x100000 + i * 64, 64);
	for (uint64_t i = 0; i < 16 * TFS_ADDRESSES; i++)
		TEST_EQ(tfs_memory_ask(table, 0x100000 + i % (8 * TFS_ADDRESSES) * 64 + i % 64)
				->left,
			64 - i % 64);
	tfs_memory_forget();
}

/* Memory that was given out again was freed before, whether that was seen or not. */
static void test_overlap(void)
{
	add(0x1000, 0x100);
	add(0x2000, 0x100);
	add(0x3000, 0x100);
	add(0x5000, 0x100);
	add(0x1080, 0x2000);
	TEST_EQ(holder(0x1000), 0);
	TEST_EQ(holder(0x1080), 0x1080);
	TEST_EQ(holder(0x2010), 0x1080);
	TEST_EQ(holder(0x3010), 0x1080);
	TEST_EQ(holder(0x30f0), 0);
	TEST_EQ(holder(0x5010), 0x5000);
	/* Side by side is not one over the other. */
	add(0x3080, 0x1f80);
	TEST_EQ(holder(0x307f), 0x1080);
	TEST_EQ(holder(0x4fff), 0x3080);
	TEST_EQ(holder(0x5000), 0x5000);
	tfs_memory_forget();
}

static void test_against_list(void)
{
	uint64_t bytes[MODEL] = {0};
	uint32_t seed = 1;

	for (unsigned i = 0; i < 20000; i++) {
		seed = seed * 1664525u + 1013904223u;
		const unsigned at = seed >> 26;
		const uint64_t start = TAKEN + at * APART;
		struct tfs_range was;

		if ((seed >> 20 & 1) == 0) {
			bytes[at] = 1 + (seed >> 8) % APART;
			add(start, bytes[at]);
		} else {
			TEST_EQ(tfs_memory_remove(start, &was), bytes[at] != 0);
			bytes[at] = 0;
		}
		const unsigned other = seed >> 10 & (MODEL - 1);
		const uint64_t asked = (seed >> 3) % APART;
		if (!TEST_EQ(holder(TAKEN + other * APART + asked),
			    asked < bytes[other] ? TAKEN + other * APART : 0))
			break;
	}
	tfs_memory_forget();
}

static void test_full(void)
{
	for (uint64_t i = 1; i <= MOST; i++)
		add(i * 32, 32);
	TEST_EQ(header.lost[TFS_LOSS_ranges_full], 0);
	add((MOST + 1) * 32, 32);
	TEST_EQ(header.lost[TFS_LOSS_ranges_full], 1);
	TEST_EQ(holder((MOST + 1) * 32), 0);
	TEST_EQ(holder(MOST * 32), MOST * 32);
	/* One that takes another's place needs no room. */
	add(32, 16);
	TEST_EQ(header.lost[TFS_LOSS_ranges_full], 1);
	TEST_EQ(holder(48), 0);
	tfs_memory_forget();
}

static void test_reset(void)
{
	for (uint32_t i = 1; i <= 6; i++) {
		struct tfs_range range = range_at(i * 0x100, 0x10);

		range.device = i % 2;
		range.flags = i > 4 ? TFS_RANGE_REGISTERED : 0;
		tfs_memory_add(&range);
	}
	tfs_memory_reset(1);
	for (uint32_t i = 1; i <= 6; i++)
		TEST_EQ(holder(i * 0x100), i % 2 == 1 && i <= 4 ? 0 : i * 0x100);
	tfs_memory_forget();
}

static atomic_bool over;

/* Keeps the registry in motion: what lies behind is moved to and fro. */
static void *write_all_the_time(void *nothing)
{
	struct tfs_range was;

	for (uint64_t i = 0; !atomic_load(&over); i++) {
		add(0x1000 + i % 64 * 0x10, 1 + i % 16);
		if (i % 3 == 0)
			tfs_memory_remove(0x1000 + i * 7 % 64 * 0x10, &was);
	}
	return nothing;
}

static void test_threads(void)
{
	pthread_t writer;

	for (uint64_t i = 0; i < 2000; i++)
		add(TAKEN + i * APART, 64 + i);
	atomic_store(&over, false);
	TEST_NEED(pthread_create(&writer, NULL, write_all_the_time, NULL) == 0);
	for (uint64_t i = 0; i < 200000; i++) {
		const uint64_t at = TAKEN + i * 7 % 2000 * APART;

		if (!TEST_EQ(holder(at + 63), at) || !TEST_EQ(holder(at - 1), 0))
			break;
	}
	/* Children made while the writer is at work. */
	for (int i = 0; i < 40; i++) {
		int status = -1;
		const pid_t child = fork();

		if (child == 0) {
			alarm(20);
			tfs_memory_forget();
			const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
			add(TAKEN, 64);
			_exit(holder(TAKEN) != TAKEN || holder(TAKEN + APART) != 0 ||
				tfs_clock_ns(CLOCK_MONOTONIC) - start_ns > LONG_NS);
		}
		TEST_EQ(waitpid(child, &status, 0), child);
		TEST_EQ(status, 0);
	}
	atomic_store(&over, true);
	pthread_join(writer, NULL);
	tfs_memory_forget();
}

int main(void)
{
	tfs_recording.header = &header;
	test_edges();
	test_remembered();
	test_overlap();
	test_against_list();
	test_full();
	test_reset();
	test_threads();
	return test_result();
}
