/* SPDX-License-Identifier: MIT */
/* Bias, pointwise calls, reductions and dropout of cuDNN, by definition. */
#include "tests/libraries/lib_reduce.h"
#include "tests/libraries/lib_tensor.h"

static cudnnHandle_t dnn;

static void check_bias(void)
{
	struct tensor b = make(1, 3, 1, 1, 3), x = make(2, 3, 4, 5, 5), db = make(1, 3, 1, 1, 9);
	float one = 1, half = 0.5f, two = 2;

	for (int n = 0; n < 2; n++)
		for (int c = 0; c < 3; c++)
			for (int i = 0; i < 20; i++) {
				x.want[at(&x, n, c, i)] =
					0.5 * (double)b.host[c] + (double)x.host[at(&x, n, c, i)];
				db.want[c] += (double)x.host[at(&x, n, c, i)];
			}
	LIB_EQ(cudnnAddTensor(dnn, &half, b.desc, b.device, &one, x.desc, x.device), 0);
	check("bias", &x, 1e-6);
	blend(&db, 1, 2);
	LIB_EQ(cudnnConvolutionBackwardBias(dnn, &one, x.desc, x.device, &two, db.desc, db.device),
		0);
	check("bias gradient", &db, 1e-5);
	for (size_t i = 0; i < x.size; i++)
		x.want[i] = 2.0 * (double)x.host[i];
	LIB_EQ(cudnnScaleTensor(dnn, x.desc, x.device, &two), 0);
	check("scaled", &x, 1e-6);
	for (size_t i = 0; i < x.size; i++)
		x.want[i] = 0.5;
	LIB_EQ(cudnnSetTensor(dnn, x.desc, x.device, &half), 0);
	check("set", &x, 0);
	discard(&b);
	discard(&x);
	discard(&db);
}

