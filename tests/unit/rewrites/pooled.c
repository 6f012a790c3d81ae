/* SPDX-License-Identifier: MIT */
/* alloc-pool on a made-up device: whose calls are timed, when a block is kept and handed out, and
 * what that is said to gain. */
#include <math.h>
#include <time.h>

#include "shim/base/env.h"
#include "shim/rewrites/common/pool.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/state/capture.h"
#include "tests/test.h"

#define BYTES UINT64_C(4096)
#define SITE 5u
/* What each takes. */
#define ALLOC_NS 900u
#define FREE_NS 500u
#define DRAIN_NS 40u
#define KEEP_NS 30u
#define TAKE_NS 20u

extern const struct tfs_rewrite tfs_rewrite_alloc_pool;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

struct tfs_options tfs_options;
unsigned tfs_captures_open;

static uint64_t now_ns = 1000;
static struct tfs_pool_size size;
static enum tfs_rewrite_mode mode = TFS_MODE_APPLY;
static char fresh, held;
static bool has_block, keeps_none;
static int alloc_fails, drain_fails, errors;
static unsigned allocs, frees, drains, takes, kept, acted;
static double predicted;
static uint32_t refused;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static int alloc(void **out, size_t bytes)
{
	TEST_EQ(bytes, BYTES);
	now_ns += ALLOC_NS;
	allocs++;
	*out = &fresh;
	return alloc_fails;
}

static int release(void *address)
{
	TEST_TRUE(address == &fresh);
	now_ns += FREE_NS;
	frees++;
	return 0;
}

static int drain(void)
{
	now_ns += DRAIN_NS;
	drains++;
	return drain_fails;
}

static int error_waits(void)
{
	return errors;
}

static const struct tfs_memory_functions memory = {
	.alloc = alloc, .release = release, .drain = drain, .error_waits = error_waits};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &memory;
}

bool tfs_pool_start(void)
{
	return true;
}

struct tfs_pool_size tfs_pool_note_alloc(struct tfs_op *op)
{
	(void)op;
	return size;
}

struct tfs_pool_size tfs_pool_note_free(struct tfs_op *op)
{
	(void)op;
	return size;
}

void tfs_pool_note_alloc_time(const struct tfs_op *op, uint64_t start_ns)
{
	TEST_TRUE(op->memory.address == &fresh);
	size.alloc_timed++;
	size.alloc_ns = (double)(now_ns - start_ns);
}

void tfs_pool_note_free_time(const struct tfs_op *op, uint64_t start_ns)
{
	(void)op;
	size.free_timed++;
	size.free_ns = (double)(now_ns - start_ns);
}

void tfs_pool_note_keep_time(const struct tfs_op *op, uint64_t start_ns)
{
	(void)op;
	size.keep_ns = (double)(now_ns - start_ns);
}

bool tfs_pool_recurs(const struct tfs_pool_size *one)
{
	return one->rounds >= 2;
}

bool tfs_pool_may_keep(const struct tfs_rewrite *self, const struct tfs_memory_functions *use,
	struct tfs_op *op, const struct tfs_pool_size *one)
{
	TEST_TRUE(self == &tfs_rewrite_alloc_pool && use == &memory && op->site == SITE);
	return tfs_pool_recurs(one);
}

bool tfs_blocks_put(
	const struct tfs_memory_functions *use, const struct tfs_op *op, int value, bool in_order)
{
	TEST_TRUE(use == &memory && op->memory.address == &fresh && value == 0 && !in_order);
	now_ns += KEEP_NS;
	kept += !keeps_none;
	return !keeps_none;
}

void *tfs_blocks_take(const struct tfs_memory_functions *use, const struct tfs_op *op)
{
	TEST_TRUE(use == &memory && op->memory.bytes == BYTES);
	now_ns += TAKE_NS;
	takes++;
	return has_block ? &held : NULL;
}

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == &tfs_rewrite_alloc_pool && site == SITE);
	refused = check;
}

void tfs_rewrite_acted(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	TEST_TRUE(rewrite == &tfs_rewrite_alloc_pool);
	TEST_EQ(bytes, BYTES);
	acted++;
}

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	TEST_TRUE(rewrite == &tfs_rewrite_alloc_pool);
	return mode;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	TEST_TRUE(rewrite == &tfs_rewrite_alloc_pool);
	predicted = ns;
}

static void begin(uint32_t rounds)
{
	size = (struct tfs_pool_size){.rounds = rounds};
	has_block = true;
	allocs = frees = drains = takes = kept = acted = 0;
}

