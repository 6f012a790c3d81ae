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
#include <stdio.h>

#include "tests/sim/core/core.h"
#include "tests/sim/core/core_lane.h"
#include "tests/sim/core/core_profile.h"

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
	X(REPLAY, "replay")                                                                        \
	X(STAGED, "staged")                                                                        \
	X(FREED, "freed")                                                                          \
	X(WORKSPACE, "workspace")                                                                  \
	X(LIBRARY, "library")                                                                      \
	X(SHARED, "shared")
#define SIM_NAIVE_ENUM(name, text) SIM_NAIVE_##name,
enum sim_naive { SIM_NAIVE(SIM_NAIVE_ENUM) };

/* So many operations may be pending in a stream before the host has to wait, as on hardware. */
#define SIM_DEPTH 1022
/* Of what takes no place in the queue, so many count as one. */
#define SIM_ABREAST 16
/* Ends are remembered of so many: more than may be pending. */
#define SIM_ENDS 1024

enum sim_engine {
	SIM_COMPUTE,
	SIM_UPLOAD,
	SIM_DOWNLOAD,
	SIM_PEER,
	SIM_ENGINES,
	SIM_NO_ENGINE = SIM_ENGINES,
};

/* Work with its owned arguments; shared between an operation, graph nodes and their clones. */
struct sim_payload {
	atomic_uint refs;
	struct tfsim_work work;
	void *args;
};

/* The operations of a stream so far that count; ends are by number modulo SIM_ENDS. */
struct sim_depth {
	uint64_t entered, left;
	uint64_t model_ends_ns[SIM_ENDS], shown_ends_ns[SIM_ENDS];
};

struct sim_op {
	atomic_uint refs;
	struct sim_payload *payload;
	struct CUstream_st *stream; /* valid until done */
	struct sim_depth *depth;    /* where it counts; NULL: nowhere */
	struct sim_op *next;
	struct sim_op **deps;
	unsigned dep_count;
	bool timed; /* its shown start and end are known, and stay */
	bool done;
	uint64_t number; /* of the process: salt of hostile choices */
	uint32_t correlation;
	uint64_t model_start_ns, model_end_ns; /* decided at enqueue */
	uint64_t submit_ns, shown_start_ns, shown_end_ns;
	uint64_t cost_ns;
	uint64_t latency_ns, gap_ns; /* drawn at enqueue */
	double share;                /* of its engine */
	struct sim_plan *plan;       /* graph launches */
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
	struct sim_depth pending, passing;
	uint64_t passed; /* of these, one in SIM_ABREAST is in `passing` */
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
	struct sim_op *gone[2]; /* the end of all that freed streams held; [1]: blocking ones */
	struct sim_lane modelled[SIM_ENGINES], shown[SIM_ENGINES];
	char *arena;
	size_t arena_size, arena_used;
	size_t arena_small; /* bytes of allocations that share pages with others */
	bool barred;        /* some freed pages cannot be touched */
	struct CUmemPoolHandle_st default_pool, *pool;
	unsigned flags;
	bool begun; /* its primary context is there */
	bool used;  /* and current where no other is */
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
	const struct sim_profile *profile;
	double scale;
	bool pace, compute, nvlink, verbose, launch_blocking;
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
	uint64_t draws;
	/* The outermost call began, or last came back from a wait; what it costs from there on. */
	uint64_t call_start_ns, call_ns;
	bool known;
	cudaError_t last_error;
	enum cudaStreamCaptureMode capture_mode;
	struct tfsim_api *api;
	struct CUstream_st *stream[SIM_MAX_DEVICES];
	unsigned generation;
	bool in_host_function;
	uint64_t running_start_ns, running_end_ns; /* of what a stream's thread executes */
};

extern struct sim_state sim;
extern __thread struct sim_thread sim_self;

/* core_state.c: reads the environment once; every entry starts with it. Error when unusable. */
cudaError_t sim_enter(void);
bool sim_is_naive(enum sim_naive promise);
uint64_t sim_new_id(void);

