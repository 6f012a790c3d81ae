/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_LT_SEARCH_LT_MEASURE_H
#define TFS_SHIM_REWRITES_LT_SEARCH_LT_MEASURE_H

/*
 * Times a product as the program computes it, and by other answers of cuBLASLt's heuristic: those
 * with the program's workspace, and those with a larger one. Blocks for as long as that takes.
 */

#include "shim/rewrites/search/search_device.h"
#include "shim/state/product.h"

struct tfs_lt_time {
	float median_ms;
	float spread_ms;    /* slowest repeat minus fastest */
	uint64_t workspace; /* bytes that it is given */
};

struct tfs_lt_measured {
	struct tfs_lt_time own, best;
	uint64_t most_workspace; /* that an answer could ask for */
	uint16_t tried;          /* answers */
	bool clear;              /* the best is faster than the program's by more than chance */
	bool first;              /* it is the first answer with the largest workspace */
};

enum tfs_lt_result {
	TFS_LT_DONE,
	TFS_LT_NO_MEMORY, /* the device has not enough left to spare, or the limit is too low */
	TFS_LT_NO_TIME,
	TFS_LT_BUSY,  /* other work came in between */
	TFS_LT_FAILED /* cuBLASLt or the driver refused */
};

/* The device is taken and idle; nothing is begun after `until_ns` of the monotonic clock. The
 * product is one that lt_copy.h and lt_scratch.h can do. */
enum tfs_lt_result tfs_lt_measure(struct tfs_search_device *device,
	const struct tfs_product_call *call, uint64_t until_ns, struct tfs_lt_measured *out);

/* Is the best faster than the program's by a twentieth at least, and in its slowest repeat faster
 * than the program's in its fastest, however these lie around their medians? */
bool tfs_lt_clear(const struct tfs_lt_time *own, const struct tfs_lt_time *best);

/* Is the program's work on the device over, or almost? The device is taken. */
bool tfs_lt_idle(struct tfs_search_device *device, const struct tfs_product_call *call);

/* Are all functions there? The driver is. */
bool tfs_lt_measurable(void);

#endif
