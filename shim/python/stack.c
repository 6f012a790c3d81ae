/* SPDX-License-Identifier: MIT */
#include "shim/python/stack.h"

#include <limits.h>
#include <pthread.h>

#include "shim/python/memory.h"

#define SEARCHED 8192u   /* the key of threads' states lies near the start of _PyRuntime */
#define HASHED 2048u     /* bytes of a line table that tell code objects apart */
#define LEAST_FOREIGN 3u /* owners from here on are frames of the interpreter itself */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

/* Code that was made later may lie where code lay that is no more, to the last of its strings.
 * Where versions give code objects no number, their first lines or line tables differ, or it does
 * not matter. */
static bool stamp(const struct tfs_python *python, struct tfs_python_copies *copies,
	struct tfs_python_frame *frame)
{
	uint64_t words[32];
	uint64_t table;
	uint64_t bytes;
	uint32_t number;
	const bool has_stamp = python->layout.code.stamp != 0;
	const uint16_t at_number =
		has_stamp ? python->layout.code.stamp : python->layout.code.first_line;

	if (!tfs_python_read(copies, frame->code + at_number, &number, sizeof(number)))
		return false;
	frame->stamp = number;
	if (has_stamp)
		return true;
	if (!tfs_python_read_address(copies, frame->code + python->layout.code.table, &table) ||
		!tfs_python_read_address(copies, table + TFS_PYTHON_SIZE, &bytes))
		return false;
	frame->stamp = mix(mix(frame->stamp, table), bytes);
	if (bytes > HASHED)
		bytes = HASHED;
	for (uint64_t at = 0; at < bytes;) {
		const uint64_t part = bytes - at < sizeof(words) ? bytes - at : sizeof(words);

		words[(part - 1) / sizeof(words[0])] = 0;
		if (!tfs_python_read(copies, table + TFS_PYTHON_BYTES + at, words, part))
			return false;
		for (uint64_t i = 0; i * sizeof(words[0]) < part; i++)
			frame->stamp = mix(frame->stamp, words[i]);
		at += part;
	}
	return true;
}

static bool is_code(
	const struct tfs_python *python, struct tfs_python_copies *copies, uint64_t code)
{
	uint64_t type;

	return tfs_python_read_address(copies, code + TFS_PYTHON_TYPE, &type) &&
	       type == python->code_type;
}

/* False when something is not as it should be. */
static bool read_frame(const struct tfs_python *python, struct tfs_python_copies *copies,
	uint64_t address, struct tfs_python_frame *out)
{
	const struct tfs_python_layout *layout = &python->layout;
	uint32_t number;

	if (!tfs_python_read_address(copies, address + layout->frame.code, &out->code))
		return false;
	address += layout->frame.instruction;
	if (layout->scale == 0)
		return tfs_python_read_address(copies, address, &out->instruction);
	if (!tfs_python_read(copies, address, &number, sizeof(number)))
		return false;
	out->instruction = number;
	return true;
}

static bool walk(const struct tfs_python *python, struct tfs_python_copies *copies, bool checked,
	uint64_t frame, struct tfs_python_stack *out)
{
	const struct tfs_python_layout *layout = &python->layout;

	for (uint32_t guard = 0; frame != 0 && guard < 2 * TFS_PYTHON_FRAMES; guard++) {
		struct tfs_python_frame *next = &out->frames[out->count];
		uint8_t owner = 0;

		if (out->count == TFS_PYTHON_FRAMES)
			break;
		if (layout->owner != 0 &&
			!tfs_python_read(copies, frame + layout->owner, &owner, sizeof(owner)))
			return false;
		if (owner < LEAST_FOREIGN) {
			if (!read_frame(python, copies, frame, next) ||
				(checked && !is_code(python, copies, next->code)) ||
				!stamp(python, copies, next))
				return false;
			out->hash = mix(
				mix(mix(out->hash, next->code), next->instruction), next->stamp);
			out->count++;
		}
		if (!tfs_python_read_address(copies, frame + layout->frame.previous, &frame))
			return false;
	}
	return true;
}

/* The frames of a thread's state; false when it is none. */
static bool walk_state(const struct tfs_python *python, struct tfs_python_copies *copies,
	bool checked, uint64_t state, struct tfs_python_stack *out)
{
	const struct tfs_python_layout *layout = &python->layout;
	uint64_t id;
	uint64_t frame;

	out->hash = 0;
	out->count = 0;
	if (!tfs_python_read_address(copies, state + layout->thread.id, &id) ||
		id != (uint64_t)pthread_self() ||
		!tfs_python_read_address(copies, state + layout->thread.frame, &frame))
		return false;
	if (layout->holds && !tfs_python_read_address(copies, frame + layout->held, &frame))
		return false;
	return walk(python, copies, checked, frame, out);
}

/* The value of the calling thread under the key that _PyRuntime has there; 0 = none. */
static uint64_t value_at(const struct tfs_python *python, uint32_t offset)
{
	/* Py_tss_t: whether the key was made, and the key. */
	const int *slot = (const int *)(python->runtime + offset);
	const int made = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
	const int key = __atomic_load_n(&slot[1], __ATOMIC_RELAXED);

	if (made != 1 || key < 0 || key >= PTHREAD_KEYS_MAX)
		return 0;
	return (uint64_t)pthread_getspecific((pthread_key_t)key);
}

/* The key is the one whose value is a state of this thread, with frames of Python code. */
static void find_key(struct tfs_python *python)
{
	struct tfs_python_copies copies;
	struct tfs_python_stack stack;

	for (uint32_t at = sizeof(int);
		at + 2 * sizeof(int) <= python->runtime_bytes && at < SEARCHED; at += sizeof(int)) {
		const uint64_t state = value_at(python, at);

		if (state == 0)
			continue;
		tfs_python_copies_init(&copies);
		if (walk_state(python, &copies, true, state, &stack) && stack.count > 0) {
			atomic_store(&python->key, at);
			return;
		}
	}
}

void tfs_python_stack(struct tfs_python *python, struct tfs_python_stack *out)
{
	uint32_t key = atomic_load_explicit(&python->key, memory_order_relaxed);

	out->hash = 0;
	out->count = 0;
	if (key == 0) {
		find_key(python);
		key = atomic_load(&python->key);
	}
	if (key == 0)
		return;
	const uint64_t state = value_at(python, key);
	/* Whoever ends the interpreter says so before releasing other threads' states. */
	const uint64_t ending = __atomic_load_n(
		(const uint64_t *)(python->runtime + python->layout.finalizing), __ATOMIC_ACQUIRE);

	if (state == 0 || (ending != 0 && ending != state))
		return;
	struct tfs_python_copies copies;
	const bool direct = tfs_python_first_thread();
	if (!direct)
		tfs_python_copies_init(&copies);
	if (!walk_state(python, direct ? NULL : &copies, false, state, out)) {
		out->hash = 0;
		out->count = 0;
	}
}
