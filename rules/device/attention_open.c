/* SPDX-License-Identifier: MIT */
#include "rules/device/attention_open.h"

#include "rules/device/kernels.h"
#include "rules/device/zeroing.h"
#include "rules/timeline/flow.h"

/* Uses of the scores that are looked at. */
#define MOST_USES 64u
/* Fused kernels keep a head's values in registers: none is made for larger ones. */
#define MOST_HEAD 256u
#define WARP 32u

/* Rows of scores lie along the first dimension: one for each query, with a score for each key. */
bool tfs_attention_opens(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_attention_open *out_open)
{
	struct tfs_product product;

	if (!tfs_product_describe(timeline, call, &product) ||
		!tfs_product_element(&product, product.result.bytes) || product.k > MOST_HEAD ||
		product.k >= product.m)
		return false;
	*out_open = (struct tfs_attention_open){
		.found = {.bytes = (double)product.result.bytes,
			.element_bytes = tfs_product_element(&product, product.result.bytes),
			.opaque = TFS_NONE},
		.product = product,
		.values = {.items = {product.result}, .count = 1},
		.rows = product.n * product.batch,
	};
	return true;
}

static bool holds(const struct tfs_attention_open *open, const struct tfs_operand *operand)
{
	for (unsigned i = 0; i < open->values.count; i++)
		if (open->values.items[i].address == operand->address &&
			open->values.items[i].range == operand->range)
			return true;
	return false;
}

static bool overlaps(const struct tfs_attention_open *open, const struct tfs_operand *operand)
{
	for (unsigned i = 0; i < open->values.count; i++) {
		const uint64_t first = open->values.items[i].address;

		if (operand->address < first + open->product.result.bytes &&
			first < operand->address + (operand->bytes ? operand->bytes : 1))
			return true;
	}
	return false;
}

bool tfs_attention_touches(const struct tfs_attention_open *open, const struct tfs_used *operands)
{
	for (unsigned i = 0; i < operands->count; i++)
		if (overlaps(open, &operands->items[i]))
			return true;
	return false;
}

/* Whether a product sums along the rows of what is passed to it, and gives a head's values for
 * each. Where it was not seen that these are shares, they are as many as the first product sums. */
static bool closes(const struct tfs_attention_open *open, const struct tfs_product *product)
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
static bool close_blindly(struct tfs_attention_open *open, const struct tfs_product *product)
{
	const struct tfs_operand factors[] = {product->first, product->second};

	for (unsigned i = 0; open->blind && i < 2; i++) {
		struct tfs_attention_open guess = *open;

		guess.found.own = true;
		guess.values = (struct tfs_used){.items = {factors[i]}, .count = 1};
		if (!closes(&guess, product))
			continue;
		*open = guess;
		return true;
	}
	return false;
}

static void pass_to(struct tfs_attention_open *open, const struct tfs_used *values)
{
	open->values = *values;
	for (unsigned i = 0; i < values->count; i++)
		open->values.items[i].bytes = open->product.result.bytes;
}

/* A call of cuDNN's or cuBLAS's that works on all of the scores. */
static bool add_library(struct tfs_attention_open *open, const struct tfs_host_call *call,
	const struct tfs_used *operands)
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
static bool add_own(const struct tfs_timeline *timeline, struct tfs_attention_open *open,
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

void tfs_attention_add(struct tfs_attention *attention, uint32_t call)
{
	attention->calls[attention->count++] = call;
}

static void close_with(const struct tfs_timeline *timeline, struct tfs_attention_open *open,
	uint32_t call, const struct tfs_product *product)
{
	const struct tfs_operand *shares =
		holds(open, &product->first) ? &product->first : &product->second;
	const bool apart = shares->address != open->product.result.address;

	tfs_attention_add(&open->found, call);
	open->found.values = 1 + apart;
	open->found.bytes = (open->found.bytes + (double)shares->bytes) / 2;
	open->found.element_bytes = tfs_product_element(&open->product, shares->bytes);
	open->found.shares = shares->address;
	open->found.range = shares->range;
	open->found.kept = kept(timeline, call, shares);
	if (apart && kept(timeline, call, &open->product.result) > open->found.kept)
		open->found.kept = kept(timeline, call, &open->product.result);
}

/* What the next work of the stream means to an attention. */
enum tfs_attention_then tfs_attention_go_on(
	const struct tfs_timeline *timeline, struct tfs_attention_open *open, uint32_t index)
{
	const struct tfs_host_call *call = &timeline->calls[index];
	const struct tfs_used operands = tfs_used_by(timeline, call);
	struct tfs_product product;
	const bool multiplies = tfs_product_describe(timeline, call, &product);

	if (call->record->status)
		return TFS_THEN_END;
	if (call->family == TFS_FAMILY_launch) {
		if (!tfs_attention_touches(open, &operands)) {
			open->found.opaque = index;
			open->blind |= tfs_kernel_unseen(timeline, call);
			return TFS_THEN_GO_ON;
		}
		if (!add_own(timeline, open, call, &operands))
			return TFS_THEN_END;
	} else if (tfs_zeros_opaque(timeline, call)) {
		open->found.opaque = index;
		return TFS_THEN_GO_ON;
	} else if (multiplies && close_blindly(open, &product)) {
		close_with(timeline, open, index, &product);
		return TFS_THEN_FOUND;
	} else if (!tfs_attention_touches(open, &operands)) {
		return TFS_THEN_GO_ON;
	} else if (multiplies) {
		if (!(open->shared || open->whole) || !closes(open, &product))
			return TFS_THEN_END;
		open->found.guessed = !open->shared;
		close_with(timeline, open, index, &product);
		return TFS_THEN_FOUND;
	} else if (!add_library(open, call, &operands)) {
		return TFS_THEN_END;
	}
	tfs_attention_add(&open->found, index);
	return open->found.count + 1 < TFS_ATTENTION_CALLS ? TFS_THEN_GO_ON : TFS_THEN_END;
}
