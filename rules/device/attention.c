/* SPDX-License-Identifier: MIT */
#include "rules/device/attention.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/device/kernels.h"
#include "rules/device/products.h"
#include "rules/device/used.h"
#include "rules/device/zeroing.h"
#include "rules/timeline/flow.h"

/* Calls behind a product among which the next one is looked for. */
#define MOST_BEHIND 64u
/* Uses of the scores that are looked at. */
#define MOST_USES 64u
/* Fused kernels keep a head's values in registers: none is made for larger ones. */
#define MOST_HEAD 256u
#define WARP 32u

/* An attention whose second product has not come yet. */
struct open {
	struct tfs_attention found;
	struct tfs_product product;
	struct tfs_used values; /* that hold what the products pass, as it is now */
	uint64_t rows;
	bool shared; /* its rows have become shares, for all that is seen */
	bool whole;  /* or may have: a kernel of the program has worked row by row */
	bool blind;  /* a kernel came between of which it was not seen what it works on */
};

/* Rows of scores lie along the first dimension: one for each query, with a score for each key. */
static bool opens(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct open *out_open)
{
	struct tfs_product product;

	if (!tfs_product_describe(timeline, call, &product) ||
		!tfs_product_element(&product, product.result.bytes) || product.k > MOST_HEAD ||
		product.k >= product.m)
		return false;
	*out_open = (struct open){
		.found = {.bytes = (double)product.result.bytes,
			.element_bytes = tfs_product_element(&product, product.result.bytes),
			.opaque = TFS_NONE},
		.product = product,
		.values = {.items = {product.result}, .count = 1},
		.rows = product.n * product.batch,
	};
	return true;
}

static bool holds(const struct open *open, const struct tfs_operand *operand)
{
	for (unsigned i = 0; i < open->values.count; i++)
		if (open->values.items[i].address == operand->address &&
			open->values.items[i].range == operand->range)
			return true;
	return false;
}

static bool overlaps(const struct open *open, const struct tfs_operand *operand)
{
	for (unsigned i = 0; i < open->values.count; i++) {
		const uint64_t first = open->values.items[i].address;

		if (operand->address < first + open->product.result.bytes &&
			first < operand->address + (operand->bytes ? operand->bytes : 1))
			return true;
	}
	return false;
}

static bool touches(const struct open *open, const struct tfs_used *operands)
{
	for (unsigned i = 0; i < operands->count; i++)
		if (overlaps(open, &operands->items[i]))
			return true;
	return false;
}

/* Whether a product sums along the rows of what is passed to it, and gives a head's values for
 * each. Where it was not seen that these are shares, they are as many as the first product sums. */
static bool closes(const struct open *open, const struct tfs_product *product)
{
	const struct tfs_product *from = &open->product;
	const bool first = holds(open, &product->first), second = holds(open, &product->second);
	const struct tfs_operand *passed = first ? &product->first : &product->second;

	const uint64_t rows = first ? product->m : product->n;
	const uint64_t values = first ? product->n : product->m;

	/* A kernel of the program may make narrower values of them. */
	if (first == second || !tfs_product_element(from, passed->bytes) ||
		(!open->found.own && passed->bytes != from->result.bytes) ||
		product->batch != from->batch || product->k != from->m || rows != from->n)
		return false;
	if (open->found.own ? values != from->k : values > MOST_HEAD)
		return false;
	return first ? product->first_transposed : !product->second_transposed;
}

/* Takes a product's factor for what a kernel of which nothing was seen made of the scores, where it
 * may be. */
static bool close_blindly(struct open *open, const struct tfs_product *product)
{
	const struct tfs_operand factors[] = {product->first, product->second};

	for (unsigned i = 0; open->blind && i < 2; i++) {
		struct open guess = *open;

		guess.found.own = true;
		guess.values = (struct tfs_used){.items = {factors[i]}, .count = 1};
		if (!closes(&guess, product))
			continue;
		*open = guess;
		return true;
	}
	return false;
}

static void pass_to(struct open *open, const struct tfs_used *values)
{
	open->values = *values;
	for (unsigned i = 0; i < values->count; i++)
		open->values.items[i].bytes = open->product.result.bytes;
}

/* A call of cuDNN's or cuBLAS's that works on all of the scores. */
static bool add_library(
	struct open *open, const struct tfs_host_call *call, const struct tfs_used *operands)
{
	struct tfs_used written = {.count = 0};
	bool reads = false;

	for (unsigned i = 0; i < operands->count; i++) {
		const struct tfs_operand *operand = &operands->items[i];

		if (overlaps(open, operand) && !holds(open, operand))
			return false;
		reads |= holds(open, operand);
		if (!(operand->role & TFS_ROLE_WRITE))
			continue;
		if (operand->bytes != open->product.result.bytes || operand->range == TFS_NONE)
			return false;
		written.items[written.count++] = *operand;
	}
	if (!reads || written.count != 1)
		return false;
	if (call->family == TFS_FAMILY_softmax) {
		if (tfs_steady_attribute(call, TFS_ATTRIBUTE_row, 0) != open->product.m)
			return false;
		open->shared = true;
	} else if (call->family != TFS_FAMILY_pointwise && call->family != TFS_FAMILY_bias &&
		   call->family != TFS_FAMILY_blas_pointwise) {
		return false;
	}
	pass_to(open, &written);
	return true;
}

