/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_BANDWIDTH_H
#define TFS_RULES_EVIDENCE_BANDWIDTH_H

/*
 * How fast this machine moves bytes: measured in the recording where it can be, else from a model
 * of its kind of device.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/evidence/copies.h"

struct tfs_steady;

/* Bytes per nanosecond to the device and from it, between it and pinned memory, as recorded; 0 =
 * not known. Looks through the whole recording: tfs_steady_init() asks once. 0 or -ENOMEM. */
int tfs_copy_pinned_rates(const struct tfs_steady *steady, double out_rates[2]);

/* By what share of its time a copy from or to pinned memory may take longer than is supposed, since
 * the recording has none; 0 = it was measured. */
double tfs_copy_pinned_doubt(const struct tfs_steady *steady);

/* How much shorter such a copy's work on the device is from or to pinned memory; 0 = no shorter, or
 * the copy is tiny or not of pageable memory. */
float tfs_copy_pinned_scale(const struct tfs_steady *steady, const struct tfs_host_call *call,
	const struct tfs_copy *copy);

/* How long work on the device takes that does no more than read or write so many bytes; 0 where it
 * is not known how fast the device's memory is. */
double tfs_memory_pass_ns(const struct tfs_steady *steady, double bytes);

/* The device reads pageable host memory as fast as pinned memory (a recorded fact). */
bool tfs_memory_coherent(const struct tfs_steady *steady);

/* What the shortest recorded kernel takes: the part of a kernel that does not grow with its bytes.
 * tfs_steady_init() asks once. */
double tfs_kernel_floor(const struct tfs_steady *steady);

/* Whether a kernel of this duration may have moved so many bytes, each once and nothing else: what
 * takes longer computes, or reads them again, and what is faster leaves some out. */
bool tfs_memory_paced(const struct tfs_steady *steady, double ns, double bytes);

#endif
