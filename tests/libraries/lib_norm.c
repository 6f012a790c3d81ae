/* SPDX-License-Identifier: MIT */
/* Batch normalization and LRN of cuDNN; gradients by finite differences of the definition. */
#include <cudnn.h>

#include "tests/libraries/lib_check.h"

enum { N = 4, C = 3, P = 6, SIZE = N * C * P };

static const double epsilon = 1e-3;
static cudnnHandle_t dnn;
static cudnnTensorDescriptor_t xd, pd;

/* The statistic that element (n, c, p) belongs to. */
static int group(bool spatial, int c, int p)
{
	return spatial ? c : c * P + p;
}

static void statistics(bool spatial, const double *x, double *mean, double *variance)
{
	int groups = spatial ? C : C * P, count = spatial ? N * P : N;

	for (int g = 0; g < groups; g++)
		mean[g] = variance[g] = 0;
	for (int i = 0; i < SIZE; i++)
		mean[group(spatial, i / P % C, i % P)] += x[i] / count;
	for (int i = 0; i < SIZE; i++) {
		int g = group(spatial, i / P % C, i % P);

		variance[g] += (x[i] - mean[g]) * (x[i] - mean[g]) / count;
	}
}

/* The loss whose gradients are wanted: sum of dy * y. */
static double loss(bool spatial, const double *x, const double *scale, const double *bias,
	const double *dy, double *y)
{
	double mean[C * P], variance[C * P], sum = 0;

	statistics(spatial, x, mean, variance);
	for (int i = 0; i < SIZE; i++) {
		int g = group(spatial, i / P % C, i % P);
		double v = (x[i] - mean[g]) / sqrt(variance[g] + epsilon) * scale[g] + bias[g];

		if (y)
			y[i] = v;
		sum += dy[i] * v;
	}
	return sum;
}

static void widen(const float *from, double *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = (double)from[i];
}

static void gradient(bool spatial, double *of, int n, double *x, double *scale, double *bias,
	const double *dy, double *out)
{
	for (int i = 0; i < n; i++) {
		double old = of[i], up;

		of[i] = old + 1e-5;
		up = loss(spatial, x, scale, bias, dy, NULL);
		of[i] = old - 1e-5;
		out[i] = (up - loss(spatial, x, scale, bias, dy, NULL)) / 2e-5;
		of[i] = old;
	}
}

static void compare(
	const char *what, const float *device, const double *want, int n, double tolerance)
{
	float got[SIZE];

	lib_download(got, device, (size_t)n);
	lib_near(what, got, want, (size_t)n, tolerance);
}

static void check_norm(cudnnBatchNormMode_t mode)
{
	bool spatial = mode != CUDNN_BATCHNORM_PER_ACTIVATION;
	int groups = spatial ? C : C * P, count = spatial ? N * P : N;
	float *x = lib_values(SIZE, 3), *scale = lib_values(C * P, 4), *bias = lib_values(C * P, 5);
	float *dy = lib_values(SIZE, 6), *nan = lib_filled(SIZE, NAN), *old = lib_values(C * P, 7);
	float *d[6], *mean, *variance, *saved_mean, *saved_inverse, *out, *dscale, *dbias;
	double wx[SIZE], ws[C * P], wb[C * P], wdy[SIZE], want[SIZE], m[C * P], v[C * P];
	float one = 1, zero = 0;

	widen(x, wx, SIZE);
	widen(scale, ws, groups);
	widen(bias, wb, groups);
	widen(dy, wdy, SIZE);
	d[0] = lib_upload(x, SIZE);
	d[1] = lib_upload(scale, C * P);
	d[2] = lib_upload(bias, C * P);
	d[3] = lib_upload(dy, SIZE);
	out = lib_upload(nan, SIZE);
	mean = lib_upload(old, C * P);
	variance = lib_upload(old, C * P);
	saved_mean = lib_upload(nan, C * P);
	saved_inverse = lib_upload(nan, C * P);
	dscale = lib_upload(nan, C * P);
	dbias = lib_upload(nan, C * P);
	LIB_EQ(cudnnDeriveBNTensorDescriptor(pd, xd, mode), 0);
	LIB_EQ(cudnnBatchNormalizationForwardTraining(dnn, mode, &one, &zero, xd, d[0], xd, out, pd,
		       d[1], d[2], 0.25, mean, variance, epsilon, saved_mean, saved_inverse),
		0);
	loss(spatial, wx, ws, wb, wdy, want);
	compare("training", out, want, SIZE, 1e-5);
	statistics(spatial, wx, m, v);
	for (int g = 0; g < groups; g++)
		want[g] = 0.25 * m[g] + 0.75 * (double)old[g];
	compare("running mean", mean, want, groups, 1e-6);
	for (int g = 0; g < groups; g++)
		want[g] = 0.25 * v[g] * count / (count - 1) + 0.75 * (double)old[g];
	compare("running variance", variance, want, groups, 1e-6);
	LIB_EQ(cudnnBatchNormalizationBackward(dnn, mode, &one, &zero, &one, &zero, xd, d[0], xd,
		       d[3], xd, out, pd, d[1], dscale, dbias, epsilon, saved_mean, saved_inverse),
		0);
	gradient(spatial, wx, SIZE, wx, ws, wb, wdy, want);
	compare("gradient", out, want, SIZE, 2e-4);
	gradient(spatial, ws, groups, wx, ws, wb, wdy, want);
	compare("scale's gradient", dscale, want, groups, 2e-4);
	gradient(spatial, wb, groups, wx, ws, wb, wdy, want);
	compare("bias' gradient", dbias, want, groups, 2e-4);
	/* The same without what the forward call saved. */
	LIB_EQ(cudnnBatchNormalizationBackward(dnn, mode, &one, &zero, &one, &one, xd, d[0], xd,
		       d[3], xd, out, pd, d[1], dscale, dbias, epsilon, NULL, NULL),
		0);
	for (int g = 0; g < groups; g++)
		want[g] *= 2;
	compare("accumulated", dbias, want, groups, 2e-4);
	LIB_EQ(cudaMemcpy(variance, x, sizeof(float), cudaMemcpyHostToDevice), 0);
	for (int g = 0; g < groups; g++)
		v[g] = 0.5 + g;
	for (int g = 0; g < groups; g++)
		old[g] = (float)v[g];
	LIB_EQ(cudaMemcpy(variance, old, (size_t)groups * sizeof(float), cudaMemcpyHostToDevice),
		0);
	LIB_EQ(cudnnBatchNormalizationForwardInference(dnn, mode, &one, &zero, xd, d[0], xd, out,
		       pd, d[1], d[2], saved_mean, variance, epsilon),
		0);
	for (int i = 0; i < SIZE; i++) {
		int g = group(spatial, i / P % C, i % P);

		want[i] = (wx[i] - m[g]) / sqrt(v[g] + epsilon) * ws[g] + wb[g];
	}
	compare("inference", out, want, SIZE, 1e-5);
	for (int i = 0; i < 4; i++)
		cudaFree(d[i]);
	free(x);
	free(scale);
	free(bias);
	free(dy);
	free(nan);
	free(old);
}

