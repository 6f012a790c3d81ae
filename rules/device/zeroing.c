/* SPDX-License-Identifier: MIT */
#include "rules/device/zeroing.h"

#include <string.h>

#include "rules/device/kernels.h"
#include "rules/device/plans.h"
#include "rules/device/untouched.h"
#include "rules/timeline/flow.h"

#define MOST_USES 4096u
#define ANY_USE (TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_MAYBE)

/* A product of a vector, without gaps, and 0. */
static bool scaled_to_zero(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_operand *out_target)
{
	const uint64_t count = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_m, 0);
	const uint64_t alpha = tfs_steady_attribute(call, TFS_ATTRIBUTE_alpha, 1);
	unsigned cursor = 0;

	/* The bits of both zeros but the sign. What is added to another vector is not written. */
	return (call->family == TFS_FAMILY_blas_pointwise || call->family == TFS_FAMILY_blas) &&
	       !(alpha << 1) && tfs_operand_next(timeline, call, &cursor, out_target) &&
	       out_target->role & TFS_ROLE_WRITE &&
	       (out_target->bytes == count * 4 || out_target->bytes == count * 8);
}

bool tfs_zero_fill_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_zero_fill *out_fill)
{
	struct tfs_zero_fill fill = {0};
	unsigned cursor = 0;

	if (call->record->status)
		return false;
	if (call->family == TFS_FAMILY_launch) {
		fill.by_kernel = true;
		if (!tfs_kernel_fills_zero(timeline, call, &fill.target))
			return false;
	} else if (call->family == TFS_FAMILY_set || call->family == TFS_FAMILY_set_async) {
		if (tfs_steady_attribute(call, TFS_ATTRIBUTE_value, 1) != 0 ||
			!tfs_operand_next(timeline, call, &cursor, &fill.target))
			return false;
	} else if (!scaled_to_zero(timeline, call, &fill.target)) {
		return false;
	}
	*out_fill = fill;
	return fill.target.range != TFS_NONE && fill.target.bytes > 0;
}

static double attribute_double(const struct tfs_host_call *call, enum tfs_attribute key)
{
	uint64_t bits = tfs_steady_attribute(call, key, 0);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Whether a convolution's result lies in memory without holes. */
static bool dense(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	bool data = call->family == TFS_FAMILY_conv_backward_data;
	int32_t field[TFS_PROBLEM_FIELD_COUNT];
	int64_t reach = 1, elements = 1;

	if (call->family != TFS_FAMILY_conv_forward && call->family != TFS_FAMILY_conv_fused &&
		!data)
		return true;
	if (!tfs_trace_problem(timeline->trace,
		    (uint32_t)tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0), field))
		return true;
	for (unsigned i = 0; i < 4; i++) {
		static const uint8_t sizes[2][4] = {
			{TFS_PROBLEM_n, TFS_PROBLEM_k, TFS_PROBLEM_out_h, TFS_PROBLEM_out_w},
			{TFS_PROBLEM_n, TFS_PROBLEM_c, TFS_PROBLEM_h, TFS_PROBLEM_w}};
		int64_t size = field[sizes[data][i]];
		int64_t stride =
			field[(data ? TFS_PROBLEM_x_stride_n : TFS_PROBLEM_y_stride_n) + i];

		reach += (size - 1) * stride;
		elements *= size;
	}
	return reach == elements;
}

static bool copies(const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_copy || call->family == TFS_FAMILY_copy_async;
}

/* A result whose rows or columns have room between them is written in part. */
static bool packed(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_operand *target)
{
	uint64_t m = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_m, 0);
	uint64_t n = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_n, 0);
	uint64_t elements = m * n * tfs_steady_attribute(call, TFS_ATTRIBUTE_count, 1);

	if (copies(call))
		return target->bytes <= call->record->amount;
	if (call->family != TFS_FAMILY_gemm || !elements)
		return dense(timeline, call);
	return target->bytes == elements * 4 || target->bytes == elements * 2 ||
	       target->bytes == elements * 8 || target->bytes == elements;
}

enum use { USE_NONE, USE_READ, USE_ADD, USE_WRITE, USE_PART, USE_OPAQUE };

static enum use use_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_operand *operand)
{
	/* What failed may have done all of its work, or none. */
	if (operand->role & TFS_ROLE_MAYBE || call->record->status)
		return USE_OPAQUE;
	if (!(operand->role & TFS_ROLE_WRITE))
		return operand->role & TFS_ROLE_READ ? USE_READ : USE_NONE;
	if (!packed(timeline, call, operand))
		return USE_PART;
	if (operand->role & TFS_ROLE_READ || attribute_double(call, TFS_ATTRIBUTE_beta) != 0)
		return attribute_double(call, TFS_ATTRIBUTE_beta) == 1 ? USE_ADD : USE_READ;
	return USE_WRITE;
}

