/* SPDX-License-Identifier: MIT */
/* deferred-free on a made-up device: how a free without its wait is tried out, what is done once it
 * acts, and what that is said to gain. */
#include <driver_types.h>
#include <errno.h>
#include <time.h>

#include "shim/base/env.h"
#include "shim/record/hook.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/common/pool.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"
#include "tests/test.h"

#define SITE 5u
#define DEVICE 2u
#define PIECE 4096u /* of a block that is looked at */
#define BYTES (3 * PIECE + 100)
#define FAILS 7

extern const struct tfs_rewrite tfs_rewrite_deferred_free;
static const struct tfs_rewrite *const self = &tfs_rewrite_deferred_free;

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

/* f(ill), d(rain), r(ead): what the device was asked for. */
static char said[40], block[BYTES];
static uint64_t drain_ns = 100, late = BYTES; /* where a kernel writes that was at work still */
static int fill_fails, drain_fails, waiting;
static unsigned forgotten;

static void say(char what)
{
	said[strlen(said)] = what;
}

static int fill(void *address, int value, size_t bytes, void *stream)
{
	TEST_TRUE(address == block && value == 0 && stream == TFS_STREAM_IN_ORDER);
	say('f');
	if (fill_fails == 0)
		memset(block, 0, bytes);
	return fill_fails;
}

static int drain(void)
{
	say('d');
	now_ns += drain_ns;
	if (late < BYTES)
		block[late] = 1;
	return drain_fails;
}

static int read_back(void *to, const void *from, size_t bytes, int to_host)
{
	TEST_EQ(to_host, TFS_MEMORY_READ);
	TEST_TRUE((const char *)from >= block && (const char *)from + bytes <= block + BYTES);
	say('r');
	memcpy(to, from, bytes);
	return 0;
}

static int error_waits(void)
{
	return waiting;
}

static int forget_error(void)
{
	forgotten++;
	return 0;
}

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	static const struct tfs_memory_functions functions = {.fill = fill,
		.drain = drain,
		.read = read_back,
		.error_waits = error_waits,
		.forget_error = forget_error};

	return driver ? NULL : &functions;
}

static bool visible, pageable, elsewhere, signals, free_streams, keepable = true, recurs = true;
static uint64_t families;

bool tfs_memory_any_visible(void)
{
	return visible;
}

bool tfs_memory_reaches_pageable(const struct tfs_memory_functions *use, int device)
{
	TEST_TRUE(use && device == DEVICE);
	return pageable;
}

bool tfs_memory_any_elsewhere(uint32_t device)
{
	TEST_EQ(device, DEVICE);
	return elsewhere;
}

bool tfs_memory_signals(void)
{
	return signals;
}

bool tfs_streams_free(void)
{
	return free_streams;
}

uint64_t tfs_hook_families(void)
{
	return families;
}

static unsigned pinned;

bool tfs_pool_start(void)
{
	return true;
}

struct tfs_pool_size tfs_pool_note_alloc(struct tfs_op *op)
{
	return (struct tfs_pool_size){.bytes = op->memory.bytes};
}

struct tfs_pool_size tfs_pool_note_free(struct tfs_op *op)
{
	return (struct tfs_pool_size){.bytes = op->memory.bytes};
}

bool tfs_pool_recurs(const struct tfs_pool_size *size)
{
	TEST_EQ(size->bytes, BYTES);
	return recurs;
}

void tfs_pool_refuse_pinned(const struct tfs_rewrite *rewrite, const struct tfs_op *op)
{
	TEST_TRUE(rewrite == self && op->kind == TFS_OP_PINNED);
	pinned++;
}

bool tfs_pool_may_keep(const struct tfs_rewrite *rewrite, const struct tfs_memory_functions *use,
	struct tfs_op *op, const struct tfs_pool_size *size)
{
	TEST_TRUE(rewrite == self && use && op->memory.bytes == size->bytes);
	return keepable;
}

static bool put_fails;
static int put_value;
static unsigned puts_done;
static void *held; /* what an allocation gets */

bool tfs_blocks_put(
	const struct tfs_memory_functions *use, const struct tfs_op *op, int value, bool in_order)
{
	TEST_TRUE(use && op->memory.address == block && in_order);
	put_value = value;
	puts_done += !put_fails;
	return !put_fails;
}

void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	TEST_TRUE(use && op->memory.bytes == BYTES);
	return held;
}

static enum tfs_rewrite_mode mode = TFS_MODE_APPLY;
static uint32_t refused; /* the latest check that did not hold */
static struct tfs_reason differs;
static unsigned acted, shadows, predictions;
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

