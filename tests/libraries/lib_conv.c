/* SPDX-License-Identifier: MIT */
/* The three convolution families give the sums of their definition, with every algorithm. */
#include "tests/libraries/lib_conv.h"

static const struct lib_conv cases[] = {
	{2, 1, 6, 1, 12, 12, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{3, 4, 5, 1, 9, 7, 3, 3, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{2, 3, 4, 1, 11, 8, 3, 2, 2, 1, 2, 3, 1, 1, CUDNN_CROSS_CORRELATION, 0, 0.5f, 2},
	{2, 3, 4, 1, 11, 8, 3, 2, 2, 1, 2, 3, 1, 1, CUDNN_CONVOLUTION, 0, 1, 1},
	{1, 4, 6, 2, 8, 8, 3, 3, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{2, 6, 6, 6, 7, 7, 3, 3, 1, 1, 2, 2, 1, 1, CUDNN_CONVOLUTION, 0, 1, 0.25f},
	{2, 2, 3, 1, 13, 13, 3, 3, 2, 2, 1, 1, 2, 3, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{2, 5, 7, 1, 6, 5, 1, 1, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, -1.5f, 1},
	{2, 4, 3, 1, 8, 9, 3, 3, 1, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 1, 1, 0},
	{2, 4, 6, 2, 8, 9, 3, 2, 1, 1, 2, 1, 1, 2, CUDNN_CONVOLUTION, 1, 2, 0.5f},
	{2, 4, 3, 1, 8, 9, 3, 3, 1, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 2, 1, 0},
	{2, 4, 6, 2, 8, 9, 5, 5, 4, 4, 3, 2, 1, 1, CUDNN_CONVOLUTION, 2, 1, 1},
	{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{2, 1, 2, 1, 3, 3, 3, 3, 4, 4, 5, 5, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{17, 8, 16, 1, 12, 12, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
};

static cudnnHandle_t dnn;

/* Everything the view does not cover must keep its value. */
static void expect(const struct lib_problem *p, int out, const float *before, double *sum)
{
	const int *s = p->stride[out];
	const struct lib_conv *c = &p->c;
	int dim[LIB_ARRAYS][4] = {{c->n, c->c, c->h, c->w}, {c->k, c->c / c->groups, c->r, c->s},
		{c->n, c->k, p->p, p->q}};
	const int *d = dim[out];
	unsigned char *covered = calloc(p->size[out] + 1, 1);

	for (int i = 0; i < d[0]; i++)
		for (int j = 0; j < d[1]; j++)
			for (int k = 0; k < d[2]; k++)
				for (int l = 0; l < d[3]; l++)
					covered[i * s[0] + j * s[1] + k * s[2] + l * s[3]] = 1;
	for (size_t i = 0; i < p->size[out]; i++) {
		double old = c->beta != 0.0f ? (double)c->beta * (double)before[i] : 0.0;

		sum[i] = covered[i] ? (double)c->alpha * sum[i] + old : (double)before[i];
	}
	free(covered);
}

static void check_algo(const struct lib_problem *p, int number, int out, int algo,
	const double *want, const float *before)
{
	size_t n = p->size[out], size = 0;
	float *result, *work, *got;
	char what[64];

	if (lib_workspace_size(dnn, p, out, algo, &size)) {
		LIB_EQ(lib_convolve(dnn, p, out, algo, NULL, 0, p->device[out]) / 1000, 3);
		return;
	}
	result = lib_upload(before, n);
	work = lib_upload(NULL, size / sizeof(float) + 1);
	got = lib_values(n, 1);
	if (size) {
		LIB_TRUE(lib_convolve(dnn, p, out, algo, work, size - 1, result) !=
			 CUDNN_STATUS_SUCCESS);
		LIB_TRUE(lib_convolve(dnn, p, out, algo, NULL, size, result) !=
			 CUDNN_STATUS_SUCCESS);
	}
	LIB_EQ(lib_convolve(dnn, p, out, algo, work, size, result), 0);
	lib_download(got, result, n);
	snprintf(what, sizeof(what), "case %d, array %d, algorithm %d", number, out, algo);
	lib_near(what, got, want, n, 1e-5);
	cudaFree(result);
	cudaFree(work);
	free(got);
}

static void check_family(const struct lib_problem *p, int number, int out)
{
	static const int algos[LIB_ARRAYS] = {CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT,
		CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, CUDNN_CONVOLUTION_FWD_ALGO_COUNT};
	double *want = lib_reference(p, out);
	/* With beta 0 the output is not read: a NaN must not survive. Gaps keep theirs. */
	float *before = p->c.beta != 0.0f || p->c.layout == 2 ? lib_values(p->size[out], 99)
							      : lib_filled(p->size[out], NAN);

	expect(p, out, before, want);
	for (int algo = 0; algo < algos[out]; algo++)
		check_algo(p, number, out, algo, want, before);
	free(before);
	free(want);
}

static void check_dims(const struct lib_problem *p)
{
	int n, c, h, w;

	LIB_EQ(cudnnGetConvolution2dForwardOutputDim(p->conv, p->x, p->w, &n, &c, &h, &w), 0);
	LIB_EQ(n, p->c.n);
	LIB_EQ(c, p->c.k);
	LIB_EQ(h, p->p);
	LIB_EQ(w, p->q);
}

/* relu(alpha1 * conv(x) + alpha2 * z + bias) in one call, z being y itself. */
static void check_fused(const struct lib_problem *p, float alpha2)
{
	size_t n = p->size[LIB_Y], size = 0;
	double *want = lib_reference(p, LIB_Y);
	float *before = lib_values(n, 7), *bias = lib_values((size_t)p->c.k, 3);
	float *y = lib_upload(before, n), *b = lib_upload(bias, (size_t)p->c.k),
	      *got = lib_values(n, 1);
	float alpha1 = 1.0f, *work;
	cudnnTensorDescriptor_t bd;
	cudnnActivationDescriptor_t act;

	for (size_t i = 0; i < n; i++) {
		int k = (int)(i / (size_t)p->stride[LIB_Y][1]) % p->c.k;
		double v = want[i] + (double)alpha2 * (double)before[i] + (double)bias[k];

		want[i] = v > 0.0 ? v : 0.0;
	}
	LIB_EQ(cudnnCreateTensorDescriptor(&bd), 0);
	LIB_EQ(cudnnSetTensor4dDescriptor(bd, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, p->c.k, 1, 1),
		0);
	LIB_EQ(cudnnCreateActivationDescriptor(&act), 0);
	LIB_EQ(cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0),
		0);
	LIB_EQ(lib_workspace_size(dnn, p, LIB_Y, 1, &size), 0);
	work = lib_upload(NULL, size / sizeof(float) + 1);
	LIB_EQ(cudnnConvolutionBiasActivationForward(dnn, &alpha1, p->x, p->device[LIB_X], p->w,
		       p->device[LIB_W], p->conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
		       work, size, &alpha2, p->y, y, bd, b, act, p->y, y),
		0);
	lib_download(got, y, n);
	lib_near("fused", got, want, n, 1e-5);
	cudnnDestroyActivationDescriptor(act);
	cudnnDestroyTensorDescriptor(bd);
	cudaFree(work);
	cudaFree(y);
	cudaFree(b);
	free(want);
	free(before);
	free(bias);
	free(got);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lib_problem p;

		lib_problem_init(&p, &cases[i]);
		check_dims(&p);
		for (int out = 0; out < LIB_ARRAYS; out++)
			check_family(&p, (int)i, out);
		if (i < 2) {
			check_fused(&p, 0.0f);
			check_fused(&p, 0.5f);
		}
		lib_problem_finish(&p);
	}
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