static uint64_t product_of(uint64_t pair)
{
	return (pair & 0xffffffff) * (pair >> 32);
}

/* A block, a warp or a thread for each row, and not one for each element. */
static bool by_rows(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call, uint64_t rows)
{
	const uint64_t deep = tfs_steady_attribute(call, TFS_ATTRIBUTE_grid_z, 1 | 1ull << 32);
	const uint64_t blocks =
		product_of(tfs_steady_attribute(call, TFS_ATTRIBUTE_grid, 0)) * (deep & 0xffffffff);
	const uint64_t block =
		product_of(tfs_steady_attribute(call, TFS_ATTRIBUTE_block, 0)) * (deep >> 32);
	struct tfs_kernel_shape shape;

	if (!block || tfs_kernel_elementwise(timeline, call, &shape))
		return false;
	return blocks == rows || blocks == (rows * WARP + block - 1) / block ||
	       blocks == (rows + block - 1) / block;
}

/* A kernel of the program that names them. What it may write, of their size, may be what it makes
 * of them. */
static bool add_own(const struct tfs_timeline *timeline, struct open *open,
	const struct tfs_host_call *call, const struct tfs_used *operands)
{
	struct tfs_used written = {.count = 0};
	bool named = false;

	for (unsigned i = 0; i < operands->count; i++) {
		const struct tfs_operand *operand = &operands->items[i];
		const struct tfs_allocation *range;

		named |= holds(open, operand);
		if (operand->range == TFS_NONE ||
			!(operand->role & (TFS_ROLE_WRITE | TFS_ROLE_MAYBE)))
			continue;
		range = &timeline->ranges[operand->range];
		if (range->address + range->bytes - operand->address >=
			tfs_product_elements(&open->product) * TFS_PRODUCT_NARROWEST)
			written.items[written.count++] = *operand;
	}
	if (!named || !written.count)
		return false;
	open->found.own = true;
	/* One that has to read a row whole is a softmax, for all that is seen; the scores are as
	 * many as there are queries and keys, which are those of one sequence. */
	open->whole |= by_rows(timeline, call, open->rows);
	open->shared |= open->product.m == open->product.n && open->whole;
	pass_to(open, &written);
	return true;
}

/* Whether something reads this before it is written anew. */
static enum tfs_kept kept(
	const struct tfs_timeline *timeline, uint32_t call, const struct tfs_operand *value)
{
	const uint64_t offset = value->address - timeline->ranges[value->range].address;

	for (unsigned i = 0; i < MOST_USES; i++) {
		const struct tfs_access *use = tfs_flow_after(timeline, call, value->range, offset,
			value->bytes, TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_MAYBE);

		if (!use || tfs_zeros_replaced(timeline, &timeline->calls[use->call], value))
			return TFS_KEPT_NOT;
		/* How far a kernel reaches from elsewhere is not known. */
		if (use->role & TFS_ROLE_READ && (use->bounded || use->offset == offset))
			return TFS_KEPT_READ;
		if (use->role & (TFS_ROLE_READ | TFS_ROLE_MAYBE))
			return TFS_KEPT_PERHAPS;
		call = use->call;
	}
	return TFS_KEPT_PERHAPS;
}

static void add_call(struct tfs_attention *attention, uint32_t call)
{
	attention->calls[attention->count++] = call;
}

static void close_with(const struct tfs_timeline *timeline, struct open *open, uint32_t call,
	const struct tfs_product *product)
{
	const struct tfs_operand *shares =
		holds(open, &product->first) ? &product->first : &product->second;
	const bool apart = shares->address != open->product.result.address;

	add_call(&open->found, call);
	open->found.values = 1 + apart;
	open->found.bytes = (open->found.bytes + (double)shares->bytes) / 2;
	open->found.element_bytes = tfs_product_element(&open->product, shares->bytes);
	open->found.shares = shares->address;
	open->found.range = shares->range;
	open->found.kept = kept(timeline, call, shares);
	if (apart && kept(timeline, call, &open->product.result) > open->found.kept)
		open->found.kept = kept(timeline, call, &open->product.result);
}

enum then { THEN_GO_ON, THEN_END, THEN_FOUND };

/* What the next work of the stream means to an attention. */
static enum then go_on(const struct tfs_timeline *timeline, struct open *open, uint32_t index)
{
	const struct tfs_host_call *call = &timeline->calls[index];
	const struct tfs_used operands = tfs_used_by(timeline, call);
	struct tfs_product product;
	const bool multiplies = tfs_product_describe(timeline, call, &product);