bool tfs_rewrite_shadow(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	TEST_TRUE(rewrite == self && bytes == BYTES);
	shadows++;
	return true;
}

void tfs_rewrite_differs(
	const struct tfs_rewrite *rewrite, uint32_t site, const struct tfs_reason *evidence)
{
	TEST_TRUE(rewrite == self && site == SITE);
	differs = *evidence;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	TEST_TRUE(rewrite == self);
	predictions++;
	predicted = ns;
}

/* True: the program's own call is not made. */
static bool frees(uint64_t bytes)
{
	struct tfs_op op = {.kind = TFS_OP_FREE, .site = SITE, .may_act = true, .status = 99};

	op.memory.address = block;
	op.memory.bytes = bytes;
	op.memory.device = op.memory.owner = DEVICE;
	memset(said, 0, sizeof(said));
	memset(block, 1, sizeof(block));
	differs = (struct tfs_reason){0};
	refused = 0;
	const bool done = self->before(&op) == TFS_DONE;
	if (done)
		TEST_EQ(op.status, 0);
	return done;
}

static bool allocates(void)
{
	struct tfs_op op = {.kind = TFS_OP_ALLOC, .site = SITE, .may_act = true, .status = 99};

	op.memory.bytes = BYTES;
	op.memory.device = DEVICE;
	const bool done = self->before(&op) == TFS_DONE;
	if (done)
		TEST_TRUE(op.memory.address == held && op.status == 0);
	return done;
}

static void waits(enum tfs_sync what)
{
	struct tfs_op op = {.kind = TFS_OP_WAIT, .may_act = true, .wait = {.what = what}};

	errno = ERANGE;
	TEST_EQ(self->before(&op), TFS_LEAVES);
	TEST_EQ(errno, ERANGE);
}

static void copies(int kind)
{
	struct tfs_op op = {.kind = TFS_OP_COPY, .may_act = true, .copy = {.kind = kind}};

	TEST_EQ(self->before(&op), TFS_LEAVES);
}

/* Beside the program's own free: filled in order, waited for, and looked at in three places. */
static void check_tries(void)
{
	for (unsigned i = 0; i < TFS_EVIDENCE_TRIES; i++) {
		drain_ns = i == 3 ? 70 : 100;
		TEST_TRUE(!frees(BYTES));
		TEST_EQ(refused, TFS_CHECK_shadow_evidence);
		TEST_STR(said, "fdrrr");
		TEST_EQ(differs.code, TFS_REASON_none);
	}
	TEST_EQ(puts_done + acted + shadows, 0);
	/* Each size has its own. */
	TEST_TRUE(!frees(100));
	TEST_STR(said, "fdrrr");
	/* A fill that cannot be had tells nothing. */
	fill_fails = FAILS;
	TEST_TRUE(!frees(100));
	TEST_STR(said, "f");
	TEST_EQ(forgotten, 1);
	TEST_EQ(differs.code, TFS_REASON_none);
	fill_fails = 0;
}

static void check_acts(void)
{
	TEST_TRUE(frees(BYTES));
	TEST_STR(said, "");
	TEST_EQ(refused, 0);
	TEST_EQ(puts_done, 1);
	TEST_EQ(put_value, 0);
	tfs_options.pool_poison = 1;
	TEST_TRUE(frees(BYTES));
	TEST_EQ(put_value, 0xff);
	tfs_options.pool_poison = 0;
	put_fails = true;
	TEST_TRUE(!frees(BYTES));
	TEST_EQ(refused, TFS_CHECK_block_kept);
	put_fails = false;
	predictions = 0;
	waits(TFS_SYNC_DEVICE);
	TEST_EQ(predictions, 0);
	keepable = false;
	TEST_TRUE(!frees(BYTES));
	keepable = true;
	mode = TFS_MODE_REPORT;
	TEST_TRUE(!frees(BYTES));
	TEST_STR(said, "");
	mode = TFS_MODE_APPLY;
}

/* What a free gains is known once the host waits after all, for which a copy will do. */
static void check_gain(void)
{
	predictions = 0;
	TEST_TRUE(frees(BYTES));
	now_ns += 30;
	copies(cudaMemcpyDeviceToDevice);
	waits(TFS_SYNC_ASKS);
	mode = TFS_MODE_OFF;
	waits(TFS_SYNC_DEVICE);
	mode = TFS_MODE_APPLY;
	TEST_EQ(predictions, 0);
	waits(TFS_SYNC_EVENT);
	TEST_EQ(predictions, 1);
	TEST_EQ(predicted, 30);
	waits(TFS_SYNC_EVENT);
	TEST_EQ(predictions, 1);
	TEST_TRUE(frees(BYTES));
	now_ns += 1000;
	copies(cudaMemcpyHostToDevice);
	TEST_EQ(predictions, 2);
	TEST_EQ(predicted, 70);
	TEST_TRUE(frees(BYTES));
	now_ns += 20;
	TEST_TRUE(frees(BYTES));
	TEST_EQ(predictions, 3);
	TEST_EQ(predicted, 20);
}

