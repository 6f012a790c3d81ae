/* SPDX-License-Identifier: MIT */
/* Pooling, activation and softmax of cuDNN, by definition. */
#include "tests/libraries/lib_tensor.h"

static cudnnHandle_t dnn;

struct pooling {
	cudnnPoolingMode_t mode;
	int h, w, win_h, win_w, pad_h, pad_w, stride_h, stride_w;
	float alpha, beta;
};

static const struct pooling poolings[] = {
	{CUDNN_POOLING_MAX, 8, 8, 2, 2, 0, 0, 2, 2, 1, 0},
	{CUDNN_POOLING_MAX_DETERMINISTIC, 9, 7, 3, 3, 1, 1, 2, 2, 1, 0},
	{CUDNN_POOLING_MAX, 9, 7, 3, 2, 1, 0, 1, 3, 0.5f, 2},
	{CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, 8, 8, 2, 2, 0, 0, 2, 2, 1, 0},
	{CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, 9, 7, 3, 3, 1, 1, 2, 2, 2, 1},
	{CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, 9, 7, 3, 3, 1, 1, 2, 1, 1, 0},
	{CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, 5, 6, 5, 6, 0, 0, 1, 1, 1, 0.5f},
};

/* One window: adds the output, or spreads the gradient. */
static void window(const struct pooling *p, const float *x, int at_h, int at_w, double *out,
	double gradient, double *dx)
{
	int count = 0, best = -1;
	double sum = 0;

	for (int pass = 0; pass < 2; pass++) {
		double share = p->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
				       ? 1.0 / (p->win_h * p->win_w)
				       : 1.0 / (count ? count : 1);

		for (int i = 0; i < p->win_h * p->win_w; i++) {
			int h = at_h * p->stride_h - p->pad_h + i / p->win_w;
			int w = at_w * p->stride_w - p->pad_w + i % p->win_w;
			int o = h * p->w + w;

			if (h < 0 || h >= p->h || w < 0 || w >= p->w)
				continue;
			if (pass == 1) {
				dx[o] += gradient * share;
				continue;
			}
			count++;
			sum += (double)x[o];
			best = best < 0 || x[o] > x[best] ? o : best;
		}
		if (p->mode == CUDNN_POOLING_MAX || p->mode == CUDNN_POOLING_MAX_DETERMINISTIC) {
			*out = (double)x[best];
			dx[best] += gradient;
			return;
		}
		if (pass == 0)
			*out = sum * (p->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
						     ? 1.0 / (p->win_h * p->win_w)
						     : 1.0 / count);
	}
}

/* A descriptor tells what it was given, of which everything but the ranges may be left out. */
static void check_pooling_descriptor(void)
{
	const int want[3][2] = {{3, 2}, {1, 0}, {2, 4}};
	int got[3][3] = {{7, 7, 7}, {7, 7, 7}, {7, 7, 7}}, rank = 0;
	cudnnPoolingDescriptor_t pool;
	cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
	cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
	float one = 1;
	struct tensor x = make(1, 1, 4, 4, 3);

	LIB_EQ(cudnnCreatePoolingDescriptor(&pool), 0);
	LIB_EQ(cudnnSetPoolingNdDescriptor(pool, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
		       CUDNN_PROPAGATE_NAN, 2, want[0], want[1], want[2]),
		0);
	LIB_EQ(cudnnGetPoolingNdDescriptor(pool, 3, &mode, &nan, &rank, got[0], got[1], got[2]), 0);
	LIB_EQ(mode, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING);
	LIB_EQ(nan, CUDNN_PROPAGATE_NAN);
	LIB_EQ(rank, 2);
	for (int i = 0; i < 3; i++)
		LIB_TRUE(got[i][0] == want[i][0] && got[i][1] == want[i][1] && got[i][2] == 7);
	LIB_EQ(cudnnGetPoolingNdDescriptor(pool, 3, NULL, NULL, NULL, got[0], got[1], got[2]), 0);
	LIB_EQ(cudnnPoolingBackward(dnn, NULL, &one, x.desc, x.device, x.desc, x.device, x.desc,
		       x.device, &one, x.desc, x.device),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnPoolingBackward(dnn, pool, &one, x.desc, x.device, x.desc, NULL, x.desc,
		       x.device, &one, x.desc, x.device),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnDestroyPoolingDescriptor(pool), 0);
	discard(&x);
}