/* core_tally.c: what was skipped or not supported, for the end of the run. */
bool sim_tally_empty(void);
void sim_tally_print(FILE *line);
/* Appends every name with its count, most frequent first. */
void sim_tally_write(const char *path);

/* core_clock.c */
void sim_pace_until(uint64_t shown_ns);
/* The calling thread is at something that began at `start_ns` and takes so long. */
void sim_host_busy(uint64_t start_ns, uint64_t cost_ns);
/* The outermost frame of a call of the runtime or driver begins and ends. */
void sim_call_enter(void);
void sim_call_leave(void);
/* The calling thread spends so long in the call that it is in. */
void sim_call_spend(uint64_t cost_ns);
/* The moment from which the latency of work that is enqueued now counts. */
uint64_t sim_submit_ns(void);

/* core_cost.c: by the profile, scaled. */
uint64_t sim_draw(const struct sim_figure *figure);
uint64_t sim_sized_ns(const struct sim_sized *sized, uint64_t bytes);
uint64_t sim_counted_ns(const struct sim_counted *counted, uint64_t count);
uint64_t sim_rate_ns(uint64_t amount, enum sim_rate rate);

/* core_time.c: at enqueue (lock held), before execution (lock held), after it (without). */
void sim_time_model(struct CUstream_st *stream, struct sim_op *op);
void sim_time_show(struct CUstream_st *stream, struct sim_op *op);
void sim_time_settle(struct CUstream_st *stream, struct sim_op *op, uint64_t computed_ns);
uint64_t sim_time_cpu(void);
/* The operation was planned to end then and did not; nothing behind it has its times. Lock held. */
void sim_time_moved(struct CUstream_st *stream, const struct sim_op *op, uint64_t planned_ns);

/* core_op.c; the lock is held. */
struct sim_payload *sim_payload_create(const struct tfsim_work *work);
struct sim_payload *sim_payload_ref(struct sim_payload *payload);
void sim_payload_unref(struct sim_payload *payload);
struct sim_op *sim_op_create(struct sim_payload *payload);
struct sim_op *sim_op_ref(struct sim_op *op);
void sim_op_unref(struct sim_op *op);
bool sim_op_depend(struct sim_op *op, struct sim_op *on);
/* Of two that have ended: what ended with the later one. A reference; either may be NULL. */
struct sim_op *sim_op_join(struct sim_op *a, struct sim_op *b);
/* Waits without the lock held; then paces, and moves the thread's modelled time on. */
void sim_op_wait(struct sim_op *op);
/* One wait for all of them. */
void sim_ops_wait(struct sim_op *const *ops, unsigned count);
/* A wait up to a moment before the end: what is left is under way. */
void sim_op_wait_early(const struct sim_op *op, uint64_t early_ns);
bool sim_op_complete(const struct sim_op *op);

/* core_queue.c; the lock is held. */
cudaError_t sim_submit(struct CUstream_st *stream, struct sim_op *op);
cudaError_t sim_enqueue_locked(
	struct CUstream_st *stream, const struct tfsim_work *work, struct sim_op **out_op);
/* Without the lock: what tfsim_enqueue() does, and the operation. */
cudaError_t sim_enqueue(cudaStream_t handle, const struct tfsim_work *work, struct sim_op **out_op);

/* core_depth.c; the lock is held. */
void sim_depth_enter(struct CUstream_st *stream, struct sim_op *op);
void sim_depth_leave(struct sim_op *op);
/* Work of this kind was enqueued: while the host is too far ahead the lock is given up. */
void sim_depth_wait(struct CUstream_st *stream, enum tfsim_kind kind);

