/* SPDX-License-Identifier: MIT */
/* Freed memory that may be kept: sizes that recur on their device, and one check for each thing
 * that stands against it. */
#include <math.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/rewrites/common/pool.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/room.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/trace/format/format.h"
#include "tests/test.h"

#define BYTES UINT64_C(4096)
#define SIZES 64u /* that there is room for */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

struct tfs_options tfs_options = {.pool_limit_bytes = 10 * BYTES};
unsigned tfs_captures_open;
_Atomic uint32_t tfs_blocks_count;

static uint64_t now_ns = 100000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static uint32_t refused; /* by this check */
static bool peers, room, errors;
static char here, elsewhere;
static void *context_of = &here;
static uint64_t held, pages;
static unsigned flushes, old_flushes;

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(!rewrite && site == 7 && refused == 0);
	refused = check;
}

bool tfs_memory_peers(void)
{
	return peers;
}

void *tfs_context_now(void)
{
	return &here;
}

void *tfs_context_of(const void *address)
{
	return address ? context_of : NULL;
}

uint64_t tfs_blocks_bytes(uint32_t device)
{
	return device == 0 ? held : 0;
}

bool tfs_blocks_flush(bool driver, uint32_t device)
{
	flushes++;
	return driver || device != 0;
}

void tfs_blocks_flush_old(bool driver, uint32_t device)
{
	old_flushes += !driver && device == 0;
}

bool tfs_room_left(
	const struct tfs_memory_functions *use, uint32_t device, uint64_t bytes, bool anew)
{
	return use && device == 0 && bytes == 0 && anew && room;
}

uint64_t tfs_room_pages(const struct tfs_memory_functions *use, uint32_t device, uint64_t bytes)
{
	return use && device == 0 && bytes == BYTES ? pages : 0;
}

static int error_waits(void)
{
	return errors;
}

static const struct tfs_memory_functions functions = {.error_waits = error_waits};

static struct tfs_op op_of(uint64_t bytes, uint32_t device)
{
	return (struct tfs_op){.site = 7,
		.memory = {.address = &here,
			.bytes = bytes,
			.kind = TFS_MEMORY_DEVICE,
			.flags = TFS_RANGE_WHOLE,
			.owner = device,
			.device = device}};
}

static struct tfs_pool_size note_alloc(uint64_t bytes, uint32_t device)
{
	struct tfs_op op = op_of(bytes, device);

	return tfs_pool_note_alloc(&op);
}

static struct tfs_pool_size note_free(uint64_t bytes, uint32_t device)
{
	struct tfs_op op = op_of(bytes, device);

	return tfs_pool_note_free(&op);
}

/* A size recurs once it was freed and asked for again twice, on its own device. */
static void check_sizes(void)
{
	struct tfs_pool_size size;

	size = note_alloc(BYTES, 0);
	TEST_EQ(size.rounds, 0);
	size = note_alloc(BYTES, 0);
	TEST_EQ(size.rounds, 0);
	for (uint32_t round = 1; round <= 2; round++) {
		TEST_TRUE(!tfs_pool_recurs(&size));
		size = note_free(BYTES, 0);
		TEST_EQ(size.freed, 1);
		TEST_EQ(note_alloc(BYTES, 1).rounds, 0);
		TEST_EQ(note_alloc(BYTES - 1, 0).rounds, 0);
		size = note_alloc(BYTES, 0);
		TEST_EQ(size.rounds, round);
		TEST_EQ(size.freed, 0);
	}
	TEST_TRUE(tfs_pool_recurs(&size));
	/* However many rewrites look at a call, it is one. */
	struct tfs_op op = op_of(BYTES, 0);
	tfs_pool_note_free(&op);
	TEST_EQ(tfs_pool_note_free(&op).freed, 1);
	note_free(BYTES, 0);
	op = op_of(BYTES, 0);
	tfs_pool_note_alloc(&op);
	TEST_EQ(tfs_pool_note_alloc(&op).rounds, 3);
	TEST_EQ(note_alloc(BYTES, 0).freed, 0);
	/* Of another device's memory nothing is known here. */
	op = op_of(BYTES, 0);
	op.memory.owner = 1;
	TEST_EQ(tfs_pool_note_free(&op).bytes, 0);
	TEST_EQ(note_free(0, 0).freed, 0);
	TEST_EQ(note_alloc(BYTES, 1).freed, 0);
}

/* The least that the program's own calls took. */
static void check_times(void)
{
	const struct tfs_op op = op_of(BYTES, 0);
	struct tfs_pool_size size = note_alloc(BYTES, 0);

	TEST_TRUE(isinf(size.alloc_ns) && isinf(size.free_ns));
	tfs_pool_note_alloc_time(&op, now_ns - 300);
	tfs_pool_note_alloc_time(&op, now_ns - 200);
	tfs_pool_note_alloc_time(&op, now_ns - 400);
	tfs_pool_note_free_time(&op, now_ns - 70);
	tfs_pool_note_free_time(&op, now_ns - 90);
	tfs_pool_note_keep_time(&op, now_ns - 5);
	tfs_pool_note_keep_time(&op, now_ns - 6);
	size = note_alloc(BYTES, 0);
	TEST_EQ(size.alloc_ns, 200);
	TEST_EQ(size.alloc_timed, 3);
	TEST_EQ(size.free_ns, 70);
	TEST_EQ(size.free_timed, 2);
	TEST_EQ(size.keep_ns, 6);
	TEST_TRUE(isinf(note_alloc(BYTES, 1).alloc_ns));
}

