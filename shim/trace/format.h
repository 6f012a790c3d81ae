/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_H
#define TFS_SHIM_TRACE_FORMAT_H

/*
 * The recording (.tfs) on disk. FORMAT.md beside this file says what each part means and which
 * guarantees hold after a crash; this header only lays out the bytes. Little endian, no padding
 * but what is written here. Numbers are never reused and never renumbered.
 */

#include <stdint.h>

#define TFS_MAGIC "TFSHIM1\n"
#define TFS_FORMAT_VERSION 1u
#define TFS_HEADER_BYTES 4096u
#define TFS_CHUNK_BYTES (256u << 10)
#define TFS_CHUNK_MAGIC 0x43534654u /* "TFSC" */
#define TFS_UNIT 32u                /* records are 1..255 units long */
#define TFS_MAX_FRAMES 64u
#define TFS_NO_STREAM 0xffffu

enum tfs_clock { TFS_CLOCK_MONOTONIC = 0, TFS_CLOCK_TSC = 1 };
enum tfs_chunk_kind { TFS_CHUNK_RECORDS = 1, TFS_CHUNK_AGGREGATES = 2 };

/* What was lost, and how often: live counters in the file header. */
#define TFS_LOSSES(X)                                                                              \
	X(0, records_dropped, "records dropped: no room in the file or on the disk")               \
	X(1, aggregates_full, "calls not aggregated: the thread's table was full")                 \
	X(2, sites_full, "call sites not kept apart: the table was full")                          \
	X(3, stacks_short, "call stacks cut: no unwinder, or it failed")                           \
	X(4, cupti_dropped, "activity records dropped by CUPTI")                                   \
	X(5, cupti_unknown, "activity records of a kind or size not understood")                   \
	X(6, threads_failed, "threads not recorded: no memory for their buffers")                  \
	X(7, strings_cut, "names cut short")                                                       \
	X(8, ranges_full, "memory ranges not registered: the table was full")                      \
	X(9, steps_dropped, "step times dropped")

enum tfs_loss {
#define X(number, name, text) TFS_LOSS_##name = number,
	TFS_LOSSES(X)
#undef X
		TFS_LOSS_COUNT = 16
};

struct tfs_file_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint32_t chunk_bytes;
	uint32_t clock; /* enum tfs_clock: unit of every field named _ticks */
	uint32_t pid;
	uint32_t rank;
	uint64_t start_realtime_ns;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t start_ticks;
	uint64_t finished;     /* 1 once the process closed its recording */
	uint64_t limit_bytes;  /* the size cap that was in force */
	uint64_t chunks_taken; /* chunks handed out so far */
	uint64_t lost[TFS_LOSS_COUNT];
	char program[256]; /* path of the executable, cut if need be, NUL-terminated */
	char version_text[32];
};

struct tfs_chunk {
	uint32_t magic; /* 0 until a thread took the chunk */
	uint16_t kind;
	uint16_t reserved0;
	uint32_t thread;    /* index of the thread within the file, from 0 */
	uint32_t sequence;  /* n-th chunk of this kind of this thread, from 0 */
	uint64_t committed; /* payload bytes that are whole; stored last, with release */
	uint64_t offset;    /* of this chunk in the file */
	uint64_t reserved1[4];
};

/* One function called from one call site in one thread, over the whole run. */
struct tfs_aggregate {
	uint32_t site;
	uint16_t function;
	uint16_t reserved0;
	uint64_t count;
	uint64_t amount; /* sum of the calls' amounts */
	uint64_t ticks;  /* sum of the calls' durations */
	uint64_t longest_ticks;
	uint64_t first_ticks; /* start of the first and of the latest call */
	uint64_t latest_ticks;
	uint64_t failures; /* calls that returned anything but success */
};

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
	X(27, device_memory)

enum tfs_record_kind {
#define X(number, name) TFS_RECORD_##name = number,
	TFS_RECORDS(X)
#undef X
};

