/* SPDX-License-Identifier: MIT */
/*
 * Normalisations of cuDNN's backend API: layer, RMS, batch and instance, forward and backward;
 * gradients by finite differences of the definition.
 */
#include "tests/libraries/lib_backend.h"

enum { N = 3, C = 4, P = 5, SIZE = N * C * P };
enum {
	X = 1,
	SCALE,
	BIAS,
	EPSILON,
	FACTOR,
	OLD_MEAN,
	OLD_VAR,
	Y,
	MEAN,
	INVERSE,
	NEW_MEAN,
	NEW_VAR
};
enum { DY = 20, DX, DSCALE, DBIAS, UIDS };

static const double epsilon = 1e-3, factor = 0.25;
static const int64_t shape[4] = {N, C, P, 1};

struct norm {
	cudnnBackendNormMode_t mode;
	int64_t stat[4], param[4];
	int stats, params;
	float *host[UIDS], *device[UIDS];
	double x[SIZE], scale[SIZE], bias[SIZE];
};

static int stat_of(const struct norm *t, int i)
{
	int n = i / P / C, c = i / P % C;

	return t->mode == CUDNN_BATCH_NORM ? c : t->mode == CUDNN_INSTANCE_NORM ? n * C + c : n;
}

static int param_of(const struct norm *t, int i)
{
	bool whole = t->mode == CUDNN_LAYER_NORM || t->mode == CUDNN_RMS_NORM;

	return whole ? i % (C * P) : i / P % C;
}

static void statistics(const struct norm *t, double *mean, double *variance)
{
	double count = (double)SIZE / t->stats;

	memset(mean, 0, SIZE * sizeof(double));
	memset(variance, 0, SIZE * sizeof(double));
	for (int i = 0; i < SIZE && t->mode != CUDNN_RMS_NORM; i++)
		mean[stat_of(t, i)] += t->x[i] / count;
	for (int i = 0; i < SIZE; i++) {
		double d = t->x[i] - mean[stat_of(t, i)];

		variance[stat_of(t, i)] += d * d / count;
	}
}

/* The loss whose gradients are wanted: sum of dy * y. */
static double loss(const struct norm *t, double *y)
{
	double mean[SIZE], variance[SIZE], sum = 0;

	statistics(t, mean, variance);
	for (int i = 0; i < SIZE; i++) {
		int s = stat_of(t, i), p = param_of(t, i);
		double v = (t->x[i] - mean[s]) / sqrt(variance[s] + epsilon) * t->scale[p];

		v += t->mode == CUDNN_RMS_NORM ? 0 : t->bias[p];
		if (y)
			y[i] = v;
		sum += (double)t->host[DY][i] * v;
	}
	return sum;
}

static void gradient(const struct norm *t, double *of, int n, double *out)
{
	for (int i = 0; i < n; i++) {
		double old = of[i], up;

		of[i] = old + 1e-5;
		up = loss(t, NULL);
		of[i] = old - 1e-5;
		out[i] = (up - loss(t, NULL)) / 2e-5;
		of[i] = old;
	}
}

static void init(struct norm *t, cudnnBackendNormMode_t mode)
{
	bool whole = mode == CUDNN_LAYER_NORM || mode == CUDNN_RMS_NORM;

	memset(t, 0, sizeof(*t));
	t->mode = mode;
	for (int i = 0; i < 4; i++) {
		t->param[i] = i == 1 || (whole && i == 2) ? shape[i] : 1;
		t->stat[i] = mode == CUDNN_BATCH_NORM ? t->param[i] : i == 0 ? N : 1;
	}
	if (mode == CUDNN_INSTANCE_NORM)
		t->stat[1] = C;
	t->stats = (int)(t->stat[0] * t->stat[1]);
	t->params = (int)(t->param[1] * t->param[2]);
	for (int i = 0; i < UIDS; i++) {
		bool input = i < Y || i == DY;

		t->host[i] = input ? lib_values(SIZE, (uint32_t)i + 1) : lib_filled(SIZE, NAN);
		t->device[i] = lib_upload(t->host[i], SIZE);
	}
	for (int i = 0; i < SIZE; i++) {
		t->x[i] = (double)t->host[X][i];
		t->scale[i] = (double)t->host[SCALE][i];
		t->bias[i] = (double)t->host[BIAS][i];
	}
}

static void discard(struct norm *t)
{
	for (int i = 0; i < UIDS; i++) {
		free(t->host[i]);
		cudaFree(t->device[i]);
	}
}

static void operand(desc_t op, int attribute, int uid, const int64_t *dim)
{
	static const int64_t one[4] = {1, 1, 1, 1};
	bool scalar = uid == EPSILON || uid == FACTOR;
	desc_t tensor = backend_tensor(
		uid, CUDNN_DATA_FLOAT, scalar ? BACKEND_BY_VALUE : 0, 4, scalar ? one : dim, NULL);

	backend_child(op, (cudnnBackendAttributeName_t)attribute, tensor);
	cudnnBackendDestroyDescriptor(tensor);
}

