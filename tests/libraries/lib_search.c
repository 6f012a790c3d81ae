/* SPDX-License-Identifier: MIT */
/* Searching for a convolution algorithm: what is returned, what is overwritten, what repeats. */
#include "tests/libraries/lib_conv.h"

static const struct lib_conv layers[] = {
	{64, 1, 20, 1, 28, 28, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{64, 20, 50, 1, 12, 12, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{64, 6, 16, 1, 14, 14, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
};

static cudnnHandle_t dnn;
enum { MOST = 20 };

/* The three result structs have the same layout but for the type of the first field. */
typedef cudnnConvolutionFwdAlgoPerf_t perf;

static cudnnStatus_t guess(const struct lib_problem *p, int out, int n, int *got, perf *r)
{
	if (out == LIB_Y)
		return cudnnGetConvolutionForwardAlgorithm_v7(
			dnn, p->x, p->w, p->conv, p->y, n, got, r);
	if (out == LIB_X)
		return cudnnGetConvolutionBackwardDataAlgorithm_v7(
			dnn, p->w, p->y, p->conv, p->x, n, got, (void *)r);
	return cudnnGetConvolutionBackwardFilterAlgorithm_v7(
		dnn, p->x, p->y, p->conv, p->w, n, got, (void *)r);
}

static cudnnStatus_t find(const struct lib_problem *p, int out, int n, int *got, perf *r)
{
	if (out == LIB_Y)
		return cudnnFindConvolutionForwardAlgorithm(
			dnn, p->x, p->w, p->conv, p->y, n, got, r);
	if (out == LIB_X)
		return cudnnFindConvolutionBackwardDataAlgorithm(
			dnn, p->w, p->y, p->conv, p->x, n, got, (void *)r);
	return cudnnFindConvolutionBackwardFilterAlgorithm(
		dnn, p->x, p->y, p->conv, p->w, n, got, (void *)r);
}

static cudnnStatus_t find_ex(
	const struct lib_problem *p, int out, void *work, size_t size, int *got, perf *r)
{
	float *const *d = p->device;

	if (out == LIB_Y)
		return cudnnFindConvolutionForwardAlgorithmEx(dnn, p->x, d[LIB_X], p->w, d[LIB_W],
			p->conv, p->y, d[LIB_Y], MOST, got, r, work, size);
	if (out == LIB_X)
		return cudnnFindConvolutionBackwardDataAlgorithmEx(dnn, p->w, d[LIB_W], p->y,
			d[LIB_Y], p->conv, p->x, d[LIB_X], MOST, got, (void *)r, work, size);
	return cudnnFindConvolutionBackwardFilterAlgorithmEx(dnn, p->x, d[LIB_X], p->y, d[LIB_Y],
		p->conv, p->w, d[LIB_W], MOST, got, (void *)r, work, size);
}

static bool non_deterministic(int out, int algo)
{
	return (out == LIB_W && (algo == 0 || algo == 3)) || (out == LIB_X && algo == 0);
}

/* Sorted by time, failures last; flags as documented; the usual choice is clearly not the best. */
static void check_order(int out, const perf *r, int n)
{
	float zeroth = -1, best = -1;

	LIB_TRUE(n > 2);
	for (int i = 0; i < n; i++) {
		if (r[i].status) {
			LIB_TRUE(r[i].time < 0);
			continue;
		}
		if (i > 0) {
			LIB_TRUE(!r[i - 1].status);
			LIB_TRUE(r[i - 1].time <= r[i].time);
		}
		LIB_EQ(r[i].determinism, non_deterministic(out, (int)r[i].algo)
						 ? CUDNN_NON_DETERMINISTIC
						 : CUDNN_DETERMINISTIC);
		if (r[i].algo == 0)
			zeroth = r[i].time;
		if (best < 0 && r[i].determinism == CUDNN_DETERMINISTIC)
			best = r[i].time;
	}
	if (getenv("TFSIM_HOSTILE"))
		return;
	LIB_TRUE(zeroth > 2 * best);
	LIB_TRUE(best > 0);
}

static void check_lists(const struct lib_problem *p, int out)
{
	perf r[MOST], again[MOST], single;
	int n = 0, m = 0;

	LIB_EQ(find(p, out, MOST, &n, r), 0);
	check_order(out, r, n);
	LIB_EQ(find(p, out, MOST, &m, again), 0);
	LIB_EQ(m, n);
	LIB_TRUE(!memcmp(r, again, (size_t)n * sizeof(*r)));
	LIB_EQ(find(p, out, 1, &m, &single), 0);
	LIB_EQ(m, 1);
	LIB_EQ(single.algo, r[0].algo);
	LIB_EQ(guess(p, out, MOST, &m, r), 0);
	LIB_EQ(m, n);
	LIB_EQ(r[0].status, 0);
	LIB_EQ(cudnnSetConvolutionMathType(p->conv, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION), 0);
	LIB_EQ(find(p, out, MOST, &m, again), 0);
	LIB_TRUE(m > n);
	LIB_EQ(cudnnSetConvolutionMathType(p->conv, CUDNN_DEFAULT_MATH), 0);
}

/* FindEx overwrites its output, keeps its inputs, and without workspace tries less. */
static void check_overwrites(struct lib_problem *p, int out)
{
	float *after[LIB_ARRAYS];
	perf r[MOST];
	int n = 0;

	LIB_EQ(find_ex(p, out, NULL, 0, &n, r), 0);
	for (int i = 0; i < n; i++)
		LIB_TRUE(r[i].status || r[i].memory == 0);
	for (int i = 0; i < LIB_ARRAYS; i++) {
		after[i] = lib_values(p->size[i], 0);
		lib_download(after[i], p->device[i], p->size[i]);
		LIB_EQ(!memcmp(after[i], p->host[i], p->size[i] * sizeof(float)), i != out);
		free(after[i]);
	}
	LIB_EQ(cudaMemcpy(p->device[out], p->host[out], p->size[out] * sizeof(float),
		       cudaMemcpyHostToDevice),
		0);
}

/* Deterministic algorithms repeat to the bit, the others do not, and no two round alike. */
static void check_bits(const struct lib_problem *p, int out)
{
	size_t n = p->size[out], bytes = n * sizeof(float);
	float *result = lib_upload(NULL, n), *first = lib_values(n, 0), *again = lib_values(n, 0);
	float *previous = lib_values(n, 0);
	perf r[MOST];
	int count = 0;

	LIB_EQ(find(p, out, MOST, &count, r), 0);
	for (int i = 0; i < count; i++) {
		float *work;
		bool same = true;

		if (r[i].status)
			continue;
		work = lib_upload(NULL, r[i].memory / sizeof(float));
		LIB_EQ(lib_convolve(dnn, p, out, (int)r[i].algo, work, r[i].memory, result), 0);
		lib_download(first, result, n);
		for (int k = 0; k < 6; k++) {
			LIB_EQ(lib_convolve(dnn, p, out, (int)r[i].algo, work, r[i].memory, result),
				0);
			lib_download(again, result, n);
			same = same && !memcmp(first, again, bytes);
		}
		LIB_EQ(same, r[i].determinism == CUDNN_DETERMINISTIC);
		LIB_TRUE(memcmp(first, previous, bytes) != 0);
		memcpy(previous, first, bytes);
		cudaFree(work);
	}
	cudaFree(result);
	free(first);
	free(again);
	free(previous);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	LIB_EQ(sizeof(perf), sizeof(cudnnConvolutionBwdDataAlgoPerf_t));
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		struct lib_problem p;

		lib_problem_init(&p, &layers[i]);
		for (int out = 0; out < LIB_ARRAYS; out++) {
			check_lists(&p, out);
			check_overwrites(&p, out);
			check_bits(&p, out);
		}
		lib_problem_finish(&p);
	}
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
