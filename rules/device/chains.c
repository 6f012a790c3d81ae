/* SPDX-License-Identifier: MIT */
#include "rules/device/chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/device/kernels.h"
#include "rules/evidence/bandwidth.h"
#include "rules/timeline/flow.h"

/* An elementwise call: what it reads and writes. */
struct step {
	uint32_t call;
	bool own;
	bool clear; /* which operand it writes is known */
	double traffic;
	uint64_t count; /* own kernels: elements */
	struct tfs_operand written;
	struct tfs_operand read[TFS_KERNEL_POINTERS];
	uint32_t reads;
};

static bool elementwise(uint16_t family)
{
	return family == TFS_FAMILY_pointwise || family == TFS_FAMILY_bias ||
	       family == TFS_FAMILY_activation || family == TFS_FAMILY_blas_pointwise;
}

static bool describe_library(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct step *out_step)
{
	struct tfs_operand operand;
	unsigned cursor = 0;
	bool found = false;

	if (call->record->status || !elementwise(call->family))
		return false;
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		uint64_t beta = tfs_steady_attribute(call, TFS_ATTRIBUTE_beta, 0);
		bool reads = operand.role & TFS_ROLE_READ, writes = operand.role & TFS_ROLE_WRITE;

		/* beta's bits are zero for +0.0 only. */
		reads |= writes && beta;
		out_step->traffic += (double)operand.bytes * (reads + writes);
		if (reads && out_step->reads < TFS_KERNEL_POINTERS)
			out_step->read[out_step->reads++] = operand;
		if (writes) {
			out_step->written = operand;
			found = true;
		}
	}
	/* Memory that is set without being read ends no chain. */
	out_step->clear = true;
	return found && out_step->reads;
}

/* Whether an earlier call of its step wrote what a kernel writes, so that it may read that too. */
static bool written_before(
	const struct tfs_timeline *timeline, uint32_t call, const struct tfs_operand *operand)
{
	const struct tfs_access *before = tfs_flow_writer(timeline, call, operand);

	return before && timeline->calls[before->call].step == timeline->calls[call].step;
}

/* One operand of full size that it may write, no other memory that it may: then that one is
 * written. A kernel that writes what nothing wrote before it takes its values from elsewhere, and
 * from which elements (neighbours, sums, another order) is not seen. */
static bool in_place(const struct tfs_timeline *timeline, uint32_t index,
	const struct tfs_kernel_shape *shape, uint32_t *out_written)
{
	const struct tfs_host_call *call = &timeline->calls[index];
	struct tfs_operand operand;
	unsigned cursor = 0, written = 0;

	while (tfs_operand_next(timeline, call, &cursor, &operand))
		written += (operand.role & TFS_ROLE_MAYBE) != 0;
	if (written != 1)
		return false;
	for (uint32_t i = 0; i < shape->full_count; i++) {
		if (!(shape->full[i].role & TFS_ROLE_MAYBE))
			continue;
		*out_written = i;
		return shape->full_count == 1 || written_before(timeline, index, &shape->full[i]);
	}
	return false;
}

static bool describe_own(const struct tfs_steady *steady, uint32_t index, struct step *out_step)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[index];
	struct tfs_kernel_shape shape;
	struct tfs_operand ignored;
	uint32_t written = TFS_NONE;

	if (!steady->activity || !tfs_kernel_elementwise(timeline, call, &shape) ||
		tfs_kernel_fills_zero(timeline, call, &ignored))
		return false;
	out_step->own = true;
	out_step->count = shape.count;
	out_step->clear = in_place(timeline, index, &shape, &written);
	out_step->traffic = (double)shape.bytes * (shape.full_count + out_step->clear);
	if (!tfs_memory_paced(steady, tfs_steady_device_ns(steady, call), out_step->traffic))
		return false;
	if (out_step->clear)
		out_step->written = shape.full[written];
	for (uint32_t i = 0; i < shape.full_count; i++)
		out_step->read[out_step->reads++] = shape.full[i];
	return true;
}

static bool describe(const struct tfs_steady *steady, uint32_t index, struct step *out_step)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[index];

	memset(out_step, 0, sizeof(*out_step));
	out_step->call = index;
	return describe_library(timeline, call, out_step) || describe_own(steady, index, out_step);
}

static bool same_place(const struct tfs_operand *a, const struct tfs_operand *b)
{
	return a->range != TFS_NONE && a->range == b->range && a->address == b->address &&
	       (a->bytes == b->bytes || !a->bytes || !b->bytes);
}

/* Whether `next` reads what `step` wrote. */
static bool reads(const struct step *step, const struct step *next)
{
	for (uint32_t i = 0; i < next->reads && step->clear; i++)
		if (same_place(&step->written, &next->read[i]))
			return true;
	return false;
}

/* Whether something else, on whichever stream, uses what `step` wrote before `next` may. */
static bool used_between(
	const struct tfs_timeline *timeline, const struct step *step, const struct step *next)
{
	const struct tfs_access *first =
		step->clear ? tfs_flow_next_use(timeline, step->call, &step->written) : NULL;

	return first && first->call != next->call;
}

/* And, of what `step` wrote, no more than the element that it writes itself. */
static bool links(const struct step *step, const struct step *next)
{
	if (step->own && next->own && step->count != next->count)
		return false;
	return next->own ? next->clear && step->clear && same_place(&step->written, &next->written)
			 : reads(step, next);
}

