/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_OP_H
#define TFS_SHIM_RECORD_OP_H

/*
 * What a call of the program's is about to do: described once by its hook, for everybody who takes
 * part in it. It lives in the hook; a kind of call has its own part of the union. Small, and only
 * what is named is set: a call that nobody asks about keeps it in registers.
 */

#include <stdbool.h>
#include <stdint.h>

enum tfs_op_kind {
	TFS_OP_QUERY,    /* what a device is like */
	TFS_OP_FILL,     /* of memory with one value */
	TFS_OP_WAIT,     /* for the device, by the host, or a question how far it is */
	TFS_OP_ORDERED,  /* a stream-ordered allocation */
	TFS_OP_COPY,     /* of memory without a shape */
	TFS_OP_ALLOC,    /* of device memory, and not stream-ordered */
	TFS_OP_FREE,     /* of such memory */
	TFS_OP_CHOICE,   /* of a convolution's algorithm: the program asks for a list */
	TFS_OP_CONVOLVE, /* by cuDNN, which is told how, see convolution.h */
	TFS_OP_COMPUTE,  /* anything else that a library writes to memory that it is given */
	TFS_OP_PRODUCT,  /* by cuBLASLt, see product.h */
	/* Of these rewrites are only told: */
	TFS_OP_OTHER,   /* about to be made, while zeros are followed: may use them, see fills.h */
	TFS_OP_MADE,    /* any call that is seen, after it */
	TFS_OP_STREAM,  /* was made, and does not wait for the legacy stream */
	TFS_OP_PINNED,  /* host memory was allocated, or is about to be freed */
	TFS_OP_RESET,   /* of a device: all its handles and memory are gone */
	TFS_OP_HANDLE,  /* of cuDNN was made, which may have waited */
	TFS_OP_BACKEND, /* a convolution was built for cuDNN's graph API */
	TFS_OP_KINDS
};

/* A set of kinds. */
#define TFS_OP_BIT(kind) (UINT32_C(1) << (kind))

struct tfs_choice_call;
struct tfs_convolution_call;
struct tfs_details;
struct tfs_function;
struct tfs_product_call;
struct tfs_use;
struct tfs_use_call;

enum tfs_query { TFS_QUERY_PROPERTIES, TFS_QUERY_ATTRIBUTE };

enum tfs_sync {
	TFS_SYNC_DEVICE,
	TFS_SYNC_STREAM,
	TFS_SYNC_EVENT,
	/* No waits: before these, what an earlier wait promised has to be true, since they tell. */
	TFS_SYNC_ASKS,
	TFS_SYNC_ENDS_STREAM, /* from here on the handle may not be used */
};

struct tfs_op_copy {
	void *target;
	const void *source;
	uint64_t bytes;
	int kind;         /* cudaMemcpyKind */
	bool async;       /* an ...Async call */
	const void *real; /* the function that the program called */
};

struct tfs_op;

struct tfs_op_compute {
	/* As the call stands now. */
	const void *beta;
	void *output;
	/* What memory it works on: asks libraries. */
	void (*tell)(const struct tfs_op *op, struct tfs_use_call *told);
	struct tfs_use *own; /* the rewrite's, from before the call to after it */
	union {
		const void *call; /* the hook's */
		struct tfs_convolution_call *convolution;
	};
};

struct tfs_op {
	enum tfs_op_kind kind;
	uint32_t site;
	uint32_t status; /* of who carried it out in the library's place */
	uint16_t minded; /* rewrites, by number, that are told how it went */
	bool may_act;    /* the one that is asked: not in a window, nor while measured without */
	bool driver;     /* by a function of the driver */
	bool per_thread; /* what the null stream means */
	void *stream;
	const struct tfs_function *function;
	union {
		struct {
			enum tfs_query what;
			int attribute;
			int device;
			void *answer; /* cudaDeviceProp or int, the program's */
		} query;
		struct {
			void *target;
			uint64_t bytes;
			uint32_t value;
			bool shaped; /* rows, with a distance between them, */
			bool gaps;   /* that is not filled */
		} fill;
		struct tfs_op_copy copy;
		struct {
			void *address; /* to be freed; or, set by the rewrite, what is handed out */
			uint64_t bytes;
			uint64_t takes;  /* to be freed: in whole pages; set by pool.h */
			uint32_t kind;   /* to be freed: enum tfs_memory_kind, 0 = not known */
			uint32_t flags;  /* and TFS_RANGE_* */
			uint32_t owner;  /* and the device it is on */
			uint32_t device; /* the current one */
			bool noted;      /* pool.h has counted it */
		} memory;
		struct {
			enum tfs_sync what;
			void *handle; /* of the stream, event, or context (NULL: the current one) */
			/* The rewrite's own, from before the call to after it. */
			uint64_t before; /* what was submitted by then */
			uint64_t start_ns;
			int tried;
		} wait;
		struct {
			void *pool; /* NULL: the device's current one; set by the rewrite */
			uint64_t bytes;
			uint32_t device; /* the current one */
			/* The rewrite's own: */
			uint32_t number; /* of the pool, see pools.h */
			uint64_t start_ns;
			uint64_t held; /* by the pool before */
			bool kept;     /* the pool keeps its memory */
		} ordered;
		struct tfs_op_compute compute;     /* and of a convolution */
		struct tfs_choice_call *choice;    /* see convolution.h */
		struct tfs_product_call *product;  /* see product.h */
		const struct tfs_details *details; /* of a call that was made */
		uint32_t device;                   /* that was reset */
	};
};

#endif
