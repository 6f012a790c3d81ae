/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_STORE_H
#define TFS_SHIM_TRACE_STORE_H

/*
 * Stores into a recording's memory, which several threads use in turn. In a program that was built
 * with ThreadSanitizer, the C library's memcpy() and memset() are that runtime's: it would see them
 * and not what orders them here, and report races to the program's user. So these are loops, and
 * of atomic stores, because compilers make calls of plain ones.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* `to` is aligned to 8. */
static inline void tfs_store_copy(void *to, const void *from, size_t bytes)
{
	uint64_t *words = to;
	const char *next = from;

	for (; bytes >= sizeof(*words); bytes -= sizeof(*words), next += sizeof(*words)) {
		uint64_t word;

		memcpy(&word, next, sizeof(word));
		__atomic_store_n(words++, word, __ATOMIC_RELAXED);
	}
	for (char *rest = (char *)words; bytes > 0; bytes--)
		__atomic_store_n(rest++, *next++, __ATOMIC_RELAXED);
}

/* The same; `bytes` is a multiple of 8. */
static inline void tfs_store_zeroes(void *to, size_t bytes)
{
	uint64_t *words = to;

	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		__atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
}

#endif
