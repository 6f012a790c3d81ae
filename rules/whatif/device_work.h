/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_DEVICE_WORK_H
#define TFS_RULES_WHATIF_DEVICE_WORK_H

/*
 * What the device has to do in a judged step, whatever the host does: no step gets shorter than
 * that. Streams share its engines (one for kernels, one for copies in each direction), whose
 * operations run side by side only as far as the recording shows.
 */

#include "rules/evidence/steady.h"
#include "rules/replay/replay.h"

struct tfs_device_work;

struct tfs_work_left {
	double least_ns; /* of the busiest stream or engine */
	double all_ns;   /* the same where copies slow down what they run beside */
};

/* Engines of all devices, and the one that an operation needs. */
uint32_t tfs_engine_count(const struct tfs_timeline *timeline);
uint32_t tfs_engine_of(const struct tfs_timeline *timeline, const struct tfs_device_op *op);

/* NULL without memory. The caller owns it; the evidence must stay. */
struct tfs_device_work *tfs_device_work_create(const struct tfs_steady *steady);
void tfs_device_work_destroy(struct tfs_device_work *work);

/* Of a step, with an edit for each call of the evidence. */
struct tfs_work_left tfs_device_work_left(
	struct tfs_device_work *work, const struct tfs_edit *edits);

#endif
