/* SPDX-License-Identifier: MIT */
/* alloc-pool on a made-up device: which calls of the program's are timed, which are answered from
 * blocks that were kept, and what that is said to gain. */
#include <time.h>

#include "shim/base/env.h"
#include "shim/rewrites/common/pool.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/capture.h"
#include "tests/test.h"

#define SITE 5u
#define BYTES 4096u
#define TIMED 2u
#define FAILS 7

extern const struct tfs_rewrite tfs_rewrite_alloc_pool;
static const struct tfs_rewrite *const self = &tfs_rewrite_alloc_pool;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

struct tfs_options tfs_options;
unsigned tfs_captures_open;

static uint64_t now_ns = UINT64_C(1000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* a(lloc), r(elease), d(rain), p(ut), t(ake): in the order of the calls, each of which takes its
 * time. */
static char said[20], block, fresh;
static int alloc_fails, release_fails, drain_fails, waiting;

static void say(char what, uint64_t ns)
{
	said[strlen(said)] = what;
	now_ns += ns;
}

static int alloc(void **out, size_t bytes)
{
	TEST_EQ(bytes, BYTES);
	say('a', 700);
	if (alloc_fails == 0)
		*out = &fresh;
	return alloc_fails;
}

static int release(void *address)
{
	TEST_TRUE(address == &block);
	say('r', 300);
	return release_fails;
}

static int drain(void)
{
	say('d', 50);
	return drain_fails;
}

static int error_waits(void)
{
	return waiting;
}

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	static const struct tfs_memory_functions functions = {
		.alloc = alloc, .release = release, .drain = drain, .error_waits = error_waits};

	return driver ? NULL : &functions;
}

/* What is known of the size, and what was timed. */
static unsigned pinned;
static struct tfs_pool_size size = {.alloc_ns = 700, .free_ns = 300, .keep_ns = 40};
static bool recurs = true, keepable = true;
static uint64_t alloc_ns, free_ns, keep_ns;

bool tfs_pool_start(void)
{
	return true;
}

struct tfs_pool_size tfs_pool_note_alloc(struct tfs_op *op)
{
	TEST_EQ(op->memory.bytes, BYTES);
	return size;
}

struct tfs_pool_size tfs_pool_note_free(struct tfs_op *op)
{
	TEST_EQ(op->memory.bytes, BYTES);
	return size;
}

bool tfs_pool_recurs(const struct tfs_pool_size *one)
{
	TEST_EQ(one->alloc_ns, 700.0);
	return recurs;
}

bool tfs_pool_may_keep(const struct tfs_rewrite *rewrite, const struct tfs_memory_functions *use,
	struct tfs_op *op, const struct tfs_pool_size *one)
{
	TEST_TRUE(rewrite == self && use && op->memory.address == &block);
	TEST_EQ(one->free_ns, 300.0);
	return keepable;
}

void tfs_pool_refuse_pinned(const struct tfs_rewrite *rewrite, const struct tfs_op *op)
{
	TEST_TRUE(rewrite == self && op->kind == TFS_OP_PINNED);
	pinned++;
}

void tfs_pool_note_alloc_time(const struct tfs_op *op, uint64_t start_ns)
{
	TEST_TRUE(op->memory.address == &fresh);
	alloc_ns = now_ns - start_ns;
}

void tfs_pool_note_free_time(const struct tfs_op *op, uint64_t start_ns)
{
	TEST_TRUE(op->memory.address == &block);
	free_ns = now_ns - start_ns;
}

void tfs_pool_note_keep_time(const struct tfs_op *op, uint64_t start_ns)
{
	TEST_TRUE(op->memory.address == &block);
	keep_ns = now_ns - start_ns;
}

static bool put_fails;
static int put_value;
static void *held; /* what an allocation gets */

bool tfs_blocks_put(
	const struct tfs_memory_functions *use, const struct tfs_op *op, int value, bool in_order)
{
	TEST_TRUE(use && op->memory.address == &block && !in_order);
	say('p', 20);
	put_value = value;
	return !put_fails;
}

void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	TEST_TRUE(use && op->memory.bytes == BYTES);
	say('t', 10);
	return held;
}

static enum tfs_rewrite_mode mode = TFS_MODE_APPLY;
static uint32_t refused; /* the latest check that did not hold */
static unsigned acted, predictions;
static double predicted;

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	TEST_TRUE(rewrite == self);
	return mode;
}

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == self && site == SITE);
	refused = check;
}

void tfs_rewrite_acted(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	TEST_TRUE(rewrite == self && bytes == BYTES);
	acted++;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	TEST_TRUE(rewrite == self);
	predictions++;
	predicted = ns;
}

static struct tfs_op op;

