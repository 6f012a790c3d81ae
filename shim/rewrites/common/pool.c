/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/common/pool.h"

#include <math.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/spin.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/room.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/trace/format/format.h"

#define SIZES 64u
#define ROUNDS 2u /* from here on a size recurs */

enum check {
	CHECK_FUNCTIONS = TFS_CHECK_runtime_stays,
	CHECK_PLAIN = TFS_CHECK_plain_device_memory,
	CHECK_SHARED = TFS_CHECK_not_shared,
	CHECK_PEERS = TFS_CHECK_no_peers,
	CHECK_SANITIZER = TFS_CHECK_no_sanitizer,
	CHECK_CAPTURE = TFS_CHECK_not_capturing,
	CHECK_DEVICE = TFS_CHECK_current_device,
	CHECK_SIZE = TFS_CHECK_size,
	CHECK_RECURS = TFS_CHECK_size_recurs,
	CHECK_CONTEXT = TFS_CHECK_current_context,
	CHECK_ERROR = TFS_CHECK_no_error_waiting,
	CHECK_LIMIT = TFS_CHECK_pool_limit,
	CHECK_MEMORY = TFS_CHECK_memory_left,
	CHECK_PAGES = TFS_CHECK_whole_pages,
};

static struct tfs_pool_size sizes[SIZES];
static uint32_t size_count;
static struct tfs_spin lock;
static bool sanitized;

extern char **environ;

bool tfs_pool_start(void)
{
	/* compute-sanitizer looks for uses of freed memory, and for reads of what nobody wrote. */
	for (char **one = environ; one && *one; one++)
		sanitized |= strncmp(*one, "NV_SANITIZER", 12) == 0 ||
			     (strncmp(*one, "CUDA_INJECTION64_PATH=", 22) == 0 &&
				     strstr(*one, "sanitizer"));
	return true;
}

/* NULL: too many. The lock is held. */
static struct tfs_pool_size *size_of(uint64_t bytes, uint32_t device)
{
	for (uint32_t i = 0; i < size_count; i++)
		if (sizes[i].bytes == bytes && sizes[i].device == device)
			return &sizes[i];
	if (size_count == SIZES)
		return NULL;
	sizes[size_count] = (struct tfs_pool_size){
		.bytes = bytes, .device = device, .alloc_ns = INFINITY, .free_ns = INFINITY};
	return &sizes[size_count++];
}

struct tfs_pool_size tfs_pool_note_alloc(struct tfs_op *op)
{
	struct tfs_pool_size copy = {0};

	tfs_spin_lock(&lock);
	struct tfs_pool_size *size = size_of(op->memory.bytes, op->memory.device);
	if (size && !op->memory.noted && size->freed > 0) {
		size->freed--;
		size->rounds++;
	}
	if (size)
		copy = *size;
	tfs_spin_unlock(&lock);
	op->memory.noted = true;
	return copy;
}

struct tfs_pool_size tfs_pool_note_free(struct tfs_op *op)
{
	struct tfs_pool_size copy = {0};

	if (op->memory.bytes == 0 || op->memory.owner != op->memory.device)
		return copy;
	tfs_spin_lock(&lock);
	struct tfs_pool_size *size = size_of(op->memory.bytes, op->memory.device);
	if (size) {
		size->freed += !op->memory.noted;
		copy = *size;
	}
	tfs_spin_unlock(&lock);
	op->memory.noted = true;
	return copy;
}

enum timed { TIMED_ALLOC, TIMED_FREE, TIMED_KEEP };

static void note_time(const struct tfs_op *op, enum timed what, uint64_t start_ns)
{
	const double ns = (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);

	tfs_spin_lock(&lock);
	struct tfs_pool_size *size = size_of(op->memory.bytes, op->memory.device);
	if (size && what == TIMED_ALLOC) {
		size->alloc_timed++;
		size->alloc_ns = ns < size->alloc_ns ? ns : size->alloc_ns;
	} else if (size && what == TIMED_FREE) {
		size->free_timed++;
		size->free_ns = ns < size->free_ns ? ns : size->free_ns;
	} else if (size) {
		size->keep_ns = ns;
	}
	tfs_spin_unlock(&lock);
}

void tfs_pool_note_alloc_time(const struct tfs_op *op, uint64_t start_ns)
{
	note_time(op, TIMED_ALLOC, start_ns);
}

void tfs_pool_note_free_time(const struct tfs_op *op, uint64_t start_ns)
{
	note_time(op, TIMED_FREE, start_ns);
}

void tfs_pool_note_keep_time(const struct tfs_op *op, uint64_t start_ns)
{
	note_time(op, TIMED_KEEP, start_ns);
}

bool tfs_pool_recurs(const struct tfs_pool_size *size)
{
	return size->rounds >= ROUNDS;
}

/* All but what takes a look at the device. */
static bool all_hold(const struct tfs_rewrite *self, const struct tfs_memory_functions *use,
	const struct tfs_op *op, const struct tfs_pool_size *size)
{
	const uint32_t site = op->site;

	return tfs_rewrite_check(self, CHECK_FUNCTIONS, use != NULL, site) &&
	       tfs_rewrite_check(self, CHECK_PLAIN,
		       op->memory.kind == TFS_MEMORY_DEVICE &&
			       (op->memory.flags & TFS_RANGE_WHOLE) != 0,
		       site) &&
	       tfs_rewrite_check(
		       self, CHECK_SHARED, (op->memory.flags & TFS_RANGE_SHARED) == 0, site) &&
	       tfs_rewrite_check(self, CHECK_PEERS, !tfs_memory_peers(), site) &&
	       tfs_rewrite_check(self, CHECK_SANITIZER, !sanitized, site) &&
	       tfs_rewrite_check(self, CHECK_CAPTURE, !tfs_capturing(), site) &&
	       tfs_rewrite_check(self, CHECK_DEVICE, op->memory.owner == op->memory.device, site) &&
	       tfs_rewrite_check(
		       self, CHECK_SIZE, op->memory.bytes <= tfs_options.pool_limit_bytes, site) &&
	       tfs_rewrite_check(self, CHECK_RECURS, tfs_pool_recurs(size), site) &&
	       tfs_rewrite_check(self, CHECK_CONTEXT,
		       tfs_context_of(op->memory.address) == tfs_context_now(), site) &&
	       tfs_rewrite_check(self, CHECK_ERROR, !use->error_waits(), site) &&
	       tfs_rewrite_check(self, CHECK_LIMIT,
		       tfs_blocks_bytes(op->memory.device) + op->memory.bytes <=
			       tfs_options.pool_limit_bytes,
		       site);
}

void tfs_pool_refuse_pinned(const struct tfs_rewrite *self, const struct tfs_op *op)
{
	tfs_rewrite_check(self, CHECK_PLAIN, false, op->site);
}

bool tfs_pool_may_keep(const struct tfs_rewrite *self, const struct tfs_memory_functions *use,
	struct tfs_op *op, const struct tfs_pool_size *size)
{
	if (!all_hold(self, use, op, size))
		return false;
	if (!tfs_rewrite_check(
		    self, CHECK_MEMORY, tfs_room_left(use, op->memory.device, 0, true), op->site)) {
		tfs_blocks_flush(op->driver, op->memory.device);
		return false;
	}
	tfs_blocks_flush_old(op->driver, op->memory.device);
	op->memory.takes = tfs_room_pages(use, op->memory.device, op->memory.bytes);
	return tfs_rewrite_check(self, CHECK_PAGES, op->memory.takes != 0, op->site);
}
