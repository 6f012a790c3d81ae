/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_CALL_H
#define TFS_SHIM_TRACE_FORMAT_CALL_H

/* Part of format.h: calls, what they touch and with which parameters. */

#include "shim/trace/format/record.h"

#define TFS_NO_STREAM 0xffffu

/* One intercepted call; (units - 1) * 2 items follow, unused ones zeroed. */
struct tfs_call {
	struct tfs_record record;
	uint16_t function; /* id of its function record */
	uint32_t site;     /* id of its site record, 0 = unknown */
	uint64_t start_ticks;
	float duration_ticks;
	uint16_t stream; /* id of a stream record, or TFS_NO_STREAM */
	uint16_t status; /* the library's status, cut to 16 bits; 0 = success */
	uint64_t amount; /* bytes moved, set or allocated; else 0 */
};

/*
 * An item of a call: a memory operand or an attribute. The top byte of `tagged` is the role
 * (TFS_ROLE_*); the low 48 bits are the operand's length in bytes (0 = unknown), or, where the
 * role is 0, the attribute's key (0 = no item). A copy's first operand has cudaMemcpyKind + 1 in
 * the byte between.
 */
struct tfs_item {
	uint64_t value;
	uint64_t tagged;
};

#define TFS_ROLE_READ 0x01u
#define TFS_ROLE_WRITE 0x02u
#define TFS_ROLE_MAYBE 0x04u   /* a kernel's, not to a constant: what it does is not known */
#define TFS_ROLE_SCRATCH 0x08u /* a workspace: contents do not matter afterwards */
#define TFS_ROLE_MEMORY(kind) ((uint32_t)(kind) << 4) /* enum tfs_memory_kind in bits 4-6 */
#define TFS_ROLE_OPERAND 0x80u                        /* always set in an operand's role */
#define TFS_ITEM(role, bytes) ((uint64_t)((role) | TFS_ROLE_OPERAND) << 56 | (uint64_t)(bytes))
#define TFS_ITEM_ROLE(item) ((uint32_t)((item)->tagged >> 56))
#define TFS_ITEM_LOW(item) ((item)->tagged & ((UINT64_C(1) << 48) - 1))
#define TFS_ITEM_COPY(kind) ((uint64_t)((uint32_t)(kind) + 1) << 48)
#define TFS_ITEM_COPY_KIND(item) ((uint32_t)((item)->tagged >> 48 & 0xff) - 1) /* -1: none */
#define TFS_ITEM_MEMORY(item) ((uint32_t)((item)->tagged >> 60) & 7u)

/* CUPTI's numbers for the first four; `host` = host memory that was not looked up. */
enum tfs_memory_kind {
	TFS_MEMORY_UNKNOWN = 0,
	TFS_MEMORY_PAGEABLE = 1,
	TFS_MEMORY_PINNED = 2,
	TFS_MEMORY_DEVICE = 3,
	TFS_MEMORY_HOST = 4,
	TFS_MEMORY_MANAGED = 5
};

