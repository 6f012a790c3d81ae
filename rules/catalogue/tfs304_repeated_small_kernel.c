/* SPDX-License-Identifier: MIT */
/*
 * TFS304: one small kernel, or one small matrix product, launched again and again in a row on data
 * that lies evenly apart: a loop over the items of a batch that one launch can do. Where one reads
 * what another one writes, as over time in a recurrent net, they have to follow each other.
 */
#include <math.h>
#include <string.h>

#include "rules/device/unseen.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/series.h"
#include "rules/support/figures.h"

#define MANY 32u
/* A kernel is small where it takes no longer than so many of the shortest ones. */
#define SMALL 8
#define MOST_OPERANDS 8u
/* How far the time of one launch for all may be off: it has more to do at once. */
#define GUESS 0.1

/* What a launch works on. */
struct launch {
	struct tfs_operand operands[MOST_OPERANDS];
	unsigned count;
};

static struct launch launch_of(const struct tfs_timeline *timeline, uint32_t call)
{
	struct launch launch = {.count = 0};
	unsigned cursor = 0;

	while (launch.count < MOST_OPERANDS && tfs_operand_next(timeline, &timeline->calls[call],
						       &cursor, &launch.operands[launch.count]))
		launch.count++;
	return launch;
}

static bool factor_seen(const struct tfs_host_call *call, enum tfs_attribute key)
{
	const uint64_t bits = tfs_steady_attribute(call, key, 0);
	double factor;

	memcpy(&factor, &bits, sizeof(factor));
	return !isnan(factor);
}

/* One call for all has one shape, one type and one of each factor; a factor that the device has is
 * not seen. */
static bool same_kind(const struct tfs_host_call *one, const struct tfs_host_call *other)
{
	static const enum tfs_attribute keys[] = {TFS_ATTRIBUTE_launch, TFS_ATTRIBUTE_kernel,
		TFS_ATTRIBUTE_grid, TFS_ATTRIBUTE_block, TFS_ATTRIBUTE_grid_z,
		TFS_ATTRIBUTE_shape_m, TFS_ATTRIBUTE_shape_n, TFS_ATTRIBUTE_shape_k,
		TFS_ATTRIBUTE_alpha, TFS_ATTRIBUTE_beta, TFS_ATTRIBUTE_math,
		TFS_ATTRIBUTE_alignment};

	if (!factor_seen(one, TFS_ATTRIBUTE_alpha) || !factor_seen(one, TFS_ATTRIBUTE_beta))
		return false;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (tfs_steady_attribute(one, keys[i], 0) !=
			tfs_steady_attribute(other, keys[i], 0))
			return false;
	return true;
}

/* How far operands are from those of another launch; false where the two are no pair. */
static bool strides(const struct launch *from, const struct launch *to, bool own,
	int64_t out_strides[MOST_OPERANDS])
{
	bool moves = false;

	if (from->count != to->count)
		return false;
	for (unsigned i = 0; i < from->count; i++) {
		/* Of a kernel of the program it is not known how far it reaches. */
		if (from->operands[i].range != to->operands[i].range ||
			(!own && from->operands[i].bytes != to->operands[i].bytes))
			return false;
		out_strides[i] = (int64_t)(to->operands[i].address - from->operands[i].address);
		moves |= out_strides[i] != 0;
	}
	return moves;
}

/* All that an operand is in a row of launches; how far a kernel of the program reaches is not
 * known: as far as the next one begins. */
static void span(const struct tfs_operand *first, const struct tfs_operand *last, int64_t stride,
	bool own, uint64_t out[2])
{
	const uint64_t reach = own ? (uint64_t)(stride < 0 ? -stride : stride) : first->bytes;
	const bool down = last->address < first->address;

	out[0] = down ? last->address : first->address;
	out[1] = (down ? first->address : last->address) + (reach ? reach : 1);
}

/* Whether launches of a row may read what others of it write; of a product's operands it is known
 * which are written. */
static bool depend(const struct launch *first, const struct launch *last,
	const int64_t steps[MOST_OPERANDS], bool own)
{
	for (unsigned i = 0; i < first->count; i++) {
		const bool writes = first->operands[i].role & TFS_ROLE_WRITE;
		uint64_t mine[2];

		if (!own && !writes)
			continue;
		/* All add to the same, or write over each other. */
		if (!own && steps[i] < (int64_t)first->operands[i].bytes &&
			-steps[i] < (int64_t)first->operands[i].bytes)
			return true;
		span(&first->operands[i], &last->operands[i], steps[i], own, mine);
		for (unsigned j = 0; j < first->count; j++) {
			uint64_t other[2];

			span(&first->operands[j], &last->operands[j], steps[j], own, other);
			if (i != j && mine[0] < other[1] && other[0] < mine[1])
				return true;
		}
	}
	return false;
}

static bool is_own(const struct tfs_steady *steady, const struct tfs_hit *hit)
{
	return steady->timeline->calls[hit->call].family == TFS_FAMILY_launch;
}

