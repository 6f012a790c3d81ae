/* SPDX-License-Identifier: MIT */
/*
 * alloc-pool: a block of device memory that is freed in every step is kept for the next call that
 * asks for as many bytes, so that the driver need neither unmap nor map it.
 *
 * Contract (exact: the same bits, in the same order):
 * - cudaFree waits for the device as before, before the block is kept: programs rely on that wait.
 * - The block is zeroed aside, and handed out only after the event recorded behind that: what the
 *   program left in it is gone, as it may be with memory from cudaMalloc.
 * - A block goes to a request of exactly its size, on its own device and context; it is a whole
 *   allocation of CUDA's, never a part of one.
 * - To the program it is free memory: cudaMemGetInfo counts it as such, blocks are given back
 *   before an out-of-memory is reported, freeing it again and asking about it fail as they would.
 * - At least 1 GiB, or a tenth of the device if that is more, stays truly free: libraries allocate
 *   for themselves, and nobody asks us when they find nothing.
 * - Only memory that the program itself got from cudaMalloc or cuMemAlloc. Managed and
 *   stream-ordered memory, and blocks shared with another process, device or network card, are left
 *   alone; so is everything while a stream is being captured.
 * - A hit leaves out what cudaMalloc itself may wait for; the option pool_strict puts that back.
 *
 * Its own model of the gain per hit: what the program's own cudaMalloc, and cudaFree on an idle
 * device, of that size took, less what keeping and handing out took.
 */
#include <math.h>
#include <string.h>

#include "rules/rewrites/blocks.h"
#include "rules/rewrites/memory_functions.h"
#include "rules/rewrites/rewrite.h"
#include "shim/capture.h"
#include "shim/clock.h"
#include "shim/env.h"
#include "shim/memory.h"
#include "shim/spin.h"
#include "shim/trace/format.h"

#define SIZES 64u
#define ROUNDS 2u                   /* freed and asked for again: from then on the size recurs */
#define TIMED 2u                    /* then so many calls of the program's are timed */
#define LOOK_NS UINT64_C(100000000) /* how long free memory is taken to be what it was */

/* Tests only, option `naive`: what the contract forbids. */
#define NAIVE_NO_WAIT 256u /* cudaFree does not wait */

enum check {
	CHECK_FUNCTIONS,
	CHECK_PLAIN,
	CHECK_SHARED,
	CHECK_PEERS,
	CHECK_SANITIZER,
	CHECK_CAPTURE,
	CHECK_DEVICE,
	CHECK_SIZE,
	CHECK_RECURS,
	CHECK_CONTEXT,
	CHECK_ERROR,
	CHECK_LIMIT,
	CHECK_MEMORY,
	CHECK_WAITED,
	CHECK_KEPT,
};

static const char *const checks[] = {"runtime-stays", "plain-device-memory", "not-shared",
	"no-peers", "no-sanitizer", "not-capturing", "current-device", "size", "size-recurs",
	"current-context", "no-error-waiting", "pool-limit", "memory-left", "device-waited-for",
	"block-kept", NULL};

extern const struct tfs_rewrite tfs_rewrite_alloc_pool;
#define SELF (&tfs_rewrite_alloc_pool)

/* What is known of requests for one number of bytes on one device. */
struct size {
	uint64_t bytes;
	uint32_t device;
	uint32_t freed; /* and not asked for again yet */
	uint32_t rounds;
	uint32_t alloc_timed;
	uint32_t free_timed;
	double alloc_ns; /* of the program's calls; the least */
	double free_ns;
	double keep_ns; /* of the latest block that was kept */
};

static struct size sizes[SIZES];
static uint32_t size_count;
static struct tfs_spin lock;
static bool sanitized;

/* How much is truly free, by device; as of the latest look. */
static struct {
	uint64_t at_ns;
	uint64_t free_bytes;
	uint64_t least; /* that must stay free */
	uint64_t held;  /* then */
} looks[16];

extern char **environ;

