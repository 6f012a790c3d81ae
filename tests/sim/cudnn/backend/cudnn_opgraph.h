/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_OPGRAPH_H
#define TFS_TESTS_SIM_CUDNN_OPGRAPH_H

/*
 * A finalized operation graph, and how it is computed: operation after operation, each from float
 * arrays to float arrays. What a tensor's own type is matters where it is read from memory, and
 * for rounding when it is written; virtual tensors live as long as an operation still reads them.
 *
 * To add an operation: its attributes in cudnn_backend_attr.c, a file with a const struct
 * tfs_backend_op, and a line in tfs_backend_op_find().
 */

#include "tests/sim/cudnn/backend/cudnn_backend.h"
#include "tests/sim/cudnn/math/cudnn_math_conv.h"

#define TFS_OP_TENSORS 12

struct tfs_exec;
struct tfs_step;
struct tfs_engine;

/* check, run, inputs and outputs are mandatory; lists of attributes end with a 0. */
struct tfs_backend_op {
	cudnnBackendDescriptorType_t type;
	int inputs[TFS_OP_TENSORS];
	int outputs[TFS_OP_TENSORS];
	/* At the operation's finalize: shapes and values that contradict each other. */
	cudnnStatus_t (*check)(const struct tfs_backend *desc);
	/* At the graph's: NULL, or what of the operation is not supported. */
	const char *(*unsupported)(const struct tfs_backend *desc);
	/* Whether each index of dimension 0 can be computed alone; no is the default. */
	bool (*sliceable)(const struct tfs_backend *desc);
	/* Whether outputs are read, too. */
	bool (*blends)(const struct tfs_backend *desc);
	uint64_t (*flops)(const struct tfs_backend *desc);
	/* Bytes of workspace the operation itself wants. */
	size_t (*workspace)(const struct tfs_backend *desc, const struct tfs_engine *engine);
	/* -1 without memory. */
	int (*run)(struct tfs_exec *exec, const struct tfs_step *step);
};

const struct tfs_backend_op *tfs_backend_op_find(cudnnBackendDescriptorType_t type);
/* The operation of a finalized descriptor; statistics are written in training, read later. */
const struct tfs_backend_op *tfs_backend_op_of(const struct tfs_backend *desc);

/* A tensor of the graph. Virtual results of reductions are kept in the plan's workspace. */
struct tfs_slot {
	int64_t uid;
	cudnnDataType_t type;
	struct tfs_view view;
	bool is_virtual, by_value;
	bool in_workspace;
	size_t offset; /* there */
	int maker;     /* step that writes it, or -1 */
	int last;      /* last step that uses it */
};

struct tfs_step {
	struct tfs_backend *desc;
	const struct tfs_backend_op *op;
};

struct tfs_opgraph {
	atomic_uint refs;
	struct tfs_slot *slots;
	int slot_count;
	struct tfs_step *steps; /* in an order in which they can run */
	int step_count;
	int slices; /* 1 unless every operation is sliceable */
	size_t kept_bytes;
	uint64_t bytes, flops;
	bool half; /* tensor cores have something to do */
};

struct tfs_opgraph *tfs_opgraph_ref(struct tfs_opgraph *graph);
void tfs_opgraph_unref(struct tfs_opgraph *graph);
/* Index of a tensor, or -1. */
int tfs_opgraph_slot(const struct tfs_opgraph *graph, int64_t uid);
/* The first step of a type, or NULL. */
const struct tfs_step *tfs_opgraph_step(
	const struct tfs_opgraph *graph, cudnnBackendDescriptorType_t type);
int tfs_opgraph_count(const struct tfs_opgraph *graph, cudnnBackendDescriptorType_t type);

/* Names are a prefix's end; engines differ in time, notes, workspace and order of summation. */
struct tfs_engine {
	const char *name;
	double slower;
	bool copies; /* the filter, or its gradient, as float through the workspace */
	bool atomics;
	bool tf32; /* on tensor cores, from float */
	struct tfs_sum_order order;
};

/* The engines of a graph, best first. */
const struct tfs_engine *tfs_engines(const struct tfs_opgraph *graph, int *out_count);
/* What a plan with this engine wants. */
size_t tfs_engine_workspace(const struct tfs_opgraph *graph, const struct tfs_engine *engine);

/* One execution. */
struct tfs_exec {
	struct tfs_opgraph *graph;
	const struct tfs_engine *engine;
	char *workspace; /* steps' own; kept tensors lie before it */
	char *kept;
	void **pointers;   /* by slot */
	uint64_t *scalars; /* by slot: what a by-value pointer pointed at */
	float **arrays;    /* by slot */
	bool *owned;
	int slice;
};

struct tfs_array {
	float *data; /* NULL: the operation has no such tensor */
	struct tfs_view view;
};

/* All steps; -1 without memory. */
int tfs_exec_run(struct tfs_exec *exec);
/* A tensor of the running step, by its attribute. */
struct tfs_array tfs_exec_array(
	const struct tfs_exec *exec, const struct tfs_step *step, int attribute);
/* Its first element as an integer. */
int64_t tfs_exec_integer(const struct tfs_exec *exec, const struct tfs_step *step, int attribute);

/* Elements of other types to and from float arrays with the same strides. */
bool tfs_type_known(cudnnDataType_t type);
void tfs_type_load(cudnnDataType_t type, const struct tfs_view *view, const void *from, float *to);
void tfs_type_store(cudnnDataType_t type, const struct tfs_view *view, const float *from, void *to);
/* Leaves what the type can hold. */
void tfs_type_round(cudnnDataType_t type, const struct tfs_view *view, float *data);

#define TFS_WALK_VIEWS 8

/* A row: count positions; at[k] is the first offset in view k, step[k] from one to the next. */
typedef void (*tfs_walk_fn)(size_t count, const ptrdiff_t *at, const ptrdiff_t *step, void *arg);

/*
 * Walks every position of shape. The views have its rank, and dimensions that divide its: 1 is
 * the same element for all, any other divisor one element for so many neighbours.
 */
void tfs_walk(const struct tfs_view *shape, const struct tfs_view *const *views, int n,
	tfs_walk_fn fn, void *arg);
/* Whether tfs_walk() may be called so. */
bool tfs_walkable(const struct tfs_view *shape, const struct tfs_view *view);

#endif
