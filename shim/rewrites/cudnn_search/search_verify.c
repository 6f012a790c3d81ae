/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_verify.h"

#include <math.h>
#include <string.h>

#include "shim/base/heap.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/cudnn_search/search_handle.h"

#define PIECE_BYTES (UINT64_C(64) << 10)
#define COMPARED_BYTES (UINT64_C(4) << 20) /* at the output's start, and as much at its end */

cudnnStatus_t tfs_search_execute(const struct tfs_convolution_call *call)
{
	const __typeof__(&cudnnConvolutionForward) forward = TFS_DIRECT(cudnnConvolutionForward);
	const __typeof__(&cudnnConvolutionBackwardData) data =
		TFS_DIRECT(cudnnConvolutionBackwardData);
	const __typeof__(&cudnnConvolutionBackwardFilter) filter =
		TFS_DIRECT(cudnnConvolutionBackwardFilter);

	if (call->family == TFS_FAMILY_conv_forward && forward)
		return forward(call->handle, call->alpha, call->x_descriptor, call->x,
			call->w_descriptor, call->w, call->convolution,
			(cudnnConvolutionFwdAlgo_t)call->algorithm, call->workspace,
			call->workspace_bytes, call->beta, call->y_descriptor, (void *)call->y);
	if (call->family == TFS_FAMILY_conv_backward_data && data)
		return data(call->handle, call->alpha, call->w_descriptor, call->w,
			call->y_descriptor, call->y, call->convolution,
			(cudnnConvolutionBwdDataAlgo_t)call->algorithm, call->workspace,
			call->workspace_bytes, call->beta, call->x_descriptor, (void *)call->x);
	if (call->family == TFS_FAMILY_conv_backward_filter && filter)
		return filter(call->handle, call->alpha, call->x_descriptor, call->x,
			call->y_descriptor, call->y, call->convolution,
			(cudnnConvolutionBwdFilterAlgo_t)call->algorithm, call->workspace,
			call->workspace_bytes, call->beta, call->w_descriptor, (void *)call->w);
	return CUDNN_STATUS_NOT_SUPPORTED;
}

const void **tfs_search_output(struct tfs_convolution_call *call)
{
	return call->family == TFS_FAMILY_conv_forward         ? &call->y
	       : call->family == TFS_FAMILY_conv_backward_data ? &call->x
							       : &call->w;
}

/* On the scratch tensors. */
static cudnnStatus_t run(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, int algorithm, uint64_t bytes, void *output)
{
	static const double one_double = 1, zero_double = 0;
	static const float one_float = 1, zero_float = 0;
	const bool wide = scratch->type == CUDNN_DATA_DOUBLE;
	struct tfs_convolution_call call = {
		.family = search->family,
		.handle = tfs_search_handle(device),
		.x_descriptor = search->x,
		.w_descriptor = search->w,
		.y_descriptor = search->y,
		.convolution = search->convolution,
		.x = scratch->x,
		.w = scratch->w,
		.y = scratch->y,
		.algorithm = algorithm,
		.workspace = scratch->workspace,
		.workspace_bytes = bytes,
		.alpha = wide ? (const void *)&one_double : &one_float,
		.beta = wide ? (const void *)&zero_double : &zero_float,
	};

	*tfs_search_output(&call) = output;
	return tfs_search_execute(&call);
}

static double half(uint16_t bits)
{
	const double sign = bits >> 15 ? -1 : 1;
	const int exponent = bits >> 10 & 0x1f;
	const double fraction = (double)(bits & 0x3ff) / 1024;

	if (exponent == 0x1f)
		return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
	return sign * (exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15));
}

static uint32_t size_of(int type)
{
	switch (type) {
	case CUDNN_DATA_FLOAT:
		return 4;
	case CUDNN_DATA_DOUBLE:
		return 8;
	case CUDNN_DATA_HALF:
	case CUDNN_DATA_BFLOAT16:
		return 2;
	default:
		return 0; /* of no type that can be compared */
	}
}

static double read_number(const unsigned char *at, int type)
{
	uint64_t bits = 0;
	float number;
	double wide;

	memcpy(&bits, at, size_of(type));
	if (type == CUDNN_DATA_HALF)
		return half((uint16_t)bits);
	if (type == CUDNN_DATA_DOUBLE) {
		memcpy(&wide, &bits, sizeof(wide));
		return wide;
	}
	const uint32_t narrow = (uint32_t)(type == CUDNN_DATA_BFLOAT16 ? bits << 16 : bits);
	memcpy(&number, &narrow, sizeof(number));
	return (double)number;
}