/* True: the program's own call is not made; what was done in its place is said. */
static bool calls(enum tfs_op_kind kind)
{
	op = (struct tfs_op){.kind = kind, .site = SITE, .may_act = true, .status = 99};
	op.memory.bytes = BYTES;
	op.memory.address = kind == TFS_OP_FREE ? &block : NULL;
	memset(said, 0, sizeof(said));
	refused = 0;
	alloc_ns = free_ns = keep_ns = 0;
	return self->before(&op) == TFS_DONE;
}

static bool allocates(void)
{
	return calls(TFS_OP_ALLOC);
}

static bool frees(void)
{
	return calls(TFS_OP_FREE);
}

/* Of a size that recurs the program's own calls are timed first, a free on an idle device. */
static void check_timed(void)
{
	size.alloc_timed = size.free_timed = TIMED - 1;
	held = &block;
	TEST_TRUE(allocates());
	TEST_STR(said, "a");
	TEST_TRUE(op.memory.address == &fresh && op.status == 0);
	TEST_EQ(alloc_ns, 700);
	alloc_fails = FAILS;
	TEST_TRUE(allocates());
	TEST_EQ(op.status, FAILS);
	TEST_EQ(alloc_ns, 0);
	alloc_fails = 0;
	TEST_TRUE(frees());
	TEST_STR(said, "dr");
	TEST_EQ(op.status, 0);
	TEST_EQ(free_ns, 300);
	release_fails = FAILS;
	TEST_TRUE(frees());
	TEST_EQ(op.status, FAILS);
	TEST_EQ(free_ns, 0);
	release_fails = 0;
	TEST_EQ(acted + predictions, 0);
}

/* From then on blocks are kept, behind the wait that the program knows, and handed out. */
static void check_kept(void)
{
	size.alloc_timed = TIMED;
	size.free_timed = TIMED;
	TEST_TRUE(frees());
	TEST_STR(said, "dp");
	TEST_EQ(op.status, 0);
	TEST_EQ(keep_ns, 20);
	TEST_EQ(put_value, 0);
	tfs_options.pool_poison = 1;
	TEST_TRUE(frees());
	TEST_EQ(put_value, 0xff);
	tfs_options.pool_poison = 0;
	TEST_EQ(acted, 0);
	TEST_TRUE(allocates());
	TEST_STR(said, "t");
	TEST_TRUE(op.memory.address == &block && op.status == 0);
	TEST_EQ(acted, 1);
	/* What both took, less what keeping and handing out took. */
	TEST_EQ(predictions, 1);
	TEST_EQ(predicted, 700.0 + 300 - 40 - 10);
	tfs_options.pool_strict = 1;
	TEST_TRUE(allocates());
	TEST_STR(said, "dt");
	TEST_EQ(predicted, 700.0 + 300 - 40 - 60);
	drain_fails = FAILS;
	TEST_TRUE(!allocates());
	TEST_STR(said, "d");
	drain_fails = 0;
	tfs_options.pool_strict = 0;
	/* No free was timed as yet: no prediction. */
	size.free_timed = 0;
	TEST_TRUE(allocates());
	TEST_EQ(acted, 3);
	TEST_EQ(predictions, 2);
	size.free_timed = TIMED;
	held = NULL;
	TEST_TRUE(!allocates());
	TEST_EQ(acted, 3);
	held = &block;
}

/* The program's own call is made. */
static void check_left(void)
{
	put_fails = true;
	TEST_TRUE(!frees());
	TEST_EQ(refused, TFS_CHECK_block_kept);
	TEST_EQ(keep_ns, 0);
	put_fails = false;
	drain_fails = FAILS;
	TEST_TRUE(!frees());
	TEST_EQ(refused, TFS_CHECK_device_waited_for);
	TEST_STR(said, "d");
	drain_fails = 0;
	keepable = false;
	TEST_TRUE(!frees());
	TEST_STR(said, "");
	keepable = true;
	recurs = false;
	TEST_TRUE(!allocates());
	recurs = true;
	tfs_captures_open = 1;
	TEST_TRUE(!allocates());
	tfs_captures_open = 0;
	waiting = FAILS;
	TEST_TRUE(!allocates());
	waiting = 0;
	TEST_STR(said, "");
	mode = TFS_MODE_REPORT;
	TEST_TRUE(!allocates() && !frees());
	TEST_STR(said, "");
	TEST_EQ(acted, 3);
}

/* Pinned memory is not kept, which is said. */
static void check_pinned(void)
{
	static const struct tfs_op made = {.kind = TFS_OP_PINNED};

	memset(said, 0, sizeof(said));
	self->event(&made);
	TEST_EQ(pinned, 1);
	TEST_STR(said, "");
}

int main(void)
{
	check_timed();
	check_kept();
	check_left();
	check_pinned();
	return test_result();
}
