/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUBLAS_HALF_H
#define TFS_TESTS_SIM_CUBLAS_HALF_H

/*
 * 16-bit floating-point numbers as bits, to and from float, rounding to nearest even. By hand,
 * because not every supported compiler has the types.
 */

#include <stdint.h>
#include <string.h>

static inline float tfs_float_of_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t tfs_bits_of_float(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline float tfs_float_of_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16;
	uint32_t exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;

	if (exponent == 0)
		return tfs_float_of_bits(sign | tfs_bits_of_float((float)fraction * 0x1p-24f));
	if (exponent == 0x1f)
		return tfs_float_of_bits(sign | 0x7f800000u | fraction << 13);
	return tfs_float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline uint16_t tfs_half_of_float(float f)
{
	uint32_t bits = tfs_bits_of_float(f);
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
	float size = tfs_float_of_bits(bits & 0x7fffffffu);

	if (size != size)
		return sign | 0x7e00;
	if (size >= 65520.0f)
		return sign | 0x7c00;
	if (size < 0x1p-14f)
		/* Adding makes the hardware round to a multiple of the smallest half. */
		return (uint16_t)(sign |
				  (tfs_bits_of_float(size + 0.5f) - tfs_bits_of_float(0.5f)));
	bits = tfs_bits_of_float(size);
	bits += 0xfff + (bits >> 13 & 1);
	return (uint16_t)(sign | ((bits >> 13) - (112u << 10)));
}

static inline float tfs_float_of_bfloat(uint16_t b)
{
	return tfs_float_of_bits((uint32_t)b << 16);
}

static inline uint16_t tfs_bfloat_of_float(float f)
{
	uint32_t bits = tfs_bits_of_float(f);

	if (f != f)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
