/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_PROBLEM_H
#define TFS_SHIM_TRACE_FORMAT_PROBLEM_H

/* Part of format.h: the sizes that a library call works on. */

#include "shim/trace/format/record.h"

/* The fields follow in the order of enum tfs_problem_field, int32_t each. */
struct tfs_problem_record {
	struct tfs_record record;
	uint16_t fields; /* how many */
	uint32_t id;
};

#define TFS_PROBLEM_FIELDS(X)                                                                      \
	X(0, family)                                                                               \
	X(1, data_type)                                                                            \
	X(2, math)                                                                                 \
	X(3, mode)                                                                                 \
	X(4, groups)                                                                               \
	X(5, compute_type)                                                                         \
	X(6, n)                                                                                    \
	X(7, c)                                                                                    \
	X(8, h)                                                                                    \
	X(9, w)                                                                                    \
	X(10, k)                                                                                   \
	X(11, filter_c)                                                                            \
	X(12, r)                                                                                   \
	X(13, s)                                                                                   \
	X(14, out_h)                                                                               \
	X(15, out_w)                                                                               \
	X(16, pad_h)                                                                               \
	X(17, pad_w)                                                                               \
	X(18, stride_h)                                                                            \
	X(19, stride_w)                                                                            \
	X(20, dilation_h)                                                                          \
	X(21, dilation_w)                                                                          \
	X(22, x_stride_n)                                                                          \
	X(23, x_stride_c)                                                                          \
	X(24, x_stride_h)                                                                          \
	X(25, x_stride_w)                                                                          \
	X(26, y_stride_n)                                                                          \
	X(27, y_stride_c)                                                                          \
	X(28, y_stride_h)                                                                          \
	X(29, y_stride_w)                                                                          \
	X(30, filter_format)

enum tfs_problem_field {
#define X(number, name) TFS_PROBLEM_##name = number,
	TFS_PROBLEM_FIELDS(X)
#undef X
		TFS_PROBLEM_FIELD_COUNT = 31
};

TFS_SIZE_IS(struct tfs_problem_record, 8);

#endif