static bool covers(const struct tfs_operand *operand, uint64_t first, uint64_t bytes)
{
	return operand->address <= first && first + bytes <= operand->address + operand->bytes;
}

/* Rows of a copy and elements of a vector may have room between them, which is not written. */
static bool without_holes(const struct tfs_host_call *call, const struct tfs_operand *operand)
{
	const uint64_t count = tfs_steady_attribute(call, TFS_ATTRIBUTE_shape_m, 0);

	switch (call->family) {
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
	case TFS_FAMILY_set:
	case TFS_FAMILY_set_async:
		return call->record->amount == operand->bytes;
	case TFS_FAMILY_blas:
	case TFS_FAMILY_blas_pointwise:
		return operand->bytes == count * 4 || operand->bytes == count * 8;
	default:
		return true;
	}
}

bool tfs_zeros_replaced(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_operand *target)
{
	struct tfs_operand operand;
	unsigned cursor = 0;
	bool whole = false;

	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		/* How far one without a length reaches is not known. */
		if (operand.range != target->range ||
			operand.address >= target->address + target->bytes ||
			(operand.bytes && target->address >= operand.address + operand.bytes))
			continue;
		if (use_of(timeline, call, &operand) == USE_NONE)
			continue;
		if (use_of(timeline, call, &operand) != USE_WRITE || !without_holes(call, &operand))
			return false;
		whole |= covers(&operand, target->address, target->bytes);
	}
	return whole && target->bytes;
}

/* What a call means to a sum in [offset, offset + bytes): adds to it, begins it anew, or neither.
 */
static enum use use_of_sum(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	uint32_t range, uint64_t offset, uint64_t bytes)
{
	const uint64_t first = timeline->ranges[range].address + offset;
	enum use use = USE_NONE;
	struct tfs_zero_fill fill;
	struct tfs_operand operand;
	unsigned cursor = 0;

	if (tfs_zero_fill_describe(timeline, call, &fill) && fill.target.range == range)
		return covers(&fill.target, first, bytes) ? USE_WRITE : USE_NONE;
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		if (operand.range != range || operand.address >= first + bytes ||
			first >= operand.address + operand.bytes ||
			!(operand.role & TFS_ROLE_WRITE))
			continue;
		if (attribute_double(call, TFS_ATTRIBUTE_beta) != 0)
			return USE_ADD;
		if (use_of(timeline, call, &operand) == USE_WRITE && covers(&operand, first, bytes))
			use = USE_WRITE;
	}
	return use;
}

/* Whether what was added to is added to again before it is zeroed or written anew: by another
 * contribution, or in later steps, where it keeps a sum of several. */
static bool added_again(const struct tfs_timeline *timeline, uint32_t call, uint32_t range,
	uint64_t offset, uint64_t bytes)
{
	for (unsigned i = 0; i < MOST_USES; i++) {
		const struct tfs_access *next =
			tfs_flow_after(timeline, call, range, offset, bytes, ANY_USE);
		enum use use;

		if (!next)
			return false;
		call = next->call;
		use = use_of_sum(timeline, &timeline->calls[call], range, offset, bytes);
		if (use != USE_NONE)
			return use == USE_ADD;
	}
	return false;
}

/* What one call does with bytes that are still zero. */
static enum tfs_zeros use_zeros(const struct tfs_timeline *timeline, uint32_t user,
	const struct tfs_zero_fill *fill, struct tfs_untouched *gaps)
{
	const struct tfs_host_call *call = &timeline->calls[user];
	const struct tfs_allocation *range = &timeline->ranges[fill->target.range];
	enum tfs_zeros zeros = TFS_ZEROS_OVERWRITTEN;
	struct tfs_zero_fill again;
	struct tfs_operand operand;
	unsigned cursor = 0;

	if (tfs_zero_fill_describe(timeline, call, &again) &&
		again.target.range == fill->target.range) {
		uint64_t start = again.target.address - range->address;

		tfs_untouched_remove(gaps, start, start + again.target.bytes);
		return TFS_ZEROS_OVERWRITTEN;
	}
	while (tfs_operand_next(timeline, call, &cursor, &operand)) {
		uint64_t start = operand.address - range->address, end = start + operand.bytes;

		if (operand.range != fill->target.range || !tfs_untouched_any(gaps, start, end))
			continue;
		switch (use_of(timeline, call, &operand)) {
		case USE_NONE:
			continue;
		case USE_READ:
		case USE_PART:
			return TFS_ZEROS_NEEDED;
		case USE_OPAQUE:
			return TFS_ZEROS_OPAQUE;
		case USE_ADD:
			/* Some of what it adds to may be no zeros any more. */
			if (!tfs_untouched_all(gaps, start, end) ||
				added_again(timeline, user, operand.range, start, operand.bytes))
				return TFS_ZEROS_NEEDED;
			zeros = TFS_ZEROS_ADDED_TO;
			break;
		case USE_WRITE:
			break;
		}
		tfs_untouched_remove(gaps, start, end);
	}
	return zeros;
}

