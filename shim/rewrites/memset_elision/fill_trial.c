/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memset_elision/fill_trial.h"

#include <stddef.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/base/spin.h"
#include "shim/rewrites/memory/memory_functions.h"

#define PIECE 65536u
#define ALIGNMENT 256u /* of what cudaMalloc gives */

/* A mutant. */
#define NAIVE_SPOILED (1u << 26) /* what was written aside is not what it was */

static char pieces[2][PIECE];
static _Atomic bool busy;
static _Atomic uint64_t least_fill_ns; /* and the wait for it */
static _Atomic uint64_t least_wait_ns; /* for nothing */

static void lower(_Atomic uint64_t *least, uint64_t ns)
{
	uint64_t now = atomic_load(least);

	while ((now == 0 || ns < now) && !atomic_compare_exchange_weak(least, &now, ns))
		continue;
}

/* What a fill keeps the host, and what it keeps the device: the wait for it, but for what any wait
 * takes. */
static bool timed_fill(
	const struct tfs_memory_functions *use, void *memory, uint64_t bytes, void *stream)
{
	uint64_t at[3];
	char byte;

	if (use->read(&byte, memory, 1, TFS_MEMORY_READ) != 0)
		return false;
	at[0] = tfs_clock_ns(CLOCK_MONOTONIC);
	if (use->fill(memory, 0xff, bytes, stream) != 0)
		return false;
	for (int i = 1; i < 3; i++) {
		if (use->read(&byte, memory, 1, TFS_MEMORY_READ) != 0)
			return false;
		at[i] = tfs_clock_ns(CLOCK_MONOTONIC);
	}
	lower(&least_fill_ns, at[1] - at[0]);
	lower(&least_wait_ns, at[2] - at[1]);
	return true;
}

uint64_t tfs_fill_trial_ns(void)
{
	const uint64_t both = atomic_load(&least_fill_ns), wait = atomic_load(&least_wait_ns);

	return both > wait ? both - wait : 0;
}

void *tfs_fill_trial_memory(const void *like, uint64_t bytes, void *stream)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);
	const uint64_t offset = (uint64_t)(uintptr_t)like % ALIGNMENT;
	void *memory = NULL;

	if (use->error_waits() != 0)
		return NULL;
	if (use->alloc(&memory, bytes + ALIGNMENT) != 0) {
		use->forget_error();
		return NULL;
	}
	/* Large blocks begin at boundaries that are larger still. */
	if (timed_fill(use, (char *)memory + offset, bytes, stream))
		return (char *)memory + offset;
	use->release(memory);
	return NULL;
}

void tfs_fill_trial_free(void *memory)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);

	use->release((char *)memory - (uint64_t)(uintptr_t)memory % ALIGNMENT);
}

/* Is an element +0 on one side and -0 on the other? */
static bool only_sign(const char *own, const char *aside, uint32_t element)
{
	uint64_t one = 0, other = 0;

	memcpy(&one, own, element);
	memcpy(&other, aside, element);
	return one == 0 && other == UINT64_C(1) << (element * 8 - 1);
}

static enum tfs_fill_trial compare_piece(uint64_t bytes, uint32_t element)
{
	enum tfs_fill_trial result = TFS_FILL_SAME;

	if (memcmp(pieces[0], pieces[1], bytes) == 0)
		return TFS_FILL_SAME;
	for (uint64_t i = 0; i + element <= bytes; i += element) {
		if (memcmp(pieces[0] + i, pieces[1] + i, element) == 0)
			continue;
		if (!only_sign(pieces[0] + i, pieces[1] + i, element))
			return TFS_FILL_DIFFERS;
		result = TFS_FILL_SIGNS;
	}
	return result;
}

enum tfs_fill_trial tfs_fill_trial_compare(
	const void *own, const void *aside, uint64_t bytes, uint32_t element)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);
	enum tfs_fill_trial result = TFS_FILL_SAME;

	if (atomic_exchange(&busy, true))
		return TFS_FILL_UNREAD;
	for (uint64_t at = 0; at < bytes && result <= TFS_FILL_SIGNS; at += PIECE) {
		const uint64_t piece = bytes - at < PIECE ? bytes - at : PIECE;

		if (use->read(pieces[0], (const char *)own + at, piece, TFS_MEMORY_READ) != 0 ||
			use->read(pieces[1], (const char *)aside + at, piece, TFS_MEMORY_READ) !=
				0) {
			result = TFS_FILL_UNREAD;
			break;
		}
		if (TFS_MUTANT(NAIVE_SPOILED))
			pieces[1][0] ^= 1;
		const enum tfs_fill_trial now = compare_piece(piece, element);
		result = now > result ? now : result;
	}
	atomic_store(&busy, false);
	return result;
}
