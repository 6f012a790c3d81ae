/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_SCENES_SCENE_H
#define TFS_TESTS_UNIT_SCENES_SCENE_H

/*
 * A made-up trainer for tests of rules. Calls take their place on a host clock, their work on the
 * streams of a made-up device, and calls that wait do wait; what comes out is a recording with
 * call records, device activity and steps. Lines stand for call sites. Anything that fails ends
 * the test.
 */

#include "rules/judge/judge.h"
#include "tests/unit/scenes/builder.h"

#define SCENE_LEGACY 0u /* the stream every scene has */

struct scene;

struct scene *scene_create(bool simulated);
/* On a real device with this major number of its compute capability. */
struct scene *scene_create_on(uint32_t major);
/* On a real device of this name. */
struct scene *scene_create_named(const char *device);
/* On a real device with so many multiprocessors, and so many bytes of second-level cache. */
struct scene *scene_create_sized(uint32_t multiprocessors, uint64_t cache_bytes);
void scene_destroy(struct scene *scene);
struct builder *scene_builder(struct scene *scene);

/* Before anything else: functions have names that say nothing; or the recording is of the oldest
 * format that is still read, with fewer families. */
void scene_nameless(struct scene *scene);
void scene_older(struct scene *scene);

/* Work is given to this device from now on, on streams made since: to device 0 at first. */
void scene_device(struct scene *scene, unsigned device);
/* Another stream; flags as in tfs_stream_record. */
unsigned scene_stream(struct scene *scene, uint32_t flags);
/* Memory, allocated by a recorded call; its address. Pageable memory has no call. */
uint64_t scene_memory(struct scene *scene, enum tfs_memory_kind kind, uint64_t bytes);

/* The next step of a phase begins (training where not said). */
void scene_step(struct scene *scene);
void scene_phase_step(struct scene *scene, enum tfs_phase phase, uint32_t flags);
/* The host's clock. */
uint64_t scene_now(const struct scene *scene);
/* The host does something of its own. */
void scene_host(struct scene *scene, uint64_t ns);

/* A call to fill in: operands and attributes by builder_operand(), builder_attribute(). */
struct builder_call scene_call(struct scene *scene, unsigned line, unsigned stream,
	enum tfs_library library, enum tfs_family family, const char *name);
/* Makes it, with device work of so many nanoseconds (0 = none). */
void scene_make(struct scene *scene, struct builder_call *call, uint64_t work_ns);

/* From now on the work of calls that are made so is a kernel of this name; it has none else. */
void scene_kernel(struct scene *scene, const char *name);

/* cudaMemcpy or cudaMemcpyAsync; `host` says what kind of memory CUPTI saw. */
void scene_copy(struct scene *scene, unsigned line, unsigned stream, bool async, bool up,
	enum tfs_memory_kind host, uint64_t device, uint64_t bytes, uint64_t work_ns);
/* A kernel of the program with these pointers and a thread for each of `count` elements. */
void scene_launch(struct scene *scene, unsigned line, unsigned stream, uint64_t work_ns,
	uint64_t count, unsigned pointers, const uint64_t *addresses);
/* cudaMemsetAsync. */
void scene_set(struct scene *scene, unsigned line, uint64_t address, uint64_t bytes, int value);
/* A library call that reads one range and writes another, or adds to it. */
void scene_gemm(struct scene *scene, unsigned line, uint64_t from, uint64_t to, uint64_t bytes,
	bool adds, uint64_t work_ns);
/* cudaDeviceSynchronize, cudaStreamSynchronize. */
void scene_device_sync(struct scene *scene, unsigned line);
void scene_stream_sync(struct scene *scene, unsigned line, unsigned stream);
void scene_event_record(struct scene *scene, unsigned line, unsigned stream, uint64_t event);
void scene_event_sync(struct scene *scene, unsigned line, uint64_t event);
void scene_malloc(struct scene *scene, unsigned line, uint64_t address, uint64_t bytes);
void scene_free(struct scene *scene, unsigned line, uint64_t address);

/* From now on CUPTI records the calls of the runtime too. */
void scene_watch(struct scene *scene);
/* A call that only CUPTI sees, in a thread (77 is the scene's own), now or during the wrapped call
 * made last. */
void scene_unseen(struct scene *scene, enum tfs_library domain, enum tfs_family family,
	const char *name, uint32_t tid, bool inside);

/* A call of the runtime that only CUPTI sees, a moment before the call made last was over. */
void scene_late(struct scene *scene, enum tfs_family family, const char *name, uint32_t tid);

/* CUPTI saw device memory being allocated during the call made last. */
void scene_allocated(struct scene *scene, uint64_t bytes);

/* Ends the recording and judges it; once. */
const struct tfs_judgement *scene_judge(
	struct scene *scene, const struct tfs_judge_options *options);
const struct tfs_judgement *scene_judgement(const struct scene *scene);

enum tfs_state scene_state(const struct scene *scene, const char *id);
/* What the verdict says; "" for nothing. */
const char *scene_reason(const struct scene *scene, const char *id);
/* The finding of a rule at a line (0 = anywhere), or NULL; and how many a rule has. */
const struct tfs_finding *scene_finding(const struct scene *scene, const char *id, unsigned line);
unsigned scene_findings(const struct scene *scene, const char *id);
/* Prints all verdicts: for a test that fails. */
void scene_print(const struct scene *scene);

#endif