/* core_stream.c; the lock is held. The stream behind a handle, made if it is a default one. */
cudaError_t sim_stream_resolve(cudaStream_t handle, struct CUstream_st **out_stream);
void sim_stream_unref(struct CUstream_st *stream);
void sim_stream_close(struct CUstream_st *stream);
/* Newest operations that a wait for this stream must see; each is referenced. Returns count. */
unsigned sim_stream_tails(struct CUstream_st *stream, struct sim_op ***out_ops);
unsigned sim_device_tails(int device, struct sim_op ***out_ops);
/* A wait of this kind for all of them; gives up the references. */
void sim_wait_all(struct sim_op **ops, unsigned count, enum sim_call call);
void sim_wait_device(int device);
bool sim_blocking(const struct CUstream_st *stream);

/* core_arena.c, core_registry.c, core_memory.c; the lock is held. */
size_t sim_arena_reserve(size_t arena_size);
size_t sim_arena_takes(size_t size); /* what is taken for so many bytes; any thread */
void *sim_arena_alloc(int device, size_t size);
void sim_arena_free(int device, void *address, size_t size);
/* How much more a pool of the device could take, or (NULL) anything else. */
size_t sim_arena_left(int device, const struct CUmemPoolHandle_st *pool);
bool sim_range_add(const struct tfsim_range *range);
const struct tfsim_range *sim_range_find(const void *address);
bool sim_range_remove(const void *base, struct tfsim_range *out_range);
bool sim_range_overlaps(const void *base, size_t size);
bool sim_range_any(int device, unsigned context, struct tfsim_range *out_range);
void sim_range_release(const struct tfsim_range *range);
/* What cudaMalloc takes for so many bytes, by the profile. */
uint64_t sim_alloc_ns(uint64_t bytes);
uint64_t sim_free_ns(uint64_t bytes);
/* core_shared.c. What other processes use of the device; what this one uses is told between begin
 * and end, where it took anything, so that no two take the same, and elsewhere just told. */
void sim_shared_open(const char *path);
uint64_t sim_shared_others(int device);
void sim_shared_begin(void);
void sim_shared_end(int device);
void sim_shared_tell(int device);
/* core_managed.c: memory that shows which of its pages the host has touched. */
void *sim_managed_map(size_t size);
/*
 * Device work begins that names this memory: what the host has touched moves. Returns what that
 * takes on the device, with page faults or (a prefetch) without. The lock is held.
 */
uint64_t sim_managed_claim(const struct tfsim_work *work);
/* The work has computed: what it touched was not the host's doing. The lock is held. */
void sim_managed_return(const struct tfsim_work *work);
void sim_range_move(const void *base, bool on_device);
/* Changes the number of users; returns it. */
unsigned sim_range_use(const void *base, int change);
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

/* core_fault.c: runs what may touch freed device memory: then the device has a sticky error. */
void sim_run_guarded(void (*run)(void *args), void *args);
/* From now on there is memory that must not be touched. */
void sim_fault_expect(void);
bool sim_in_arena(const void *address);
/* core_run.c: whether the work's run function is called at all (TFSIM_COMPUTE). */
bool sim_must_run(const struct tfsim_work *work);
/* Runs it, from start to planned end in shown time; returns when it ended. */
uint64_t sim_run_work(
	const struct tfsim_work *work, void *args, uint64_t start_ns, uint64_t end_ns);
/* core_first.c: true once for each kernel. The lock is held. */
bool sim_first_use(const char *name);
/* core_plan.c: whether its end depends on the host or on other streams. NULL: no. */
bool sim_plan_meets(const struct sim_plan *plan);
/* What moving managed memory takes that its nodes name. NULL: nothing. The lock is held. */
uint64_t sim_plan_claim(const struct sim_plan *plan);
void sim_plan_return(const struct sim_plan *plan);
/* The nodes of a launched graph, on the stream's thread, lock not held. */
void sim_graph_run(struct sim_op *op);
void sim_plan_unref(struct sim_plan *plan);

/* core_record.c: facts, without the lock, or put off until the call ends. */
void sim_emit_later(bool later);
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