/* Whether two steps that make no chain may be one: what an own kernel reads is all it may write. */
static bool meets(const struct step *step, const struct step *next)
{
	if (!(step->own || next->own) || (step->own && next->own && step->count != next->count))
		return false;
	for (uint32_t i = 0; i < step->reads && step->own; i++)
		for (uint32_t j = 0; j < next->reads; j++)
			if (same_place(&step->read[i], &next->read[j]))
				return true;
	return reads(step, next);
}

/* Whether the value between two steps is gone once the second one has read it. */
static bool passing(
	const struct tfs_timeline *timeline, const struct step *step, const struct step *next)
{
	const struct tfs_operand *value = &step->written;
	const struct tfs_access *later;

	if (same_place(value, &next->written))
		return true;
	later = tfs_flow_next_use(timeline, next->call, value);
	return later && !(later->role & (TFS_ROLE_READ | TFS_ROLE_MAYBE)) &&
	       later->bytes >= value->bytes;
}

static struct tfs_chain *chain_new(struct tfs_chains *chains)
{
	if (chains->count == chains->room) {
		size_t room = chains->room ? chains->room * 2 : 64;
		struct tfs_chain *items = realloc(chains->items, room * sizeof(*items));

		if (!items)
			return NULL;
		chains->items = items;
		chains->room = room;
	}
	memset(&chains->items[chains->count], 0, sizeof(*chains->items));
	return &chains->items[chains->count++];
}

/* The steps of a chain that is still growing, per stream. */
struct open {
	struct step last;
	struct tfs_chain chain;
	bool any;
};

static int close_chain(struct tfs_chains *chains, struct open *open)
{
	struct tfs_chain *chain;

	if (open->any && open->chain.count > 1) {
		chain = chain_new(chains);
		if (!chain)
			return -ENOMEM;
		*chain = open->chain;
	}
	open->any = false;
	return 0;
}

static void start_chain(
	const struct tfs_timeline *timeline, struct open *open, const struct step *step)
{
	const struct tfs_access *before =
		step->reads ? tfs_flow_writer(timeline, step->call, &step->read[step->reads - 1])
			    : NULL;

	memset(&open->chain, 0, sizeof(open->chain));
	open->any = true;
	open->chain.calls[0] = step->call;
	open->chain.count = 1;
	open->chain.traffic = step->traffic;
	open->chain.before = before ? before->call : TFS_NONE;
	open->chain.own = step->own;
	open->last = *step;
}

static void extend_chain(
	const struct tfs_timeline *timeline, struct open *open, const struct step *step)
{
	double bytes = (double)open->last.written.bytes;
	bool passes = passing(timeline, &open->last, step);

	open->chain.kept |= !passes;
	open->chain.removable += bytes * (1 + passes);
	open->chain.calls[open->chain.count++] = step->call;
	open->chain.traffic += step->traffic;
	open->chain.own |= step->own;
	open->last = *step;
}

static int compare_chains(const void *a, const void *b)
{
	uint32_t x = ((const struct tfs_chain *)a)->calls[0];
	uint32_t y = ((const struct tfs_chain *)b)->calls[0];

	return (x > y) - (x < y);
}

const struct tfs_chain *tfs_chains_at(const struct tfs_chains *chains, uint32_t call)
{
	struct tfs_chain key = {.calls = {call}};

	return bsearch(&key, chains->items, chains->count, sizeof(key), compare_chains);
}

double tfs_chain_ns(const struct tfs_steady *steady, const struct tfs_chain *chain)
{
	double ns = 0;

	for (uint32_t i = 0; i < chain->count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[chain->calls[i]]);
	return ns;
}

double tfs_chain_needless(const struct tfs_chain *chain)
{
	return chain->traffic > 0 ? chain->removable / chain->traffic : 0;
}

int tfs_chains_find(const struct tfs_steady *steady, struct tfs_chains *out_chains)
{
	const struct tfs_timeline *timeline = steady->timeline;
	size_t streams = (size_t)timeline->stream_count + 1;
	struct open *open = calloc(streams, sizeof(*open));
	int err = open ? 0 : -ENOMEM;

	memset(out_chains, 0, sizeof(*out_chains));
	for (uint32_t i = 0; i < steady->call_count && !err; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		uint32_t stream = steady->waits[i].stream;
		struct open *at = &open[stream < timeline->stream_count ? stream : streams - 1];
		struct step step;

		if (!tfs_family_submits(call->family))
			continue;
		if (!describe(steady, steady->calls[i], &step)) {
			err = close_chain(out_chains, at);
			continue;
		}
		if (at->any && used_between(timeline, &at->last, &step))
			err = close_chain(out_chains, at);
		if (at->any && at->chain.count < TFS_CHAIN_CALLS && links(&at->last, &step)) {
			extend_chain(timeline, at, &step);
			continue;
		}
		if (at->any && meets(&at->last, &step)) {
			out_chains->unclear++;
			out_chains->unclear_ns +=
				(tfs_steady_device_ns(steady, &timeline->calls[at->last.call]) +
					tfs_steady_device_ns(steady, call)) /
				2;
		}
		err = err ? err : close_chain(out_chains, at);
		start_chain(timeline, at, &step);
	}
	for (size_t i = 0; i < streams && !err; i++)
		err = close_chain(out_chains, &open[i]);
	free(open);
	if (err)
		tfs_chains_finish(out_chains);
	else if (out_chains->count)
		qsort(out_chains->items, out_chains->count, sizeof(*out_chains->items),
			compare_chains);
	return err;
}

void tfs_chains_finish(struct tfs_chains *chains)
{
	free(chains->items);
	memset(chains, 0, sizeof(*chains));
}
