/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_FUNCTION_H
#define TFS_SHIM_TRACE_FORMAT_FUNCTION_H

/* Part of format.h: hooked functions, and what they do. */

#include "shim/trace/format/record.h"

/* A hooked function; its name follows this struct, NUL-terminated. */
struct tfs_function_record {
	struct tfs_record record;
	uint16_t id;      /* within this file */
	uint32_t library; /* enum tfs_library */
	uint32_t family;  /* enum tfs_family */
	uint32_t name_bytes;
};

/* What a call does, as far as rules and step detection care: one per hooked function. */
#define TFS_FAMILIES(X)                                                                            \
	X(0, other)                                                                                \
	X(1, alloc)                                                                                \
	X(2, free)                                                                                 \
	X(3, host_alloc)                                                                           \
	X(4, host_free)                                                                            \
	X(5, copy)                                                                                 \
	X(6, copy_async)                                                                           \
	X(7, set)                                                                                  \
	X(8, set_async)                                                                            \
	X(9, launch)                                                                               \
	X(10, device_sync)                                                                         \
	X(11, stream_sync)                                                                         \
	X(12, event_sync)                                                                          \
	X(13, query)                                                                               \
	X(14, event_record)                                                                        \
	X(15, stream_wait)                                                                         \
	X(16, stream_create)                                                                       \
	X(17, stream_destroy)                                                                      \
	X(18, event_create)                                                                        \
	X(19, event_destroy)                                                                       \
	X(20, host_func)                                                                           \
	X(21, capture)                                                                             \
	X(22, graph_launch)                                                                        \
	X(23, graph_other)                                                                         \
	X(24, module)                                                                              \
	X(25, conv_forward)                                                                        \
	X(26, conv_backward_data)                                                                  \
	X(27, conv_backward_filter)                                                                \
	X(28, conv_backward_bias)                                                                  \
	X(29, conv_fused)                                                                          \
	X(30, conv_get)                                                                            \
	X(31, conv_find)                                                                           \
	X(32, pointwise)                                                                           \
	X(33, pooling)                                                                             \
	X(34, softmax)                                                                             \
	X(35, normalisation)                                                                       \
	X(36, gemm)                                                                                \
	X(37, blas)                                                                                \
	X(38, random)                                                                              \
	X(39, collective)                                                                          \
	X(40, group)                                                                               \
	X(41, handle)                                                                              \
	X(42, descriptor)                                                                          \
	X(43, host_register)                                                                       \
	X(44, host_unregister)                                                                     \
	X(45, property)                                                                            \
	X(46, reduction)                                                                           \
	X(47, alloc_async)                                                                         \
	X(48, free_async)                                                                          \
	X(49, reset)                                                                               \
	X(50, workspace_query)                                                                     \
	X(51, handle_create)                                                                       \
	X(52, handle_destroy)                                                                      \
	X(53, descriptor_create)                                                                   \
	X(54, descriptor_destroy)                                                                  \
	X(55, constant) /* a property that never changes */                                        \
	X(56, capture_end)                                                                         \
	X(57, elapsed)        /* the time between two events */                                    \
	X(58, blas_pointwise) /* works on each element by itself */                                \
	X(59, bias)                                                                                \
	X(60, activation) /* forward */                                                            \
	X(61, graph_instantiate)                                                                   \
	X(62, graph_update)                                                                        \
	X(63, transform) /* copies a tensor into one of another layout */

enum tfs_family {
#define X(number, name) TFS_FAMILY_##name = number,
	TFS_FAMILIES(X)
#undef X
};

#define TFS_LIBRARIES(X)                                                                           \
	X(1, cudart)                                                                               \
	X(2, cuda)                                                                                 \
	X(3, cudnn)                                                                                \
	X(4, cublas)                                                                               \
	X(5, cublaslt)                                                                             \
	X(6, curand)                                                                               \
	X(7, nccl)                                                                                 \
	X(8, cupti)                                                                                \
	X(9, nvtx)

enum tfs_library {
#define X(number, name) TFS_LIBRARY_##name = number,
	TFS_LIBRARIES(X)
#undef X
};

TFS_SIZE_IS(struct tfs_function_record, 16);

#endif