/* How many launches from the first one on are on data that lies evenly apart. */
static size_t row_at(const struct tfs_steady *steady, const struct tfs_hit *items, size_t count)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct launch first = launch_of(timeline, items->call);
	const bool own = is_own(steady, items);
	struct launch before = first;
	int64_t steps[MOST_OPERANDS], each[MOST_OPERANDS];
	size_t length = 1;

	for (; length < count; length++) {
		const struct launch next = launch_of(timeline, items[length].call);
		bool even = same_kind(&timeline->calls[items->call],
				    &timeline->calls[items[length].call]) &&
			    strides(&before, &next, own, each);

		for (unsigned i = 0; even && length > 1 && i < first.count; i++)
			even = each[i] == steps[i];
		if (!even)
			break;
		for (unsigned i = 0; length == 1 && i < first.count; i++)
			steps[i] = each[i];
		before = next;
	}
	return length >= MANY && depend(&first, &before, steps, own) ? 1 : length;
}

struct rows {
	struct tfs_hits edits;
	size_t count, launches;
	double merged_ns; /* per step */
};

static bool small(const struct tfs_steady *steady, const struct tfs_series *row)
{
	double ns = 0;

	for (size_t i = 0; i < row->count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[row->items[i].call]);
	return ns <= SMALL * steady->kernel_floor_ns * (double)row->count;
}

static void find_rows(
	const struct tfs_steady *steady, const struct tfs_place *place, struct rows *rows)
{
	for (size_t i = 0; i < place->count;) {
		const struct tfs_series series = tfs_series_at(steady, place, i);
		size_t length;

		for (size_t j = 0; j < series.count; j += length) {
			length = row_at(steady, &series.items[j], series.count - j);
			const struct tfs_series row = {&series.items[j], length};
			const double ns =
				tfs_series_merged_ns(steady, &row, steady->kernel_floor_ns);

			if (length < MANY || !small(steady, &row))
				continue;
			tfs_series_merge(steady, &row, 0, ns, &rows->edits);
			rows->merged_ns += ns / (double)steady->step_count;
			rows->launches += length;
			rows->count++;
		}
		i += series.count;
	}
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, const struct rows *rows)
{
	const bool own = is_own(steady, place->items);
	struct tfs_place merged = *place;
	struct tfs_draft *draft;

	merged.items = rows->edits.items;
	merged.count = rows->edits.count;
	draft = tfs_findings_add(findings, &merged, NULL,
		"%s %s times in a row on data that lies evenly apart; %s %s",
		own ? "launches one kernel" : "multiplies matrices of one shape",
		tfs_figure_count((double)rows->launches / (double)rows->count).text,
		tfs_figure_number(
			(double)rows->count / (double)steady->step_count, "such row", "such rows")
			.text,
		tfs_steady_each(steady));
	if (!draft)
		return;
	draft->less_ns = draft->more_ns = GUESS * rows->merged_ns;
	if (!own)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice =
		"If no launch uses what another one of them writes, let one launch do the work of all: "
		"give the grid one more dimension, over the items, and let each block find its item's data by blockIdx. "
		"In PyTorch: stack the items and call the function once, or torch.vmap.";
}

/* No batch yet. */
static bool multiplies_once(const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_gemm &&
	       !tfs_steady_attribute(call, TFS_ATTRIBUTE_count, 0);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	static const struct tfs_unseen_row unseen = {MANY, SMALL, .same_shape = true};
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if ((call->family == TFS_FAMILY_launch || multiplies_once(call)) &&
			!call->record->status)
			tfs_hits_add(&hits, steady->calls[i], 0, (struct tfs_edit){0});
	}
	while (tfs_hits_next(steady, &hits, &place)) {
		struct rows rows = {.count = 0};

		if (!place.seldom && place.count >= MANY)
			find_rows(steady, &place, &rows);
		if (rows.count)
			report(steady, findings, &place, &rows);
		tfs_hits_finish(&rows.edits);
	}
	if (!tfs_unseen_conclude(findings, before, &unseen, out_verdict))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no small kernel is launched %u times in a row on data that lies evenly apart and could be one launch",
			MANY);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs304 = {
	.id = "TFS304",
	.slug = "repeated-small-kernel",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE | TFS_NEEDS_FAMILIES |
		 TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_LAUNCHES,
	.title = "one small kernel launched for each item",
	.why = "A kernel that works on one item of a batch is over before it has filled the device, and takes a launch of its own. "
	       "A loop over 32 items costs 32 launches and 32 starts; one launch over all items costs one, and runs them side by side.",
	.advice =
		"Multiply all of them with one call: cublasGemmStridedBatchedEx, or the function of its kind for this type, "
		"with the distance from one matrix to the next. "
		"In PyTorch: torch.bmm, or one torch.matmul over a batch dimension.",
	.detect = detect,
};