/* Scalars are read at once: they lie on the stack. */
static void run(const struct norm *t, desc_t op)
{
	float e = (float)epsilon, f = (float)factor;
	int64_t uids[UIDS];
	void *pointers[UIDS];

	for (int i = 0; i < UIDS; i++) {
		uids[i] = i;
		pointers[i] = i == EPSILON ? (void *)&e : i == FACTOR ? (void *)&f : t->device[i];
	}
	backend_finalize(op);
	backend_run(backend_graph(&op, 1), UIDS, uids, pointers);
}

static desc_t forward(const struct norm *t, cudnnBackendNormFwdPhase_t phase)
{
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);

	backend_enum(
		op, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, (int32_t)t->mode);
	backend_enum(
		op, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, (int32_t)phase);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, X, shape);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, SCALE, t->param);
	if (t->mode != CUDNN_RMS_NORM)
		operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, BIAS, t->param);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, EPSILON, NULL);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, Y, shape);
	return op;
}

static desc_t training(const struct norm *t)
{
	desc_t op = forward(t, CUDNN_NORM_FWD_TRAINING);

	if (t->mode != CUDNN_RMS_NORM)
		operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, MEAN, t->stat);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, INVERSE, t->stat);
	if (t->mode != CUDNN_BATCH_NORM)
		return op;
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, FACTOR, NULL);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, OLD_MEAN, t->stat);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, OLD_VAR, t->stat);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, NEW_MEAN, t->stat);
	operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, NEW_VAR, t->stat);
	return op;
}

static void check_forward(struct norm *t)
{
	double want[SIZE], mean[SIZE], variance[SIZE];
	int count = SIZE / t->stats;
	desc_t op;

	run(t, training(t));
	loss(t, want);
	backend_compare("training", t->device[Y], want, SIZE, 1e-5);
	statistics(t, mean, variance);
	if (t->mode == CUDNN_BATCH_NORM) {
		for (int i = 0; i < t->stats; i++) {
			mean[i] = factor * mean[i] + (1 - factor) * (double)t->host[OLD_MEAN][i];
			variance[i] = factor * variance[i] * count / (count - 1) +
				      (1 - factor) * (double)t->host[OLD_VAR][i];
		}
		backend_compare("running mean", t->device[NEW_MEAN], mean, (size_t)t->stats, 1e-5);
		backend_compare(
			"running variance", t->device[NEW_VAR], variance, (size_t)t->stats, 1e-5);
	}
	/* Batch norm infers from statistics that it is given: here, not those of x. */
	op = forward(t, CUDNN_NORM_FWD_INFERENCE);
	if (t->mode == CUDNN_BATCH_NORM) {
		operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, OLD_MEAN, t->stat);
		operand(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, OLD_VAR, t->stat);
		for (int i = 0; i < SIZE; i++) {
			int c = stat_of(t, i);
			double hat = (t->x[i] - (double)t->host[OLD_MEAN][c]) *
				     (double)t->host[OLD_VAR][c];

			want[i] = hat * t->scale[c] + t->bias[c];
		}
	}
	run(t, op);
	backend_compare("inference", t->device[Y], want, SIZE, 1e-5);
}

/* `saved`: from the statistics that training saved, else from x alone. */
static desc_t backward(const struct norm *t, bool saved)
{
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);

	backend_enum(
		op, CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, (int32_t)t->mode);
	operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, X, shape);
	operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, DY, shape);
	operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, SCALE, t->param);
	if (t->mode != CUDNN_RMS_NORM)
		operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, DBIAS, t->param);
	if (saved && t->mode != CUDNN_RMS_NORM)
		operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, MEAN, t->stat);
	if (saved)
		operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, INVERSE, t->stat);
	else
		operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, EPSILON, NULL);
	operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, DSCALE, t->param);
	operand(op, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, DX, shape);
	return op;
}

static void check_backward(struct norm *t)
{
	double want[SIZE], mean[SIZE], variance[SIZE];

	for (int saved = 0; saved < 2; saved++) {
		run(t, backward(t, saved));
		gradient(t, t->x, SIZE, want);
		backend_compare("dx", t->device[DX], want, SIZE, 2e-4);
		gradient(t, t->scale, t->params, want);
		backend_compare("dscale", t->device[DSCALE], want, (size_t)t->params, 2e-4);
		if (t->mode == CUDNN_RMS_NORM)
			continue;
		gradient(t, t->bias, t->params, want);
		backend_compare("dbias", t->device[DBIAS], want, (size_t)t->params, 2e-4);
	}
	/* What training saved: the last that is looked at, because looking destroys it. */
	statistics(t, mean, variance);
	for (int i = 0; i < t->stats; i++)
		want[i] = 1 / sqrt(variance[i] + epsilon);
	backend_compare("inverse", t->device[INVERSE], want, (size_t)t->stats, 1e-5);
}

int main(void)
{
	static const cudnnBackendNormMode_t modes[4] = {
		CUDNN_LAYER_NORM, CUDNN_RMS_NORM, CUDNN_BATCH_NORM, CUDNN_INSTANCE_NORM};
	struct norm t;

	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	for (int i = 0; i < 4; i++) {
		init(&t, modes[i]);
		check_forward(&t);
		check_backward(&t);
		discard(&t);
	}
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
