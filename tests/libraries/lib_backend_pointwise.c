/* SPDX-License-Identifier: MIT */
/* Pointwise operations of cuDNN's backend API: functions, factors, a repeated operand. */
#include "tests/libraries/lib_backend.h"

enum { A = 2, C = 3, P = 4, SIZE = A * C * P, X = 1, OTHER, Y };

static const int64_t shape[3] = {A, C, P}, narrow[3] = {1, C, 1};
static const int64_t uids[3] = {X, OTHER, Y};
static const double alpha1 = 2, alpha2 = -0.5;
static float *hx, *hb, *x, *b, *y;

static double define(cudnnPointwiseMode_t mode, double v, double w)
{
	switch ((int)mode) {
	case CUDNN_POINTWISE_ADD:
		return v + w;
	case CUDNN_POINTWISE_SUB:
		return v - w;
	case CUDNN_POINTWISE_MUL:
		return v * w;
	case CUDNN_POINTWISE_MAX:
		return fmax(v, w);
	case CUDNN_POINTWISE_MIN:
		return fmin(v, w);
	case CUDNN_POINTWISE_ADD_SQUARE:
		return v + w * w;
	case CUDNN_POINTWISE_CMP_EQ:
		return v == w;
	case CUDNN_POINTWISE_CMP_NEQ:
		return v != w;
	case CUDNN_POINTWISE_CMP_GT:
		return v > w;
	case CUDNN_POINTWISE_CMP_GE:
		return v >= w;
	case CUDNN_POINTWISE_CMP_LT:
		return v < w;
	case CUDNN_POINTWISE_CMP_LE:
		return v <= w;
	case CUDNN_POINTWISE_LOGICAL_AND:
		return v != 0 && w != 0;
	case CUDNN_POINTWISE_LOGICAL_OR:
		return v != 0 || w != 0;
	case CUDNN_POINTWISE_ATAN2:
		return atan2(v, w);
	default:
		return NAN;
	}
}

static double define_one(cudnnPointwiseMode_t mode, double v)
{
	switch ((int)mode) {
	case CUDNN_POINTWISE_ABS:
		return fabs(v);
	case CUDNN_POINTWISE_LOGICAL_NOT:
		return v == 0;
	case CUDNN_POINTWISE_COS:
		return cos(v);
	case CUDNN_POINTWISE_EXP:
		return exp(v);
	case CUDNN_POINTWISE_NEG:
		return -v;
	case CUDNN_POINTWISE_SIN:
		return sin(v);
	case CUDNN_POINTWISE_ERF:
		return erf(v);
	case CUDNN_POINTWISE_RELU_FWD:
		return fmax(v, 0);
	case CUDNN_POINTWISE_SIGMOID_FWD:
		return 1 / (1 + exp(-v));
	case CUDNN_POINTWISE_ELU_FWD:
		return v > 0 ? v : expm1(v);
	case CUDNN_POINTWISE_SOFTPLUS_FWD:
		return log1p(exp(v));
	case CUDNN_POINTWISE_IDENTITY:
		return v;
	case CUDNN_POINTWISE_TANH_FWD:
		return tanh(v);
	case CUDNN_POINTWISE_GELU_FWD:
		return 0.5 * v * (1 + erf(v / sqrt(2)));
	default: /* SWISH_FWD */
		return v / (1 + exp(-v));
	}
}

static void check_mode(cudnnPointwiseMode_t mode, bool two)
{
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	desc_t t[3] = {backend_tensor(X, CUDNN_DATA_FLOAT, 0, 3, shape, NULL),
		backend_tensor(OTHER, CUDNN_DATA_FLOAT, 0, 3, narrow, NULL),
		backend_tensor(Y, CUDNN_DATA_FLOAT, 0, 3, shape, NULL)};
	float first = (float)alpha1;
	double want[SIZE];

	backend_enum(params, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, (int32_t)mode);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, t[0]);
	if (two)
		backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, t[1]);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, t[2]);
	/* Factors are of either type. */
	backend_set(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_FLOAT, 1, &first);
	backend_set(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_DOUBLE, 1, &alpha2);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	for (int i = 0; i < 3; i++)
		cudnnBackendDestroyDescriptor(t[i]);
	backend_run(backend_graph(&op, 1), 3, uids, (void *[3]){x, b, y});
	for (int i = 0; i < SIZE; i++)
		want[i] = two ? define(mode, alpha1 * (double)hx[i], alpha2 * (double)hb[i / P % C])
			      : define_one(mode, alpha1 * (double)hx[i]);
	backend_compare("pointwise", y, want, SIZE, 1e-6);
	if (lib_failures)
		printf("mode %d\n", (int)mode);
}

int main(void)
{
	static const cudnnPointwiseMode_t binary[] = {CUDNN_POINTWISE_ADD,
		CUDNN_POINTWISE_ADD_SQUARE, CUDNN_POINTWISE_SUB, CUDNN_POINTWISE_MUL,
		CUDNN_POINTWISE_MAX, CUDNN_POINTWISE_MIN, CUDNN_POINTWISE_CMP_EQ,
		CUDNN_POINTWISE_CMP_NEQ, CUDNN_POINTWISE_CMP_GT, CUDNN_POINTWISE_CMP_GE,
		CUDNN_POINTWISE_CMP_LT, CUDNN_POINTWISE_CMP_LE, CUDNN_POINTWISE_LOGICAL_AND,
		CUDNN_POINTWISE_LOGICAL_OR, CUDNN_POINTWISE_ATAN2};
	static const cudnnPointwiseMode_t unary[] = {CUDNN_POINTWISE_IDENTITY, CUDNN_POINTWISE_ABS,
		CUDNN_POINTWISE_COS, CUDNN_POINTWISE_EXP, CUDNN_POINTWISE_NEG, CUDNN_POINTWISE_SIN,
		CUDNN_POINTWISE_ERF, CUDNN_POINTWISE_RELU_FWD, CUDNN_POINTWISE_TANH_FWD,
		CUDNN_POINTWISE_SIGMOID_FWD, CUDNN_POINTWISE_ELU_FWD, CUDNN_POINTWISE_SOFTPLUS_FWD,
		CUDNN_POINTWISE_GELU_FWD, CUDNN_POINTWISE_SWISH_FWD, CUDNN_POINTWISE_LOGICAL_NOT};

	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	hx = lib_values(SIZE, 1);
	hb = lib_values(C, 2);
	/* Once they are equal, and each of both is zero, once at one place. */
	hx[0] = (float)(alpha2 / alpha1) * hb[0];
	hx[1] = hx[P] = hb[1] = 0;
	x = lib_upload(hx, SIZE);
	b = lib_upload(hb, C);
	y = lib_upload(NULL, SIZE);
	for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++)
		check_mode(binary[i], true);
	for (size_t i = 0; i < sizeof(unary) / sizeof(unary[0]); i++)
		check_mode(unary[i], false);
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
