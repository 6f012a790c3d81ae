/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/search_verify.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "shim/hook.h"

#define PIECE_BYTES (UINT64_C(64) << 10)
#define COMPARED_BYTES (UINT64_C(4) << 20) /* at the output's start, and as much at its end */

#define REAL(name) ((__typeof__(&name))tfs_lookup_named(TFS_LIBRARY_cudnn, #name))

static cudnnStatus_t run(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, int algorithm, uint64_t bytes, void *output)
{
	const double one_double = 1, zero_double = 0;
	const float one_float = 1, zero_float = 0;
	const bool wide = scratch->type == CUDNN_DATA_DOUBLE;
	const void *one = wide ? (const void *)&one_double : &one_float;
	const void *zero = wide ? (const void *)&zero_double : &zero_float;
	const __typeof__(&cudnnConvolutionForward) forward = REAL(cudnnConvolutionForward);
	const __typeof__(&cudnnConvolutionBackwardData) data = REAL(cudnnConvolutionBackwardData);
	const __typeof__(&cudnnConvolutionBackwardFilter) filter =
		REAL(cudnnConvolutionBackwardFilter);

	if (search->family == TFS_FAMILY_conv_forward && forward != NULL)
		return forward(device->handle, one, search->x, scratch->x, search->w, scratch->w,
			search->convolution, (cudnnConvolutionFwdAlgo_t)algorithm,
			scratch->workspace, bytes, zero, search->y, output);
	if (search->family == TFS_FAMILY_conv_backward_data && data != NULL)
		return data(device->handle, one, search->w, scratch->w, search->y, scratch->y,
			search->convolution, (cudnnConvolutionBwdDataAlgo_t)algorithm,
			scratch->workspace, bytes, zero, search->x, output);
	if (search->family == TFS_FAMILY_conv_backward_filter && filter != NULL)
		return filter(device->handle, one, search->x, scratch->x, search->y, scratch->y,
			search->convolution, (cudnnConvolutionBwdFilterAlgo_t)algorithm,
			scratch->workspace, bytes, zero, search->w, output);
	return CUDNN_STATUS_NOT_SUPPORTED;
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

bool tfs_difference_is_rounding(const struct tfs_difference *sum, int type, cudnnMathType_t math)
{
	/* Relative. All but FMA_MATH may use TF32 for FP32, with ten bits of fraction. */
	const double bound = type == CUDNN_DATA_DOUBLE                            ? 1e-11
			     : type == CUDNN_DATA_FLOAT && math == CUDNN_FMA_MATH ? 1e-4
			     : type == CUDNN_DATA_BFLOAT16                        ? 4e-2
										  : 1e-2;

	return !sum->odd && sum->squares <= bound * bound * sum->own_squares &&
	       sum->most <= 16 * bound * sum->own_most;
}

/* The pieces from `from` on, up to `to`. */
static bool add_pieces(struct tfs_search_device *device, const struct tfs_scratch *scratch,
	const void *output, uint64_t from, uint64_t to, char *host, struct tfs_difference *sum)
{
	for (uint64_t at = from; at < to; at += PIECE_BYTES) {
		const uint64_t bytes = to - at < PIECE_BYTES ? to - at : PIECE_BYTES;

		if (!tfs_search_fetch(device, host, (const char *)output + at, bytes) ||
			!tfs_search_fetch(device, host + PIECE_BYTES,
				(const char *)scratch->other + at, bytes))
			return false;
		tfs_difference_add(sum, host, host + PIECE_BYTES, bytes, scratch->type);
	}
	return true;
}

static bool compare(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, const void *output)
{
	const uint64_t all = scratch->output_bytes;
	const uint64_t first = all < COMPARED_BYTES ? all : COMPARED_BYTES;
	const uint64_t last = all - first < COMPARED_BYTES ? first : all - COMPARED_BYTES;
	struct tfs_difference sum = {0};
	char *host = mmap(
		NULL, 2 * PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (host == MAP_FAILED)
		return false;
	const bool read = add_pieces(device, scratch, output, 0, first, host, &sum) &&
			  add_pieces(device, scratch, output, last / 8 * 8, all, host, &sum);
	munmap(host, 2 * PIECE_BYTES);
	return read && tfs_difference_is_rounding(&sum, scratch->type, search->math);
}

/* Of the program's own nothing is asked but the numbers. */
bool tfs_search_same(struct tfs_search_device *device, const struct tfs_search *search,
	const struct tfs_scratch *scratch, const struct tfs_candidate *candidates, int one,
	int other)
{
	const uint64_t bytes = candidates[other].workspace;
	void *output = tfs_scratch_output(scratch, search->family);

	if (bytes > scratch->workspace_bytes ||
		run(device, search, scratch, one, scratch->workspace_bytes, output) !=
			CUDNN_STATUS_SUCCESS)
		return false;
	tfs_scratch_guard(device, scratch, bytes);
	return run(device, search, scratch, other, bytes, scratch->other) == CUDNN_STATUS_SUCCESS &&
	       compare(device, search, scratch, output) &&
	       tfs_scratch_whole(device, scratch, search->family, bytes);
}
