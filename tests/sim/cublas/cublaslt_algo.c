/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/sim/cublas/cublaslt_desc.h"

static bool known_epilogue(unsigned e)
{
	switch (e) {
	case CUBLASLT_EPILOGUE_DEFAULT:
	case CUBLASLT_EPILOGUE_RELU:
	case CUBLASLT_EPILOGUE_BIAS:
	case CUBLASLT_EPILOGUE_RELU_BIAS:
	case CUBLASLT_EPILOGUE_GELU:
	case CUBLASLT_EPILOGUE_GELU_AUX:
	case CUBLASLT_EPILOGUE_GELU_BIAS:
	case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
	case CUBLASLT_EPILOGUE_DGELU:
	case CUBLASLT_EPILOGUE_DGELU_BGRAD:
	case CUBLASLT_EPILOGUE_BGRADA:
	case CUBLASLT_EPILOGUE_BGRADB:
		return true;
	default:
		return false;
	}
}

static bool known_compute(const struct tfs_lt_operation *o)
{
	enum tfsim_math math;

	return o->scale == CUDA_R_32F && o->pointers <= CUBLASLT_POINTER_MODE_DEVICE &&
	       tfs_typed_math(CUDA_R_32F, o->compute, &math);
}

static bool shaped(const struct tfs_lt_layout *l, int64_t rows, int64_t columns, int batch)
{
	return l->rows == rows && l->columns == columns && l->batch == batch &&
	       l->ld >= (l->row_major ? columns : rows);
}

cublasStatus_t tfs_lt_problem_init(struct tfs_lt_problem *p, cublasLtMatmulDesc_t desc,
	cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
	cublasLtMatrixLayout_t d)
{
	bool ta, tb;
	int64_t k;

	if (!desc || !a || !b || !c || !d)
		return CUBLAS_STATUS_INVALID_VALUE;
	p->op = tfs_lt_operation_read(desc);
	p->l[0] = tfs_lt_layout_read(a);
	p->l[1] = tfs_lt_layout_read(b);
	p->l[2] = tfs_lt_layout_read(c);
	p->l[3] = tfs_lt_layout_read(d);
	if (!known_compute(&p->op) || !known_epilogue(p->op.epilogue))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	for (int i = 0; i < 4; i++)
		if (!tfs_typed_size(p->l[i].type))
			return CUBLAS_STATUS_NOT_SUPPORTED;
	ta = p->op.ta != CUBLAS_OP_N;
	tb = p->op.tb != CUBLAS_OP_N;
	k = ta ? p->l[0].rows : p->l[0].columns;
	if (p->l[3].rows > INT32_MAX || p->l[3].columns > INT32_MAX || k > INT32_MAX)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	p->m = (int)p->l[3].rows;
	p->n = (int)p->l[3].columns;
	p->k = (int)k;
	if (!shaped(&p->l[0], ta ? k : p->m, ta ? p->m : k, p->l[3].batch) ||
		!shaped(&p->l[1], tb ? p->n : k, tb ? k : p->n, p->l[3].batch) ||
		!shaped(&p->l[2], p->m, p->n, p->l[3].batch) ||
		!shaped(&p->l[3], p->m, p->n, p->l[3].batch))
		return CUBLAS_STATUS_INVALID_VALUE;
	return CUBLAS_STATUS_SUCCESS;
}

static const struct {
	int pieces;
	/* Parts of plain time in eighths: of long sums, of short ones, of others; what the
	 * heuristic takes it for. */
	uint8_t longer, shorter, other, believed;
} algorithms[TFS_LT_ALGOS] = {
	{1, 8, 8, 8, 0}, {2, 6, 10, 10, 0}, {8, 4, 12, 12, 0}, {1, 9, 7, 9, 9}};

int tfs_lt_algo_pieces(int algo)
{
	return algorithms[algo].pieces;
}

size_t tfs_lt_algo_workspace(const struct tfs_lt_problem *p, int algo)
{
	const size_t pieces = (size_t)algorithms[algo].pieces;

	return pieces > 1 ? ((size_t)p->m * (size_t)p->n * pieces * sizeof(float) + 255) / 256 * 256
			  : 0;
}

static unsigned eighths(const struct tfs_lt_problem *p, int algo)
{
	const int64_t sides = (int64_t)p->m + p->n;

	if (p->k >= 4 * sides)
		return algorithms[algo].longer;
	return sides >= 8 * (int64_t)p->k ? algorithms[algo].shorter : algorithms[algo].other;
}

static unsigned believed(const struct tfs_lt_problem *p, int algo)
{
	return algorithms[algo].believed ? algorithms[algo].believed : eighths(p, algo);
}

/* What divides all distances of columns, in bytes. */
static uint64_t distances(const struct tfs_lt_problem *p)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < sizeof(p->l) / sizeof(*p->l); i++)
		bits |= (uint64_t)p->l[i].ld * tfs_typed_size(p->l[i].type);
	return bits;
}