/* Plain normalization wants neither workspace nor reserve space, and says so; fused is refused. */
static void check_memory(void)
{
	for (int fused = 0; fused < 2; fused++) {
		cudnnBatchNormOps_t ops =
			fused ? CUDNN_BATCHNORM_OPS_BN_ACTIVATION : CUDNN_BATCHNORM_OPS_BN;
		cudnnStatus_t want = fused ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
		size_t bytes[3] = {7, 7, 7};

		LIB_EQ(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(dnn,
			       CUDNN_BATCHNORM_SPATIAL, ops, xd, NULL, xd, pd, NULL, &bytes[0]),
			want);
		LIB_EQ(cudnnGetBatchNormalizationBackwardExWorkspaceSize(dnn,
			       CUDNN_BATCHNORM_SPATIAL, ops, xd, xd, xd, NULL, xd, pd, NULL,
			       &bytes[1]),
			want);
		LIB_EQ(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
			       dnn, CUDNN_BATCHNORM_SPATIAL, ops, NULL, xd, &bytes[2]),
			want);
		for (int i = 0; i < 3 && !fused; i++)
			LIB_EQ(bytes[i], 0);
	}
}

static double lrn(const double *x, const double *dy, double *y)
{
	double sum = 0;

	for (int i = 0; i < SIZE; i++) {
		int c = i / P % C;
		double s = 0;

		for (int k = -1; k <= 1; k++)
			if (c + k >= 0 && c + k < C)
				s += x[i + k * P] * x[i + k * P];
		s = x[i] / pow(2.0 + 0.5 / 3 * s, 0.75);
		if (y)
			y[i] = s;
		sum += dy[i] * s;
	}
	return sum;
}

static void check_lrn(void)
{
	float *x = lib_values(SIZE, 3), *dy = lib_values(SIZE, 6), *nan = lib_filled(SIZE, NAN);
	float *dev_x = lib_upload(x, SIZE), *dev_dy = lib_upload(dy, SIZE);
	float *y = lib_upload(nan, SIZE), *dx = lib_upload(nan, SIZE), one = 1, zero = 0;
	double wx[SIZE], wdy[SIZE], want[SIZE];
	cudnnLRNDescriptor_t desc;

	widen(x, wx, SIZE);
	widen(dy, wdy, SIZE);
	LIB_EQ(cudnnCreateLRNDescriptor(&desc), 0);
	LIB_EQ(cudnnSetLRNDescriptor(desc, 3, 0.5, 0.75, 2.0), 0);
	LIB_EQ(cudnnLRNCrossChannelForward(
		       dnn, desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, xd, dev_x, &zero, xd, y),
		0);
	lrn(wx, wdy, want);
	compare("lrn", y, want, SIZE, 1e-5);
	LIB_EQ(cudnnLRNCrossChannelBackward(dnn, desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, xd, y,
		       xd, dev_dy, xd, dev_x, &zero, xd, dx),
		0);
	for (int i = 0; i < SIZE; i++) {
		double old = wx[i], up;

		wx[i] = old + 1e-5;
		up = lrn(wx, wdy, NULL);
		wx[i] = old - 1e-5;
		want[i] = (up - lrn(wx, wdy, NULL)) / 2e-5;
		wx[i] = old;
	}
	compare("lrn gradient", dx, want, SIZE, 1e-4);
	cudnnDestroyLRNDescriptor(desc);
	free(x);
	free(dy);
	free(nan);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	LIB_EQ(cudnnCreateTensorDescriptor(&xd), 0);
	LIB_EQ(cudnnCreateTensorDescriptor(&pd), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(xd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, 2, P / 2),
		0);
	check_norm(CUDNN_BATCHNORM_PER_ACTIVATION);
	check_norm(CUDNN_BATCHNORM_SPATIAL);
	check_memory();
	check_lrn();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
