/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_DEVICE_H
#define TFS_SHIM_TRACE_FORMAT_DEVICE_H

/* Part of format.h: what CUPTI says of a device. */

#include "shim/trace/format/record.h"

enum tfs_device_op_kind {
	TFS_DEVICE_KERNEL = 1,
	TFS_DEVICE_MEMCPY = 2,
	TFS_DEVICE_MEMSET = 3,
	TFS_DEVICE_GRAPH = 4
};

/* CUPTI activity; times are CLOCK_MONOTONIC nanoseconds, 0 = lost. */
struct tfs_device_op_record {
	struct tfs_record record;
	uint8_t operation; /* enum tfs_device_op_kind */
	uint8_t copy_kind; /* of a copy: CUPTI's number */
	uint32_t kernel;   /* of a kernel: id of its record */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint32_t correlation;
	uint32_t stream; /* CUPTI's stream id */
	uint16_t device;
	uint8_t source_kind; /* enum tfs_memory_kind */
	uint8_t target_kind;
	uint16_t flags; /* 1 = async, 2 = part of a graph launch, 4 = its threads share memory */
	uint16_t block[3];
	uint32_t grid[3];
};

/* The CUDA call with this correlation id was made inside the wrapped call whose record starts at
 * byte `call_unit * TFS_UNIT` of the file. */
struct tfs_link_record {
	struct tfs_record record;
	uint16_t reserved0;
	uint32_t correlation;
	uint64_t call_unit;
	uint64_t reserved1[2];
};

struct tfs_device_sync_record {
	struct tfs_record record;
	uint16_t type; /* CUPTI's number */
	uint32_t correlation;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t stream;
	uint32_t event;
};

struct tfs_device_api_record {
	struct tfs_record record;
	uint16_t cbid;
	uint32_t correlation;
	uint64_t start_ns;
	uint32_t duration_ns; /* saturates */
	uint32_t tid;
	uint32_t domain; /* enum tfs_library: cudart or cuda */
	uint32_t status;
};

/* Memory that was allocated or released, by whomever. */
struct tfs_device_memory_record {
	struct tfs_record record;
	uint16_t operation; /* 1 allocated, 2 released */
	uint32_t correlation;
	uint64_t address;
	uint64_t bytes;
	uint32_t memory; /* enum tfs_memory_kind */
	uint32_t device;
};

/* A function whose calls get a device_api record in windows with CUPTI activity; all of them do. */
struct tfs_api_record {
	struct tfs_record record;
	uint16_t cbid;
	uint32_t name;   /* string id: as hooks have it */
	uint32_t domain; /* enum tfs_library: cudart or cuda */
	uint32_t family; /* enum tfs_family; `other` where that is not known */
	uint64_t reserved0[2];
};

struct tfs_overhead_record {
	struct tfs_record record;
	uint16_t kind; /* CUPTI's number >> 16 */
	uint32_t correlation;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t reserved0;
};

TFS_SIZE_IS(struct tfs_device_op_record, 64);
TFS_SIZE_IS(struct tfs_link_record, 32);
TFS_SIZE_IS(struct tfs_device_sync_record, 32);
TFS_SIZE_IS(struct tfs_device_api_record, 32);
TFS_SIZE_IS(struct tfs_device_memory_record, 32);
TFS_SIZE_IS(struct tfs_api_record, 32);
TFS_SIZE_IS(struct tfs_overhead_record, 32);

#endif
