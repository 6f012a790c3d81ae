/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_PRIVATE_H
#define TFS_TESTS_SIM_CORE_PRIVATE_H

/*
 * The core's own structures. One lock guards all of them; one condition is signalled whenever work
 * finishes. A stream is a queue and a thread; an operation in it is reference counted, because
 * events, later operations and waiting threads look at its end after the queue has let go of it.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "core.h"

#define SIM_MAX_DEVICES 8

/*
 * Promises the device can be told to break (TFSIM_NAIVE=<name>), so that tests can show that a
 * program which proves one fails without it.
 */
#define SIM_NAIVE(X)                                                                               \
	X(LEGACY, "legacy")                                                                        \
	X(PER_THREAD, "per-thread")                                                                \
	X(PAGEABLE, "pageable")                                                                    \
	X(SYNC, "sync")                                                                            \
	X(PINNED, "pinned")                                                                        \
	X(FREE, "free")                                                                            \
	X(WAIT, "wait")                                                                            \
	X(CAPTURE, "capture")                                                                      \
	X(STICKY, "sticky")                                                                        \
	X(LAST_ERROR, "last-error")                                                                \
	X(REPLAY, "replay")
#define SIM_NAIVE_ENUM(name, text) SIM_NAIVE_##name,
enum sim_naive { SIM_NAIVE(SIM_NAIVE_ENUM) };

/* So many operations may be pending in a stream before the host has to wait, as on hardware. */
#define SIM_DEPTH 1024

enum sim_engine { SIM_COMPUTE, SIM_UPLOAD, SIM_DOWNLOAD, SIM_ENGINES, SIM_NO_ENGINE = SIM_ENGINES };

/* Work with its owned arguments; shared between an operation, graph nodes and their clones. */
struct sim_payload {
	atomic_uint refs;
	struct tfsim_work work;
	void *args;
};

struct sim_op {
	atomic_uint refs;
	struct sim_payload *payload;
	struct CUstream_st *stream; /* valid until done */
	struct sim_op *next;
	struct sim_op **deps;
	unsigned dep_count;
	bool done;
	uint64_t number; /* of the process: salt of hostile choices */
	uint32_t correlation;
	uint64_t model_start_ns, model_end_ns; /* decided at enqueue */
	uint64_t submit_ns, shown_start_ns, shown_end_ns;
	uint64_t cost_ns;
	struct sim_plan *plan; /* graph launches */
	uint32_t event_id;
	uint32_t graph_id;
};

struct CUstream_st {
	uint64_t id;
	int device;
	unsigned context;
	unsigned flags;
	int priority;
	bool legacy, per_thread, closing, running, served;
	unsigned refs;
	pthread_cond_t work;
	struct sim_op *head, *tail;
	struct sim_op *last; /* newest operation, done or not; holds a reference */
	uint64_t shown_end_ns, behind_ns;
	uint64_t entered, left; /* operations so far; ends are by number modulo depth */
	uint64_t model_ends_ns[SIM_DEPTH], shown_ends_ns[SIM_DEPTH];
	struct sim_capture *capture;
	struct CUgraphNode_st **capture_tail;
	unsigned capture_tail_count;
	struct CUstream_st *next;
};

struct CUevent_st {
	uint32_t id;
	int device;
	unsigned flags;
	struct sim_op *op;           /* latest record; NULL before the first */
	struct sim_capture *capture; /* recorded in this capture last, else NULL */
	uint64_t capture_id;
	struct CUgraphNode_st **capture_nodes;
	unsigned capture_node_count;
	struct CUevent_st *next;
};

struct CUmemPoolHandle_st {
	int device;
	uint64_t attr[9]; /* by enum cudaMemPoolAttr */
	uint64_t leaving; /* bytes that were freed and are not free yet */
	struct CUmemPoolHandle_st *next;
};

struct sim_device {
	struct CUstream_st *streams; /* all of them, the default ones included */
	struct CUstream_st *legacy;
	uint64_t engine_model_ns[SIM_ENGINES], engine_shown_ns[SIM_ENGINES];
	char *arena;
	size_t arena_size, arena_used;
	struct CUmemPoolHandle_st default_pool, *pool;
	unsigned flags;
	bool used;
};

struct sim_state {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned waiting;    /* threads that wait for work: hostile holds end */
	unsigned generation; /* device resets so far */
	int device_count;
	struct sim_device device[SIM_MAX_DEVICES];
	struct CUevent_st *events;
	uint64_t next_id, op_count;
	uint64_t dropped; /* at exit: operations below this number never run */
	atomic_int sticky;
	atomic_bool forked, stopping;
	double scale;
	bool pace, verbose, launch_blocking;
	uint64_t hostile;
	unsigned naive;
	size_t memory;
	size_t pinned; /* largest allocation */
	atomic_ullong overruns, overrun_ns, ops_run, computed_ns, modelled_ns;
	uint64_t highest_model_ns;
	struct sim_capture *captures;
};

/* Per thread. model_ns is the thread's own modelled time. */
struct sim_thread {
	int device;
	unsigned context;
	uint64_t model_ns;
	bool known;
	cudaError_t last_error;
	enum cudaStreamCaptureMode capture_mode;
	struct tfsim_api *api;
	struct CUstream_st *stream[SIM_MAX_DEVICES];
	unsigned generation;
	bool in_host_function;
};

extern struct sim_state sim;
extern __thread struct sim_thread sim_self;

/* core_state.c: reads the environment once; every entry starts with it. Error when unusable. */
cudaError_t sim_enter(void);
bool sim_is_naive(enum sim_naive promise);
uint64_t sim_new_id(void);

