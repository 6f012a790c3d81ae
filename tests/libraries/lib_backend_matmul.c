/* SPDX-License-Identifier: MIT */
/* Products of cuDNN's backend API: batches, sizes that entries override, and what is no product. */
#include "tests/libraries/lib_backend.h"

enum { B = 2, M = 4, K = 3, N = 5, OPERAND_A = 1, OPERAND_B, RESULT, SIZE_M, SIZE_N, SIZE_K, UIDS };

static const int64_t adim[3] = {B, M, K}, bdim[3] = {B, K, N}, cdim[3] = {B, M, N};
static const int64_t shared[3] = {1, K, N}, sizes[3] = {B, 1, 1};
static const int32_t used_m[B] = {2, M}, used_n[B] = {N, 3}, used_k[B] = {K, 2};
static const double padding = 7;
static float *ha, *hb, *device[UIDS];

static void operand(desc_t op, cudnnBackendAttributeName_t name, int64_t uid, const int64_t *dim)
{
	cudnnDataType_t type = uid >= SIZE_M ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
	desc_t t = backend_tensor(uid, type, 0, 3, dim, NULL);

	backend_child(op, name, t);
	cudnnBackendDestroyDescriptor(t);
}

static desc_t product(const int64_t *a, const int64_t *b, const int64_t *c)
{
	desc_t params = backend_new(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);

	backend_enum(params, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
	backend_set(params, CUDNN_ATTR_MATMUL_PADDING_VALUE, CUDNN_TYPE_DOUBLE, 1, &padding);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, params);
	operand(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, OPERAND_A, a);
	operand(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, OPERAND_B, b);
	operand(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, RESULT, c);
	cudnnBackendDestroyDescriptor(params);
	return op;
}

/* Entries of the batch share B, or have one each and sizes of their own. */
static void check(bool own)
{
	desc_t op = product(adim, own ? bdim : shared, cdim);
	double want[B * M * N];
	int64_t uids[UIDS];

	if (own) {
		operand(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, SIZE_M, sizes);
		operand(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, SIZE_N, sizes);
		operand(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, SIZE_K, sizes);
	}
	for (int i = 0; i < B * M * N; i++) {
		int b = i / N / M, m = i / N % M, n = i % N;

		want[i] = own && (m >= used_m[b] || n >= used_n[b]) ? padding : 0;
		for (int k = 0; k < (own ? used_k[b] : K) && want[i] != padding; k++)
			want[i] += (double)ha[(b * M + m) * K + k] *
				   (double)hb[((own ? b : 0) * K + k) * N + n];
	}
	for (int i = 0; i < UIDS; i++)
		uids[i] = i;
	backend_finalize(op);
	backend_run(backend_graph(&op, 1), UIDS, uids, (void *const *)device);
	backend_compare(
		own ? "sizes of their own" : "shared", device[RESULT], want, B * M * N, 1e-5);
}

static void refuse(const int64_t *a, const int64_t *b, const int64_t *c)
{
	desc_t op = product(a, b, c);

	LIB_EQ(cudnnBackendFinalize(op), CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
	cudnnBackendDestroyDescriptor(op);
}

static void check_shapes(void)
{
	static const int64_t taller[3] = {B, M + 1, K}, wider[3] = {B, K, N + 1};
	static const int64_t longer[3] = {B, M, K + 1}, more[3] = {B + 1, M, K};

	refuse(taller, bdim, cdim);
	refuse(adim, wider, cdim);
	refuse(longer, bdim, cdim);
	refuse(more, bdim, cdim);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	ha = lib_values(B * M * K, 1);
	hb = lib_values(B * K * N, 2);
	for (int i = 0; i < UIDS; i++)
		device[i] = lib_upload(NULL, B * M * N);
	LIB_EQ(cudaMemcpy(device[OPERAND_A], ha, B * M * K * 4, cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(device[OPERAND_B], hb, B * K * N * 4, cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(device[SIZE_M], used_m, sizeof(used_m), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(device[SIZE_N], used_n, sizeof(used_n), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(device[SIZE_K], used_k, sizeof(used_k), cudaMemcpyHostToDevice), 0);
	check(false);
	check(true);
	check_shapes();
	free(ha);
	free(hb);
	for (int i = 0; i < UIDS; i++)
		LIB_EQ(cudaFree(device[i]), 0);
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
