/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_SCENES_BUILDER_H
#define TFS_TESTS_UNIT_SCENES_BUILDER_H

/*
 * Writes recordings by hand, in memory, for tests of the reader and of rules. Ticks are
 * nanoseconds. Every record goes to the thread chosen last (0 at first). Out of memory ends the
 * program. A test that needs other bytes writes them into what builder_bytes() gives.
 */

#include <stddef.h>

#include "shim/trace/trace.h"

struct builder;

struct builder *builder_create(void);
/* With small chunks (a multiple of 64 bytes) and a short header, so that a short recording has
 * several chunks. */
struct builder *builder_create_sized(uint32_t chunk_bytes);
void builder_destroy(struct builder *builder);

/* The recording so far; valid until the next record is added. */
unsigned char *builder_bytes(const struct builder *builder, size_t *out_size);
/* Reads it; the trace is valid until the next record is added. NULL and a message on failure. */
struct tfs_trace *builder_open(const struct builder *builder);
/* Writes it into a file; 0 or -1. */
int builder_save(const struct builder *builder, const char *path);

void builder_thread(struct builder *builder, uint32_t index);
/* A record of any kind, `bytes` long with its tail; its units are filled in. Returns its unit. */
uint32_t builder_record(
	struct builder *builder, enum tfs_record_kind kind, const void *record, size_t bytes);

/* Definitions: these return the new id. */
uint32_t builder_string(struct builder *builder, const char *text);
uint32_t builder_kernel(struct builder *builder, const char *name);
uint16_t builder_function(struct builder *builder, enum tfs_library library, enum tfs_family family,
	const char *name);
uint32_t builder_site(struct builder *builder, unsigned frames, const uint64_t *addresses);
uint32_t builder_problem(struct builder *builder, const int32_t *fields, unsigned count);
uint16_t builder_stream(
	struct builder *builder, uint64_t handle, uint32_t cupti_id, uint32_t flags);
void builder_device(struct builder *builder, uint16_t index, const char *name, bool simulated);
/* The same with its compute capability, the major number in the upper 16 bits. */
void builder_device_of(struct builder *builder, uint16_t index, const char *name, bool simulated,
	uint32_t compute);
void builder_library(struct builder *builder, enum tfs_library library, const char *path,
	uint32_t version, uint32_t flags);
void builder_fact(
	struct builder *builder, enum tfs_fact_code fact, const char *object, uint64_t number);

/* A call; fill the fields in, add items, then put it. */
struct builder_call {
	uint16_t function;
	uint16_t stream;
	uint16_t status;
	uint32_t site;
	uint64_t start_ns;
	uint64_t duration_ns;
	uint64_t amount;
	unsigned item_count;
	struct tfs_item items[32];
};

void builder_operand(struct builder_call *call, uint32_t role, uint64_t address, uint64_t bytes);
void builder_attribute(struct builder_call *call, enum tfs_attribute key, uint64_t value);
/* Returns the call's unit, which links name. */
uint32_t builder_call(struct builder *builder, const struct builder_call *call);

void builder_window(
	struct builder *builder, bool opens, uint32_t number, uint64_t ns, uint32_t flags);
void builder_step(struct builder *builder, uint64_t index, uint64_t start_ns, enum tfs_phase phase,
	uint32_t flags);
/* Steps outside windows. */
void builder_steps(struct builder *builder, uint64_t first_index, uint64_t start_ns, unsigned count,
	const float *durations_ns, uint32_t flags);
void builder_link(struct builder *builder, uint32_t call_unit, uint32_t correlation);
/* Work on device 0; `what` is a kernel's id or a copy's kind. */
void builder_device_op(struct builder *builder, uint16_t kind, uint32_t what, uint32_t stream,
	uint32_t correlation, uint64_t start_ns, uint64_t end_ns, uint64_t bytes);
/* A function that CUPTI watches, and a call of it. */
void builder_api(struct builder *builder, enum tfs_library domain, enum tfs_family family,
	uint16_t cbid, const char *name);
void builder_device_api(struct builder *builder, enum tfs_library domain, uint16_t cbid,
	uint32_t correlation, uint32_t tid, uint64_t start_ns, uint32_t duration_ns);
void builder_aggregate(struct builder *builder, const struct tfs_aggregate *aggregate);

#endif
