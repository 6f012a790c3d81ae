/* SPDX-License-Identifier: MIT */
/*
 * TFS403: most of the device is idle in the kernels of a step, and most of its memory too: they
 * have fewer blocks than the device has multiprocessors, so that some of these have nothing to do,
 * for certain. A larger batch has more of them.
 */
#include <math.h>

#include "rules/evidence/findings.h"
#include "rules/evidence/memory_use.h"
#include "rules/support/figures.h"
#include "rules/support/intervals.h"

#define MEMORY_SHARE 0.5
/* Of the GPU's time in kernels. */
#define SMALL_SHARE 0.5
/* Of their time kernels may run side by side, and fill the device together. */
#define BESIDE_SHARE 0.05
/* No advice goes further at once. */
#define MOST_TIMES 16.0

struct filling {
	double all_ns;    /* in kernels */
	double small_ns;  /* in those that leave multiprocessors without a block */
	double filled_ns; /* of that, by the share of multiprocessors that have one */
	double beside_ns; /* that pass beside another kernel */
};

static void add(const struct tfs_device_op *op, uint32_t multiprocessors, struct filling *filling)
{
	const uint32_t *grid = op->record->grid;
	const double blocks = (double)grid[0] * grid[1] * grid[2], ns = tfs_device_op_ns(op);

	if (op->record->operation != TFS_DEVICE_KERNEL || blocks <= 0)
		return;
	filling->all_ns += ns;
	if (blocks >= multiprocessors)
		return;
	filling->small_ns += ns;
	filling->filled_ns += ns * blocks / multiprocessors;
}

/* 0 or -ENOMEM. */
static int look(const struct tfs_steady *steady, uint32_t multiprocessors, struct filling *filling)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_intervals all = {0};
	int err = 0;

	*filling = (struct filling){0};
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		for (uint32_t j = 0; j < call->op_count && !err; j++) {
			const struct tfs_device_op *op =
				&timeline->ops[timeline->call_ops[call->first_op + j]];

			add(op, multiprocessors, filling);
			if (op->record->operation == TFS_DEVICE_KERNEL)
				err = tfs_intervals_add(&all, op->start_ns, op->end_ns);
		}
	}
	tfs_intervals_unite(&all);
	filling->beside_ns = filling->all_ns - (double)tfs_intervals_total(&all);
	tfs_intervals_finish(&all);
	return err;
}

/* How many times as large a batch may be, by both. */
static double times_of(const struct filling *filling, double most, double memory)
{
	const double blocks = filling->small_ns / filling->filled_ns;

	return floor(fmin(fmin(blocks, MOST_TIMES), most > 0 ? memory / most : MOST_TIMES));
}

static void conclude(const struct tfs_steady *steady, struct tfs_findings *findings,
	uint32_t multiprocessors, double most, struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	const double memory = tfs_memory_of_device(steady->timeline);
	struct filling filling;

	if (look(steady, multiprocessors, &filling)) {
		findings->failed = true;
		return;
	}
	const double share = filling.all_ns > 0 ? filling.small_ns / filling.all_ns : 0;
	const double times = filling.filled_ns > 0 ? times_of(&filling, most, memory) : 1;
	const bool beside = filling.beside_ns > BESIDE_SHARE * filling.all_ns;

	if (!beside && share >= SMALL_SHARE && most < MEMORY_SHARE * memory && times >= 2)
		tfs_findings_note(findings,
			"%s of the kernels' time passes in those of fewer blocks than the device has multiprocessors (%s), and %s of its %s of memory are in use at most: a batch up to %s times as large may take hardly longer",
			tfs_figure_share(share).text, tfs_figure_count(multiprocessors).text,
			tfs_figure_bytes(most).text, tfs_figure_bytes(memory).text,
			tfs_figure_count(times).text);
	if (share < SMALL_SHARE)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"%s of the kernels' time passes in those of fewer blocks than the device has multiprocessors",
			tfs_figure_share(share).text);
	else if (beside)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"small kernels run side by side for %s of the kernels' time; how full they leave the device together was not recorded",
			tfs_figure_share(filling.beside_ns / filling.all_ns).text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"there is no room for a batch twice as large: %s of the device's %s of memory are in use at most",
			tfs_figure_bytes(most).text, tfs_figure_bytes(memory).text);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_file_header *header = tfs_trace_header(timeline->trace);
	const double most = tfs_memory_most(steady);

	if (most < 0) {
		findings->failed = true;
		return;
	}
	if (tfs_memory_of_device(timeline) <= 0 || !timeline->devices[0].record->multiprocessors)
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			timeline->device_count > 1
				? "which of several devices memory belongs to was not recorded"
				: "how large the device is was not recorded");
	else if (header->lost[TFS_LOSS_ranges_full])
		tfs_verdict_set(out_verdict, findings, findings->count, TFS_STATE_NOT_MEASURABLE,
			"not all allocations were followed");
	else
		conclude(steady, findings, timeline->devices[0].record->multiprocessors, most,
			out_verdict);
}

const struct tfs_rule tfs_rule_tfs403 = {
	.id = "TFS403",
	.slug = "memory-headroom",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_DEVICE |
		 TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_MEMORY,
	.title = "the device has room for a larger batch",
	.why = "A kernel of fewer blocks than there are multiprocessors leaves some of them idle, and with a larger batch takes hardly longer. "
	       "What counts as in use is what the program allocates itself: allocators that reserve memory in advance show as what they reserve.",
	.advice =
		"Try a larger batch, and compare what is learned from as many samples, not from as many steps: "
		"let the learning rate grow with the batch, after some hundred steps of warm-up; for very large batches there are LARS and LAMB. "
		"Kernels that do not depend on the batch gain nothing. "
		"In PyTorch: batch_size of the DataLoader.",
	.detect = detect,
};
