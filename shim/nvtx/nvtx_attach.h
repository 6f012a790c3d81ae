/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_ATTACH_H
#define TFS_SHIM_NVTX_NVTX_ATTACH_H

/*
 * NVTX's functions as an injected library sees them. The layouts are NVTX 3's ABI; they are
 * written out here so that building needs no NVTX headers.
 */

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct tfs_nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved0;
	uint64_t payload;
	int32_t message_type;
	int32_t reserved1;
	const void *message;
};

#define TFS_NVTX_MESSAGE_ASCII 1
#define TFS_NVTX_MESSAGE_WIDE 2
#define TFS_NVTX_MESSAGE_REGISTERED 3

/* X(module, index, name, result, parameters): the functions that are taken; module 1 is NVTX's
 * core, 5 the one with domains. */
#define TFS_NVTX_FUNCTIONS(X)                                                                      \
	X(1, 1, mark, void, (const struct tfs_nvtx_attributes *what))                              \
	X(1, 2, mark_a, void, (const char *text))                                                  \
	X(1, 3, mark_w, void, (const wchar_t *text))                                               \
	X(1, 4, start, uint64_t, (const struct tfs_nvtx_attributes *what))                         \
	X(1, 5, start_a, uint64_t, (const char *text))                                             \
	X(1, 6, start_w, uint64_t, (const wchar_t *text))                                          \
	X(1, 7, end, void, (uint64_t id))                                                          \
	X(1, 8, push, int, (const struct tfs_nvtx_attributes *what))                               \
	X(1, 9, push_a, int, (const char *text))                                                   \
	X(1, 10, push_w, int, (const wchar_t *text))                                               \
	X(1, 11, pop, int, (void))                                                                 \
	X(5, 1, domain_mark, void, (const void *domain, const struct tfs_nvtx_attributes *what))   \
	X(5, 2, domain_start, uint64_t,                                                            \
		(const void *domain, const struct tfs_nvtx_attributes *what))                      \
	X(5, 3, domain_end, void, (const void *domain, uint64_t id))                               \
	X(5, 4, domain_push, int, (const void *domain, const struct tfs_nvtx_attributes *what))    \
	X(5, 5, domain_pop, int, (const void *domain))                                             \
	X(5, 10, register_a, const void *, (const void *domain, const char *text))                 \
	X(5, 11, register_w, const void *, (const void *domain, const wchar_t *text))              \
	X(5, 12, create_a, const void *, (const char *text))                                       \
	X(5, 13, create_w, const void *, (const wchar_t *text))

struct tfs_nvtx_functions {
#define X(module, index, name, result, parameters) result(*name) parameters;
	TFS_NVTX_FUNCTIONS(X)
#undef X
};

/* What the tool behind us takes of these; NULL where it takes nothing, all of them without one. */
extern struct tfs_nvtx_functions tfs_nvtx_next;

/* Ours. */
extern const struct tfs_nvtx_functions tfs_nvtx_own;

#endif
