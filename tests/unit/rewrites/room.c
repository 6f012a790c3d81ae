/* SPDX-License-Identifier: MIT */
/* How much of a device's memory is left, and in which pages it is given out, on a made-up device:
 * when it is looked at, what is believed, and what an error leaves behind. */
#include "shim/rewrites/memory/room.h"

#include <time.h>

#include "shim/base/env.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "tests/test.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

struct tfs_options tfs_options;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static uint64_t now_ns = UINT64_C(5000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static uint64_t all_bytes = 20 * GIB, free_bytes = 10 * GIB, page = 2 * MIB;
static uint64_t by_others[2]; /* taken while the next probes are there */
static uint64_t probe;        /* what it takes */
static unsigned looks, allocs, forgotten;
static int alloc_status, info_status, release_status;

static int alloc(void **out, size_t bytes)
{
	allocs++;
	if (alloc_status != 0)
		return alloc_status;
	probe = (bytes + page - 1) / page * page;
	free_bytes -= probe + by_others[0];
	by_others[0] = by_others[1];
	by_others[1] = 0;
	*out = &probe;
	return 0;
}

static int release(void *address)
{
	TEST_TRUE(address == &probe);
	free_bytes += probe;
	return release_status;
}

static int info(size_t *out_free, size_t *out_all)
{
	looks++;
	*out_free = free_bytes;
	*out_all = all_bytes;
	return info_status;
}

static int forget(void)
{
	forgotten++;
	return 0;
}

static const struct tfs_memory_functions functions = {
	.alloc = alloc, .release = release, .info = info, .forget_error = forget};

static uint64_t pages(uint32_t device, uint64_t bytes)
{
	return tfs_room_pages(&functions, device, bytes);
}

static void check_pages(void)
{
	TEST_EQ(pages(0, 3 * MIB), 4 * MIB);
	TEST_EQ(allocs, 2);
	TEST_EQ(pages(0, 2 * MIB), 2 * MIB);
	TEST_EQ(pages(0, 2 * MIB + 1), 4 * MIB);
	TEST_EQ(pages(0, 2 * MIB - 1), 0);
	TEST_TRUE(pages(0, UINT64_MAX - 5) == UINT64_MAX - 5);
	TEST_EQ(pages(64, 3 * MIB), 0);
	TEST_EQ(allocs, 2);
	TEST_EQ(forgotten, 0);
	page = 512;
	TEST_EQ(pages(1, 513), 1024);
	TEST_EQ(pages(0, 513), 0);
	/* In a forked child all is measured anew. */
	tfs_room_forget();
	TEST_EQ(pages(0, 513), 1024);
}

/* What others take in the middle of it is not taken for a page. */
static void check_others(void)
{
	page = 64 * KIB;
	by_others[0] = 4 * KIB;
	TEST_EQ(pages(2, 3 * MIB), 0);
	by_others[0] = by_others[1] = 4 * KIB;
	TEST_EQ(pages(2, 3 * MIB), 0);
	by_others[0] = by_others[1] = 4 * MIB - 64 * KIB;
	TEST_EQ(pages(2, 3 * MIB), 0);
	/* So many that it looks like one, once. */
	by_others[0] = 64 * KIB;
	TEST_EQ(pages(2, 3 * MIB), 0);
	by_others[1] = 64 * KIB;
	TEST_EQ(pages(2, 3 * MIB), 0);
	TEST_EQ(pages(2, 3 * MIB + 1), 3 * MIB + 64 * KIB);
}

/* Where it cannot be measured it is tried ever more seldom, and no error of ours is left. */
static void check_tries(void)
{
	allocs = forgotten = 0;
	alloc_status = 2;
	for (unsigned i = 0; i < 64; i++)
		TEST_EQ(pages(3, 3 * MIB), 0);
	TEST_EQ(allocs, 2 * 64);
	for (unsigned i = 0; i < 3 * 64; i++)
		TEST_EQ(pages(3, 3 * MIB), 0);
	TEST_EQ(allocs, 2 * (64 + 3));
	TEST_EQ(forgotten, allocs);
	alloc_status = 0;
	TEST_EQ(pages(3, 3 * MIB), 3 * MIB);

	forgotten = 0;
	release_status = 1;
	TEST_EQ(pages(4, 3 * MIB), 0);
	TEST_EQ(forgotten, 2);
	release_status = 0;
	/* A device that is nearly full is left alone. */
	const uint64_t before = free_bytes;
	allocs = 0;
	free_bytes = 7 * MIB;
	TEST_EQ(pages(4, 3 * MIB), 0);
	TEST_EQ(allocs, 0);
	free_bytes = before;
}

static bool left(uint64_t bytes, bool anew)
{
	return tfs_room_left(&functions, 5, bytes, anew);
}

/* A tenth of the device stays free, or the reserve if that is more. */
static void check_reserve(void)
{
	free_bytes = 10 * GIB;
	tfs_options.pool_reserve_bytes = GIB;
	TEST_TRUE(left(8 * GIB, false));
	TEST_TRUE(!left(8 * GIB + 1, false));
	tfs_options.pool_reserve_bytes = 3 * GIB;
	tfs_room_forget();
	TEST_TRUE(left(7 * GIB, false));
	TEST_TRUE(!left(7 * GIB + 1, false));
	TEST_TRUE(!left(UINT64_MAX, false));
	free_bytes = 3 * GIB - 1;
	now_ns += GIB;
	TEST_TRUE(!left(0, true));
	TEST_TRUE(!tfs_room_left(&functions, 64, 0, true));
	forgotten = 0;
	info_status = 1;
	TEST_TRUE(!left(0, true));
	TEST_EQ(forgotten, 1);
	info_status = 0;
}

/* Is the device looked at for these? */
static bool is_looked_at(uint64_t bytes, bool anew)
{
	const unsigned before = looks;

	TEST_TRUE(left(bytes, anew));
	return looks != before;
}

static void check_looks(void)
{
	free_bytes = 10 * GIB;
	TEST_TRUE(left(0, true));
	TEST_TRUE(!is_looked_at(GIB, false));
	TEST_TRUE(!is_looked_at(GIB, true));
	/* Others may have taken some meanwhile: only who asks for a new look gets one. */
	now_ns += 100000000;
	TEST_TRUE(!is_looked_at(GIB, true));
	now_ns++;
	TEST_TRUE(!is_looked_at(GIB, false));
	TEST_TRUE(is_looked_at(GIB, true));
	TEST_TRUE(!is_looked_at(GIB, true));
	/* So does who comes near the reserve, */
	TEST_TRUE(!is_looked_at(7 * GIB - 100 * MIB, false));
	TEST_TRUE(is_looked_at(7 * GIB - 100 * MIB + 1, false));
	/* also by what the program has taken since. */
	tfs_room_taken(5, 60 * MIB);
	TEST_TRUE(!is_looked_at(7 * GIB - 160 * MIB, false));
	TEST_TRUE(is_looked_at(7 * GIB - 160 * MIB + 1, false));
	/* And after 100 MiB in any case. */
	tfs_room_taken(5, 60 * MIB);
	TEST_TRUE(!is_looked_at(0, false));
	tfs_room_taken(5, 40 * MIB);
	TEST_TRUE(is_looked_at(0, false));
	TEST_TRUE(!is_looked_at(0, false));
	/* Of a device whose pages are known it takes whole ones. */
	page = 2 * MIB;
	TEST_EQ(pages(5, 3 * MIB), 4 * MIB);
	for (int i = 0; i < 49; i++)
		tfs_room_taken(5, 5);
	TEST_TRUE(!is_looked_at(0, false));
	tfs_room_taken(5, 5);
	TEST_TRUE(is_looked_at(0, false));
	tfs_room_taken(64, GIB);
}

int main(void)
{
	check_pages();
	check_others();
	check_tries();
	check_reserve();
	check_looks();
	return test_result();
}