	if (call->record->status)
		return THEN_END;
	if (call->family == TFS_FAMILY_launch) {
		if (!touches(open, &operands)) {
			open->found.opaque = index;
			open->blind |= tfs_kernel_unseen(timeline, call);
			return THEN_GO_ON;
		}
		if (!add_own(timeline, open, call, &operands))
			return THEN_END;
	} else if (tfs_zeros_opaque(timeline, call)) {
		open->found.opaque = index;
		return THEN_GO_ON;
	} else if (multiplies && close_blindly(open, &product)) {
		close_with(timeline, open, index, &product);
		return THEN_FOUND;
	} else if (!touches(open, &operands)) {
		return THEN_GO_ON;
	} else if (multiplies) {
		if (!(open->shared || open->whole) || !closes(open, &product))
			return THEN_END;
		open->found.guessed = !open->shared;
		close_with(timeline, open, index, &product);
		return THEN_FOUND;
	} else if (!add_library(open, call, &operands)) {
		return THEN_END;
	}
	add_call(&open->found, index);
	return open->found.count + 1 < TFS_ATTENTION_CALLS ? THEN_GO_ON : THEN_END;
}

static bool find_from(const struct tfs_steady *steady, uint32_t nth, struct open *open)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *first = tfs_steady_call(steady, nth);

	add_call(&open->found, steady->calls[nth]);
	for (uint32_t i = nth + 1; i < steady->call_count && i <= nth + MOST_BEHIND; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		enum then then;

		if (call->step != first->step)
			return false;
		if (!tfs_family_submits(call->family) && !call->op_count)
			continue;
		if (steady->waits[i].stream != steady->waits[nth].stream) {
			const struct tfs_used operands = tfs_used_by(timeline, call);

			if (touches(open, &operands))
				return false;
			if (tfs_zeros_opaque(timeline, call))
				open->found.opaque = steady->calls[i];
			continue;
		}
		then = go_on(timeline, open, steady->calls[i]);
		if (then != THEN_GO_ON)
			return then == THEN_FOUND;
	}
	return false;
}

/* What goes back through an attention reads its shares between products of the same shapes. */
static bool goes_back(const struct tfs_steady *steady, const struct tfs_attentions *earlier,
	const struct tfs_attention *attention)
{
	const struct tfs_timeline *timeline = steady->timeline;

	for (uint32_t i = 1; i + 1 < attention->count; i++) {
		const struct tfs_used operands =
			tfs_used_by(timeline, &timeline->calls[attention->calls[i]]);

		for (size_t j = earlier->count; j-- > 0;) {
			const struct tfs_attention *other = &earlier->items[j];

			if (timeline->calls[other->calls[0]].step !=
				timeline->calls[attention->calls[0]].step)
				break;
			for (unsigned k = 0; k < operands.count; k++)
				if (operands.items[k].address == other->shares &&
					operands.items[k].range == other->range &&
					other->shares != attention->shares)
					return true;
		}
	}
	return false;
}

static struct tfs_attention *more(struct tfs_attentions *attentions)
{
	if (attentions->count == attentions->room) {
		size_t room = attentions->room ? attentions->room * 2 : 64;
		struct tfs_attention *items = realloc(attentions->items, room * sizeof(*items));

		if (!items)
			return NULL;
		attentions->items = items;
		attentions->room = room;
	}
	return &attentions->items[attentions->count++];
}

int tfs_attentions_find(const struct tfs_steady *steady, struct tfs_attentions *out_attentions)
{
	const bool unseen = tfs_zeros_any_opaque(steady);

	memset(out_attentions, 0, sizeof(*out_attentions));
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_attention *next;
		struct open open;

		if (tfs_product_batched(call) &&
			!(tfs_steady_attribute(call, TFS_ATTRIBUTE_alignment, 0) &
				TFS_PRODUCT_ORDERED))
			out_attentions->unordered_ns += tfs_steady_device_ns(steady, call);
		if (!opens(steady->timeline, call, &open) || !find_from(steady, i, &open) ||
			goes_back(steady, out_attentions, &open.found))
			continue;
		next = more(out_attentions);
		if (!next) {
			tfs_attentions_finish(out_attentions);
			return -ENOMEM;
		}
		*next = open.found;
		if (unseen && next->kept == TFS_KEPT_NOT)
			next->kept = TFS_KEPT_PERHAPS;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = ((const struct tfs_attention *)a)->calls[0];
	const uint32_t y = ((const struct tfs_attention *)b)->calls[0];

	return (x > y) - (x < y);
}

const struct tfs_attention *tfs_attentions_at(
	const struct tfs_attentions *attentions, uint32_t call)
{
	const struct tfs_attention key = {.calls = {call}};

	return bsearch(&key, attentions->items, attentions->count, sizeof(key), compare);
}

double tfs_attention_call_ns(
	const struct tfs_steady *steady, const struct tfs_attention *attention, uint32_t nth)
{
	return tfs_steady_device_ns(steady, &steady->timeline->calls[attention->calls[nth]]);
}

double tfs_attention_ns(const struct tfs_steady *steady, const struct tfs_attention *attention)
{
	double ns = 0;

	for (uint32_t i = 0; i < attention->count; i++)
		ns += tfs_attention_call_ns(steady, attention, i);
	return ns;
}

void tfs_attentions_finish(struct tfs_attentions *attentions)
{
	free(attentions->items);
	memset(attentions, 0, sizeof(*attentions));
}