static void check_pooling(const struct pooling *p)
{
	cudnnPoolingDescriptor_t pool;
	int n, c, h, w;
	uint32_t old = p->beta != 0.0f ? 5 : 0;
	struct tensor x = make(2, 3, p->h, p->w, 3), y, dy, dx = make(2, 3, p->h, p->w, old);

	LIB_EQ(cudnnCreatePoolingDescriptor(&pool), 0);
	LIB_EQ(cudnnSetPooling2dDescriptor(pool, p->mode, CUDNN_NOT_PROPAGATE_NAN, p->win_h,
		       p->win_w, p->pad_h, p->pad_w, p->stride_h, p->stride_w),
		0);
	LIB_EQ(cudnnGetPooling2dForwardOutputDim(pool, x.desc, &n, &c, &h, &w), 0);
	LIB_EQ(h, (p->h + 2 * p->pad_h - p->win_h) / p->stride_h + 1);
	LIB_EQ(w, (p->w + 2 * p->pad_w - p->win_w) / p->stride_w + 1);
	y = make(n, c, h, w, old);
	dy = make(n, c, h, w, 7);
	for (int image = 0; image < n * c; image++)
		for (int i = 0; i < h * w; i++)
			window(p, x.host + image * p->h * p->w, i / w, i % w,
				&y.want[image * h * w + i], (double)dy.host[image * h * w + i],
				dx.want + image * p->h * p->w);
	blend(&y, p->alpha, p->beta);
	blend(&dx, p->alpha, p->beta);
	LIB_EQ(cudnnPoolingForward(
		       dnn, pool, &p->alpha, x.desc, x.device, &p->beta, y.desc, y.device),
		0);
	check("pooling", &y, 1e-5);
	LIB_EQ(cudnnPoolingBackward(dnn, pool, &p->alpha, y.desc, y.device, dy.desc, dy.device,
		       x.desc, x.device, &p->beta, dx.desc, dx.device),
		0);
	check("pooling gradient", &dx, 1e-5);
	cudnnDestroyPoolingDescriptor(pool);
	discard(&x);
	discard(&y);
	discard(&dy);
	discard(&dx);
}

static double activate(cudnnActivationMode_t mode, double x, double *slope)
{
	double y = 1.0 / (1.0 + exp(-x));

	switch (mode) {
	case CUDNN_ACTIVATION_SIGMOID:
		*slope = y * (1.0 - y);
		return y;
	case CUDNN_ACTIVATION_RELU:
		*slope = x > 0;
		return x > 0 ? x : 0;
	case CUDNN_ACTIVATION_TANH:
		*slope = 1.0 - tanh(x) * tanh(x);
		return tanh(x);
	case CUDNN_ACTIVATION_CLIPPED_RELU:
		*slope = x > 0 && x <= 0.5;
		return x < 0 ? 0 : x > 0.5 ? 0.5 : x;
	case CUDNN_ACTIVATION_SWISH:
		y = 1.0 / (1.0 + exp(-0.75 * x));
		*slope = y + 0.75 * x * y * (1.0 - y);
		return x * y;
	default:
		*slope = x < 0 ? 0.5 * exp(x) : 1;
		return x < 0 ? 0.5 * (exp(x) - 1) : x;
	}
}