static bool start(void)
{
	/* compute-sanitizer looks for uses of freed memory, and for reads of what nobody wrote. */
	for (char **one = environ; one != NULL && *one != NULL; one++)
		sanitized |= strncmp(*one, "NV_SANITIZER", 12) == 0 ||
			     (strncmp(*one, "CUDA_INJECTION64_PATH=", 22) == 0 &&
				     strstr(*one, "sanitizer") != NULL);
	return true;
}

/* NULL: too many. The lock is held. */
static struct size *size_of(uint64_t bytes, uint32_t device)
{
	for (uint32_t i = 0; i < size_count; i++)
		if (sizes[i].bytes == bytes && sizes[i].device == device)
			return &sizes[i];
	if (size_count == SIZES)
		return NULL;
	sizes[size_count] = (struct size){
		.bytes = bytes, .device = device, .alloc_ns = INFINITY, .free_ns = INFINITY};
	return &sizes[size_count++];
}

static struct size note_alloc(const struct tfs_memory_call *call)
{
	struct size copy = {0};

	tfs_spin_lock(&lock);
	struct size *size = size_of(call->bytes, call->device);
	if (size != NULL && size->freed > 0) {
		size->freed--;
		size->rounds++;
	}
	if (size != NULL)
		copy = *size;
	tfs_spin_unlock(&lock);
	return copy;
}

static struct size note_free(const struct tfs_memory_call *call)
{
	struct size copy = {0};

	tfs_spin_lock(&lock);
	struct size *size = size_of(call->bytes, call->device);
	if (size != NULL) {
		size->freed++;
		copy = *size;
	}
	tfs_spin_unlock(&lock);
	return copy;
}

static void note_time(const struct tfs_memory_call *call, bool alloc, uint64_t start_ns)
{
	const double ns = (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);

	tfs_spin_lock(&lock);
	struct size *size = size_of(call->bytes, call->device);
	if (size != NULL && alloc) {
		size->alloc_timed++;
		size->alloc_ns = ns < size->alloc_ns ? ns : size->alloc_ns;
	} else if (size != NULL) {
		size->free_timed++;
		size->free_ns = ns < size->free_ns ? ns : size->free_ns;
	}
	tfs_spin_unlock(&lock);
}

static void note_kept(const struct tfs_memory_call *call, uint64_t start_ns)
{
	const double ns = (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);

	tfs_spin_lock(&lock);
	struct size *size = size_of(call->bytes, call->device);
	if (size != NULL)
		size->keep_ns = ns;
	tfs_spin_unlock(&lock);
}

static bool applies(void)
{
	return tfs_rewrite_mode(SELF) == TFS_MODE_APPLY;
}

/* The program's own call, timed. */
static bool time_alloc(
	const struct tfs_memory_functions *use, struct tfs_memory_call *call, uint32_t *out_status)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	*out_status = (uint32_t)use->alloc(&call->address, call->bytes);
	if (*out_status == 0)
		note_time(call, true, start_ns);
	return true;
}

static bool alloc(struct tfs_memory_call *call, uint32_t *out_status)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(call->driver);
	const struct size size = note_alloc(call);

	if (use == NULL || !applies() || size.rounds < ROUNDS || tfs_capturing() ||
		use->error_waits())
		return false;
	if (size.alloc_timed < TIMED)
		return time_alloc(use, call, out_status);
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	if ((tfs_options.pool_strict != 0 && use->drain() != 0) ||
		(call->address = tfs_blocks_take(use, call)) == NULL)
		return false;
	tfs_rewrite_apply(SELF, call->bytes);
	*out_status = 0;
	if (size.free_timed > 0)
		tfs_rewrite_predict_call(
			SELF, size.alloc_ns + size.free_ns - size.keep_ns -
				      (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns));
	return true;
}

