/* SPDX-License-Identifier: MIT */
/* Blocks that are held on a made-up device: who is handed one, when it is given back, and what
 * becomes of it as its context ends. */
#include "shim/rewrites/memory/blocks.h"

#include <errno.h>
#include <time.h>

#include "shim/record/op.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/holding.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/state/streams.h"
#include "tests/test.h"

#define AT ((uint64_t)0x7000000)
#define BYTES UINT64_C(256)
#define PAGE UINT64_C(512)
#define ROOM 256u

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static uint64_t now_ns = UINT64_C(9000000000);
static char contexts[2];
static void *context = &contexts[0];
static void *context_of_all = &contexts[0];

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

void *tfs_context_now(void)
{
	return context;
}

void *tfs_context_of(const void *address)
{
	return address ? context_of_all : NULL;
}

void *tfs_context_primary(uint32_t device)
{
	return &contexts[device];
}

/* Calls are looked at as long as blocks are held. */
static bool watched;

void tfs_held_begin(void)
{
	TEST_TRUE(!watched);
	watched = true;
}

void tfs_held_end(void)
{
	TEST_TRUE(watched);
	watched = false;
}

static bool streams_free;

bool tfs_streams_free(void)
{
	return streams_free;
}

static unsigned fills, events, streams, waits, releases, forgotten;
static int fill_status, record_status, wait_status, error_waiting, error_of_release;
static void *released, *fill_stream;
static uint64_t bytes_meanwhile; /* held while a block was given back */
static int value_filled;
static int mode = 5; /* of the thread, as it was */

static int release(void *address)
{
	TEST_EQ(mode, TFS_CAPTURE_RELAXED);
	releases++;
	released = address;
	bytes_meanwhile = tfs_blocks_bytes(0);
	errno = EIO;
	error_waiting |= error_of_release;
	return error_of_release;
}

static int fill(void *address, int value, size_t bytes, void *stream)
{
	TEST_TRUE(address && bytes == BYTES);
	fills++;
	value_filled = value;
	fill_stream = stream;
	return fill_status;
}

static int event_create(void **out, unsigned flags)
{
	static char made[4 * ROOM];

	TEST_EQ(flags, TFS_MEMORY_EVENT);
	*out = &made[events++];
	return 0;
}

static int stream_create(void **out, unsigned flags)
{
	static char made[8];

	TEST_EQ(flags, TFS_MEMORY_STREAM);
	*out = &made[streams++];
	return 0;
}

static int event_record(void *event, void *stream)
{
	TEST_TRUE(stream == fill_stream);
	return event ? record_status : 1;
}

static int event_wait(void *event)
{
	waits++;
	return event ? wait_status : 1;
}

static int error_waits(void)
{
	return error_waiting;
}

static int forget(void)
{
	forgotten++;
	error_waiting = 0;
	return 0;
}

static int capture_mode(int *other)
{
	const int before = mode;

	mode = *other;
	*other = before;
	return 0;
}

static const struct tfs_memory_functions functions = {.release = release,
	.fill = fill,
	.event_create = event_create,
	.stream_create = stream_create,
	.event_record = event_record,
	.event_wait = event_wait,
	.error_waits = error_waits,
	.forget_error = forget,
	.capture_mode = capture_mode};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &functions;
}

static struct tfs_op op_of(uint64_t address, uint64_t bytes, uint32_t device)
{
	return (struct tfs_op){.memory = {.address = (void *)(uintptr_t)address,
				       .bytes = bytes,
				       .takes = PAGE,
				       .device = device}};
}

static bool put(uint64_t address, bool in_order)
{
	const struct tfs_op op = op_of(address, BYTES, 0);

	return tfs_blocks_put(&functions, &op, 0, in_order);
}

static uint64_t take(uint64_t bytes, uint32_t device)
{
	const struct tfs_op op = op_of(0, bytes, device);

	return (uint64_t)(uintptr_t)tfs_blocks_take(&functions, &op);
}

