/* SPDX-License-Identifier: MIT */
#include "shim/record/callsite_python.h"

#include <stdatomic.h>

#include "shim/python/names.h"
#include "shim/record/intern.h"
#include "shim/record/recorder.h"

#define NAMED 4096u

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

uint32_t tfs_callsite_python_frames(struct tfs_python_copies *copies,
	const struct tfs_python_stack *stack, uint64_t *out_frames, uint32_t room)
{
	const struct tfs_python *python = tfs_python_found();
	uint32_t count = 0;

	for (; python && count < stack->count && count < room; count++) {
		const struct tfs_python_frame *frame = &stack->frames[count];
		const uint64_t hash = tfs_intern_hash(frame, sizeof(*frame));
		const uint64_t at = hash % NAMED;

		if (atomic_load_explicit(&named[at].hash, memory_order_acquire) == hash) {
			out_frames[count] =
				atomic_load_explicit(&named[at].frame, memory_order_relaxed);
			continue;
		}
		out_frames[count] = name(python, copies, frame);
		uint64_t free = 0;
		if (out_frames[count] != TFS_FRAME_NAMED &&
			atomic_compare_exchange_strong(&named[at].frame, &free, out_frames[count]))
			atomic_store_explicit(&named[at].hash, hash, memory_order_release);
	}
	return count;
}