/* Would enough stay truly free if the program were given none of its memory back? */
static bool leaves_enough(
	const struct tfs_memory_functions *use, const struct tfs_memory_call *call)
{
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const uint64_t after = tfs_blocks_bytes(call->device) + call->bytes;
	__typeof__(&looks[0]) look = &looks[call->device % 16];
	size_t free_bytes, all;

	if (now_ns - look->at_ns > LOOK_NS || after > look->held) {
		if (use->info(&free_bytes, &all) != 0) {
			use->forget_error();
			return false;
		}
		look->at_ns = now_ns;
		look->free_bytes = free_bytes;
		look->least = all / 10 > tfs_options.pool_reserve_bytes
				      ? all / 10
				      : tfs_options.pool_reserve_bytes;
		look->held = after;
	}
	return look->free_bytes >= look->least;
}

/* All but what takes a look at the device. */
static bool all_hold(const struct tfs_memory_functions *use, const struct tfs_memory_call *call,
	const struct size *size)
{
	const uint32_t site = call->site;

	return tfs_rewrite_check(SELF, CHECK_FUNCTIONS, use != NULL, site) &&
	       tfs_rewrite_check(SELF, CHECK_PLAIN,
		       call->kind == TFS_MEMORY_DEVICE && (call->flags & TFS_RANGE_WHOLE) != 0,
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_SHARED, (call->flags & TFS_RANGE_SHARED) == 0, site) &&
	       tfs_rewrite_check(SELF, CHECK_PEERS, !tfs_memory_peers(), site) &&
	       tfs_rewrite_check(SELF, CHECK_SANITIZER, !sanitized, site) &&
	       tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), site) &&
	       tfs_rewrite_check(SELF, CHECK_DEVICE, call->owner == call->device, site) &&
	       tfs_rewrite_check(
		       SELF, CHECK_SIZE, call->bytes <= tfs_options.pool_limit_bytes, site) &&
	       tfs_rewrite_check(SELF, CHECK_RECURS, size->rounds >= ROUNDS, site) &&
	       tfs_rewrite_check(SELF, CHECK_CONTEXT,
		       tfs_context_of(call->address) == tfs_context_now(), site) &&
	       tfs_rewrite_check(SELF, CHECK_ERROR, !use->error_waits(), site) &&
	       tfs_rewrite_check(SELF, CHECK_LIMIT,
		       tfs_blocks_bytes(call->device) + call->bytes <= tfs_options.pool_limit_bytes,
		       site);
}

static bool drain(const struct tfs_memory_functions *use)
{
	return (tfs_options.naive & NAIVE_NO_WAIT) != 0 || use->drain() == 0;
}

static bool keep(const struct tfs_memory_functions *use, const struct tfs_memory_call *call)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	if (!tfs_blocks_put(use, call, tfs_options.pool_poison != 0 ? 0xff : 0))
		return false;
	note_kept(call, start_ns);
	return true;
}

static bool release(const struct tfs_memory_call *call, uint32_t *out_status)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(call->driver);
	const bool known = call->bytes > 0 && call->owner == call->device;
	const struct size size = known ? note_free(call) : (struct size){0};

	if (!all_hold(use, call, &size))
		return false;
	if (!tfs_rewrite_check(SELF, CHECK_MEMORY, leaves_enough(use, call), call->site)) {
		tfs_blocks_flush(call->driver, call->device);
		return false;
	}
	if (!applies() || !tfs_rewrite_check(SELF, CHECK_WAITED, drain(use), call->site))
		return false;
	if (size.free_timed < TIMED) {
		const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

		*out_status = (uint32_t)use->release(call->address);
		if (*out_status == 0)
			note_time(call, false, start_ns);
		return true;
	}
	*out_status = 0;
	return tfs_rewrite_check(SELF, CHECK_KEPT, keep(use, call), call->site);
}

const struct tfs_rewrite tfs_rewrite_alloc_pool = {
	.name = "alloc-pool",
	.rank = TFS_CLASS_EXACT,
	.rules = "TFS401",
	.switchable = true,
	.checks = checks,
	.start = start,
	.alloc = alloc,
	.release = release,
};