/* A tensor has at least one element in each direction, and a way from one to the next. */
static void check_strides(void)
{
	static const int some[4] = {1, 2, 3, 4}, none[4] = {1, 2, 0, 4}, dense[4] = {24, 12, 4, 1};
	static const int stuck[4] = {24, 12, 4, 0};
	cudnnTensorDescriptor_t desc;

	LIB_EQ(cudnnCreateTensorDescriptor(&desc), 0);
	LIB_EQ(cudnnSetTensorNdDescriptor(desc, CUDNN_DATA_FLOAT, 4, none, dense),
		CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(cudnnSetTensorNdDescriptor(desc, CUDNN_DATA_FLOAT, 4, some, stuck),
		CUDNN_STATUS_BAD_PARAM);
	LIB_EQ(cudnnSetTensorNdDescriptor(desc, CUDNN_DATA_FLOAT, 4, some, dense), 0);
	LIB_EQ(cudnnDestroyTensorDescriptor(desc), 0);
}

/* A descriptor tells what it was given, to who asks for all of it. */
static void check_op_descriptor(void)
{
	cudnnOpTensorDescriptor_t desc;
	cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
	cudnnDataType_t type = CUDNN_DATA_FLOAT;
	cudnnOpTensorOp_t op = CUDNN_OP_TENSOR_ADD;

	LIB_EQ(cudnnCreateOpTensorDescriptor(&desc), 0);
	LIB_EQ(cudnnSetOpTensorDescriptor(
		       desc, CUDNN_OP_TENSOR_MAX, CUDNN_DATA_DOUBLE, CUDNN_PROPAGATE_NAN),
		0);
	LIB_EQ(cudnnGetOpTensorDescriptor(NULL, &op, &type, &nan),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnGetOpTensorDescriptor(desc, NULL, &type, &nan),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnGetOpTensorDescriptor(desc, &op, NULL, &nan),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(cudnnGetOpTensorDescriptor(desc, &op, &type, NULL),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_TRUE(op == CUDNN_OP_TENSOR_ADD && type == CUDNN_DATA_FLOAT &&
		 nan == CUDNN_NOT_PROPAGATE_NAN);
	LIB_EQ(cudnnGetOpTensorDescriptor(desc, &op, &type, &nan), 0);
	LIB_TRUE(op == CUDNN_OP_TENSOR_MAX && type == CUDNN_DATA_DOUBLE &&
		 nan == CUDNN_PROPAGATE_NAN);
	LIB_EQ(cudnnDestroyOpTensorDescriptor(desc), 0);
}

static void check_op(cudnnOpTensorOp_t what)
{
	struct tensor a = make(2, 3, 4, 5, 3), b = make(1, 3, 1, 1, 5), c = make(2, 3, 4, 5, 9);
	cudnnOpTensorDescriptor_t op;
	float half = 0.5f, two = 2, three = 3;

	for (int n = 0; n < 2; n++)
		for (int k = 0; k < 3; k++)
			for (int i = 0; i < 20; i++) {
				size_t o = at(&a, n, k, i);
				double u = 2 * (double)a.host[o], v = 0.5 * (double)b.host[k];

				c.want[o] = 3 * (double)c.host[o] +
					    (what == CUDNN_OP_TENSOR_ADD          ? u + v
						    : what == CUDNN_OP_TENSOR_MUL ? u * v
						    : what == CUDNN_OP_TENSOR_MIN ? fmin(u, v)
						    : what == CUDNN_OP_TENSOR_MAX ? fmax(u, v)
										  : 1 - u);
			}
	LIB_EQ(cudnnCreateOpTensorDescriptor(&op), 0);
	LIB_EQ(cudnnSetOpTensorDescriptor(op, what, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN), 0);
	LIB_EQ(cudnnOpTensor(dnn, op, &two, a.desc, a.device, &half, b.desc, b.device, &three,
		       c.desc, c.device),
		0);
	check("op tensor", &c, 1e-6);
	cudnnDestroyOpTensorDescriptor(op);
	discard(&a);
	discard(&b);
	discard(&c);
}

static void check_reduce(cudnnReduceTensorOp_t what)
{
	struct tensor a = make(2, 3, 4, 5, 3), c = make(1, 3, 1, 1, 9);
	cudnnReduceTensorDescriptor_t reduce;
	float half = 0.5f, two = 2, *work;
	size_t size = 0;

	/* Products of forty factors neither vanish nor grow; one is zero. */
	for (size_t i = 0; i < a.size; i++)
		a.host[i] = i == 7 ? 0 : copysignf(1.0f, a.host[i]) + 0.25f * a.host[i];
	LIB_EQ(cudaMemcpy(a.device, a.host, a.size * sizeof(float), cudaMemcpyHostToDevice), 0);
	for (int k = 0; k < 3; k++) {
		double sum = lib_reduce_start(what);

		for (int n = 0; n < 2; n++)
			for (int i = 0; i < 20; i++)
				sum = lib_reduce_join(what, sum, (double)a.host[at(&a, n, k, i)]);
		sum = what == CUDNN_REDUCE_TENSOR_AVG     ? sum / 40
		      : what == CUDNN_REDUCE_TENSOR_NORM2 ? sqrt(sum)
							  : sum;
		c.want[k] = 0.5 * sum + 2 * (double)c.host[k];
	}
	LIB_EQ(cudnnCreateReduceTensorDescriptor(&reduce), 0);
	LIB_EQ(cudnnSetReduceTensorDescriptor(reduce, what, CUDNN_DATA_FLOAT,
		       CUDNN_NOT_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
		       CUDNN_32BIT_INDICES),
		0);
	LIB_EQ(cudnnGetReductionWorkspaceSize(dnn, reduce, a.desc, c.desc, &size), 0);
	work = lib_upload(NULL, size / sizeof(float));
	LIB_EQ(cudnnReduceTensor(dnn, reduce, NULL, 0, work, size, &half, a.desc, a.device, &two,
		       c.desc, c.device),
		0);
	check("reduction", &c, 1e-5);
	cudnnDestroyReduceTensorDescriptor(reduce);
	cudaFree(work);
	discard(&a);
	discard(&c);
}

static void check_dropout(void)
{
	struct tensor x = make(4, 8, 16, 16, 3), y = make(4, 8, 16, 16, 0);
	float *first = lib_values(x.size, 0), *second = lib_values(x.size, 0), *mask;
	cudnnDropoutDescriptor_t drop;
	size_t states_size = 0, mask_size = 0, kept = 0;
	void *states = NULL;

	LIB_EQ(cudnnCreateDropoutDescriptor(&drop), 0);
	LIB_EQ(cudnnDropoutGetStatesSize(dnn, &states_size), 0);
	LIB_EQ(cudnnDropoutGetReserveSpaceSize(x.desc, &mask_size), 0);
	LIB_EQ(cudaMalloc(&states, states_size), 0);
	mask = lib_upload(NULL, mask_size / sizeof(float));
	LIB_EQ(cudnnSetDropoutDescriptor(drop, dnn, 0.25f, states, states_size, 42), 0);
	LIB_EQ(cudnnDropoutForward(dnn, drop, x.desc, x.device, y.desc, y.device, mask, mask_size),
		0);
	lib_download(first, y.device, y.size);
	for (size_t i = 0; i < x.size; i++) {
		y.want[i] = first[i] != 0.0f ? (double)x.host[i] / 0.75 : 0.0;
		kept += first[i] != 0.0f;
	}
	LIB_TRUE(kept > x.size * 73 / 100 && kept < x.size * 77 / 100);
	check("dropout", &y, 1e-6);
	LIB_EQ(cudnnDropoutBackward(dnn, drop, x.desc, x.device, y.desc, y.device, mask, mask_size),
		0);
	check("dropout gradient", &y, 1e-6);
	LIB_EQ(cudnnDropoutForward(dnn, drop, x.desc, x.device, y.desc, y.device, mask, mask_size),
		0);
	lib_download(second, y.device, y.size);
	LIB_TRUE(memcmp(first, second, y.size * sizeof(float)) != 0);
	cudnnDestroyDropoutDescriptor(drop);
	cudaFree(states);
	cudaFree(mask);
	free(first);
	free(second);
	discard(&x);
	discard(&y);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	check_bias();
	check_strides();
	check_op_descriptor();
	for (int op = CUDNN_OP_TENSOR_ADD; op <= CUDNN_OP_TENSOR_NOT; op++)
		if (op != CUDNN_OP_TENSOR_SQRT)
			check_op((cudnnOpTensorOp_t)op);
	for (int op = CUDNN_REDUCE_TENSOR_ADD; op <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS; op++)
		check_reduce((cudnnReduceTensorOp_t)op);
	check_dropout();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