/* The head of every record. */
struct tfs_record {
	uint8_t kind;
	uint8_t units;     /* length in TFS_UNIT bytes, head included */
	uint16_t function; /* call: id of its function record; others: see their struct */
	uint32_t site;     /* call: id of its site record, 0 = unknown */
};

/* One intercepted call; (units - 1) * 2 items follow, unused ones zeroed. */
struct tfs_call {
	struct tfs_record record;
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
	X(23, graph)   /* graph or executable graph handle */                                      \
	X(24, shape_m) /* of a GEMM; also a vector's length */                                     \
	X(25, shape_n)                                                                             \
	X(26, shape_k)                                                                             \
	X(27, rewritten)   /* string id: the rewrite that took part in this call */                \
	X(28, host_result) /* 1: the call returns its result to host memory */                     \
	X(29, handle)      /* library handle */                                                    \
	X(30, argument)    /* a kernel's 4- or 8-byte scalar argument */                           \
	X(31, launch)      /* one-dimensional: kernel | grid x << 16 | block x << 48 */

enum tfs_attribute {
#define X(number, name) TFS_ATTRIBUTE_##name = number,
	TFS_ATTRIBUTES(X)
#undef X
};

/* string: `site` = id; the text follows the head, NUL-terminated; `function` = its length. */

/* A hooked function; its name follows this struct, NUL-terminated. */
struct tfs_function_record {
	struct tfs_record record; /* function: id within this file; site: enum tfs_library */
	uint32_t family;          /* enum tfs_family */
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
	X(50, workspace_query)

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

/* site: `site` = id, `function` = number of frames; the frames' return addresses (uint64_t)
 * follow the head, innermost (the program's own call) first. */

struct tfs_module_record {
	struct tfs_record
		record; /* function: length of the build id; site: string id of the path */
	uint64_t start; /* mapped address range of an executable segment */
	uint64_t end;
	uint64_t file_offset; /* of `start` */
	uint64_t load_bias;
	uint8_t build_id[24];
};

struct tfs_thread_record {
	struct tfs_record record; /* site: thread index in the file; function: 1 = the shim's own */
	uint32_t tid;
	char name[20];
};

struct tfs_clock_record {
	struct tfs_record record;
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};

struct tfs_stream_record {
	struct tfs_record record; /* function: id used in calls; site: CUPTI's id, 0 = unknown */
	uint64_t handle;
	uint32_t flags; /* 1 legacy default, 2 per-thread default, 4 non-blocking */
	uint32_t device;
	uint64_t reserved0;
};

/* problem: `site` = id, `function` = number of fields; int32_t fields follow the head in the order
 * of enum tfs_problem_field. */
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

/* kernel: `site` = id; the mangled name follows the head, NUL-terminated; `function` = length. */

struct tfs_device_record {
	struct tfs_record record; /* function: device index; site: 1 = simulated */
	uint64_t memory_bytes;
	uint32_t name;    /* string id */
	uint32_t compute; /* major << 16 | minor */
	uint32_t driver_version;
	uint32_t runtime_version;
	uint64_t bandwidth; /* device memory, bytes per second; 0 = unknown */
	uint32_t multiprocessors;
	uint32_t copy_engines;
	uint64_t reserved0[2];
};

struct tfs_library_record {
	struct tfs_record record; /* function: enum tfs_library; site: string id of its path */
	uint32_t version;
	uint32_t flags; /* 1 = hooks saw calls to it, 2 = a static copy inside the program */
	uint64_t reserved0[2];
};

/* A key and a value for the visibility section; a later fact replaces an earlier one. */
struct tfs_fact_record {
	struct tfs_record record; /* site: string id of the key */
	uint32_t text;            /* string id of the value, 0 = none */
	uint32_t reserved0;
	uint64_t number;
	uint64_t reserved1;
};

/* The start of a step (its end is the next one's start); index 0 = warm-up before the first. */
struct tfs_step_record {
	struct tfs_record
		record; /* function: enum tfs_phase; site: call site that opens the step */
	uint64_t start_ticks;
	uint64_t index;
	uint32_t source; /* enum tfs_step_source */
	uint32_t flags;  /* 1 = a rewrite was on during this step, 2 = inside a window */
};

enum tfs_phase {
	TFS_PHASE_WARMUP = 0,
	TFS_PHASE_TRAINING = 1,
	TFS_PHASE_EVALUATION = 2,
	TFS_PHASE_OTHER = 3
};
enum tfs_step_source { TFS_STEP_LOOPS = 1, TFS_STEP_API = 2, TFS_STEP_NVTX = 3 };

/* Durations of consecutive steps outside windows: float ticks follow this struct. */
struct tfs_steps_record {
	struct tfs_record record; /* function: how many */
	uint64_t first_index;
	uint64_t first_start_ticks;
	uint32_t flags; /* as in tfs_step_record */
	uint32_t reserved0;
};

struct tfs_window_record {
	struct tfs_record record; /* function: 1 opens, 0 closes; site: window number, from 1 */
	uint64_t ticks;
	uint64_t step;
	uint32_t flags; /* 1 = call records, 2 = CUPTI activity, 4 = everything is recorded */
	uint32_t reserved0;
};

enum tfs_device_op_kind {
	TFS_DEVICE_KERNEL = 1,
	TFS_DEVICE_MEMCPY = 2,
	TFS_DEVICE_MEMSET = 3,
	TFS_DEVICE_GRAPH = 4
};

/* CUPTI activity; times are CLOCK_MONOTONIC nanoseconds, 0 = lost. */
struct tfs_device_op_record {
	struct tfs_record
		record; /* function: enum tfs_device_op_kind; site: kernel id, or copy kind */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint32_t correlation;
	uint32_t stream; /* CUPTI's stream id */
	uint16_t device;
	uint8_t source_kind; /* enum tfs_memory_kind */
	uint8_t target_kind;
	uint16_t flags; /* 1 = async, 2 = part of a graph launch */
	uint16_t block[3];
	uint32_t grid[3]; /* of a memset: grid[0] is the value */
};

/* The CUDA call with this correlation id was made inside the wrapped call whose record starts at
 * byte `call_unit * TFS_UNIT` of the file. */
struct tfs_link_record {
	struct tfs_record record;
	uint64_t call_unit;
	uint32_t correlation;
	uint32_t reserved0;
	uint64_t reserved1;
};

struct tfs_device_sync_record {
	struct tfs_record record; /* function: CUPTI's type; site: correlation id */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t stream;
	uint32_t event;
};

struct tfs_device_api_record {
	struct tfs_record record; /* function: cbid; site: correlation id */
	uint64_t start_ns;
	uint32_t duration_ns; /* saturates */
	uint32_t tid;
	uint32_t domain; /* enum tfs_library: cudart or cuda */
	uint32_t status;
};

/* Memory that was allocated or released, by whomever. */
struct tfs_device_memory_record {
	struct tfs_record record; /* function: 1 allocated, 2 released; site: correlation id */
	uint64_t address;
	uint64_t bytes;
	uint32_t memory; /* enum tfs_memory_kind */
	uint32_t device;
};

/* A function whose calls get a device_api record in windows with CUPTI activity; all of them do. */
struct tfs_api_record {
	struct tfs_record
		record;  /* function: cbid; site: string id of the name, as hooks have it */
	uint32_t domain; /* enum tfs_library: cudart or cuda */
	uint32_t reserved0;
	uint64_t reserved1[2];
};

struct tfs_overhead_record {
	struct tfs_record record; /* function: CUPTI's kind >> 16; site: correlation id */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t reserved0;
};

enum tfs_range_kind { TFS_RANGE_PUSHED = 1, TFS_RANGE_STARTED = 2, TFS_RANGE_MARK = 3 };

/* A range or mark that the program named by NVTX. */
struct tfs_range_record {
	struct tfs_record record; /* function: enum tfs_range_kind; site: string id of the name */
	uint64_t start_ticks;
	float duration_ticks;
	uint32_t tid;    /* of the thread that closed it */
	uint32_t domain; /* string id, 0 = the default domain */
	uint16_t level;  /* pushed ranges of its domain that it lies in */
	uint16_t reserved0;
};

enum tfs_rewrite_state {
	TFS_REWRITE_OFF = 0,
	TFS_REWRITE_REPORT = 1,
	TFS_REWRITE_SHADOW = 2,
	TFS_REWRITE_APPLY = 3,
	TFS_REWRITE_LOST = 4
};

/* The state of one rewrite; a later record of the same name replaces an earlier one. */
struct tfs_rewrite_record {
	struct tfs_record
		record;   /* function: enum tfs_rewrite_state; site: string id of the name */
	uint64_t applied; /* calls it took part in */
	uint64_t bytes;
	double predicted_ns; /* gain per step; NaN = not predicted */
	double realised_ns;  /* gain per step with its 95 % interval; NaN = not measured */
	double realised_low_ns;
	double realised_high_ns;
	uint32_t rank;   /* 1 exact, 2 rounding, 3 reduced */
	uint32_t reason; /* string id, 0 = none */
};

/* A rewrite did not apply at a call site because a named check failed, `count` times. A later
 * record of the same rewrite, check and call site replaces an earlier one. */
struct tfs_refusal_record {
	struct tfs_record record; /* site: call site */
	uint32_t rewrite;         /* string ids */
	uint32_t check;           /* TFS_REWRITE_MISMATCH: in shadow mode the results differed */
	uint64_t count;
	uint64_t reserved0;
};

#define TFS_REWRITE_MISMATCH "shadow-differs"

/* One candidate of a measured algorithm search. */
struct tfs_search_record {
	struct tfs_record record; /* function: algorithm; site: problem id */
	float time_ms;            /* median; negative = not available */
	float spread_ms;          /* slowest minus fastest repeat */
	uint64_t workspace;
	uint32_t math;
	uint32_t flags; /* 1 deterministic, 2 asked for, 4 chosen, 8 within the rewrite's fences */
};

#define TFS_SIZE_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
TFS_SIZE_IS(struct tfs_file_header, 8 + 6 * 4 + 6 * 8 + TFS_LOSS_COUNT * 8 + 256 + 32);
TFS_SIZE_IS(struct tfs_chunk, 64);
TFS_SIZE_IS(struct tfs_aggregate, 64);
TFS_SIZE_IS(struct tfs_record, 8);
TFS_SIZE_IS(struct tfs_call, 32);
TFS_SIZE_IS(struct tfs_item, 16);
TFS_SIZE_IS(struct tfs_function_record, 16);
TFS_SIZE_IS(struct tfs_module_record, 64);
TFS_SIZE_IS(struct tfs_thread_record, 32);
TFS_SIZE_IS(struct tfs_clock_record, 32);
TFS_SIZE_IS(struct tfs_stream_record, 32);
TFS_SIZE_IS(struct tfs_device_record, 64);
TFS_SIZE_IS(struct tfs_library_record, 32);
TFS_SIZE_IS(struct tfs_fact_record, 32);
TFS_SIZE_IS(struct tfs_step_record, 32);
TFS_SIZE_IS(struct tfs_steps_record, 32);
TFS_SIZE_IS(struct tfs_window_record, 32);
TFS_SIZE_IS(struct tfs_device_op_record, 64);
TFS_SIZE_IS(struct tfs_link_record, 32);
TFS_SIZE_IS(struct tfs_device_sync_record, 32);
TFS_SIZE_IS(struct tfs_device_api_record, 32);
TFS_SIZE_IS(struct tfs_api_record, 32);
TFS_SIZE_IS(struct tfs_device_memory_record, 32);
TFS_SIZE_IS(struct tfs_overhead_record, 32);
TFS_SIZE_IS(struct tfs_rewrite_record, 64);
TFS_SIZE_IS(struct tfs_refusal_record, 32);
TFS_SIZE_IS(struct tfs_search_record, 32);
TFS_SIZE_IS(struct tfs_range_record, 32);
#undef TFS_SIZE_IS

#endif