/* One whose size, device and context are those asked for, and none else. */
static void check_take(void)
{
	TEST_EQ(take(BYTES, 0), 0);
	TEST_TRUE(put(AT, false));
	TEST_EQ(fills, 1);
	TEST_TRUE(fill_stream != TFS_STREAM_IN_ORDER);
	TEST_EQ(tfs_blocks_bytes(0), PAGE);
	TEST_EQ(tfs_blocks_bytes(1), 0);
	TEST_EQ(take(BYTES - 1, 0), 0);
	TEST_EQ(take(BYTES + 1, 0), 0);
	TEST_EQ(take(BYTES, 1), 0);
	context = &contexts[1];
	TEST_EQ(take(BYTES, 0), 0);
	context = &contexts[0];
	TEST_EQ(waits, 0);
	TEST_TRUE(watched);
	TEST_EQ(take(BYTES, 0), AT);
	TEST_EQ(waits, 1); /* for its filling */
	TEST_EQ(take(BYTES, 0), 0);
	TEST_TRUE(!tfs_blocks_any() && !watched);
	TEST_EQ(tfs_blocks_bytes(0), 0);
	/* What is in the order of all streams needs no wait. */
	TEST_TRUE(put(AT, true));
	TEST_TRUE(fill_stream == TFS_STREAM_IN_ORDER);
	TEST_EQ(take(BYTES, 0), AT);
	TEST_EQ(waits, 1);
	/* The device has failed. */
	TEST_TRUE(put(AT, false));
	wait_status = 700;
	TEST_EQ(take(BYTES, 0), 0);
	wait_status = 0;
	/* One event and one stream do for all, one after the other. */
	TEST_EQ(events, 1);
	TEST_EQ(streams, 1);
	TEST_EQ(releases, 0);
}

/* Events and streams are of a context, and of use in no other. */
static void check_contexts(void)
{
	context = &contexts[1];
	for (uint32_t device = 0; device < 2; device++) {
		const struct tfs_op op = op_of(AT, BYTES, device);

		TEST_TRUE(tfs_blocks_put(&functions, &op, 0, false));
		TEST_EQ(take(BYTES, device), AT);
		TEST_EQ(events, 2 + device);
		TEST_EQ(streams, 2 + device);
	}
	context = &contexts[0];
	TEST_TRUE(put(AT, false));
	TEST_EQ(take(BYTES, 0), AT);
	TEST_EQ(events, 3);
	TEST_EQ(streams, 3);
}

/* Where it cannot be filled it stays the program's, and the error is nobody's. */
static void check_unfilled(void)
{
	fill_status = 1;
	TEST_TRUE(!put(AT, false));
	fill_status = 0;
	TEST_EQ(forgotten, 1);
	record_status = 1;
	TEST_TRUE(!put(AT, false));
	record_status = 0;
	TEST_EQ(forgotten, 2);
	TEST_TRUE(!tfs_blocks_any());
	TEST_EQ(take(BYTES, 0), 0);
	TEST_EQ(releases, 0);
	const struct tfs_op op = op_of(AT, BYTES, 0);
	TEST_TRUE(tfs_blocks_put(&functions, &op, 0xa5, false));
	TEST_EQ(value_filled, 0xa5);
	TEST_TRUE(tfs_blocks_flush(false, 0));
}

static bool is_released(uint64_t address)
{
	const bool was = released == (void *)(uintptr_t)address;

	released = NULL;
	return was;
}

/* A call that is given an address in it, its first or its last byte. */
static void check_given(void)
{
	released = NULL;
	put(AT, false);
	tfs_blocks_given(NULL, NULL);
	tfs_blocks_given((void *)(uintptr_t)(AT - 1), (void *)(uintptr_t)(AT + BYTES));
	tfs_blocks_given((void *)(uintptr_t)(AT + BYTES), (void *)(uintptr_t)(AT - 1));
	TEST_TRUE(!released);
	errno = 77;
	tfs_blocks_given((void *)(uintptr_t)AT, NULL);
	TEST_EQ(errno, 77);
	TEST_TRUE(is_released(AT));
	TEST_EQ(bytes_meanwhile, 0);
	put(AT, false);
	tfs_blocks_given((void *)(uintptr_t)(AT + BYTES - 1), NULL);
	TEST_TRUE(is_released(AT));
	put(AT, false);
	put(AT + PAGE, false);
	tfs_blocks_given(NULL, (void *)(uintptr_t)(AT + BYTES - 1));
	TEST_TRUE(is_released(AT));
	TEST_EQ(take(BYTES, 0), AT + PAGE);
	TEST_EQ(mode, 5);
}

