/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_NCCL_FLOAT8_H
#define TFS_TESTS_SIM_NCCL_FLOAT8_H

/*
 * The two 8-bit floating-point formats as bits, to and from float: rounding to nearest even, too
 * large becomes the largest, as the device's conversions do.
 */

#include <math.h>
#include <stdint.h>

#include "tests/sim/cublas/cublas_half.h"

static inline uint8_t tfs_float8_of(float f, int mantissa, int bias, int largest, int nan)
{
	int sign = signbit(f) ? 0x80 : 0, exponent, bits;
	float size = fabsf(f);

	if (isnan(f))
		return (uint8_t)(sign | nan);
	if (size >= 65536.0f)
		return (uint8_t)(sign | largest);
	exponent = size > 0 ? ilogbf(size) : 1 - bias;
	if (exponent < 1 - bias)
		exponent = 1 - bias;
	/* The implicit one, or a carry out of the fraction, adds to the exponent by itself. */
	bits = ((exponent + bias - 1) << mantissa) +
	       (int)nearbyintf(ldexpf(size, mantissa - exponent));
	return (uint8_t)(sign | (bits > largest ? largest : bits));
}

static inline uint8_t tfs_e4m3_of_float(float f)
{
	return tfs_float8_of(f, 3, 7, 0x7e, 0x7f);
}

static inline uint8_t tfs_e5m2_of_float(float f)
{
	return tfs_float8_of(f, 2, 15, 0x7b, 0x7f);
}

static inline float tfs_float_of_e4m3(uint8_t bits)
{
	int exponent = bits >> 3 & 15, fraction = bits & 7;
	float size = exponent ? ldexpf((float)(8 + fraction), exponent - 10)
			      : ldexpf((float)fraction, -9);

	if ((bits & 0x7f) == 0x7f)
		return NAN;
	return bits & 0x80 ? -size : size;
}

static inline float tfs_float_of_e5m2(uint8_t bits)
{
	return tfs_float_of_half((uint16_t)(bits << 8));
}

#endif