void tfs_difference_add(
	struct tfs_difference *sum, const void *one, const void *other, uint64_t bytes, int type)
{
	const uint32_t size = size_of(type);

	sum->odd |= size == 0;
	for (uint64_t at = 0; size > 0 && at + size <= bytes; at += size) {
		const double a = read_number((const unsigned char *)one + at, type);
		const double b = read_number((const unsigned char *)other + at, type);
		const double apart = fabs(a - b);

		sum->own_odd |= !isfinite(a);
		if (!isfinite(a) || !isfinite(b)) {
			sum->odd |= isnan(a) != isnan(b) || (!isnan(a) && a != b);
			continue;
		}
		sum->squares += apart * apart;
		sum->own_squares += a * a;
		sum->most = apart > sum->most ? apart : sum->most;
		sum->own_most = fabs(a) > sum->own_most ? fabs(a) : sum->own_most;
	}
}

/* Relative. */
static double bound_of(int type, cudnnMathType_t math)
{
	/* All but FMA_MATH may use TF32 for FP32, with ten bits of fraction. */
	return type == CUDNN_DATA_DOUBLE                            ? 1e-11
	       : type == CUDNN_DATA_FLOAT && math == CUDNN_FMA_MATH ? 1e-4
	       : type == CUDNN_DATA_BFLOAT16                        ? 4e-2
								    : 1e-2;
}

bool tfs_difference_is_rounding(const struct tfs_difference *sum, int type, cudnnMathType_t math)
{
	const double bound = bound_of(type, math);

	return !sum->odd && sum->squares <= bound * bound * sum->own_squares &&
	       sum->most <= 16 * bound * sum->own_most;
}

bool tfs_difference_is_another(const struct tfs_difference *sum, int type, cudnnMathType_t math)
{
	const double bound = 16 * bound_of(type, math);

	return !sum->own_odd && sum->own_squares > 0 &&
	       (sum->odd || sum->squares > bound * bound * sum->own_squares);
}

/* The pieces from `from` on, up to `to`. */
static bool add_pieces(struct tfs_search_device *device, const void *one, const void *other,
	uint64_t from, uint64_t to, int type, char *host, struct tfs_difference *sum)
{
	for (uint64_t at = from; at < to; at += PIECE_BYTES) {
		const uint64_t bytes = to - at < PIECE_BYTES ? to - at : PIECE_BYTES;

		if (!tfs_search_fetch(device, host, (const char *)one + at, bytes) ||
			!tfs_search_fetch(
				device, host + PIECE_BYTES, (const char *)other + at, bytes))
			return false;
		tfs_difference_add(sum, host, host + PIECE_BYTES, bytes, type);
	}
	return true;
}

bool tfs_search_compare(struct tfs_search_device *device, const void *one, const void *other,
	uint64_t bytes, int type, struct tfs_difference *out_sum)
{
	const uint64_t first = bytes < COMPARED_BYTES ? bytes : COMPARED_BYTES;
	const uint64_t last = bytes - first < COMPARED_BYTES ? first : bytes - COMPARED_BYTES;
	char *host = tfs_heap_alloc(2 * PIECE_BYTES);

	memset(out_sum, 0, sizeof(*out_sum));
	if (!host)
		return false;
	const bool read = add_pieces(device, one, other, 0, first, type, host, out_sum) &&
			  add_pieces(device, one, other, last / 8 * 8, bytes, type, host, out_sum);
	tfs_heap_free(host, 2 * PIECE_BYTES);
	return read;
}

/* Of the program's own nothing is asked but the numbers. */
bool tfs_search_same(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, const struct tfs_candidate *candidates, int one,
	int other)
{
	const uint64_t bytes = candidates[other].workspace;
	void *output = tfs_scratch_output(scratch, search->family);
	struct tfs_difference sum;

	if (bytes > scratch->workspace_bytes ||
		run(device, search, scratch, one, scratch->workspace_bytes, output) !=
			CUDNN_STATUS_SUCCESS)
		return false;
	tfs_scratch_guard(device, scratch, bytes);
	return run(device, search, scratch, other, bytes, scratch->other) == CUDNN_STATUS_SUCCESS &&
	       tfs_search_compare(device, output, scratch->other, scratch->output_bytes,
		       scratch->type, &sum) &&
	       tfs_difference_is_rounding(&sum, scratch->type, search->math) &&
	       tfs_scratch_whole(device, scratch, search->family, bytes);
}
