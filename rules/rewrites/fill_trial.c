/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/fill_trial.h"

#include <stddef.h>
#include <string.h>

#include "rules/rewrites/memory_functions.h"
#include "shim/env.h"
#include "shim/spin.h"

#define PIECE 65536u
#define ALIGNMENT 256u /* of what cudaMalloc gives */

/* Tests only, option `naive`. */
#define NAIVE_SPOILED (1u << 26) /* what was written aside is not what it was */

static char pieces[2][PIECE];
static _Atomic bool busy;

void *tfs_fill_trial_memory(const void *like, uint64_t bytes, void *stream)
{
	const struct tfs_memory_functions *use = tfs_memory_functions(false);
	const uint64_t offset = (uint64_t)(uintptr_t)like % ALIGNMENT;
	void *memory = NULL;

	if (use->error_waits())
		return NULL;
	if (use->alloc(&memory, bytes + ALIGNMENT) != 0) {
		use->forget_error();
		return NULL;
	}
	/* Large blocks begin at boundaries that are larger still. */
	if (use->fill((char *)memory + offset, 0xff, bytes, stream) == 0)
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

		if (use->read(pieces[0], (const char *)own + at, piece) != 0 ||
			use->read(pieces[1], (const char *)aside + at, piece) != 0) {
			result = TFS_FILL_UNREAD;
			break;
		}
		if ((tfs_options.naive & NAIVE_SPOILED) != 0)
			pieces[1][0] ^= 1;
		const enum tfs_fill_trial now = compare_piece(piece, element);
		result = now > result ? now : result;
	}
	atomic_store(&busy, false);
	return result;
}
