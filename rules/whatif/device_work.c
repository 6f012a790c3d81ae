/* SPDX-License-Identifier: MIT */
#include "rules/whatif/device_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/intervals.h"

enum engine { KERNELS, COPIES_IN, COPIES_OUT, ENGINES };

/* As CUPTI numbers copies. */
#define COPY_TO_DEVICE 1u
#define COPY_TO_HOST 2u
/* Kernels beside which something is copied take longer, by this part of the copy's time at most. */
#define COPY_SHARE 0.2

struct tfs_device_work {
	const struct tfs_steady *steady;
	double *streams; /* per stream: what it has to do, in all steps */
	double *engines; /* per engine: the same */
	double *united;  /* per engine: its time with any operation, as part of their sum */
};

uint32_t tfs_engine_count(const struct tfs_timeline *timeline)
{
	return timeline->device_count * ENGINES;
}

uint32_t tfs_engine_of(const struct tfs_timeline *timeline, const struct tfs_device_op *op)
{
	const uint32_t device =
		op->stream < timeline->stream_count ? timeline->streams[op->stream].device : 0;
	enum engine engine = KERNELS;

	if (op->record->operation == TFS_DEVICE_MEMCPY && op->record->copy_kind == COPY_TO_DEVICE)
		engine = COPIES_IN;
	if (op->record->operation == TFS_DEVICE_MEMCPY && op->record->copy_kind == COPY_TO_HOST)
		engine = COPIES_OUT;
	return device < timeline->device_count ? device * ENGINES + engine : TFS_NONE;
}

/* The share of an engine's summed time in which it had any work; 0 without memory. */
static double united(const struct tfs_timeline *timeline, uint32_t engine)
{
	struct tfs_intervals busy = {0};
	double sum = 0, share;
	int err = 0;

	for (uint32_t i = 0; i < timeline->op_count && !err; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (tfs_engine_of(timeline, op) != engine)
			continue;
		sum += tfs_device_op_ns(op);
		err = tfs_intervals_add(&busy, op->start_ns, op->end_ns);
	}
	tfs_intervals_unite(&busy);
	share = sum > 0 ? (double)tfs_intervals_total(&busy) / sum : 1;
	tfs_intervals_finish(&busy);
	return err ? 0 : share;
}

struct tfs_device_work *tfs_device_work_create(const struct tfs_steady *steady)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t engines = tfs_engine_count(timeline);
	struct tfs_device_work *work = calloc(1, sizeof(*work));
	bool whole = true;

	if (!work)
		return NULL;
	work->steady = steady;
	work->streams = calloc((size_t)timeline->stream_count + 1, sizeof(double));
	work->engines = calloc((size_t)engines + 1, sizeof(double));
	work->united = calloc((size_t)engines + 1, sizeof(double));
	whole = work->streams && work->engines && work->united;
	for (uint32_t i = 0; i < engines && whole; i++) {
		work->united[i] = united(timeline, i);
		whole = work->united[i] > 0;
	}
	if (whole)
		return work;
	tfs_device_work_destroy(work);
	return NULL;
}

void tfs_device_work_destroy(struct tfs_device_work *work)
{
	if (!work)
		return;
	free(work->streams);
	free(work->engines);
	free(work->united);
	free(work);
}

static void add_op(
	struct tfs_device_work *work, const struct tfs_device_op *op, double scale, double *all_ns)
{
	const struct tfs_timeline *timeline = work->steady->timeline;
	const uint32_t engine = tfs_engine_of(timeline, op);
	const double ns = tfs_device_op_ns(op) * scale;

	if (op->stream < timeline->stream_count)
		work->streams[op->stream] += ns;
	if (engine == TFS_NONE)
		return;
	work->engines[engine] += ns * work->united[engine];
	*all_ns += ns * work->united[engine] * (engine % ENGINES == KERNELS ? 1 : COPY_SHARE);
}

struct tfs_work_left tfs_device_work_left(
	struct tfs_device_work *work, const struct tfs_edit *edits)
{
	const struct tfs_steady *steady = work->steady;
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t engines = tfs_engine_count(timeline);
	struct tfs_work_left left = {0};

	memset(work->streams, 0, timeline->stream_count * sizeof(*work->streams));
	memset(work->engines, 0, engines * sizeof(*work->engines));
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const double scale = edits[i].scale > 0 ? (double)edits[i].scale : 1;

		for (uint32_t j = 0; j < call->op_count && !edits[i].gone; j++)
			add_op(work, &timeline->ops[timeline->call_ops[call->first_op + j]], scale,
				&left.all_ns);
	}
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		left.least_ns = fmax(left.least_ns, work->streams[i]);
	for (uint32_t i = 0; i < engines; i++)
		left.least_ns = fmax(left.least_ns, work->engines[i]);
	left.all_ns = fmax(left.all_ns, left.least_ns) / steady->step_count;
	left.least_ns /= steady->step_count;
	return left;
}
