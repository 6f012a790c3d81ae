/* SPDX-License-Identifier: MIT */
#include "tests/sim/cublas/cublas_typed.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cublas/cublas_half.h"

size_t tfs_typed_size(cudaDataType type)
{
	switch (type) {
	case CUDA_R_32F:
		return 4;
	case CUDA_R_16F:
	case CUDA_R_16BF:
		return 2;
	default:
		return 0;
	}
}

float tfs_typed_get(const void *array, cudaDataType type, int64_t i)
{
	if (type == CUDA_R_16F)
		return tfs_float_of_half(((const uint16_t *)array)[i]);
	if (type == CUDA_R_16BF)
		return tfs_float_of_bfloat(((const uint16_t *)array)[i]);
	return ((const float *)array)[i];
}

void tfs_typed_put(void *array, cudaDataType type, int64_t i, float value)
{
	if (type == CUDA_R_16F)
		((uint16_t *)array)[i] = tfs_half_of_float(value);
	else if (type == CUDA_R_16BF)
		((uint16_t *)array)[i] = tfs_bfloat_of_float(value);
	else
		((float *)array)[i] = value;
}

bool tfs_typed_math(cudaDataType type, cublasComputeType_t compute, enum tfsim_math *out_math)
{
	enum tfsim_math math;

	switch (compute) {
	case CUBLAS_COMPUTE_32F:
	case CUBLAS_COMPUTE_32F_PEDANTIC:
		math = TFSIM_SINGLE;
		break;
	case CUBLAS_COMPUTE_32F_FAST_TF32:
		math = TFSIM_TENSOR;
		break;
	case CUBLAS_COMPUTE_32F_FAST_16F:
	case CUBLAS_COMPUTE_32F_FAST_16BF:
		math = TFSIM_HALF;
		break;
	default:
		return false;
	}
	*out_math = tfs_typed_size(type) == 2 ? TFSIM_HALF : math;
	return true;
}

static int64_t place(const struct tfs_typed_matrix *m, int i, int j)
{
	return m->transposed ? j + i * m->ld : i + j * m->ld;
}

static float tf32(float f)
{
	uint32_t bits = tfs_bits_of_float(f);

	if ((bits & 0x7f800000u) == 0x7f800000u)
		return f;
	return tfs_float_of_bits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

static void widen(const struct tfs_typed_matrix *m, int rows, int columns, bool reduce, float *out)
{
	for (int j = 0; j < columns; j++)
		for (int i = 0; i < rows; i++) {
			float v = tfs_typed_get(m->data, m->type, place(m, i, j));

			*out++ = reduce ? tf32(v) : v;
		}
}

static float gelu(float x)
{
	return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

static float gelu_slope(float x)
{
	float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
	float inner = 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);

	return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner;
}

static float finish(const struct tfs_typed_gemm *g, int i, int j, float v)
{
	if (g->beta != 0.0f)
		v += g->beta * tfs_typed_get(g->c.data, g->c.type, place(&g->c, i, j));
	if (g->bias.data)
		v += tfs_typed_get(g->bias.data, g->bias.type, i);
	if (g->aux_out)
		tfs_typed_put(g->aux_out, g->aux.type, place(&g->aux, i, j), v);
	switch (g->after) {
	case TFS_TYPED_RELU:
		return v > 0.0f ? v : 0.0f;
	case TFS_TYPED_GELU:
		return gelu(v);
	case TFS_TYPED_GELU_GRAD:
		return v *
		       gelu_slope(tfs_typed_get(g->aux.data, g->aux.type, place(&g->aux, i, j)));
	default:
		return v;
	}
}

/* With room for them the products are added up at the end, else as they come. */
static void multiply(const struct tfs_typed_gemm *g, const float *a, const float *b, float *sum)
{
	const size_t size = (size_t)g->m * (size_t)g->n;

	for (int p = 0; p < g->pieces; p++) {
		int from = (int)((int64_t)g->k * p / g->pieces);
		int count = (int)((int64_t)g->k * (p + 1) / g->pieces) - from;
		float *to = g->products ? g->products + size * (size_t)p : sum;

		if (g->products)
			memset(to, 0, size * sizeof(*to));
		cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, g->m, g->n, count, 1.0f,
			a + (size_t)from * (size_t)g->m, g->m, b + from, g->k > 0 ? g->k : 1, 1.0f,
			to, g->m);
	}
	for (int p = 0; g->products && p < g->pieces; p++)
		for (size_t i = 0; i < size; i++)
			sum[i] += g->products[size * (size_t)p + i];
}

int tfs_typed_gemm(const struct tfs_typed_gemm *g)
{
	size_t m = (size_t)g->m, n = (size_t)g->n, k = (size_t)g->k;
	float *sum = calloc(m * n + m * k + k * n + m, sizeof(*sum));
	float *a, *b, *rows;

	if (!sum)
		return -1;
	a = sum + m * n;
	b = a + m * k;
	rows = b + k * n;
	widen(&g->a, g->m, g->k, g->tf32, a);
	widen(&g->b, g->k, g->n, g->tf32, b);
	if (g->k > 0)
		multiply(g, a, b, sum);
	for (int j = 0; j < g->n; j++)
		for (int i = 0; i < g->m; i++) {
			float v = finish(g, i, j, g->alpha * sum[(size_t)i + (size_t)j * m]);

			rows[i] += v;
			tfs_typed_put(g->out, g->d.type, place(&g->d, i, j), v);
		}
	for (int i = 0; i < g->m && g->bias_grad; i++)
		tfs_typed_put(g->bias_grad, g->bias.type, i, rows[i]);
	free(sum);
	return 0;
}
