/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/sim/cublas/cublaslt_desc.h"

/* What a call carries to the device. */
struct run {
	struct tfs_lt_problem p;
	const void *alpha, *beta;
	float alpha_value, beta_value;
	bool on_device;
	const void *a, *b, *c;
	void *d;
	int algo;
	void *workspace;
	size_t workspace_bytes, lent_bytes;
};

static bool reads_bias(unsigned e)
{
	return e & CUBLASLT_EPILOGUE_BIAS;
}

static enum tfs_typed_after after(unsigned e)
{
	if ((e & CUBLASLT_EPILOGUE_DGELU) == CUBLASLT_EPILOGUE_DGELU)
		return TFS_TYPED_GELU_GRAD;
	if (e & CUBLASLT_EPILOGUE_GELU)
		return TFS_TYPED_GELU;
	return e & CUBLASLT_EPILOGUE_RELU ? TFS_TYPED_RELU : TFS_TYPED_PLAIN;
}

/* BGRADA and BGRADB sum an operand over k; the other gradients sum the output. */
static void operand_grad(const struct run *r, const struct tfs_typed_gemm *g)
{
	unsigned e = r->p.op.epilogue;
	const struct tfs_typed_matrix *m = e == CUBLASLT_EPILOGUE_BGRADA ? &g->a : &g->b;
	int n = e == CUBLASLT_EPILOGUE_BGRADA ? g->m : g->n;

	for (int i = 0; i < n; i++) {
		float sum = 0.0f;

		for (int k = 0; k < g->k; k++) {
			bool down = m->transposed == (m == &g->a);

			sum += tfs_typed_get(
				m->data, m->type, down ? k + i * m->ld : i + k * m->ld);
		}
		tfs_typed_put(r->p.op.bias, g->bias.type, i, sum);
	}
}

static struct tfs_typed_matrix matrix(
	const struct tfs_lt_layout *l, cublasOperation_t op, const void *data, int batch)
{
	struct tfs_typed_matrix m = {.type = l->type, .ld = l->ld};

	m.transposed = l->row_major != (op != CUBLAS_OP_N);
	if (data)
		m.data = (const char *)data + batch * l->stride * (int64_t)tfs_typed_size(l->type);
	return m;
}

static void one(const struct run *r, int batch)
{
	const struct tfs_lt_problem *p = &r->p;
	const struct tfs_lt_operation *o = &p->op;
	unsigned e = o->epilogue;
	cudaDataType out = p->l[3].type;
	struct tfs_typed_gemm g = {
		.m = p->m, .n = p->n, .k = p->k, .pieces = tfs_lt_algo_pieces(r->algo)};

	if (r->workspace_bytes && tfsim_workspace_used())
		g.products = r->workspace;
	g.alpha = r->on_device ? *(const float *)r->alpha : r->alpha_value;
	g.beta = r->on_device ? *(const float *)r->beta : r->beta_value;
	g.tf32 = o->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
	g.a = matrix(&p->l[0], o->ta, r->a, batch);
	g.b = matrix(&p->l[1], o->tb, r->b, batch);
	g.c = matrix(&p->l[2], CUBLAS_OP_N, r->c, batch);
	g.d = matrix(&p->l[3], CUBLAS_OP_N, r->d, batch);
	g.out = (void *)g.d.data;
	g.after = after(e);
	g.bias.type = (int)o->bias_type < 0 ? out : o->bias_type;
	if (reads_bias(e))
		g.bias.data = (char *)o->bias +
			      batch * o->bias_stride * (int64_t)tfs_typed_size(g.bias.type);
	g.aux.type = (int)o->aux_type < 0 ? out : o->aux_type;
	g.aux.ld = o->aux_ld;
	g.aux.data = o->aux ? (char *)o->aux +
				      batch * o->aux_stride * (int64_t)tfs_typed_size(g.aux.type)
			    : NULL;
	if ((e & 128) && g.after == TFS_TYPED_GELU)
		g.aux_out = (void *)g.aux.data;
	if (e == CUBLASLT_EPILOGUE_DGELU_BGRAD)
		g.bias_grad = o->bias;
	tfs_typed_gemm(&g);
	if (e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB)
		operand_grad(r, &g);
}

static void run(void *args)
{
	const struct run *r = args;

	if (r->workspace)
		tfsim_workspace_enter(r->workspace, r->lent_bytes);
	for (int i = 0; i < r->p.l[3].batch; i++)
		one(r, i);
	tfsim_workspace_leave(r->workspace, r->workspace_bytes);
}

/* As cuBLASLt's names say it: on plain cores, on tensor cores. */
static const char *name_of(const struct tfs_lt_problem *p, int algo)
{
	const bool split = tfs_lt_algo_pieces(algo) > 1;
	enum tfsim_math math = TFSIM_SINGLE;

	tfs_typed_math(p->l[0].type, p->op.compute, &math);
	if (!tfsim_tensor_cores())
		return split ? "tfsim_lt_matmul_splitk" : "tfsim_lt_matmul";
	if (math == TFSIM_SINGLE)
		return split ? "tfsim_lt_matmul_simt_sgemm_splitk" : "tfsim_lt_matmul_simt_sgemm";
	return split ? "tfsim_lt_matmul_tensorop_splitk" : "tfsim_lt_matmul_tensorop";
}

static cublasStatus_t submit(struct run *r, cudaStream_t stream)
{
	const struct tfs_lt_problem *p = &r->p;
	struct tfsim_work w = {
		.kind = TFSIM_KERNEL, .run = run, .args = r, .args_size = sizeof(*r)};

	w.name = name_of(p, r->algo);
	w.cost_ns = tfs_lt_algo_cost(p, r->algo);
	w.grid = (dim3){
		(unsigned)(p->m / 128 + 1), (unsigned)(p->n / 128 + 1), (unsigned)p->l[3].batch};
	w.block = (dim3){256, 1, 1};
	return tfsim_enqueue(stream, &w) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle,
	cublasLtMatmulDesc_t computeDesc, const void *alpha, const void *A,
	cublasLtMatrixLayout_t Adesc, const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
	const void *C, cublasLtMatrixLayout_t Cdesc, void *D, cublasLtMatrixLayout_t Ddesc,
	const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspaceSizeInBytes,
	cudaStream_t stream)
{
	struct run r = {.alpha = alpha, .beta = beta, .a = A, .b = B, .c = C, .d = D};
	cublasStatus_t rc;

	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!alpha || !beta || !A || !B || !D)
		return CUBLAS_STATUS_INVALID_VALUE;
	rc = tfs_lt_problem_init(&r.p, computeDesc, Adesc, Bdesc, Cdesc, Ddesc);
	if (rc)
		return rc;
	r.on_device = r.p.op.pointers == CUBLASLT_POINTER_MODE_DEVICE;
	if (!r.on_device) {
		r.alpha_value = *(const float *)alpha;
		r.beta_value = *(const float *)beta;
		if (r.beta_value != 0.0f && !C)
			return CUBLAS_STATUS_INVALID_VALUE;
	}
	if (algo && algo->data[0] >= TFS_LT_ALGOS)
		return CUBLAS_STATUS_INVALID_VALUE;
	r.algo = algo ? (int)algo->data[0] : 0;
	r.workspace_bytes = tfs_lt_algo_workspace(&r.p, r.algo);
	r.workspace = workspace;
	r.lent_bytes = workspaceSizeInBytes;
	if (r.workspace_bytes && (!workspace || workspaceSizeInBytes < r.workspace_bytes ||
					 (uintptr_t)workspace % 256))
		return CUBLAS_STATUS_INVALID_VALUE;
	return submit(&r, stream);
}
