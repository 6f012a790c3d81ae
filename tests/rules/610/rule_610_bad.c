/* SPDX-License-Identifier: MIT */
/* TFS610: each step asks cuBLASLt about sixteen distances of columns, and takes the one that needs
 * the least workspace. The clean twin asks once; the trap asks in each step about a size that it
 * has not had, and seldom about what it had. */
#include <cublasLt.h>

#include "tests/rules/rule_step.h"

#ifndef VARIANT
#define VARIANT BAD
#endif
#define WISHES 5 /* about one product, with room for another workspace each time */

enum { SIDE = 32, CHOICES = 16, SELDOM = 12 };

struct products {
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t product;
	cublasLtMatmulPreference_t preference;
	cublasLtMatrixLayout_t layout[CHOICES];
	float *a, *b, *c;
};

static void init(struct products *p)
{
	const size_t none = 0;

	NEED(cublasLtCreate(&p->lt));
	NEED(cublasLtMatmulDescCreate(&p->product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	NEED(cublasLtMatmulPreferenceCreate(&p->preference));
	NEED(cublasLtMatmulPreferenceSetAttribute(
		p->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &none, sizeof(none)));
	for (unsigned i = 0; i < CHOICES; i++)
		NEED(cublasLtMatrixLayoutCreate(
			&p->layout[i], CUDA_R_32F, SIDE, SIDE, SIDE + 4 * (int64_t)i));
	p->a = rule_alloc(2 * SIDE * SIDE);
	p->b = rule_alloc(2 * SIDE * SIDE);
	p->c = rule_alloc(2 * SIDE * SIDE);
}

static cublasLtMatmulHeuristicResult_t ask(const struct products *p, unsigned i)
{
	const cublasLtMatrixLayout_t layout = p->layout[i];
	cublasLtMatmulHeuristicResult_t answer;
	int count = 0;

	/* expect: TFS610 x16 0us */
	NEED(cublasLtMatmulAlgoGetHeuristic(/* trap: TFS602 */ p->lt, p->product, layout, layout,
		layout, layout, p->preference, 1, &answer, &count));
	return answer;
}

static unsigned choose(const struct products *p, cublasLtMatmulHeuristicResult_t *out_best)
{
	unsigned best = 0;

	for (unsigned i = 0; i < CHOICES; i++) {
		const cublasLtMatmulHeuristicResult_t answer = ask(p, i);

		if (i == 0 || answer.workspaceSize < out_best->workspaceSize) {
			best = i;
			*out_best = answer;
		}
	}
	return best;
}

/* About so many rows. */
static void ask_once(const struct products *p, uint64_t rows)
{
	const uint64_t side = SIDE;

	NEED(cublasLtMatrixLayoutSetAttribute(
		p->layout[CHOICES - 1], CUBLASLT_MATRIX_LAYOUT_COLS, &rows, sizeof(rows)));
	NEED(cublasLtMatrixLayoutSetAttribute(
		p->layout[CHOICES - 1], CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof(rows)));
	ask(p, CHOICES - 1);
	NEED(cublasLtMatrixLayoutSetAttribute(
		p->layout[CHOICES - 1], CUBLASLT_MATRIX_LAYOUT_COLS, &side, sizeof(side)));
	NEED(cublasLtMatrixLayoutSetAttribute(
		p->layout[CHOICES - 1], CUBLASLT_MATRIX_LAYOUT_ROWS, &side, sizeof(side)));
}

static void wish(const struct products *p, size_t bytes)
{
	NEED(cublasLtMatmulPreferenceSetAttribute(
		p->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)));
	ask(p, 0);
}

int main(void)
{
	const float one = 1, zero = 0;
	cublasLtMatmulHeuristicResult_t best;
	struct products p;
	struct rule r;
	unsigned chosen;

	rule_init(&r);
	init(&p);
	rule_fill(r.host[0], SIDE * SIDE, 1e-3f);
	NEED(cudaMemcpy(p.a, r.host[0], SIDE * SIDE * sizeof(float), cudaMemcpyHostToDevice));
	NEED(cudaMemcpy(p.b, r.host[0], SIDE * SIDE * sizeof(float), cudaMemcpyHostToDevice));
	chosen = choose(&p, &best);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(r.copied[step % SLOTS]));
		if (VARIANT == BAD)
			chosen = choose(&p, &best);
		if (VARIANT == TRAP)
			ask_once(&p, 1 + step);
		if (VARIANT == WISHES)
			wish(&p, step);
		if (VARIANT == TRAP && step % SELDOM == 0)
			ask(&p, 0);
		NEED(cublasLtMatmul(p.lt, p.product, &one, p.a, p.layout[chosen], p.b,
			p.layout[chosen], &zero, p.c, p.layout[chosen], p.c, p.layout[chosen],
			&best.algo, NULL, 0, r.stream));
		NEED(cublasSaxpy(r.blas, SIDE * SIDE, &one, p.c, 1, p.a, 1));
		NEED(cudaEventRecord(r.copied[step % SLOTS], r.stream));
	}
	rule_tell(p.a, SIDE * SIDE);
	rule_finish(&r);
	NEED(cublasLtDestroy(p.lt));
	return 0;
}