/* The program's call. Whether it was carried out, and what it got. */
static bool ask(enum tfs_op_kind kind, void **out_address, uint32_t *out_status)
{
	struct tfs_op op = {.kind = kind,
		.site = SITE,
		.status = 4711,
		.memory = {.bytes = BYTES, .address = kind == TFS_OP_FREE ? &fresh : NULL}};
	const enum tfs_answer answer = tfs_rewrite_alloc_pool.before(&op);

	predicted = answer == TFS_DONE ? predicted : NAN;
	*out_address = op.memory.address;
	*out_status = op.status;
	return answer == TFS_DONE;
}

static bool allocates(const void *address)
{
	uint32_t status;
	void *got;

	predicted = NAN;
	refused = TFS_CHECK_none;
	return ask(TFS_OP_ALLOC, &got, &status) && got == address && status == 0;
}

static bool is_left(enum tfs_op_kind kind)
{
	uint32_t status;
	void *got;

	refused = TFS_CHECK_none;
	return !ask(kind, &got, &status);
}

static bool frees_it(void)
{
	uint32_t status;
	void *got;

	refused = TFS_CHECK_none;
	return ask(TFS_OP_FREE, &got, &status) && status == 0;
}

/* Two of the program's own calls of each kind are timed, then blocks are kept and handed out. What
 * that gains is told from the first free on that was timed. */
static void goes_round(void)
{
	begin(2);
	for (unsigned i = 1; i <= 2; i++) {
		TEST_TRUE(allocates(&fresh));
		TEST_EQ(allocs, i);
		TEST_EQ(size.alloc_ns, ALLOC_NS);
	}
	TEST_EQ(takes + acted, 0);
	TEST_TRUE(allocates(&held));
	TEST_EQ(allocs, 2);
	TEST_EQ(acted, 1);
	TEST_TRUE(isnan(predicted));
	for (unsigned i = 1; i <= 2; i++) {
		TEST_TRUE(frees_it());
		TEST_EQ(frees, i);
		/* The wait before it is the program's all the same. */
		TEST_EQ(drains, i);
		TEST_EQ(size.free_ns, FREE_NS);
	}
	TEST_EQ(kept, 0);
	TEST_TRUE(frees_it());
	TEST_EQ(frees, 2);
	TEST_EQ(drains, 3);
	TEST_EQ(kept, 1);
	TEST_EQ(size.keep_ns, KEEP_NS);
	TEST_TRUE(allocates(&held));
	TEST_EQ(acted, 2);
	TEST_EQ(predicted, ALLOC_NS + FREE_NS - KEEP_NS - TAKE_NS);
	tfs_options.pool_strict = 1;
	TEST_TRUE(allocates(&held));
	TEST_EQ(predicted, ALLOC_NS + FREE_NS - KEEP_NS - TAKE_NS - (double)DRAIN_NS);
	drain_fails = 1;
	TEST_TRUE(is_left(TFS_OP_ALLOC));
	TEST_EQ(acted, 3);
	tfs_options.pool_strict = drain_fails = 0;
}

/* What stands against it: the program's own call is made then. */
static void is_not_done(void)
{
	begin(1);
	TEST_TRUE(is_left(TFS_OP_ALLOC) && is_left(TFS_OP_FREE));
	begin(2);
	mode = TFS_MODE_REPORT;
	TEST_TRUE(is_left(TFS_OP_ALLOC) && is_left(TFS_OP_FREE));
	mode = TFS_MODE_APPLY;
	errors = 1;
	TEST_TRUE(is_left(TFS_OP_ALLOC));
	errors = 0;
	tfs_captures_open = 1;
	TEST_TRUE(is_left(TFS_OP_ALLOC));
	tfs_captures_open = 0;
	TEST_EQ(allocs + frees + drains + takes + kept, 0);
	size.alloc_timed = size.free_timed = 2;
	has_block = false;
	TEST_TRUE(is_left(TFS_OP_ALLOC));
	TEST_EQ(takes, 1);
	TEST_EQ(acted, 0);
	/* A block is kept only when the device is done. */
	drain_fails = 1;
	TEST_TRUE(is_left(TFS_OP_FREE));
	TEST_EQ(refused, TFS_CHECK_device_waited_for);
	TEST_EQ(kept, 0);
	drain_fails = 0;
	keeps_none = true;
	TEST_TRUE(is_left(TFS_OP_FREE));
	TEST_EQ(refused, TFS_CHECK_block_kept);
	keeps_none = false;
}

/* What fails is the program's to see, and no measure. */
static void out_of_memory(void)
{
	uint32_t status;
	void *got;

	begin(2);
	alloc_fails = 2;
	TEST_TRUE(ask(TFS_OP_ALLOC, &got, &status));
	TEST_EQ(status, 2);
	TEST_EQ(size.alloc_timed, 0);
	alloc_fails = 0;
}

int main(void)
{
	goes_round();
	is_not_done();
	out_of_memory();
	return test_result();
}
