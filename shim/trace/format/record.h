/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_RECORD_H
#define TFS_SHIM_TRACE_FORMAT_RECORD_H

/* Part of format.h: what all records have. */

#include <stdint.h>

#define TFS_UNIT 32u /* records are 1..255 units long */
#define TFS_SIZE_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)

#define TFS_RECORDS(X)                                                                             \
	X(1, call)                                                                                 \
	X(2, string)                                                                               \
	X(3, function)                                                                             \
	X(4, site)                                                                                 \
	X(5, module)                                                                               \
	X(6, thread)                                                                               \
	X(7, clock)                                                                                \
	X(8, stream)                                                                               \
	X(9, problem)                                                                              \
	X(10, kernel)                                                                              \
	X(11, device)                                                                              \
	X(12, library)                                                                             \
	X(13, fact)                                                                                \
	X(14, step)                                                                                \
	X(15, steps)                                                                               \
	X(16, window)                                                                              \
	X(17, device_op)                                                                           \
	X(18, link)                                                                                \
	X(19, device_sync)                                                                         \
	X(20, device_api)                                                                          \
	X(21, rewrite)                                                                             \
	X(22, refusal)                                                                             \
	X(23, search)                                                                              \
	X(24, overhead)                                                                            \
	X(25, range)                                                                               \
	X(26, api)                                                                                 \
	X(27, device_memory)                                                                       \
	X(28, host)                                                                                \
	X(29, host_code)                                                                           \
	X(30, host_others)                                                                         \
	X(31, product)

enum tfs_record_kind {
#define X(number, name) TFS_RECORD_##name = number,
	TFS_RECORDS(X)
#undef X
};

/* The head of every record. Each kind has a struct of its own that begins with it. */
struct tfs_record {
	uint8_t kind;
	uint8_t units; /* length in TFS_UNIT bytes, head included */
};

TFS_SIZE_IS(struct tfs_record, 2);

#endif