bool tfs_zeros_opaque(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	uint64_t plan;

	if (call->record->status)
		return false;
	if (tfs_plan_read(call, &plan))
		return true;
	if (!tfs_family_submits(call->family))
		return call->op_count > 0;
	if (call->family == TFS_FAMILY_launch || call->family == TFS_FAMILY_graph_launch ||
		call->family == TFS_FAMILY_host_func)
		return true;
	if (tfs_steady_attribute(call, TFS_ATTRIBUTE_host_result, 0) ||
		call->family == TFS_FAMILY_copy || call->family == TFS_FAMILY_copy_async)
		return false;
	while (tfs_operand_next(timeline, call, &cursor, &operand))
		if (operand.role & TFS_ROLE_WRITE && !(operand.role & TFS_ROLE_SCRATCH))
			return false;
	return true;
}

bool tfs_zeros_any_opaque(const struct tfs_steady *steady)
{
	for (uint32_t i = 0; i < steady->call_count; i++)
		if (tfs_zeros_opaque(steady->timeline, tfs_steady_call(steady, i)))
			return true;
	return false;
}

/* Whether anything opaque comes between a call and the last that uses its zeros. */
static bool opaque_between(const struct tfs_steady *steady, uint32_t call, uint32_t last)
{
	uint64_t end_ns = steady->timeline->calls[last].start_ns;

	for (uint32_t i = steady->place[call] + 1; i < steady->call_count; i++) {
		const struct tfs_host_call *between = tfs_steady_call(steady, i);

		if (between->start_ns > end_ns)
			break;
		if (tfs_zeros_opaque(steady->timeline, between))
			return true;
	}
	return false;
}

static enum tfs_zeros follow(const struct tfs_steady *steady, uint32_t call,
	const struct tfs_zero_fill *fill, uint32_t *out_user, uint32_t *out_last)
{
	const struct tfs_timeline *timeline = steady->timeline;
	uint64_t offset = fill->target.address - timeline->ranges[fill->target.range].address;
	struct tfs_untouched gaps = {.count = 1};
	enum tfs_zeros zeros = TFS_ZEROS_OVERWRITTEN;
	uint32_t at = call;

	gaps.items[0].start = offset;
	gaps.items[0].end = offset + fill->target.bytes;
	*out_user = TFS_NONE;
	for (unsigned i = 0; gaps.count && i < MOST_USES; i++) {
		const struct tfs_access *next = tfs_flow_after(
			timeline, at, fill->target.range, offset, fill->target.bytes, ANY_USE);
		enum tfs_zeros now;

		if (!next || gaps.full)
			return TFS_ZEROS_UNKNOWN;
		*out_last = at = next->call;
		now = use_zeros(timeline, at, fill, &gaps);
		if (*out_user == TFS_NONE || now != TFS_ZEROS_OVERWRITTEN)
			*out_user = at;
		if (now == TFS_ZEROS_NEEDED || now == TFS_ZEROS_OPAQUE)
			return now;
		if (now == TFS_ZEROS_ADDED_TO)
			zeros = now;
	}
	return gaps.count ? TFS_ZEROS_UNKNOWN : zeros;
}

enum tfs_zeros tfs_zeros_follow(const struct tfs_steady *steady, uint32_t call,
	const struct tfs_zero_fill *fill, uint32_t *out_user)
{
	uint32_t memory = steady->timeline->ranges[fill->target.range].memory, last = call;
	enum tfs_zeros zeros = follow(steady, call, fill, out_user, &last);

	if (zeros != TFS_ZEROS_OVERWRITTEN && zeros != TFS_ZEROS_ADDED_TO)
		return zeros;
	if (fill->by_kernel || memory != TFS_MEMORY_DEVICE || opaque_between(steady, call, last))
		return TFS_ZEROS_OPAQUE;
	return zeros;
}