static void check_activation(cudnnActivationMode_t mode, float alpha, float beta)
{
	uint32_t old = beta != 0.0f ? 5 : 0;
	struct tensor x = make(2, 3, 4, 5, 3), y = make(2, 3, 4, 5, old), dy = make(2, 3, 4, 5, 7);
	struct tensor dx = make(2, 3, 4, 5, old);
	cudnnActivationDescriptor_t act;
	float one = 1, zero = 0;

	LIB_EQ(cudnnCreateActivationDescriptor(&act), 0);
	LIB_EQ(cudnnSetActivationDescriptor(act, mode, CUDNN_NOT_PROPAGATE_NAN, 0.5), 0);
	LIB_EQ(cudnnSetActivationDescriptorSwishBeta(act, 0.75), 0);
	for (size_t i = 0; i < x.size; i++) {
		double slope;

		y.want[i] = activate(mode, (double)x.host[i], &slope);
		dx.want[i] = (double)dy.host[i] * slope;
	}
	blend(&dx, alpha, beta);
	LIB_EQ(cudnnActivationForward(dnn, act, &one, x.desc, x.device, &zero, y.desc, y.device),
		0);
	LIB_EQ(cudnnActivationBackward(dnn, act, &alpha, y.desc, y.device, dy.desc, dy.device,
		       x.desc, x.device, &beta, dx.desc, dx.device),
		0);
	check("activation gradient", &dx, 1e-5);
	check("activation", &y, 1e-5);
	blend(&y, alpha, beta);
	LIB_EQ(cudnnActivationForward(dnn, act, &alpha, x.desc, x.device, &beta, y.desc, y.device),
		0);
	check("activation with factors", &y, 1e-5);
	cudnnDestroyActivationDescriptor(act);
	discard(&x);
	discard(&y);
	discard(&dy);
	discard(&dx);
}

static void check_softmax(cudnnSoftmaxAlgorithm_t algo, cudnnSoftmaxMode_t mode)
{
	struct tensor x = make(3, 4, 2, 2, 3), y = make(3, 4, 2, 2, 0), dy = make(3, 4, 2, 2, 7);
	struct tensor dx = make(3, 4, 2, 2, 0);
	int places = mode == CUDNN_SOFTMAX_MODE_CHANNEL ? 4 : 1;
	int length = 16 / places;
	float one = 1, zero = 0;

	for (int n = 0; n < 3; n++)
		for (int p = 0; p < places; p++) {
			double sum = 0, dot = 0;

			for (int k = 0; k < length; k++)
				sum += exp((double)x.host[n * 16 + k * places + p]);
			for (int k = 0; k < length; k++) {
				size_t o = (size_t)(n * 16 + k * places + p);
				double v = exp((double)x.host[o]) / sum;

				y.want[o] = algo == CUDNN_SOFTMAX_LOG ? log(v) : v;
				dot += (double)dy.host[o] * (algo == CUDNN_SOFTMAX_LOG ? 1 : v);
			}
			for (int k = 0; k < length; k++) {
				size_t o = (size_t)(n * 16 + k * places + p);
				double v = exp((double)x.host[o]) / sum, g = (double)dy.host[o];

				dx.want[o] =
					algo == CUDNN_SOFTMAX_LOG ? g - v * dot : v * (g - dot);
			}
		}
	LIB_EQ(cudnnSoftmaxForward(
		       dnn, algo, mode, &one, x.desc, x.device, &zero, y.desc, y.device),
		0);
	LIB_EQ(cudnnSoftmaxBackward(dnn, algo, mode, &one, y.desc, y.device, dy.desc, dy.device,
		       &zero, dx.desc, dx.device),
		0);
	check("softmax", &y, 1e-5);
	check("softmax gradient", &dx, 1e-5);
	discard(&x);
	discard(&y);
	discard(&dy);
	discard(&dx);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	for (size_t i = 0; i < sizeof(poolings) / sizeof(poolings[0]); i++)
		check_pooling(&poolings[i]);
	for (int mode = CUDNN_ACTIVATION_SIGMOID; mode <= CUDNN_ACTIVATION_ELU; mode++) {
		check_activation((cudnnActivationMode_t)mode, 1, 0);
		check_activation((cudnnActivationMode_t)mode, 0.5f, 2);
	}
	check_activation(CUDNN_ACTIVATION_SWISH, 1, 0);
	check_pooling_descriptor();
	for (int algo = CUDNN_SOFTMAX_FAST; algo <= CUDNN_SOFTMAX_LOG; algo++) {
		check_softmax((cudnnSoftmaxAlgorithm_t)algo, CUDNN_SOFTMAX_MODE_INSTANCE);
		check_softmax((cudnnSoftmaxAlgorithm_t)algo, CUDNN_SOFTMAX_MODE_CHANNEL);
	}
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