uint64_t tfs_lt_algo_cost(const struct tfs_lt_problem *p, int algo)
{
	uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
	uint64_t batch = (uint64_t)p->l[3].batch;
	uint64_t bytes =
		(m * k * tfs_typed_size(p->l[0].type) + k * n * tfs_typed_size(p->l[1].type) +
			m * n * tfs_typed_size(p->l[3].type)) *
		batch;
	/* Widening and the epilogue cost a CPU something, too. */
	uint64_t flops = (2 * m * n * k + 20 * (m * k + k * n + m * n)) * batch, ns;
	enum tfsim_math math = TFSIM_SINGLE;

	tfs_typed_math(p->l[0].type, p->op.compute, &math);
	ns = tfsim_cost_math(math, bytes, flops * tfsim_unaligned(math, distances(p)));
	return ns * eighths(p, algo) / 8;
}

/* The algorithms, by what the heuristic takes them for; a hostile one begins anywhere. */
static void rank(const struct tfs_lt_problem *p, int *out)
{
	const int from = tfsim_hostile_seed() ? (int)tfsim_hostile_pick(0x17, TFS_LT_ALGOS) : 0;
	int order[TFS_LT_ALGOS];

	for (int i = 0; i < TFS_LT_ALGOS; i++) {
		int at = i;

		for (; at > 0 && believed(p, order[at - 1]) > believed(p, i); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (int i = 0; i < TFS_LT_ALGOS; i++)
		out[i] = order[(from + i) % TFS_LT_ALGOS];
}

TFS_LT_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle,
	cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
	cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
	cublasLtMatmulPreference_t preference, int requestedAlgoCount,
	cublasLtMatmulHeuristicResult_t heuristicResultsArray[], int *returnAlgoCount)
{
	struct tfs_lt_problem p;
	cublasStatus_t rc;
	int order[TFS_LT_ALGOS], n = 0;

	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!heuristicResultsArray || !returnAlgoCount || requestedAlgoCount < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	*returnAlgoCount = 0;
	rc = tfs_lt_problem_init(&p, operationDesc, Adesc, Bdesc, Cdesc, Ddesc);
	if (rc)
		return rc;
	rank(&p, order);
	for (int i = 0; i < TFS_LT_ALGOS && n < requestedAlgoCount; i++) {
		cublasLtMatmulHeuristicResult_t *r = &heuristicResultsArray[n];
		int algo = order[i];

		if (tfs_lt_algo_workspace(&p, algo) > tfs_lt_workspace_limit(preference))
			continue;
		memset(r, 0, sizeof(*r));
		r->algo.data[0] = (uint64_t)algo;
		r->workspaceSize = tfs_lt_algo_workspace(&p, algo);
		r->state = CUBLAS_STATUS_SUCCESS;
		r->wavesCount = 1.0f;
		n++;
	}
	*returnAlgoCount = n;
	return n ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

TFS_LT_API cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t lightHandle,
	cublasComputeType_t computeType, cudaDataType_t scaleType, cudaDataType_t Atype,
	cudaDataType_t Btype, cudaDataType_t Ctype, cudaDataType_t Dtype, int requestedAlgoCount,
	int algoIdsArray[], int *returnAlgoCount)
{
	struct tfs_lt_operation o = {.compute = computeType, .scale = scaleType};
	int n = 0;

	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!algoIdsArray || !returnAlgoCount || requestedAlgoCount < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!known_compute(&o) || !tfs_typed_size(Atype) || !tfs_typed_size(Btype) ||
		!tfs_typed_size(Ctype) || !tfs_typed_size(Dtype))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	while (n < TFS_LT_ALGOS && n < requestedAlgoCount) {
		algoIdsArray[n] = n;
		n++;
	}
	*returnAlgoCount = n;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t lightHandle,
	cublasComputeType_t computeType, cudaDataType_t scaleType, cudaDataType_t Atype,
	cudaDataType_t Btype, cudaDataType_t Ctype, cudaDataType_t Dtype, int algoId,
	cublasLtMatmulAlgo_t *algo)
{
	(void)computeType;
	(void)scaleType;
	(void)Atype;
	(void)Btype;
	(void)Ctype;
	(void)Dtype;
	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!algo || algoId < 0 || algoId >= TFS_LT_ALGOS)
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(algo, 0, sizeof(*algo));
	algo->data[0] = (uint64_t)algoId;
	return CUBLAS_STATUS_SUCCESS;
}

TFS_LT_API cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t lightHandle,
	cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
	cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
	const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result)
{
	struct tfs_lt_problem p;
	cublasStatus_t rc;

	if (!lightHandle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!algo || !result || algo->data[0] >= TFS_LT_ALGOS)
		return CUBLAS_STATUS_INVALID_VALUE;
	rc = tfs_lt_problem_init(&p, operationDesc, Adesc, Bdesc, Cdesc, Ddesc);
	if (rc)
		return rc;
	memset(result, 0, sizeof(*result));
	result->algo = *algo;
	result->workspaceSize = tfs_lt_algo_workspace(&p, (int)algo->data[0]);
	result->state = CUBLAS_STATUS_SUCCESS;
	result->wavesCount = 1.0f;
	return CUBLAS_STATUS_SUCCESS;
}
