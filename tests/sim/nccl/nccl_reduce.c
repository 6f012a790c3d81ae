/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_half.h"
#include "tests/sim/nccl/nccl_comm.h"
#include "tests/sim/nccl/nccl_float8.h"

size_t tfs_nccl_size(ncclDataType_t type)
{
	static const unsigned char sizes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return (int)type >= 0 && type < ncclNumTypes ? sizes[type] : 0;
}

#define SAME(v) (v)

/* T is how elements are stored and A what they are computed in. */
#define COMBINE(name, T, A, load, store)                                                           \
	static void combine_##name(ncclRedOp_t op, T *acc, const T *x, size_t n)                   \
	{                                                                                          \
		for (size_t i = 0; i < n; i++) {                                                   \
			A a = load(acc[i]), b = load(x[i]);                                        \
                                                                                                   \
			if (op == ncclProd)                                                        \
				a = (A)(a * b);                                                    \
			else if (op == ncclMax)                                                    \
				a = a < b ? b : a;                                                 \
			else if (op == ncclMin)                                                    \
				a = b < a ? b : a;                                                 \
			else                                                                       \
				a = (A)(a + b);                                                    \
			acc[i] = (T)store(a);                                                      \
		}                                                                                  \
	}                                                                                          \
	static void divide_##name(T *acc, size_t n, int by)                                        \
	{                                                                                          \
		for (size_t i = 0; i < n; i++)                                                     \
			acc[i] = (T)store((A)(load(acc[i]) / (A)by));                              \
	}                                                                                          \
	static void scale_##name(T *acc, size_t n, const void *factor)                             \
	{                                                                                          \
		A f = load(*(const T *)factor);                                                    \
                                                                                                   \
		for (size_t i = 0; i < n; i++)                                                     \
			acc[i] = (T)store((A)(load(acc[i]) * f));                                  \
	}

COMBINE(i8, int8_t, int8_t, SAME, SAME)
COMBINE(u8, uint8_t, uint8_t, SAME, SAME)
COMBINE(i32, int32_t, int32_t, SAME, SAME)
COMBINE(u32, uint32_t, uint32_t, SAME, SAME)
COMBINE(i64, int64_t, int64_t, SAME, SAME)
COMBINE(u64, uint64_t, uint64_t, SAME, SAME)
COMBINE(f16, uint16_t, float, tfs_float_of_half, tfs_half_of_float)
COMBINE(f32, float, float, SAME, SAME)
COMBINE(f64, double, double, SAME, SAME)
COMBINE(bf16, uint16_t, float, tfs_float_of_bfloat, tfs_bfloat_of_float)
COMBINE(e4m3, uint8_t, float, tfs_float_of_e4m3, tfs_e4m3_of_float)
COMBINE(e5m2, uint8_t, float, tfs_float_of_e5m2, tfs_e5m2_of_float)

#define EACH_TYPE(X)                                                                               \
	X(ncclInt8, i8)                                                                            \
	X(ncclUint8, u8)                                                                           \
	X(ncclInt32, i32)                                                                          \
	X(ncclUint32, u32)                                                                         \
	X(ncclInt64, i64)                                                                          \
	X(ncclUint64, u64)                                                                         \
	X(ncclFloat16, f16)                                                                        \
	X(ncclFloat32, f32)                                                                        \
	X(ncclFloat64, f64)                                                                        \
	X(ncclBfloat16, bf16)                                                                      \
	X(ncclFloat8e4m3, e4m3)                                                                    \
	X(ncclFloat8e5m2, e5m2)

void tfs_nccl_combine(ncclDataType_t type, ncclRedOp_t op, void *acc, const void *x, size_t n)
{
	switch (type) {
#define CASE(number, name)                                                                         \
	case number:                                                                               \
		combine_##name(op, acc, x, n);                                                     \
		break;
		EACH_TYPE(CASE)
#undef CASE
	default:
		break;
	}
}

void tfs_nccl_divide(ncclDataType_t type, void *acc, size_t n, int by)
{
	switch (type) {
#define CASE(number, name)                                                                         \
	case number:                                                                               \
		divide_##name(acc, n, by);                                                         \
		break;
		EACH_TYPE(CASE)
#undef CASE
	default:
		break;
	}
}

void tfs_nccl_scale(ncclDataType_t type, void *acc, size_t n, const struct tfs_nccl_factor *f)
{
	const void *factor = f->on_device ? f->where : (const void *)&f->value;

	switch (type) {
#define CASE(number, name)                                                                         \
	case number:                                                                               \
		scale_##name(acc, n, factor);                                                      \
		break;
		EACH_TYPE(CASE)
#undef CASE
	default:
		break;
	}
}
