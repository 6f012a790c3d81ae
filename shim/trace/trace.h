/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_TRACE_H
#define TFS_SHIM_TRACE_TRACE_H

/*
 * Reading a recording (.tfs). The file is untrusted: opening checks every length once, so that
 * all pointers given out later are whole records of at least their struct's size. What is damaged
 * is left out and listed; everything before and beside it is read. A trace is constant once
 * opened: any number of threads may read it. All pointers live until it is closed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "shim/trace/format/format.h"

struct tfs_trace;

/* Something that could not be read; `what` is a literal. */
struct tfs_damage {
	uint64_t offset;
	const char *what;
};

struct tfs_trace_summary {
	uint64_t bytes;
	uint64_t records; /* whole records of every kind */
	uint64_t calls;
	uint64_t operands; /* memory operands and attributes of all calls, at most */
	uint64_t unknown;  /* records of kinds this reader does not know */
	uint64_t damages;  /* all of them; the list keeps the first ones */
	bool cut;          /* the file ends inside a chunk */
	bool calibrated;   /* ticks can be told in nanoseconds */
};

/* Opens a file; negative errno when it is no recording or of another version, with the reason in
 * `out_damage` (may be NULL). */
int tfs_trace_open(const char *path, struct tfs_damage *out_damage, struct tfs_trace **out_trace);
/* The same for bytes that the caller keeps until the trace is closed. */
int tfs_trace_open_memory(const void *bytes, size_t size, struct tfs_damage *out_damage,
	struct tfs_trace **out_trace);
void tfs_trace_close(struct tfs_trace *trace);

const struct tfs_file_header *tfs_trace_header(const struct tfs_trace *trace);
const struct tfs_trace_summary *tfs_trace_summary(const struct tfs_trace *trace);

/* For tests: the first damages found; returns how many are in the list. */
size_t tfs_trace_damages(const struct tfs_trace *trace, const struct tfs_damage **out_damages);

/* Records of one kind (calls aside) in the order of the file. */
size_t tfs_trace_count(const struct tfs_trace *trace, enum tfs_record_kind kind);
const void *tfs_trace_at(const struct tfs_trace *trace, enum tfs_record_kind kind, size_t nth);

/* The definition of an id: string, function, site, stream, problem, kernel, device, library;
 * NULL = unknown. */
const void *tfs_trace_find(const struct tfs_trace *trace, enum tfs_record_kind kind, uint32_t id);
/* One past the greatest id that may be defined. */
uint32_t tfs_trace_limit(const struct tfs_trace *trace, enum tfs_record_kind kind);

/* Texts of ids; "" = unknown. */
const char *tfs_trace_string(const struct tfs_trace *trace, uint32_t id);
const char *tfs_trace_function(const struct tfs_trace *trace, uint32_t id);
const char *tfs_trace_kernel(const struct tfs_trace *trace, uint32_t id);
/* The function's family; TFS_FAMILY_other when it is unknown. */
enum tfs_family tfs_trace_family(const struct tfs_trace *trace, uint32_t function);
/* A site's return addresses, innermost first; returns how many. */
unsigned tfs_trace_frames(
	const struct tfs_trace *trace, uint32_t site, const uint64_t **out_addresses);
/* A problem's fields, missing ones 0; false = unknown id. */
bool tfs_trace_problem(
	const struct tfs_trace *trace, uint32_t id, int32_t out_fields[TFS_PROBLEM_FIELD_COUNT]);
/* A check's name, for machines; "unknown" when this reader does not know it. */
const char *tfs_trace_check(uint16_t check);
/* The latest module mapped over an address, or NULL. */
const struct tfs_module_record *tfs_trace_module(const struct tfs_trace *trace, uint64_t address);
/* The latest record of a fact, or NULL. */
const struct tfs_fact_record *tfs_trace_fact(
	const struct tfs_trace *trace, enum tfs_fact_code fact);

#include "shim/trace/trace_calls.h"

#endif
