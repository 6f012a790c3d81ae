/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/backend/cudnn_backend_scalar.h"

#include <math.h>

struct tfs_scalar tfs_scalar_init(const struct tfs_backend *desc)
{
	struct tfs_scalar s = {.mode = (int)tfs_backend_int(desc, CUDNN_ATTR_POINTWISE_MODE, 0)};

	s.low = (float)tfs_backend_real(desc, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0.0);
	s.high = (float)tfs_backend_real(
		desc, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, (double)INFINITY);
	s.slope = (float)tfs_backend_real(desc, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.0);
	s.elu = (float)tfs_backend_real(desc, CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1.0);
	s.softplus = (float)tfs_backend_real(desc, CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1.0);
	s.alpha1 = s.alpha2 = 1.0f;
	s.swish = (float)tfs_backend_real(desc, CUDNN_ATTR_POINTWISE_SWISH_BETA, 1.0);
	return s;
}

bool tfs_scalar_is_gradient(int mode)
{
	return mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
}

int tfs_scalar_operands(int mode)
{
	switch (mode) {
	case CUDNN_POINTWISE_SQRT:
	case CUDNN_POINTWISE_LOGICAL_NOT:
	case CUDNN_POINTWISE_GEN_INDEX:
		return 1;
	case CUDNN_POINTWISE_BINARY_SELECT:
		return 3;
	case CUDNN_POINTWISE_ATAN2:
	case CUDNN_POINTWISE_LOGICAL_AND:
	case CUDNN_POINTWISE_LOGICAL_OR:
		return 2;
	default:
		break;
	}
	if (mode >= CUDNN_POINTWISE_ADD && mode <= CUDNN_POINTWISE_SUB)
		return 2;
	if (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE)
		return 2;
	if (tfs_scalar_is_gradient(mode))
		return 2;
	if (mode >= CUDNN_POINTWISE_ABS && mode <= CUDNN_POINTWISE_RECIPROCAL)
		return 1;
	return mode >= CUDNN_POINTWISE_RELU_FWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD;
}

static float sigmoid(float x)
{
	return 1.0f / (1.0f + expf(-x));
}

/* The inner function of the approximation of GELU, and its derivative. */
static const float gelu_a = 0.79788456f, gelu_b = 0.044715f;

static float activation(const struct tfs_scalar *s, float x)
{
	switch (s->mode) {
	case CUDNN_POINTWISE_RELU_FWD:
		if (x <= s->low)
			return s->low + s->slope * (x - s->low);
		return x < s->high ? x : s->high;
	case CUDNN_POINTWISE_TANH_FWD:
		return tanhf(x);
	case CUDNN_POINTWISE_SIGMOID_FWD:
		return sigmoid(x);
	case CUDNN_POINTWISE_ELU_FWD:
		return x > 0.0f ? x : s->elu * expm1f(x);
	case CUDNN_POINTWISE_GELU_FWD:
		return 0.5f * x * (1.0f + erff(x * 0.70710678f));
	case CUDNN_POINTWISE_SOFTPLUS_FWD:
		return (fmaxf(s->softplus * x, 0.0f) + log1pf(expf(-fabsf(s->softplus * x)))) /
		       s->softplus;
	case CUDNN_POINTWISE_SWISH_FWD:
		return x * sigmoid(s->swish * x);
	default: /* GELU_APPROX_TANH_FWD */
		return 0.5f * x * (1.0f + tanhf(gelu_a * (x + gelu_b * x * x * x)));
	}
}

static float derivative(const struct tfs_scalar *s, float x)
{
	float v;

	switch (s->mode) {
	case CUDNN_POINTWISE_RELU_BWD:
		return x <= s->low ? s->slope : x < s->high ? 1.0f : 0.0f;
	case CUDNN_POINTWISE_TANH_BWD:
		v = tanhf(x);
		return 1.0f - v * v;
	case CUDNN_POINTWISE_SIGMOID_BWD:
		v = sigmoid(x);
		return v * (1.0f - v);
	case CUDNN_POINTWISE_ELU_BWD:
		return x > 0.0f ? 1.0f : s->elu * expf(x);
	case CUDNN_POINTWISE_GELU_BWD:
		return 0.5f * (1.0f + erff(x * 0.70710678f)) +
		       x * 0.39894228f * expf(-0.5f * x * x);
	case CUDNN_POINTWISE_SOFTPLUS_BWD:
		return sigmoid(s->softplus * x);
	case CUDNN_POINTWISE_SWISH_BWD:
		v = sigmoid(s->swish * x);
		return v + s->swish * x * v * (1.0f - v);
	default: /* GELU_APPROX_TANH_BWD */
		v = tanhf(gelu_a * (x + gelu_b * x * x * x));
		return 0.5f * (1.0f + v) +
		       0.5f * x * (1.0f - v * v) * gelu_a * (1.0f + 3.0f * gelu_b * x * x);
	}
}

