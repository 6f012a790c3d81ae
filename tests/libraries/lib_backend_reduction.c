/* SPDX-License-Identifier: MIT */
/* Reductions of cuDNN's backend API: each operator, along the middle and around it. */
#include "tests/libraries/lib_backend.h"
#include "tests/libraries/lib_reduce.h"

enum { A = 3, C = 4, P = 5, SIZE = A * C * P, X = 1, Y };

static const int64_t shape[3] = {A, C, P}, middle[3] = {A, 1, P}, around[3] = {1, C, 1};
static float *hx, *x, *y;

static desc_t reduction(cudnnReduceTensorOp_t kind, const int64_t *to)
{
	desc_t params = backend_new(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
	desc_t t[2] = {backend_tensor(X, CUDNN_DATA_FLOAT, 0, 3, shape, NULL),
		backend_tensor(Y, CUDNN_DATA_FLOAT, 0, 3, to, NULL)};

	backend_enum(params, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
		(int32_t)kind);
	backend_enum(
		params, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC, params);
	backend_child(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, t[0]);
	backend_child(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, t[1]);
	cudnnBackendDestroyDescriptor(params);
	cudnnBackendDestroyDescriptor(t[0]);
	cudnnBackendDestroyDescriptor(t[1]);
	return op;
}

static void check(cudnnReduceTensorOp_t kind, const int64_t *to)
{
	const int64_t uids[2] = {X, Y};
	const size_t n = (size_t)(to[0] * to[1] * to[2]);
	desc_t op = reduction(kind, to);
	double want[SIZE];

	for (size_t i = 0; i < n; i++)
		want[i] = lib_reduce_start(kind);
	for (int i = 0; i < SIZE; i++) {
		size_t o = to == middle ? (size_t)(i / P / C * P + i % P) : (size_t)(i / P % C);

		want[o] = lib_reduce_join(kind, want[o], (double)hx[i]);
	}
	for (size_t i = 0; i < n; i++) {
		want[i] = kind == CUDNN_REDUCE_TENSOR_AVG ? want[i] * (double)n / SIZE : want[i];
		want[i] = kind == CUDNN_REDUCE_TENSOR_NORM2 ? sqrt(want[i]) : want[i];
	}
	backend_finalize(op);
	backend_run(backend_graph(&op, 1), 2, uids, (void *[2]){x, y});
	backend_compare("reduction", y, want, n, 1e-5);
	if (lib_failures)
		printf("operator %d\n", (int)kind);
}

/* What is left of a dimension is one element, or all of it. */
static void check_shape(void)
{
	static const int64_t more[3] = {A, C + 1, P};
	desc_t op = reduction(CUDNN_REDUCE_TENSOR_ADD, more);

	LIB_EQ(cudnnBackendFinalize(op), CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
	cudnnBackendDestroyDescriptor(op);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	hx = lib_values(SIZE, 1);
	/* Products neither vanish nor grow; one factor is zero, the rest are at least a half. */
	for (int i = 0; i < SIZE; i++)
		hx[i] += hx[i] < 0.0f ? -0.5f : 0.5f;
	hx[7] = 0;
	x = lib_upload(hx, SIZE);
	y = lib_upload(NULL, SIZE);
	for (int kind = CUDNN_REDUCE_TENSOR_ADD; kind <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS; kind++) {
		check((cudnnReduceTensorOp_t)kind, middle);
		check((cudnnReduceTensorOp_t)kind, around);
	}
	check_shape();
	free(hx);
	LIB_EQ(cudaFree(x), 0);
	LIB_EQ(cudaFree(y), 0);
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
