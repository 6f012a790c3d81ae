/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_PROGRAM_H
#define TFS_SHIM_TRACE_FORMAT_PROGRAM_H

/* Part of format.h: the program, its machine, and the ids that calls use. */

#include "shim/trace/format/record.h"

#define TFS_MAX_FRAMES 64u

/* string: a text that others name by its id; kernel: a mangled name. The text follows this struct,
 * NUL-terminated. */
struct tfs_text_record {
	struct tfs_record record;
	uint16_t length; /* without the NUL */
	uint32_t id;
};

/* A call stack: return addresses or names (uint64_t) follow, innermost (the program's own call)
 * first. */
struct tfs_site_record {
	struct tfs_record record;
	uint16_t frames; /* how many, at most TFS_MAX_FRAMES */
	uint32_t id;
};

/* A frame that has no address but names, of Python code or of another tool's recording: string ids
 * of its function and of "FILE:LINE", 0 = not known. No return address has the top bit. */
#define TFS_FRAME_NAMED (UINT64_C(1) << 63)
#define TFS_FRAME(function, place) (TFS_FRAME_NAMED | (uint64_t)(place) << 32 | (function))
#define TFS_FRAME_FUNCTION(frame) ((uint32_t)(frame))
#define TFS_FRAME_PLACE(frame) ((uint32_t)((frame) >> 32) & 0x7fffffffu)

struct tfs_module_record {
	struct tfs_record record;
	uint16_t build_id_bytes; /* 0 = none */
	uint32_t path;           /* string id */
	uint64_t start;          /* mapped address range of an executable segment */
	uint64_t end;
	uint64_t file_offset; /* of `start` */
	uint64_t load_bias;
	uint8_t build_id[24];
};

struct tfs_thread_record {
	struct tfs_record record;
	uint16_t reserved0;
	uint32_t index; /* in the file */
	uint32_t tid;
	char name[20];
};

struct tfs_clock_record {
	struct tfs_record record;
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};

struct tfs_stream_record {
	struct tfs_record record;
	uint16_t id;       /* as calls name it */
	uint32_t cupti_id; /* 0 = unknown */
	uint64_t handle;
	uint32_t flags; /* 1 legacy default, 2 per-thread default, 4 non-blocking */
	uint32_t device;
	uint64_t reserved0;
};

struct tfs_device_record {
	struct tfs_record record;
	uint16_t index;
	uint32_t simulated; /* 1 = no GPU */
	uint64_t memory_bytes;
	uint32_t name;    /* string id */
	uint32_t compute; /* major << 16 | minor */
	uint32_t driver_version;
	uint32_t runtime_version;
	uint64_t bandwidth; /* device memory, bytes per second; 0 = unknown */
	uint32_t multiprocessors;
	uint32_t copy_engines;
	uint64_t cache_bytes; /* second-level cache; 0 = unknown */
	uint64_t reserved0;
};

struct tfs_library_record {
	struct tfs_record record;
	uint16_t library; /* enum tfs_library */
	uint32_t path;    /* string id */
	uint32_t version;
	uint32_t flags; /* 1 = hooks saw calls to it, 2 = a static copy inside the program */
	uint64_t reserved0[2];
};

/* What was found out about the run, see format/fact.h. */
struct tfs_fact_record {
	struct tfs_record record;
	uint16_t fact;   /* enum tfs_fact_code */
	uint32_t object; /* string id of a name, 0 = none */
	uint64_t numbers[2];
	uint64_t reserved0;
};

TFS_SIZE_IS(struct tfs_text_record, 8);
TFS_SIZE_IS(struct tfs_site_record, 8);
TFS_SIZE_IS(struct tfs_module_record, 64);
TFS_SIZE_IS(struct tfs_thread_record, 32);
TFS_SIZE_IS(struct tfs_clock_record, 32);
TFS_SIZE_IS(struct tfs_stream_record, 32);
TFS_SIZE_IS(struct tfs_device_record, 64);
TFS_SIZE_IS(struct tfs_library_record, 32);
TFS_SIZE_IS(struct tfs_fact_record, 32);

#endif