static float unary(int mode, float x)
{
	switch (mode) {
	case CUDNN_POINTWISE_SQRT:
		return sqrtf(x);
	case CUDNN_POINTWISE_ABS:
		return fabsf(x);
	case CUDNN_POINTWISE_CEIL:
		return ceilf(x);
	case CUDNN_POINTWISE_COS:
		return cosf(x);
	case CUDNN_POINTWISE_EXP:
		return expf(x);
	case CUDNN_POINTWISE_FLOOR:
		return floorf(x);
	case CUDNN_POINTWISE_LOG:
		return logf(x);
	case CUDNN_POINTWISE_NEG:
		return -x;
	case CUDNN_POINTWISE_RSQRT:
		return 1.0f / sqrtf(x);
	case CUDNN_POINTWISE_SIN:
		return sinf(x);
	case CUDNN_POINTWISE_TAN:
		return tanf(x);
	case CUDNN_POINTWISE_ERF:
		return erff(x);
	case CUDNN_POINTWISE_RECIPROCAL:
		return 1.0f / x;
	case CUDNN_POINTWISE_LOGICAL_NOT:
		return x == 0.0f;
	default: /* IDENTITY */
		return x;
	}
}

static float binary(int mode, float x, float b)
{
	switch (mode) {
	case CUDNN_POINTWISE_ADD:
		return x + b;
	case CUDNN_POINTWISE_ADD_SQUARE:
		return x + b * b;
	case CUDNN_POINTWISE_DIV:
		return x / b;
	case CUDNN_POINTWISE_MAX:
		return x > b ? x : b;
	case CUDNN_POINTWISE_MIN:
		return x < b ? x : b;
	case CUDNN_POINTWISE_MOD:
		return fmodf(x, b);
	case CUDNN_POINTWISE_MUL:
		return x * b;
	case CUDNN_POINTWISE_POW:
		return powf(x, b);
	case CUDNN_POINTWISE_SUB:
		return x - b;
	case CUDNN_POINTWISE_ATAN2:
		return atan2f(x, b);
	case CUDNN_POINTWISE_CMP_EQ:
		return x == b;
	case CUDNN_POINTWISE_CMP_NEQ:
		return x != b;
	case CUDNN_POINTWISE_CMP_GT:
		return x > b;
	case CUDNN_POINTWISE_CMP_GE:
		return x >= b;
	case CUDNN_POINTWISE_CMP_LT:
		return x < b;
	case CUDNN_POINTWISE_CMP_LE:
		return x <= b;
	case CUDNN_POINTWISE_LOGICAL_AND:
		return x != 0.0f && b != 0.0f;
	default: /* LOGICAL_OR */
		return x != 0.0f || b != 0.0f;
	}
}

static float apply(const struct tfs_scalar *s, float x, float b, float t)
{
	if (s->mode == CUDNN_POINTWISE_BINARY_SELECT)
		return t != 0.0f ? x : b;
	if (tfs_scalar_is_gradient(s->mode))
		return b * derivative(s, x);
	if (s->mode >= CUDNN_POINTWISE_RELU_FWD && s->mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD)
		return activation(s, x);
	return tfs_scalar_operands(s->mode) == 1 ? unary(s->mode, x) : binary(s->mode, x, b);
}

void tfs_scalar_row(const struct tfs_scalar *s, size_t count, float *out, const float *const in[3],
	const ptrdiff_t step[4])
{
	const float *x = in[0], *b = in[1], *t = in[2];
	bool plain = s->alpha1 == 1.0f && s->alpha2 == 1.0f;

	/* What attention does to its scores is worth a loop without choices. */
	if (plain && s->mode == CUDNN_POINTWISE_MUL)
		for (size_t i = 0; i < count; i++, out += step[0], x += step[1], b += step[2])
			*out = *x * *b;
	else if (plain && s->mode == CUDNN_POINTWISE_SUB)
		for (size_t i = 0; i < count; i++, out += step[0], x += step[1], b += step[2])
			*out = *x - *b;
	else if (plain && s->mode == CUDNN_POINTWISE_IDENTITY)
		for (size_t i = 0; i < count; i++, out += step[0], x += step[1])
			*out = *x;
	else
		for (size_t i = 0; i < count; i++) {
			*out = apply(s, s->alpha1 * *x, s->alpha2 * *b, *t);
			out += step[0];
			x += step[1];
			b += step[2];
			t += step[3];
		}
}
