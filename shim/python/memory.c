/* SPDX-License-Identifier: MIT */
#include "shim/python/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

#define KEPT 96u /* blocks; leaves room for a stack that needs others */
#define LONGEST_UNUSED 4u

/* Where the block is, or belongs. There are fewer blocks than slots. */
static uint8_t *slot_of(struct tfs_python_copies *copies, uint64_t start)
{
	uint32_t at = (uint32_t)((start / TFS_PYTHON_BLOCK * UINT64_C(0x9E3779B97F4A7C15)) >> 56);

	while (copies->slots[at] != 0 &&
		(uint64_t)copies->from[copies->slots[at] - 1u].iov_base != start)
		at = (at + 1) % TFS_PYTHON_SLOTS;
	return &copies->slots[at];
}

static void clear(struct tfs_python_copies *copies)
{
	memset(copies->slots, 0, sizeof(copies->slots));
	copies->count = 0;
	copies->copied = 0;
}

/* `slot` is as slot_of() has it. */
static uint32_t add(
	struct tfs_python_copies *copies, uint8_t *slot, uint64_t start, uint8_t unused_for)
{
	if (TFS_UNLIKELY(copies->count == TFS_PYTHON_BLOCKS)) {
		clear(copies);
		slot = slot_of(copies, start);
	}
	const uint32_t number = copies->count++;
	copies->from[number] = (struct iovec){(void *)start, TFS_PYTHON_BLOCK};
	copies->unused_for[number] = unused_for;
	copies->absent[number] = false;
	*slot = (uint8_t)(number + 1);
	return number;
}

/* Leaves out those that are absent, or were not used for so long. */
static void keep(struct tfs_python_copies *copies, uint32_t longest)
{
	const uint32_t count = copies->count;

	clear(copies);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t start = (uint64_t)copies->from[i].iov_base;

		if (!copies->absent[i] && copies->unused_for[i] <= longest)
			add(copies, slot_of(copies, start), start, copies->unused_for[i]);
	}
}

void tfs_python_copies_begin(struct tfs_python_copies *copies)
{
	bool worse = copies->count > KEPT;

	for (uint32_t i = 0; i < copies->count; i++)
		worse |= copies->absent[i] || ++copies->unused_for[i] > LONGEST_UNUSED;
	if (TFS_UNLIKELY(worse))
		keep(copies, copies->count > KEPT ? 1 : LONGEST_UNUSED);
	copies->copied = 0;
}

/* Writes to ourselves: the kernel copies from the places of a list as any system call does, where
 * reading from them it would look up each one's pages. A block never lies in two pages, so that all
 * of it is there or nothing. */
static void copy_the_rest(struct tfs_python_copies *copies)
{
	if (copies->process == 0)
		copies->process = getpid();
	while (copies->copied < copies->count) {
		const uint32_t first = copies->copied;
		const uint32_t count = copies->count - first;
		const struct iovec to = {copies->blocks[first], (size_t)count * TFS_PYTHON_BLOCK};
		const ssize_t got =
			process_vm_writev(copies->process, &copies->from[first], count, &to, 1, 0);
		const uint32_t whole = got > 0 ? (uint32_t)got / TFS_PYTHON_BLOCK : 0;

		copies->copied = first + whole;
		if (TFS_LIKELY(whole == count))
			return;
		/* What it stopped at is not there; what follows may be, unless it is refused. */
		const uint32_t end =
			got < 0 && errno != EFAULT ? copies->count : copies->copied + 1;
		while (copies->copied < end)
			copies->absent[copies->copied++] = true;
	}
}

static inline const char *find_block(struct tfs_python_copies *copies, uint64_t start)
{
	uint8_t *slot = slot_of(copies, start);
	const uint32_t number = TFS_LIKELY(*slot != 0) ? *slot - 1u : add(copies, slot, start, 0);

	copies->unused_for[number] = 0;
	if (TFS_UNLIKELY(number >= copies->copied))
		copy_the_rest(copies);
	return copies->absent[number] ? NULL : copies->blocks[number];
}

void tfs_python_copy_ahead(struct tfs_python_copies *copies, uint64_t address, size_t bytes)
{
	const uint64_t last = address + bytes - 1;

	for (uint64_t start = address - address % TFS_PYTHON_BLOCK;
		start <= last && copies->count < TFS_PYTHON_BLOCKS; start += TFS_PYTHON_BLOCK)
		if (*slot_of(copies, start) == 0)
			add(copies, slot_of(copies, start), start, 0);
}

const char *tfs_python_copy(
	struct tfs_python_copies *copies, uint64_t address, void *room, size_t bytes)
{
	const uint64_t offset = address % TFS_PYTHON_BLOCK;
	size_t done = TFS_PYTHON_BLOCK - offset;

	if (TFS_UNLIKELY(bytes > done))
		tfs_python_copy_ahead(copies, address, bytes);
	const char *block = find_block(copies, address - offset);
	if (TFS_UNLIKELY(!block))
		return NULL;
	if (TFS_LIKELY(bytes <= done))
		return block + offset;
	for (memcpy(room, block + offset, done); done < bytes;) {
		const size_t left = bytes - done;
		const size_t part = left < TFS_PYTHON_BLOCK ? left : TFS_PYTHON_BLOCK;

		block = find_block(copies, address + done);
		if (!block)
			return NULL;
		memcpy((char *)room + done, block, part);
		done += part;
	}
	return room;
}

bool tfs_python_first_thread(void)
{
	static _Atomic pthread_t first;

	if (pthread_equal(atomic_load_explicit(&first, memory_order_relaxed), pthread_self()))
		return true;
	if (atomic_load_explicit(&first, memory_order_relaxed) != 0 || gettid() != getpid())
		return false;
	atomic_store(&first, pthread_self());
	return true;
}