/* core_clock.c */
void sim_pace_until(uint64_t shown_ns);
/* The calling thread is at something that began at `start_ns` and takes so long. */
void sim_host_busy(uint64_t start_ns, uint64_t cost_ns);
/* What the driver takes to allocate or release; memory is mapped for so many bytes. */
uint64_t sim_map_ns(uint64_t bytes);
uint64_t sim_call_ns(void);
uint64_t sim_latency_ns(void);

/* core_time.c: at enqueue (lock held), before execution (lock held), after it (without). */
void sim_time_model(struct CUstream_st *stream, struct sim_op *op);
void sim_time_show(struct CUstream_st *stream, struct sim_op *op);
void sim_time_settle(struct CUstream_st *stream, struct sim_op *op, uint64_t computed_ns);
uint64_t sim_time_cpu(void);

/* core_op.c; the lock is held. */
struct sim_payload *sim_payload_create(const struct tfsim_work *work);
struct sim_payload *sim_payload_ref(struct sim_payload *payload);
void sim_payload_unref(struct sim_payload *payload);
struct sim_op *sim_op_create(struct sim_payload *payload);
struct sim_op *sim_op_ref(struct sim_op *op);
void sim_op_unref(struct sim_op *op);
bool sim_op_depend(struct sim_op *op, struct sim_op *on);
/* Waits without the lock held; then paces, and moves the thread's modelled time on. */
void sim_op_wait(struct sim_op *op);
bool sim_op_complete(const struct sim_op *op);

/* core_queue.c; the lock is held. */
cudaError_t sim_submit(struct CUstream_st *stream, struct sim_op *op);
cudaError_t sim_enqueue_locked(
	struct CUstream_st *stream, const struct tfsim_work *work, struct sim_op **out_op);
/* Without the lock: what tfsim_enqueue() does, and the operation. */
cudaError_t sim_enqueue(cudaStream_t handle, const struct tfsim_work *work, struct sim_op **out_op);

/* core_stream.c; the lock is held. The stream behind a handle, made if it is a default one. */
cudaError_t sim_stream_resolve(cudaStream_t handle, struct CUstream_st **out_stream);
void sim_stream_unref(struct CUstream_st *stream);
void sim_stream_close(struct CUstream_st *stream);
/* Newest operations that a wait for this stream must see; each is referenced. Returns count. */
unsigned sim_stream_tails(struct CUstream_st *stream, struct sim_op ***out_ops);
unsigned sim_device_tails(int device, struct sim_op ***out_ops);
void sim_wait_all(struct sim_op **ops, unsigned count);
void sim_wait_device(int device);
bool sim_blocking(const struct CUstream_st *stream);

/* core_arena.c, core_registry.c, core_memory.c; the lock is held. */
size_t sim_arena_reserve(size_t arena_size);
void *sim_arena_alloc(int device, size_t size);
void sim_arena_free(int device, void *address, size_t size);
bool sim_range_add(const struct tfsim_range *range);
const struct tfsim_range *sim_range_find(const void *address);
bool sim_range_remove(const void *base, struct tfsim_range *out_range);
bool sim_range_overlaps(const void *base, size_t size);
bool sim_range_any(int device, unsigned context, struct tfsim_range *out_range);
void sim_range_release(const struct tfsim_range *range);
/* Without the lock. pool NULL: plain memory of the current device. */
cudaError_t sim_alloc(size_t size, struct CUmemPoolHandle_st *pool, struct tfsim_range *out_range);
void sim_pool_init(struct CUmemPoolHandle_st *pool, int device);
/* The bytes that had to be mapped. */
uint64_t sim_pool_account(struct CUmemPoolHandle_st *pool, int64_t change);
/* The lock is held. What the device's pools hold beside what is in use, but for one pool. */
uint64_t sim_pool_idle(int device, const struct CUmemPoolHandle_st *other_than);
/* The host has waited: pools give back what is above their thresholds. */
void sim_pool_settle(int device);
void sim_poison(void *address, size_t size);

/* core_capture.c; the lock is held. */
bool sim_capture_active(const struct CUstream_st *stream);
cudaError_t sim_capture_add(
	struct CUstream_st *stream, struct sim_payload *payload, struct CUgraphNode_st **out_node);
cudaError_t sim_capture_record(struct CUstream_st *stream, struct CUevent_st *event);
cudaError_t sim_capture_wait(struct CUstream_st *stream, struct CUevent_st *event);
/* 906 when the legacy stream must not be used now, else success. */
cudaError_t sim_capture_implicit(const struct CUstream_st *stream);
/* A launch of a graph inside a capture becomes a child graph. */
cudaError_t sim_capture_graph(struct CUstream_st *stream, struct CUgraphExec_st *exec);
void sim_capture_forget(struct CUstream_st *stream);
void sim_capture_invalidate(struct sim_capture *capture);

/* core_plan.c: the nodes of a launched graph, on the stream's thread, lock not held. */
void sim_graph_run(struct sim_op *op);
void sim_plan_unref(struct sim_plan *plan);

/* core_record.c: facts, without the lock. */
void sim_emit_op(const struct sim_op *op, const struct tfsim_work *work, uint64_t start_ns,
	uint64_t end_ns, uint64_t node);
void sim_emit_sync(int type, uint64_t start_ns, int device, const struct CUstream_st *stream,
	uint32_t event, int result);
void sim_emit_memory(int operation, const struct tfsim_range *range);
void sim_emit_stream(const struct CUstream_st *stream);
uint32_t sim_correlation(void);
/* The call a library makes inside itself for this work; the caller exits the frame. */
void sim_library_frame(struct tfsim_api *own, const struct tfsim_work *work);

/* core_inject.c: at the first call, what CUDA_INJECTION64_PATH asks for. */
void sim_inject(void);

#endif
