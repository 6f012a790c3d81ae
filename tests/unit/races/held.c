/* SPDX-License-Identifier: MIT */
/*
 * Many threads have blocks held and handed out again while others give them back, ask how much
 * memory is left, and end contexts that stay after all. Each block is one thread's at a time, and
 * none is lost.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "shim/record/op.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/room.h"
#include "tests/test.h"

#define THREADS 5u
/* At least. */
#define ROUNDS 3000u
#define ENDS 30u
#define BYTES 256u

const struct tfs_memory_functions *__wrap_tfs_memory_functions(bool driver);
void *__wrap_tfs_context_now(void);
void *__wrap_tfs_context_of(const void *address);
void *__wrap_tfs_context_primary(uint32_t device);
bool __wrap_tfs_context_idle(void);

static atomic_long allocated, released, handed_out;
static atomic_uint asked, gave, ended;
static atomic_bool over;
static char context;

void *__wrap_tfs_context_now(void)
{
	return &context;
}

void *__wrap_tfs_context_of(const void *address)
{
	return address ? &context : NULL;
}

void *__wrap_tfs_context_primary(uint32_t device)
{
	return device == 0 ? &context : NULL;
}

bool __wrap_tfs_context_idle(void)
{
	return true;
}

static int alloc(void **out, size_t bytes)
{
	*out = malloc(bytes < BYTES ? BYTES : BYTES + bytes % BYTES);
	atomic_fetch_add(&allocated, 1);
	return !*out;
}

static int release(void *address)
{
	free(address);
	atomic_fetch_add(&released, 1);
	return 0;
}

static int fill(void *address, int value, size_t bytes, void *stream)
{
	memset(address, value, bytes);
	return !stream;
}

static int create(void **out, unsigned flags)
{
	static char one;

	*out = &one;
	return flags == 0;
}

static int record(void *event, void *stream)
{
	return !event || !stream;
}

static int wait_for(void *event)
{
	return !event;
}

/* As if others took and gave memory all the time. */
static int info(size_t *out_free, size_t *out_all)
{
	static atomic_uint looks;

	*out_all = (size_t)64 << 30;
	*out_free = *out_all / (atomic_fetch_add(&looks, 1) % 8 == 0 ? 64 : 2);
	return 0;
}

static int waits(void)
{
	return 0;
}

static int forget(void)
{
	return 0;
}

static int relax(int *mode)
{
	return !mode;
}

static const struct tfs_memory_functions functions = {
	.alloc = alloc,
	.release = release,
	.fill = fill,
	.stream_create = create,
	.event_create = create,
	.event_record = record,
	.event_wait = wait_for,
	.info = info,
	.error_waits = waits,
	.forget_error = forget,
	.capture_mode = relax,
};

const struct tfs_memory_functions *__wrap_tfs_memory_functions(bool driver)
{
	return driver ? NULL : &functions;
}

/* As the program does, with a rewrite that holds what is freed. */
static void *use(void *argument)
{
	const unsigned char number = (unsigned char)(uintptr_t)argument;

	for (uint32_t i = 0; i < ROUNDS || gave < ENDS || ended < ENDS; i++) {
		struct tfs_op op = {.memory = {.bytes = BYTES, .takes = BYTES}};
		unsigned char *own = tfs_blocks_take(&functions, &op);
		void *fresh;

		atomic_fetch_add(&asked, 1);
		atomic_fetch_add(&handed_out, own != NULL);
		if (!own) {
			tfs_held_before_alloc(false, 0, BYTES, false);
			TEST_NEED(alloc(&fresh, BYTES) == 0);
			own = memset(fresh, 0, BYTES);
		}
		for (uint32_t at = 0; at < BYTES; at++)
			TEST_EQ(own[at], 0);
		memset(own, number, BYTES);
		op.memory.address = own;
		tfs_room_left(&functions, 0, BYTES, i % 2 == 0);
		if (!tfs_blocks_put(&functions, &op, 0, i % 2 == 0))
			release(own);
	}
	return NULL;
}

static void *give_back(void *nothing)
{
	while (!atomic_load(&over)) {
		tfs_blocks_bytes(0);
		atomic_fetch_add(&gave, tfs_held_make_room(false, 2, 0));
		tfs_room_pages(&functions, 0, UINT64_C(3) << 20);
		usleep(500);
	}
	return nothing;
}

static void *end_context(void *nothing)
{
	while (!atomic_load(&over)) {
		const struct tfs_blocks_end end = tfs_blocks_ending(0, NULL);

		tfs_blocks_ended(&end, false);
		tfs_blocks_given(&context, nothing);
		atomic_fetch_add(&ended, 1);
		usleep(500);
	}
	return nothing;
}

int main(void)
{
	pthread_t threads[THREADS], giver, ender;

	TEST_NEED(pthread_create(&giver, NULL, give_back, NULL) == 0);
	TEST_NEED(pthread_create(&ender, NULL, end_context, NULL) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, use, (void *)(i + 1)) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&over, true);
	pthread_join(giver, NULL);
	pthread_join(ender, NULL);
	tfs_blocks_flush(false, TFS_ALL_DEVICES);
	TEST_EQ(tfs_blocks_count, 0);
	TEST_EQ(allocated, released);
	TEST_TRUE(handed_out > 0);
	printf("%u blocks were asked for by %u threads, %ld of them handed out again; "
	       "room was made %u times\n",
		asked, THREADS, handed_out, gave);
	return test_result();
}