/* Giving back leaves no error, but one that waits for the program. */
static void check_errors(void)
{
	forgotten = 0;
	put(AT, false);
	TEST_TRUE(!tfs_blocks_flush(false, 1));
	error_waiting = 3;
	TEST_TRUE(tfs_blocks_flush(false, 0));
	TEST_EQ(forgotten, 0);
	TEST_EQ(error_waiting, 3);
	error_waiting = 0;
	error_of_release = 4;
	put(AT, false);
	TEST_TRUE(tfs_blocks_flush(false, TFS_ALL_DEVICES));
	TEST_EQ(forgotten, 1);
	error_of_release = 0;
	TEST_TRUE(!tfs_blocks_flush(false, 0));
}

/* Those that nobody has asked for in two seconds. */
static void check_old(void)
{
	released = NULL;
	put(AT, false);
	now_ns += UINT64_C(1500000000);
	put(AT + PAGE, false);
	now_ns += UINT64_C(500000000);
	tfs_blocks_flush_old(false, 0);
	TEST_TRUE(!released);
	now_ns++;
	tfs_blocks_flush_old(false, 1);
	TEST_TRUE(!released);
	tfs_blocks_flush_old(false, 0);
	TEST_TRUE(is_released(AT));
	TEST_EQ(tfs_blocks_bytes(0), PAGE);
	TEST_EQ(take(BYTES, 0), AT + PAGE);
}

/* Of a context that ends CUDA takes the blocks along, and what was made in it is made anew; of one
 * that stays after all they are as before. */
static void check_ending(void)
{
	const unsigned events_before = events, streams_before = streams;

	releases = 0;
	put(AT, false);
	struct tfs_blocks_end end = tfs_blocks_ending(0, &contexts[1]);
	TEST_EQ(take(BYTES, 0), AT);
	put(AT, false);
	tfs_blocks_ended(&end, true);
	TEST_EQ(tfs_blocks_bytes(0), PAGE);

	end = tfs_blocks_ending(0, NULL); /* the device's own */
	TEST_EQ(take(BYTES, 0), 0);
	TEST_EQ(tfs_blocks_bytes(0), PAGE);
	tfs_blocks_ended(&end, false);
	TEST_EQ(take(BYTES, 0), AT);
	TEST_EQ(events, events_before);

	put(AT, false);
	end = tfs_blocks_ending(0, &contexts[0]);
	context_of_all = NULL; /* it failed, and took the memory along all the same */
	tfs_blocks_ended(&end, false);
	context_of_all = &contexts[0];
	TEST_TRUE(!tfs_blocks_any());

	put(AT, false);
	end = tfs_blocks_ending(0, &contexts[0]);
	tfs_blocks_ended(&end, true);
	TEST_TRUE(!tfs_blocks_any());
	TEST_EQ(releases, 0);
	TEST_EQ(events, events_before);
	put(AT, false);
	TEST_EQ(events, events_before + 1);
	TEST_EQ(streams, streams_before + 1);
	TEST_EQ(take(BYTES, 0), AT);
}

/* There is room for so many, and no more; in a forked child for all of it again. */
static void check_full(void)
{
	for (uint64_t i = 0; i < ROOM; i++)
		TEST_TRUE(put(AT + i * PAGE, false));
	TEST_TRUE(!put(AT + ROOM * PAGE, false));
	TEST_EQ(tfs_blocks_bytes(0), ROOM * PAGE);
	tfs_blocks_forget();
	watched = false;
	TEST_TRUE(!tfs_blocks_any());
	TEST_EQ(take(BYTES, 0), 0);
	releases = 0;
	for (uint64_t i = 0; i < ROOM; i++)
		TEST_TRUE(put(AT + i * PAGE, false));
	TEST_TRUE(tfs_blocks_flush(false, 0));
	TEST_EQ(releases, ROOM);
}

int main(void)
{
	const struct tfs_blocks_end none = tfs_blocks_ending(0, &contexts[0]);

	TEST_TRUE(!none.any);
	check_take();
	check_contexts();
	check_unfilled();
	check_given();
	check_errors();
	check_old();
	check_ending();
	check_full();
	/* Once there are streams that keep no order, in order is no answer. */
	put(AT, true);
	streams_free = true;
	waits = 0;
	TEST_EQ(take(BYTES, 0), AT);
	TEST_EQ(waits, 1);
	return test_result();
}