#define TFS_ATTRIBUTES(X)                                                                          \
	X(1, copy_kind)        /* cudaMemcpyKind, where no operand says it */                      \
	X(2, value)            /* byte or word of a memset */                                      \
	X(3, kernel)           /* id of a kernel record */                                         \
	X(4, grid)             /* x | y << 32 */                                                   \
	X(5, block)            /* x | y << 32 */                                                   \
	X(6, grid_z)           /* grid z | block z << 32 */                                        \
	X(7, shared)           /* dynamic shared memory, bytes */                                  \
	X(8, event)            /* event handle */                                                  \
	X(9, other_stream)     /* id of a second stream */                                         \
	X(10, problem)         /* id of a problem record */                                        \
	X(11, algorithm)       /* library's enum, as executed */                                   \
	X(12, asked_algorithm) /* library's enum, as asked for, where a rewrite changed it */      \
	X(13, alpha)           /* as a double's bits */                                            \
	X(14, beta)            /* as a double's bits */                                            \
	X(15, workspace)       /* bytes */                                                         \
	X(16, math)            /* math type or mode */                                             \
	X(17, flags)                                                                               \
	X(18, device)       /* device index */                                                     \
	X(19, communicator) /* NCCL handle */                                                      \
	X(20, count)        /* elements */                                                         \
	X(21, data_type)                                                                           \
	X(22, root)                                                                                \
	X(23, graph)   /* graph handle; of a launch, of an executable one */                       \
	X(24, shape_m) /* of a GEMM; also a vector's length */                                     \
	X(25, shape_n)                                                                             \
	X(26, shape_k)                                                                             \
	X(27, rewritten)   /* string id: the rewrite that took part in this call */                \
	X(28, host_result) /* 1: the call returns its result to host memory */                     \
	X(29, handle)      /* library handle */                                                    \
	X(30, argument)    /* a kernel's 4- or 8-byte scalar argument */                           \
	X(31, launch)      /* one-dimensional: kernel | grid x << 16 | block x << 48 */            \
	X(32, pool_keeps)  /* bytes that the stream-ordered pool keeps when the host waits */      \
	X(33, executable)  /* handle of the executable graph that was made of `graph` */           \
	X(34, child)       /* handle of the graph that became a node of `graph` */                 \
	X(35, alignment)   /* see TFS_ALIGNMENT_BYTES */                                           \
	X(36, turned)      /* 1: what is written has its dimensions in another order; 2: not */    \
	X(37, by_channel)  /* 1: what is added is one number for each channel; 2: not */           \
	X(38, content)     /* hash of all bytes that were copied to the device */                  \
	X(39, sample)      /* the same of those at some places of them */                          \
	X(40, pattern)     /* see TFS_PATTERN_RAMP; of all bytes if there is `content` */          \
	X(41, row)         /* of a softmax: elements beside each other that it makes shares of */  \
	X(42, question)    /* hash of what an algorithm is chosen for, and of the one that is */   \
	X(43, operations)  /* of a plan of cuDNN's graph API, see TFS_OPERATIONS */

enum tfs_attribute {
#define X(number, name) TFS_ATTRIBUTE_##name = number,
	TFS_ATTRIBUTES(X)
#undef X
};

/* Of a product: a power of two, at most 16, that all addresses and distances of its columns are
 * multiples of, in bytes; the size of an element of its first matrix; and, where its matrices lie
 * column by column, TFS_PRODUCT_*. */
#define TFS_ALIGNMENT(bytes, element_bytes) ((uint64_t)(bytes) | (uint64_t)(element_bytes) << 8)
#define TFS_PRODUCT_FIRST_TRANSPOSED (1u << 16)
#define TFS_PRODUCT_SECOND_TRANSPOSED (1u << 17)
#define TFS_PRODUCT_ORDERED (1u << 18) /* the other two bits say how it is */
#define TFS_ALIGNMENT_BYTES(value) ((uint32_t)((value)&0xff))
#define TFS_ALIGNMENT_ELEMENT(value) ((uint32_t)((value) >> 8 & 0xff))

/* What a plan computes: TFS_OPERATION_*; 0 = not known. The type of what its products and
 * convolutions read and that in which they sum, as cudnnDataType_t and 1 more, and the layout of
 * those tensors; 0 = not known. */
#define TFS_OPERATION_CONVOLUTION 1u
#define TFS_OPERATION_PRODUCT 2u
#define TFS_OPERATION_ATTENTION 4u
#define TFS_OPERATION_NORMALISATION 8u
#define TFS_OPERATION_POINTWISE 16u
#define TFS_OPERATION_OTHER 32u
#define TFS_OPERATIONS(operations, type, compute, layout)                                          \
	((uint64_t)(operations) | (uint64_t)(type) << 16 | (uint64_t)(compute) << 24 |             \
		(uint64_t)(layout) << 32)
#define TFS_OPERATIONS_ALL(value) ((uint32_t)((value)&0xffff))
#define TFS_OPERATIONS_TYPE(value) ((int)((value) >> 16 & 0xff) - 1)
#define TFS_OPERATIONS_COMPUTE(value) ((int)((value) >> 24 & 0xff) - 1)
#define TFS_OPERATIONS_LAYOUT(value) ((uint32_t)((value) >> 32 & 0xff))

enum tfs_layout {
	TFS_LAYOUT_UNKNOWN = 0,
	TFS_LAYOUT_CHANNELS_LAST = 1,
	TFS_LAYOUT_CHANNELS_APART = 2
};

/* Bytes that could as well be computed: so many again and again (1, 2, 4 or 8), or integers that
 * differ by the same from one to the next. */
#define TFS_PATTERN_RAMP 16u

TFS_SIZE_IS(struct tfs_call, 32);
TFS_SIZE_IS(struct tfs_item, 16);

#endif
