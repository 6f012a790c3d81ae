/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_CUPTI_DECODE_H
#define TFS_TESTS_UNIT_CUPTI_DECODE_H

/* Buffers of activities as a CUPTI lays them out, and what is decoded from them. */

#include "cupti/decode.h"
#include "tests/test.h"

/* Of a CUPTI's records, in bytes. */
struct layout {
	uint32_t version;
	size_t kernel, copy, peer, set, sync, overhead, graph, memory;
};

/* One record as decoded. */
struct put {
	enum tfs_record_kind kind;
	union {
		struct tfs_device_op_record op;
		struct tfs_device_sync_record sync;
		struct tfs_device_api_record api;
		struct tfs_overhead_record overhead;
		struct tfs_link_record link;
		struct tfs_device_memory_record memory;
	};
};

#define PUTS_MOST 64
#define BUFFER_BYTES 16384

extern const struct layout *layout;                             /* the one that buffers have now */
extern __typeof__(cuptiActivityGetNextRecord) *next_of_library; /* NULL: made up */
extern CUptiResult broken_status; /* what a library says of a record that it cannot go past */
extern bool (*keeps)(uint32_t cbid, bool driver);
extern uint64_t from_ns;

extern struct put puts_[PUTS_MOST];
extern unsigned put_count, lost_count;

/* The buffer is empty. */
void buffer_clear(void);

/* How many bytes of it are filled. */
size_t buffer_used(void);

/* Its bytes, for what is damaged or asked of a real library. */
uint8_t *buffer_bytes(void);

/* The length of a record of this kind; 0: nobody gets past it. */
size_t size_of(uint32_t kind);

/* One more record: the front of it, as far as the layout has room. */
void add(const void *record, size_t bytes);

/* So many bytes of the buffer, with times so much later: what they give is in puts_. */
void decode(size_t valid, int64_t offset_ns);

/* Five pieces of work for the device, and the records that they give. */
void add_device_work(void);
void check_device_work(void);
void check_bare_kernels(void);

/* Calls, links, waits, memory and overheads: six records. */
void add_host_work(void);
void check_host_work(const struct put *first);
void check_calls(void);

#endif
