/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_DETAILS_H
#define TFS_SHIM_RECORD_DETAILS_H

/*
 * What a call touched and with which parameters, as far as anybody wants to know.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shim/record/frame.h"
#include "shim/trace/format/format.h"

/* The details of a call, for the recording, the step search and the rewrites. */
struct tfs_details {
	uint32_t count;
	uint16_t stream;
	struct tfs_item items[24];
};

/* Hands the details to whoever wants them: the recording, the step search. */
void tfs_hook_details(struct tfs_frame *frame, const struct tfs_details *details);

/* Records the call whatever the window: for calls that change what later records mean. */
void tfs_hook_details_always(struct tfs_frame *frame, const struct tfs_details *details);

/* The same for memory at `address` that was allocated, or released: outside windows only what is
 * live when one opens, or at the end, is recorded; see live.h. */
void tfs_hook_details_alloc(
	struct tfs_frame *frame, const struct tfs_details *details, uint64_t address);
void tfs_hook_details_free(
	struct tfs_frame *frame, const struct tfs_details *details, uint64_t address);

/* The head of a call's record: four words, each in one store, since the clock's readings hide no
 * more than a few dozen stores of a call, and a narrow one counts like a wide one. */
static inline __attribute__((always_inline)) void tfs_hook_head(
	uint64_t *words, uint32_t units, const struct tfs_frame *frame, uint16_t stream)
{
	const float duration = (float)(int64_t)(frame->end_ticks - frame->start_ticks);
	uint32_t duration_bits;

	memcpy(&duration_bits, &duration, sizeof(duration_bits));
	words[0] = frame->entry->head | units << 8;
	words[1] = frame->start_ticks;
	words[2] = duration_bits | (uint64_t)stream << 32 | (uint64_t)frame->status << 48;
	words[3] = frame->amount;
}

/* The same for a call with two items that nobody but the recording wants, and which has room: they
 * need not be in memory. */
static inline __attribute__((always_inline)) bool tfs_hook_records_two(
	const struct tfs_frame *frame)
{
	return frame->wanted == TFS_WANT_RECORD && tfs_recorder_has_room(frame->thread, 2);
}
static inline __attribute__((always_inline)) void tfs_hook_record_two(
	struct tfs_frame *frame, uint16_t stream, struct tfs_item one, struct tfs_item other)
{
	uint64_t *words = (uint64_t *)frame->thread->next;

	tfs_hook_head(words, 2, frame, stream);
	words[4] = one.value;
	words[5] = one.tagged;
	words[6] = other.value;
	words[7] = other.tagged;
	tfs_recorder_advance(frame->thread, 2);
}

static inline void tfs_details_init(struct tfs_details *details, uint16_t stream)
{
	details->count = 0;
	details->stream = stream;
}

static inline bool tfs_details_full(const struct tfs_details *details)
{
	return details->count >= sizeof(details->items) / sizeof(details->items[0]);
}

static inline void tfs_put_item(struct tfs_details *details, struct tfs_item item)
{
	if (!tfs_details_full(details))
		details->items[details->count++] = item;
}

static inline void tfs_put(struct tfs_details *details, uint64_t value, uint64_t tagged)
{
	tfs_put_item(details, (struct tfs_item){value, tagged});
}

static inline void tfs_put_attribute(
	struct tfs_details *details, enum tfs_attribute key, uint64_t value)
{
	tfs_put(details, value, (uint64_t)key);
}

static inline void tfs_put_operand(
	struct tfs_details *details, const void *address, uint64_t bytes, uint32_t role)
{
	if (address)
		tfs_put(details, (uint64_t)(uintptr_t)address, TFS_ITEM(role, bytes));
}

/* Ends and leaves a call without details. */
static inline __attribute__((always_inline)) void tfs_hook_plain_here(
	struct tfs_frame *frame, uint32_t status)
{
	if (tfs_hook_end_here(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, TFS_NO_STREAM);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}
void tfs_hook_plain(struct tfs_frame *frame, uint32_t status);
#ifdef TFS_HOT_HOOKS
#define tfs_hook_plain tfs_hook_plain_here
#endif

#endif
