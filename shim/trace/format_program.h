/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_PROGRAM_H
#define TFS_SHIM_TRACE_FORMAT_PROGRAM_H

/* Part of format.h: the program, its machine, and the ids that calls use. */

#include "shim/trace/format_record.h"

#define TFS_MAX_FRAMES 64u

/* string: `site` = id; the text follows the head, NUL-terminated; `function` = its length. */

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

TFS_SIZE_IS(struct tfs_module_record, 64);
TFS_SIZE_IS(struct tfs_thread_record, 32);
TFS_SIZE_IS(struct tfs_clock_record, 32);
TFS_SIZE_IS(struct tfs_stream_record, 32);
TFS_SIZE_IS(struct tfs_device_record, 64);
TFS_SIZE_IS(struct tfs_library_record, 32);
TFS_SIZE_IS(struct tfs_fact_record, 32);

#endif
