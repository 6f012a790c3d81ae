/* SPDX-License-Identifier: MIT */
/* Pointwise operations of cuDNN's backend API: functions, factors, a repeated operand, gradients.
 */
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
	case CUDNN_POINTWISE_DIV:
		return v / w;
	case CUDNN_POINTWISE_MOD:
		return fmod(v, w);
	case CUDNN_POINTWISE_POW:
		return pow(v, w);
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
	case CUDNN_POINTWISE_CEIL:
		return ceil(v);
	case CUDNN_POINTWISE_COS:
		return cos(v);
	case CUDNN_POINTWISE_FLOOR:
		return floor(v);
	case CUDNN_POINTWISE_LOG:
		return log(v);
	case CUDNN_POINTWISE_RECIPROCAL:
		return 1 / v;
	case CUDNN_POINTWISE_RSQRT:
		return 1 / sqrt(v);
	case CUDNN_POINTWISE_SQRT:
		return sqrt(v);
	case CUDNN_POINTWISE_TAN:
		return tan(v);
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
	case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
		return 0.5 * v * (1 + tanh(sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
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

static const struct {
	cudnnBackendAttributeName_t name;
	double value;
} settings[] = {{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0},
	{CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 0.5},
	{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.25}, {CUDNN_ATTR_POINTWISE_ELU_ALPHA, 0.5},
	{CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 2}, {CUDNN_ATTR_POINTWISE_SWISH_BETA, 0.75}};

/* With these settings. */
static double define_set(cudnnPointwiseMode_t mode, double v)
{
	switch ((int)mode) {
	case CUDNN_POINTWISE_RELU_FWD:
		return v < 0 ? 0.25 * v : fmin(v, 0.5);
	case CUDNN_POINTWISE_ELU_FWD:
		return v > 0 ? v : 0.5 * expm1(v);
	case CUDNN_POINTWISE_SOFTPLUS_FWD:
		return log1p(exp(2 * v)) / 2;
	case CUDNN_POINTWISE_SWISH_FWD:
		return v / (1 + exp(-0.75 * v));
	default:
		return define_one(mode, v);
	}
}

static desc_t set_up(cudnnPointwiseMode_t mode)
{
	desc_t params = backend_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);

	backend_enum(params, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, (int32_t)mode);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		backend_set(params, settings[i].name, CUDNN_TYPE_DOUBLE, 1, &settings[i].value);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, params);
	cudnnBackendDestroyDescriptor(params);
	return op;
}

/* A function with settings, and its gradient by differences; dy is what lies in b. */
static void check_gradient(cudnnPointwiseMode_t forward, cudnnPointwiseMode_t backward)
{
	desc_t op[2] = {set_up(forward), set_up(backward)};
	desc_t t[3] = {backend_tensor(X, CUDNN_DATA_FLOAT, 0, 3, shape, NULL),
		backend_tensor(OTHER, CUDNN_DATA_FLOAT, 0, 3, narrow, NULL),
		backend_tensor(Y, CUDNN_DATA_FLOAT, 0, 3, shape, NULL)};
	double want[2][SIZE];

	for (int i = 0; i < SIZE; i++) {
		double v = (double)hx[i];

		want[0][i] = define_set(forward, v);
		want[1][i] = (double)hb[i / P % C] *
			     (define_set(forward, v + 1e-6) - define_set(forward, v - 1e-6)) / 2e-6;
	}
	backend_child(op[0], CUDNN_ATTR_OPERATION_POINTWISE_XDESC, t[0]);
	backend_child(op[0], CUDNN_ATTR_OPERATION_POINTWISE_YDESC, t[2]);
	backend_child(op[1], CUDNN_ATTR_OPERATION_POINTWISE_XDESC, t[0]);
	backend_child(op[1], CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, t[1]);
	backend_child(op[1], CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, t[2]);
	for (int i = 0; i < 3; i++)
		cudnnBackendDestroyDescriptor(t[i]);
	for (int i = 0; i < 2; i++) {
		backend_finalize(op[i]);
		backend_run(backend_graph(&op[i], 1), 3, uids, (void *[3]){x, b, y});
		backend_compare(i ? "gradient" : "settings", y, want[i], SIZE, 1e-5);
	}
	if (lib_failures)
		printf("mode %d\n", (int)backward);
}

static void check_gradients(void)
{
	static const cudnnPointwiseMode_t pairs[][2] = {
		{CUDNN_POINTWISE_RELU_FWD, CUDNN_POINTWISE_RELU_BWD},
		{CUDNN_POINTWISE_TANH_FWD, CUDNN_POINTWISE_TANH_BWD},
		{CUDNN_POINTWISE_SIGMOID_FWD, CUDNN_POINTWISE_SIGMOID_BWD},
		{CUDNN_POINTWISE_ELU_FWD, CUDNN_POINTWISE_ELU_BWD},
		{CUDNN_POINTWISE_GELU_FWD, CUDNN_POINTWISE_GELU_BWD},
		{CUDNN_POINTWISE_SOFTPLUS_FWD, CUDNN_POINTWISE_SOFTPLUS_BWD},
		{CUDNN_POINTWISE_SWISH_FWD, CUDNN_POINTWISE_SWISH_BWD},
		{CUDNN_POINTWISE_GELU_APPROX_TANH_FWD, CUDNN_POINTWISE_GELU_APPROX_TANH_BWD}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		check_gradient(pairs[i][0], pairs[i][1]);
}

/* Functions that are not defined everywhere, where they are. */
static void check_positive(void)
{
	static const cudnnPointwiseMode_t two[] = {
		CUDNN_POINTWISE_DIV, CUDNN_POINTWISE_MOD, CUDNN_POINTWISE_POW};
	static const cudnnPointwiseMode_t one[] = {CUDNN_POINTWISE_LOG, CUDNN_POINTWISE_RECIPROCAL,
		CUDNN_POINTWISE_RSQRT, CUDNN_POINTWISE_SQRT};

	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		check_mode(two[i], true);
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
		check_mode(one[i], false);
}

static void fill(void)
{
	LIB_EQ(cudaMemcpy(x, hx, SIZE * sizeof(float), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(b, hb, C * sizeof(float), cudaMemcpyHostToDevice), 0);
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
		CUDNN_POINTWISE_GELU_FWD, CUDNN_POINTWISE_SWISH_FWD, CUDNN_POINTWISE_LOGICAL_NOT,
		CUDNN_POINTWISE_CEIL, CUDNN_POINTWISE_FLOOR, CUDNN_POINTWISE_TAN,
		CUDNN_POINTWISE_GELU_APPROX_TANH_FWD};

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
	/* Nothing is zero from here on. */
	hx[0] = 0.625f;
	hx[1] = hx[P] = hb[1] = 0.375f;
	fill();
	check_gradients();
	for (int i = 0; i < SIZE; i++)
		hx[i] = fabsf(hx[i]) + 0.125f;
	fill();
	check_positive();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