static void check_alloc(void)
{
	acted = 0;
	TEST_TRUE(!allocates());
	held = block;
	TEST_TRUE(allocates());
	TEST_EQ(acted, 1);
	recurs = false;
	TEST_TRUE(!allocates());
	recurs = true;
	mode = TFS_MODE_REPORT;
	TEST_TRUE(!allocates());
	mode = TFS_MODE_APPLY;
	tfs_captures_open = 1;
	TEST_TRUE(!allocates());
	tfs_captures_open = 0;
	waiting = FAILS;
	TEST_TRUE(!allocates());
	waiting = 0;
	tfs_options.pool_strict = 1;
	TEST_TRUE(!allocates());
	tfs_options.pool_strict = 0;
	TEST_EQ(acted, 1);
}

static bool refuses(uint32_t check)
{
	return !frees(BYTES) && refused == check;
}

static void check_refusals(void)
{
	static const enum tfs_family telling[] = {TFS_FAMILY_host_func, TFS_FAMILY_graph_launch,
		TFS_FAMILY_collective, TFS_FAMILY_event_record, TFS_FAMILY_query};

	visible = true;
	TEST_TRUE(refuses(TFS_CHECK_no_host_visible_memory));
	visible = false;
	pageable = true;
	TEST_TRUE(refuses(TFS_CHECK_no_pageable_access));
	pageable = false;
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++) {
		families = UINT64_C(1) << telling[i];
		TEST_TRUE(refuses(TFS_CHECK_no_host_signals));
	}
	families = 0;
	signals = true;
	TEST_TRUE(refuses(TFS_CHECK_no_host_signals));
	signals = false;
	free_streams = true;
	TEST_TRUE(refuses(TFS_CHECK_no_free_streams));
	free_streams = false;
	families = UINT64_C(1) << TFS_FAMILY_stream_destroy;
	TEST_TRUE(refuses(TFS_CHECK_no_free_streams));
	families = 0;
	elsewhere = true;
	TEST_TRUE(refuses(TFS_CHECK_one_device));
	elsewhere = false;
	TEST_TRUE(frees(BYTES));
}

/* A stream that order does not bind finds the device waited for, once for all frees before. */
static void check_streams(void)
{
	static const struct tfs_op made = {.kind = TFS_OP_STREAM};

	TEST_TRUE(frees(BYTES));
	self->event(&made);
	TEST_STR(said, "d");
	self->event(&made);
	TEST_STR(said, "d");
	/* Also for one that is not deferred in the end. */
	put_fails = true;
	TEST_TRUE(!frees(BYTES));
	put_fails = false;
	forgotten = 0;
	drain_fails = FAILS;
	self->event(&made);
	TEST_STR(said, "d");
	TEST_EQ(forgotten, 1);
	drain_fails = 0;
	/* Pinned memory is no reason to wait at the next one. */
	self->event(&(struct tfs_op){.kind = TFS_OP_PINNED});
	TEST_EQ(pinned, 1);
	self->event(&made);
	TEST_STR(said, "d");
}

/* Order was not enough: wherever that is seen. */
static void check_differs(void)
{
	static const uint64_t places[] = {0, BYTES / 2, BYTES - 1};

	mode = TFS_MODE_SHADOW;
	for (size_t i = 0; i < 3; i++) {
		TEST_TRUE(!frees(BYTES));
		TEST_EQ(differs.code, TFS_REASON_none);
		late = places[i];
		TEST_TRUE(!frees(BYTES));
		TEST_EQ(differs.code, TFS_REASON_written_after_free);
		TEST_EQ(differs.numbers[0], BYTES);
		late = BYTES;
	}
	TEST_EQ(shadows, 6);
	drain_fails = FAILS;
	TEST_TRUE(!frees(BYTES));
	TEST_EQ(differs.code, TFS_REASON_free_reported_error);
	TEST_STR(said, "fd");
	drain_fails = 0;
}

int main(void)
{
	check_tries();
	check_acts();
	check_gain();
	check_alloc();
	check_refusals();
	check_streams();
	check_differs();
	return test_result();
}
