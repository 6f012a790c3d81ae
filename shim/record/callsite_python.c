/* SPDX-License-Identifier: MIT */
#include "shim/record/callsite_python.h"

#include <stdatomic.h>

#include "shim/python/names.h"
#include "shim/record/intern.h"
#include "shim/record/recorder.h"

#define NAMED 8192u
#define PLACES 8u /* that a frame may be in */

/* The frames that have names by now. One is written before its hash, and once written stays. */
static struct {
	_Atomic uint64_t hash;
	_Atomic uint64_t frame;
} named[NAMED];

/* Once: what the report says of it. */
static void tell(const struct tfs_python *python)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	const uint32_t version = python->layout.version;

	if (atomic_flag_test_and_set(&told))
		return;
	tfs_recorder_fact(version != 0 ? TFS_FACT_python : TFS_FACT_python_unknown, NULL,
		version >> 8, version & 0xff);
}

uint32_t tfs_callsite_until_python(const uint64_t *frames, uint32_t count)
{
	const struct tfs_python *python = tfs_python_find();

	for (uint32_t i = 0; python && i < count; i++)
		if (frames[i] >= python->start && frames[i] < python->end) {
			tell(python);
			return python->layout.version != 0 ? i : count;
		}
	return count;
}

void tfs_callsite_python_stack(struct tfs_python_copies *copies, struct tfs_python_stack *out)
{
	struct tfs_python *python = tfs_python_found();

	out->hash = 0;
	out->count = 0;
	if (python && python->layout.version != 0)
		tfs_python_stack(python, copies, out);
}

static uint64_t name(const struct tfs_python *python, struct tfs_python_copies *copies,
	const struct tfs_python_frame *frame)
{
	struct tfs_python_names names;

	if (!tfs_python_names(python, copies, frame, &names))
		return TFS_FRAME_NAMED;
	const uint32_t function = names.function[0] ? tfs_recorder_string(names.function) : 0;
	const uint32_t place = names.place[0] ? tfs_recorder_string(names.place) : 0;
	return TFS_FRAME(function, place);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

/* Looks at a few places: one that is taken stays so. */
static uint64_t named_frame(const struct tfs_python *python, struct tfs_python_copies *copies,
	const struct tfs_python_frame *frame)
{
	const uint64_t hash = mix(mix(mix(1, frame->code), frame->instruction), frame->stamp) | 1;
	uint64_t found = TFS_FRAME_NAMED;

	for (uint64_t i = 0; i < PLACES; i++) {
		const uint64_t at = (hash / 2 + i) % NAMED;
		const uint64_t there = atomic_load_explicit(&named[at].hash, memory_order_acquire);
		uint64_t free = 0;

		if (there == hash)
			return atomic_load_explicit(&named[at].frame, memory_order_relaxed);
		if (there != 0)
			continue;
		if (found == TFS_FRAME_NAMED)
			found = name(python, copies, frame);
		if (found == TFS_FRAME_NAMED)
			return found;
		if (!atomic_compare_exchange_strong(&named[at].frame, &free, found))
			continue;
		atomic_store_explicit(&named[at].hash, hash, memory_order_release);
		return found;
	}
	return found != TFS_FRAME_NAMED ? found : name(python, copies, frame);
}

uint32_t tfs_callsite_python_frames(struct tfs_python_copies *copies,
	const struct tfs_python_stack *stack, uint64_t *out_frames, uint32_t room)
{
	const struct tfs_python *python = tfs_python_found();
	uint32_t count = 0;

	for (; python && count < stack->count && count < room; count++)
		out_frames[count] = named_frame(python, copies, &stack->frames[count]);
	return count;
}