static struct tfs_op op;
static struct tfs_pool_size known;

/* Nothing stands against it. */
static void set_back(void)
{
	refused = 0;
	peers = errors = false;
	room = true;
	context_of = &here;
	held = 0;
	pages = 2 * BYTES;
	tfs_captures_open = 0;
	op = op_of(BYTES, 0);
	known.rounds = 2;
}

/* The check that refuses, 0: it may be kept. What was set for that is set back. */
static uint32_t look(void)
{
	flushes = old_flushes = 0;
	const bool may = tfs_pool_may_keep(NULL, &functions, &op, &known);
	const uint32_t check = refused;

	TEST_EQ(may, check == 0);
	set_back();
	return check;
}

static void check_each(void)
{
	set_back();
	TEST_EQ(look(), 0);
	TEST_EQ(flushes, 0);
	TEST_EQ(old_flushes, 1);
	op.memory.kind = TFS_MEMORY_MANAGED;
	TEST_EQ(look(), TFS_CHECK_plain_device_memory);
	op.memory.flags = 0;
	TEST_EQ(look(), TFS_CHECK_plain_device_memory);
	op.memory.flags |= TFS_RANGE_SHARED;
	TEST_EQ(look(), TFS_CHECK_not_shared);
	peers = true;
	TEST_EQ(look(), TFS_CHECK_no_peers);
	tfs_captures_open = 1;
	TEST_EQ(look(), TFS_CHECK_not_capturing);
	op.memory.owner = 1;
	TEST_EQ(look(), TFS_CHECK_current_device);
	op.memory.bytes = 10 * BYTES + 1;
	TEST_EQ(look(), TFS_CHECK_size);
	known.rounds = 1;
	TEST_EQ(look(), TFS_CHECK_size_recurs);
	context_of = &elsewhere;
	TEST_EQ(look(), TFS_CHECK_current_context);
	errors = true;
	TEST_EQ(look(), TFS_CHECK_no_error_waiting);
	held = 9 * BYTES;
	TEST_EQ(look(), 0);
	held = 9 * BYTES + 1;
	TEST_EQ(look(), TFS_CHECK_pool_limit);
	TEST_EQ(flushes + old_flushes, 0);
	/* Others need it: all goes back. */
	room = false;
	TEST_EQ(look(), TFS_CHECK_memory_left);
	TEST_EQ(flushes, 1);
	TEST_EQ(old_flushes, 0);
	pages = 0;
	TEST_EQ(look(), TFS_CHECK_whole_pages);
	TEST_TRUE(tfs_pool_may_keep(NULL, &functions, &op, &known));
	TEST_EQ(op.memory.takes, 2 * BYTES);
	TEST_TRUE(!tfs_pool_may_keep(NULL, NULL, &op, &known));
	TEST_EQ(refused, TFS_CHECK_runtime_stays);
	set_back();
}

/* Tools that look for uses of freed memory would find none: in a process of its own, with these in
 * its environment. */
static void check_sanitizer(const char *name, const char *value, uint32_t check)
{
	int status = -1;

	fflush(stdout);
	const pid_t child = fork();
	TEST_NEED(child >= 0);
	if (child == 0) {
		setenv(name, value, 1);
		TEST_TRUE(tfs_pool_start());
		set_back();
		TEST_EQ(look(), check);
		fflush(stdout);
		exit(test_result()); /* not _exit: coverage is counted at the end */
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(status, 0);
}

/* More sizes than there is room for: none of the others recurs. */
static void check_full(void)
{
	for (uint32_t i = 0; i < SIZES; i++)
		note_alloc(10000 + i, 0);
	for (int i = 0; i < 5; i++) {
		TEST_EQ(note_free(20000, 0).freed, 0);
		TEST_EQ(note_alloc(20000, 0).rounds, 0);
	}
	TEST_EQ(note_alloc(BYTES, 0).rounds, 4);
}

int main(void)
{
	unsetenv("CUDA_INJECTION64_PATH");
	check_sizes();
	check_times();
	check_each();
	check_sanitizer("NV_SANITIZE", "1", 0);
	check_sanitizer("NV_SANITIZER_VERSION", "1", TFS_CHECK_no_sanitizer);
	check_sanitizer("CUDA_INJECTION64_PATH", "/lib/libtools.so", 0);
	check_sanitizer(
		"CUDA_INJECTION64_PATH", "/lib/libsanitizer-public.so", TFS_CHECK_no_sanitizer);
	check_full();
	return test_result();
}
