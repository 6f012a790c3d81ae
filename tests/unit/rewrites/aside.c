/* SPDX-License-Identifier: MIT */
/* memset-elision's trial: the memory in which a result is written aside, and what of it differs
 * from the program's own, on a made-up device. */
#include "shim/rewrites/memset_elision/fill_trial.h"

#include <time.h>

#include "shim/rewrites/memory/memory_functions.h"
#include "tests/test.h"

#define BYTES 200000u /* more than is read at a time */
#define BOUNDARY 256u

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static uint64_t now_ns = UINT64_C(3000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static char *memory;
static unsigned releases, reads, failing; /* the read that fails; 0 = none */
static unsigned forgotten;
static int error_waiting, alloc_status, fill_status;
static uint64_t filled_ns; /* the next wait takes so much longer */

static int alloc(void **out, size_t bytes)
{
	*out = memory = aligned_alloc(BOUNDARY, (bytes + BOUNDARY - 1) / BOUNDARY * BOUNDARY);
	if (alloc_status == 0)
		TEST_NEED(memory);
	else
		free(memory);
	return alloc_status;
}

static int release(void *address)
{
	TEST_TRUE(address == memory);
	free(memory);
	memory = NULL;
	releases++;
	return 0;
}

static int fill(void *address, int value, size_t bytes, void *stream)
{
	TEST_TRUE(!stream);
	memset(address, value, bytes);
	filled_ns = 700;
	now_ns += 30;
	return fill_status;
}

static int read_memory(void *to, const void *from, size_t bytes, int to_host)
{
	TEST_EQ(to_host, TFS_MEMORY_READ);
	memcpy(to, from, bytes);
	now_ns += 100 + filled_ns;
	filled_ns = 0;
	return ++reads == failing;
}

static int error_waits(void)
{
	return error_waiting;
}

static int forget(void)
{
	forgotten++;
	return 0;
}

static const struct tfs_memory_functions functions = {.alloc = alloc,
	.release = release,
	.fill = fill,
	.read = read_memory,
	.error_waits = error_waits,
	.forget_error = forget};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &functions;
}

static unsigned char own[BYTES], aside[BYTES];

static enum tfs_fill_trial compare(uint32_t element)
{
	return tfs_fill_trial_compare(own, aside, BYTES, element);
}

static void set(unsigned char *bytes, size_t at, uint64_t value, uint32_t element)
{
	memcpy(bytes + at, &value, element);
}

/* Elements of so many bytes, at the start and far behind it. */
static void check_signs(uint32_t element)
{
	const uint64_t minus = UINT64_C(1) << (8 * element - 1);
	const size_t places[] = {0, 65536 - element, 65536, BYTES - element};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const size_t at = places[i];

		TEST_EQ(compare(element), TFS_FILL_SAME);
		set(aside, at, minus, element);
		TEST_EQ(compare(element), TFS_FILL_SIGNS);
		set(own, at, minus, element);
		TEST_EQ(compare(element), TFS_FILL_SAME);
		set(aside, at, 0, element);
		TEST_EQ(compare(element), TFS_FILL_DIFFERS);
		set(own, at, 0, element);
		set(aside, at, minus | 1, element);
		TEST_EQ(compare(element), TFS_FILL_DIFFERS);
		set(own, at, 1, element);
		TEST_EQ(compare(element), TFS_FILL_DIFFERS);
		set(aside, at, minus, element);
		TEST_EQ(compare(element), TFS_FILL_DIFFERS);
		set(own, at, 0, element);
		set(aside, at, 0, element);
	}
	/* A sign first, and more than that behind it; and the other way round. */
	set(aside, 0, minus, element);
	set(aside, BYTES - element, 1, element);
	TEST_EQ(compare(element), TFS_FILL_DIFFERS);
	set(aside, 0, 1, element);
	set(aside, BYTES - element, minus, element);
	TEST_EQ(compare(element), TFS_FILL_DIFFERS);
	memset(aside, 0, BYTES);
}

static void check_unread(void)
{
	reads = 0;
	TEST_EQ(compare(4), TFS_FILL_SAME);
	const unsigned all = reads;
	TEST_EQ(all, 2 * 4);
	for (failing = 1; failing <= all; failing++) {
		reads = 0;
		TEST_EQ(compare(4), TFS_FILL_UNREAD);
	}
	failing = 0;
	TEST_EQ(compare(4), TFS_FILL_SAME);
}

/* As far from a boundary as the program's own, full of NaN, and given back as it was got. */
static void check_memory(void)
{
	TEST_EQ(tfs_fill_trial_ns(), 0);
	for (uint64_t offset = 0; offset < BOUNDARY; offset += 48) {
		const char *const like = (const char *)(uintptr_t)(0x70000 + offset);
		unsigned char *got = tfs_fill_trial_memory(like, 1000, NULL);

		TEST_NEED(got);
		TEST_EQ((uintptr_t)got % BOUNDARY, offset);
		TEST_EQ(got[0] & got[999], 0xff);
		tfs_fill_trial_free(got);
		TEST_TRUE(!memory);
	}
	/* The fill itself, without what a wait takes that has nothing to wait for. */
	TEST_EQ(tfs_fill_trial_ns(), 730);
}

static void check_no_memory(void)
{
	releases = 0;
	error_waiting = 1;
	TEST_TRUE(!tfs_fill_trial_memory(own, 1000, NULL));
	error_waiting = 0;
	TEST_EQ(forgotten, 0);
	alloc_status = 2;
	TEST_TRUE(!tfs_fill_trial_memory(own, 1000, NULL));
	alloc_status = 0;
	TEST_EQ(forgotten, 1);
	TEST_EQ(releases, 0);
	fill_status = 1;
	TEST_TRUE(!tfs_fill_trial_memory(own, 1000, NULL));
	TEST_EQ(releases, 1);
}

int main(void)
{
	check_signs(2);
	check_signs(4);
	check_signs(8);
	check_unread();
	check_memory();
	check_no_memory();
	return test_result();
}
