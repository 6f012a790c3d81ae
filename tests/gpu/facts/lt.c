/* SPDX-License-Identifier: MIT */
/*
 * What cuBLASLt's choice of an algorithm costs the host, and what a larger workspace, or another of
 * its answers than the first, gains. "fact lt SHAPE-asking HOST US", "fact lt SHAPE-WORKSPACE ...".
 * See fact.h.
 */
#include <cublasLt.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { ANSWERS = 8, ROUNDS = 7, CALLS = 10, ASKED = 21 };

static const size_t room = (size_t)128 << 20;
static const size_t workspaces[] = {0, 1 << 20, 4 << 20, 32 << 20, 128 << 20};
static const struct shape {
	const char *name;
	cudaDataType_t type;
	int m, n, k;
	cublasLtEpilogue_t epilogue;
} shapes[] = {
	{"float-tiny", CUDA_R_32F, 64, 64, 64, CUBLASLT_EPILOGUE_DEFAULT},
	{"bf16-square", CUDA_R_16BF, 4096, 4096, 4096, CUBLASLT_EPILOGUE_DEFAULT},
	{"bf16-layer", CUDA_R_16BF, 3072, 4096, 768, CUBLASLT_EPILOGUE_DEFAULT},
	{"bf16-layer-gelu", CUDA_R_16BF, 3072, 4096, 768, CUBLASLT_EPILOGUE_GELU},
	{"bf16-weights", CUDA_R_16BF, 768, 768, 32768, CUBLASLT_EPILOGUE_DEFAULT},
	{"bf16-small-weights", CUDA_R_16BF, 64, 64, 16384, CUBLASLT_EPILOGUE_DEFAULT},
	{"bf16-narrow", CUDA_R_16BF, 1024, 16, 4096, CUBLASLT_EPILOGUE_DEFAULT},
	{"bf16-odd", CUDA_R_16BF, 1001, 513, 2047, CUBLASLT_EPILOGUE_DEFAULT},
	{"float-square", CUDA_R_32F, 2048, 2048, 2048, CUBLASLT_EPILOGUE_DEFAULT},
	{"float-weights", CUDA_R_32F, 256, 256, 16384, CUBLASLT_EPILOGUE_DEFAULT},
};

static cublasLtHandle_t lt;
static cudaEvent_t begin, end;
static char *a, *b, *c, *workspace;

struct product {
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a, b, c;
	int count;
	cublasLtMatmulHeuristicResult_t answers[ANSWERS];
};

static void make(struct product *p, const struct shape *s)
{
	OK(cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	OK(cublasLtMatmulDescSetAttribute(
		p->desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &s->epilogue, sizeof(s->epilogue)));
	OK(cublasLtMatrixLayoutCreate(&p->a, s->type, (uint64_t)s->m, (uint64_t)s->k, s->m));
	OK(cublasLtMatrixLayoutCreate(&p->b, s->type, (uint64_t)s->k, (uint64_t)s->n, s->k));
	OK(cublasLtMatrixLayoutCreate(&p->c, s->type, (uint64_t)s->m, (uint64_t)s->n, s->m));
}

static void drop(const struct product *p)
{
	OK(cublasLtMatrixLayoutDestroy(p->a));
	OK(cublasLtMatrixLayoutDestroy(p->b));
	OK(cublasLtMatrixLayoutDestroy(p->c));
	OK(cublasLtMatmulDescDestroy(p->desc));
}

/* Asks for the best with so large a workspace; returns the host's microseconds. */
static double question_us(struct product *p, size_t bytes, int most)
{
	cublasLtMatmulPreference_t wish;

	OK(cublasLtMatmulPreferenceCreate(&wish));
	OK(cublasLtMatmulPreferenceSetAttribute(
		wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)));
	const uint64_t start = fact_now_ns();
	const int status = cublasLtMatmulAlgoGetHeuristic(
		lt, p->desc, p->a, p->b, p->c, p->c, wish, most, p->answers, &p->count);
	const double us = (double)(fact_now_ns() - start) / 1e3;

	if (status)
		p->count = 0;
	OK(cublasLtMatmulPreferenceDestroy(wish));
	return us;
}

/* The device's microseconds of one product, or a negative number. */
static double product_us(const struct product *p, int answer)
{
	const cublasLtMatmulHeuristicResult_t *chosen = &p->answers[answer];
	const float one = 1, zero = 0;
	double us[ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++) {
		float ms = 0;

		OK(cudaEventRecord(begin, NULL));
		for (unsigned i = 0; i < CALLS; i++)
			if (cublasLtMatmul(lt, p->desc, &one, a, p->a, b, p->b, &zero, c, p->c, c,
				    p->c, &chosen->algo, workspace, chosen->workspaceSize, NULL))
				return -1;
		OK(cudaEventRecord(end, NULL));
		OK(cudaEventSynchronize(end));
		OK(cudaEventElapsedTime(&ms, begin, end));
		us[round] = (double)ms * 1e3 / CALLS;
	}
	return fact_median(us, ROUNDS);
}

static void ask(const struct shape *s)
{
	double us[ASKED];
	struct product p;
	char name[96];

	make(&p, s);
	const double first = question_us(&p, 32 << 20, 1);

	for (unsigned i = 0; i < ASKED; i++)
		us[i] = question_us(&p, 32 << 20, 1);
	snprintf(name, sizeof(name), "%s-asking", s->name);
	fact("lt", name, "%.1f us at first, then %.1f us", first, fact_median(us, ASKED));
	for (unsigned w = 0; w < sizeof(workspaces) / sizeof(workspaces[0]); w++) {
		double best = -1, leading = -1;
		int which = 0;

		question_us(&p, workspaces[w], ANSWERS);
		for (int i = 0; i < p.count; i++) {
			const double passed = product_us(&p, i);

			if (i == 0)
				leading = passed;
			if (passed >= 0 && (best < 0 || passed < best)) {
				best = passed;
				which = i;
			}
		}
		snprintf(name, sizeof(name), "%s-%zu-KiB", s->name, workspaces[w] >> 10);
		fact("lt", name,
			"first of %d takes %.2f us with %zu KiB; the best, number %d, %.2f us with %zu KiB",
			p.count, leading, p.count ? p.answers[0].workspaceSize >> 10 : 0, which + 1,
			best, p.count ? p.answers[which].workspaceSize >> 10 : 0);
	}
	drop(&p);
}

int main(void)
{
	if (!fact_device())
		return test_skip("no CUDA device");
	const size_t count = fact_simulated() ? 1 : sizeof(shapes) / sizeof(shapes[0]);

	for (char **memory[] = {&a, &b, &c, &workspace, NULL}, ***next = memory; *next; next++) {
		OK(cudaMalloc((void **)*next, room));
		OK(cudaMemset(**next, 0x3c, room));
	}
	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	OK(cublasLtCreate(&lt));
	for (size_t i = 0; i < count; i++)
		ask(&shapes[i]);
	OK(cublasLtDestroy(lt));
	return test_result();
}
