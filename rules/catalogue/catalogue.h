/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_CATALOGUE_CATALOGUE_H
#define TFS_RULES_CATALOGUE_CATALOGUE_H

/*
 * All rules that have a number, X(id, slug), sorted. Numbers and slugs never change and are never
 * given again. Those that no file implements are not looked for: a report says so by name, so that
 * silence about them is not taken for a pass.
 */

#include <stddef.h>

/* clang-format off */
#define TFS_CATALOGUE(X) \
	X(101, "pageable-copy") \
	X(102, "blocking-copy") \
	X(103, "exposed-copy") \
	X(104, "tiny-copies") \
	X(105, "repeated-upload") \
	X(106, "generated-upload") \
	X(107, "device-copy-churn") \
	X(201, "sync-in-step") \
	X(202, "hidden-sync") \
	X(203, "read-back-each-step") \
	X(204, "legacy-stream") \
	X(205, "polling") \
	X(301, "unfused-pointwise") \
	X(302, "launch-bound") \
	X(303, "per-tensor-update") \
	X(304, "repeated-small-kernel") \
	X(305, "jit-in-step") \
	X(306, "attention-materialised") \
	X(307, "graph-churn") \
	X(401, "alloc-churn") \
	X(402, "zero-then-write") \
	X(403, "memory-headroom") \
	X(404, "memory-at-limit") \
	X(405, "memory-creep") \
	X(406, "growing-buffers") \
	X(407, "managed-migration") \
	X(408, "pool-trimmed") \
	X(409, "allocator-retry") \
	X(501, "single-process-data-parallel") \
	X(502, "small-collectives") \
	X(503, "exposed-communication") \
	X(504, "straggler") \
	X(505, "reduce-every-microbatch") \
	X(506, "syncbn-cost") \
	X(507, "ranks-diverge") \
	X(508, "unused-parameter-reduce") \
	X(509, "host-collectives") \
	X(510, "rank-device") \
	X(511, "same-batch") \
	X(512, "slow-transport") \
	X(513, "late-gather") \
	X(601, "conv-algo-not-searched") \
	X(602, "search-repeated") \
	X(603, "tensor-cores-idle") \
	X(604, "misaligned-dims") \
	X(605, "bias-before-batchnorm") \
	X(606, "layout-churn") \
	X(607, "training-mode-inference") \
	X(608, "handle-churn") \
	X(609, "dominant-own-kernel") \
	X(610, "lt-choice") \
	X(701, "input-starved") \
	X(702, "data-reread") \
	X(703, "cpu-oversubscribed") \
	X(704, "numa-remote") \
	X(705, "openmp-config") \
	X(706, "malloc-contention") \
	X(707, "debug-switches") \
	X(708, "clocks-dropped") \
	X(709, "checkpoint-stall") \
	X(901, "stale-waiver") \
	X(902, "records-dropped") \
	X(903, "no-gpu-records") \
	X(904, "partial-visibility") \
	X(905, "too-few-steps") \
	X(906, "rewrite-mismatch") \
	X(907, "device-shared") \
	X(910, "failed-calls")
/* clang-format on */

struct tfs_catalogue_row {
	const char *id; /* "TFS102" */
	const char *slug;
};

/* The n-th rule that is not looked for, in order of id; NULL behind the last. Any thread. */
const struct tfs_catalogue_row *tfs_catalogue_unwritten(size_t n);

/* The n-th of all; NULL behind the last. Any thread. */
const struct tfs_catalogue_row *tfs_catalogue_at(size_t n);

#endif
