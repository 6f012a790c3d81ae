/* SPDX-License-Identifier: MIT */
#include "shim/python/stack.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "shim/python/memory.h"

#define SEARCHED 8192u   /* the key of threads' states lies near the start of _PyRuntime */
#define HASHED 2048u     /* bytes of a line table that tell code objects apart */
#define TAGS 7u          /* of a reference, from 3.14 on; no object's address has these bits */
#define LEAST_FOREIGN 3u /* owners from here on are frames of the interpreter itself */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

/* Four words at a time: one after another, each would wait for the one before it. */
static uint64_t mix_bytes(uint64_t hash, const char *bytes, uint32_t count)
{
	uint64_t lanes[4] = {hash, 1, 2, 3};
	uint64_t words[4];

	for (; count >= sizeof(words); bytes += sizeof(words), count -= (uint32_t)sizeof(words)) {
		memcpy(words, bytes, sizeof(words));
		for (uint32_t i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i], words[i]);
	}
	memset(words, 0, sizeof(words));
	memcpy(words, bytes, count);
	for (uint32_t i = 0; i < 4; i++)
		lanes[i] = mix(lanes[i], words[i]);
	return mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3]);
}

/* Where the version gives code objects no number, its line table and the first line stand for it.
 */
static uint16_t at_number(const struct tfs_python_layout *layout)
{
	return layout->code.stamp != 0 ? layout->code.stamp : layout->code.first_line;
}

/* The table's bytes, as far as they are looked at. */
static bool mix_table(struct tfs_python_copies *copies, uint64_t table, uint64_t *hash)
{
	uint64_t words[HASHED / sizeof(uint64_t)];
	uint64_t bytes;

	if (!tfs_python_read_address(copies, table + TFS_PYTHON_SIZE, &bytes))
		return false;
	*hash = mix(mix(*hash, table), bytes);
	if (bytes > HASHED)
		bytes = HASHED;
	if (bytes == 0)
		return true;
	const char *found = tfs_python_look(copies, table + TFS_PYTHON_BYTES, words, bytes);
	if (!found)
		return false;
	*hash = mix_bytes(*hash, found, (uint32_t)bytes);
	return true;
}

/* Code that was made later may lie where code lay that is no more, to the last of its strings.
 * Where versions give code objects no number, their first lines or line tables differ, or it does
 * not matter. What all frames need is announced before the first one's is read. */
static bool stamp(const struct tfs_python *python, struct tfs_python_copies *copies,
	struct tfs_python_stack *stack)
{
	const struct tfs_python_layout *layout = &python->layout;
	uint64_t tables[TFS_PYTHON_FRAMES];
	uint32_t number;

	for (uint32_t i = 0; i < stack->count; i++) {
		const uint64_t code = stack->frames[i].code;

		if (!tfs_python_read(copies, code + at_number(layout), &number, sizeof(number)))
			return false;
		stack->frames[i].stamp = number;
		if (layout->code.stamp != 0)
			continue;
		if (!tfs_python_read_address(copies, code + layout->code.table, &tables[i]))
			return false;
		tfs_python_read_ahead(copies, tables[i], TFS_PYTHON_BLOCK);
	}
	for (uint32_t i = 0; layout->code.stamp == 0 && i < stack->count; i++)
		if (!mix_table(copies, tables[i], &stack->frames[i].stamp))
			return false;
	return true;
}

static bool is_code(
	const struct tfs_python *python, struct tfs_python_copies *copies, uint64_t code)
{
	uint64_t type;

	return tfs_python_read_address(copies, code + TFS_PYTHON_TYPE, &type) &&
	       type == python->code_type;
}

static uint64_t word_at(const char *found, uint16_t offset)
{
	uint64_t word;

	memcpy(&word, found + offset, sizeof(word));
	return word;
}

/* The code and instruction of the frame that was found there. */
static void take(const struct tfs_python_layout *layout, struct tfs_python_copies *copies,
	const char *found, struct tfs_python_frame *out)
{
	uint32_t number;

	out->code = word_at(found, layout->frame.code) & ~(uint64_t)TAGS;
	out->instruction = word_at(found, layout->frame.instruction);
	if (layout->scale != 0) {
		memcpy(&number, found + layout->frame.instruction, sizeof(number));
		out->instruction = number;
	}
	tfs_python_read_ahead(copies, out->code + at_number(layout), sizeof(number));
	if (layout->code.stamp == 0)
		tfs_python_read_ahead(copies, out->code + layout->code.table, sizeof(uint64_t));
}

/* The frames as they follow each other, without their stamps. False when something is not as it
 * should be. */
static bool walk(const struct tfs_python *python, struct tfs_python_copies *copies, bool checked,
	uint64_t frame, struct tfs_python_stack *out)
{
	const struct tfs_python_layout *layout = &python->layout;
	char room[TFS_PYTHON_FRAME_BYTES];

	for (uint32_t guard = 0; frame != 0 && guard < 2 * TFS_PYTHON_FRAMES; guard++) {
		if (out->count == TFS_PYTHON_FRAMES)
			break;
		const char *found = tfs_python_look(copies, frame, room, layout->frame.bytes);
		if (!found)
			return false;
		frame = word_at(found, layout->frame.previous);
		if (layout->owner != 0 && (uint8_t)found[layout->owner] >= LEAST_FOREIGN)
			continue;
		struct tfs_python_frame *next = &out->frames[out->count++];
		take(layout, copies, found, next);
		if (checked && !is_code(python, copies, next->code))
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
	if (!walk(python, copies, checked, frame, out) || !stamp(python, copies, out))
		return false;
	if (out->count > 0)
		out->hash = mix_bytes(0, (const char *)out->frames,
			out->count * (uint32_t)sizeof(out->frames[0]));
	return true;
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
static void find_key(struct tfs_python *python, struct tfs_python_copies *copies)
{
	struct tfs_python_stack stack;

	for (uint32_t at = sizeof(int);
		at + 2 * sizeof(int) <= python->runtime_bytes && at < SEARCHED; at += sizeof(int)) {
		const uint64_t state = value_at(python, at);

		if (state == 0)
			continue;
		tfs_python_copies_begin(copies);
		if (walk_state(python, copies, true, state, &stack) && stack.count > 0) {
			atomic_store(&python->key, at);
			return;
		}
	}
}

void tfs_python_stack(
	struct tfs_python *python, struct tfs_python_copies *copies, struct tfs_python_stack *out)
{
	uint32_t key = atomic_load_explicit(&python->key, memory_order_relaxed);

	out->hash = 0;
	out->count = 0;
	if (key == 0) {
		find_key(python, copies);
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
	const bool direct = tfs_python_first_thread();
	if (!direct)
		tfs_python_copies_begin(copies);
	if (!walk_state(python, direct ? NULL : copies, false, state, out)) {
		out->hash = 0;
		out->count = 0;
	}
}
