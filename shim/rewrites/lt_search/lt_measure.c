/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/lt_search/lt_measure.h"

#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/base/mutant.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/lt_search/lt_copy.h"
#include "shim/rewrites/lt_search/lt_scratch.h"

#define WORKSPACE (UINT64_C(32) << 20)
#define ANSWERS 8        /* to one question; two are asked */
#define ROUNDS 5u        /* each measures all candidates, so that they meet the same device */
#define OF_SEARCH 10000u /* part of its time: patience with a device that may be busy */
#define ROUND_MS 0.2f    /* of a candidate, which makes an event's resolution small */
#define MOST_CALLS 20u   /* in a round */
#define HOPELESS 1.5f    /* times the program's time: not measured again */
#define LEAST_GAIN 0.05f /* of the program's time */
#define CANDIDATES (1 + 2 * ANSWERS)

/* Mutants: what the contract forbids. */
#define NAIVE_LIVE (UINT64_C(1) << 49)  /* measures on the program's own matrices */
#define NAIVE_WAITS (UINT64_C(1) << 50) /* waits for the program's stream */

/* The program's is the first. */
struct candidate {
	const cublasLtMatmulAlgo_t *algorithm;
	uint64_t workspace;
	float ms[ROUNDS];
	bool out; /* refused, or hopeless */
};

struct measuring {
	struct tfs_search_device *device;
	const struct tfs_product_call *call;
	cublasLtMatmulDesc_t product;
	struct tfs_lt_scratch scratch;
	CUevent begin, end;
	uint64_t until_ns;
	uint32_t calls; /* in a round */
	struct candidate candidates[CANDIDATES];
	uint32_t count;
	uint32_t first; /* candidate: the first answer with the largest workspace */
	cublasLtMatmulHeuristicResult_t answers[2 * ANSWERS];
	int answered;
};

bool tfs_lt_measurable(void)
{
	static const uint8_t needed[] = {TFS_DIRECT_cublasLtMatmul,
		TFS_DIRECT_cublasLtMatmulAlgoGetHeuristic, TFS_DIRECT_cublasLtMatmulDescCreate,
		TFS_DIRECT_cublasLtMatmulDescDestroy, TFS_DIRECT_cublasLtMatmulDescGetAttribute,
		TFS_DIRECT_cublasLtMatmulDescSetAttribute,
		TFS_DIRECT_cublasLtMatmulPreferenceCreate,
		TFS_DIRECT_cublasLtMatmulPreferenceDestroy,
		TFS_DIRECT_cublasLtMatmulPreferenceSetAttribute,
		TFS_DIRECT_cublasLtMatrixLayoutGetAttribute, TFS_DIRECT_cuEventDestroy_v2,
		TFS_DIRECT_cuEventElapsedTime, TFS_DIRECT_cuEventSynchronize};
	static _Atomic int known;

	return tfs_lookup_steady(TFS_LIBRARY_cublaslt) && TFS_DIRECT_THERE(needed, &known);
}

bool tfs_lt_idle(struct tfs_search_device *device, const struct tfs_product_call *call)
{
	if (TFS_MUTANT(NAIVE_WAITS))
		tfs_search_device_wait((CUstream)call->stream, false);
	return tfs_search_device_idle_within(device, (CUstream)call->stream,
		tfs_options.search_ms * UINT64_C(1000000) / OF_SEARCH);
}

static uint64_t largest(const struct tfs_product_call *call)
{
	const uint64_t most = tfs_options.search_workspace_bytes < WORKSPACE
				      ? tfs_options.search_workspace_bytes
				      : WORKSPACE;

	return call->workspace_bytes > most ? call->workspace_bytes : most;
}

static bool prefer(cublasLtMatmulPreference_t preference,
	cublasLtMatmulPreferenceAttributes_t attribute, const void *value, size_t bytes)
{
	return TFS_DIRECT(cublasLtMatmulPreferenceSetAttribute)(
		       preference, attribute, value, bytes) == CUBLAS_STATUS_SUCCESS;
}

/* Matrices are as much aligned as they are. */
static bool prefer_all(cublasLtMatmulPreference_t preference, const struct tfs_product_call *call,
	uint64_t workspace)
{
	static const cublasLtMatmulPreferenceAttributes_t places[] = {
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
	bool done = prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
		sizeof(workspace));

	for (int i = 0; i < 4 && done; i++) {
		const uint32_t bytes = tfs_product_aligned(call->matrices[i]);

		done = prefer(preference, places[i], &bytes, sizeof(bytes));
	}
	return done;
}

/* The number of an answer's candidate, which may be there already. */
static uint32_t add(struct measuring *m, const cublasLtMatmulHeuristicResult_t *answer)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct candidate *one = &m->candidates[i];

		if (one->algorithm && one->workspace >= answer->workspaceSize &&
			memcmp(one->algorithm, &answer->algo, sizeof(answer->algo)) == 0)
			return i;
	}
	m->candidates[m->count] =
		(struct candidate){.algorithm = &answer->algo, .workspace = answer->workspaceSize};
	return m->count++;
}

/* Asks once more, with room for so large a workspace. */
static void ask(struct measuring *m, uint64_t workspace)
{
	const cublasLtMatrixLayout_t *layouts = m->call->layouts;
	cublasLtMatmulHeuristicResult_t *answers = &m->answers[m->answered];
	cublasLtMatmulPreference_t preference;
	int count = 0;

	if (TFS_DIRECT(cublasLtMatmulPreferenceCreate)(&preference) != CUBLAS_STATUS_SUCCESS)
		return;
	if (!prefer_all(preference, m->call, workspace) ||
		TFS_DIRECT(cublasLtMatmulAlgoGetHeuristic)(m->call->handle, m->product, layouts[0],
			layouts[1], layouts[2], layouts[3], preference, ANSWERS, answers,
			&count) != CUBLAS_STATUS_SUCCESS)
		count = 0;
	TFS_DIRECT(cublasLtMatmulPreferenceDestroy)(preference);
	m->first = 0;
	for (int i = count - 1; i >= 0; i--)
		if (answers[i].state == CUBLAS_STATUS_SUCCESS)
			m->first = add(m, &answers[i]);
	m->answered += count;
}

/* On the device's own stream, by the program's handle: a call of cuBLASLt's is given its stream and
 * its workspace, and the handle, which many threads may use at once, has neither. */
static bool run(const struct measuring *m, const struct candidate *one)
{
	const struct tfs_product_call *call = m->call;
	void *const *at =
		TFS_MUTANT(NAIVE_LIVE) ? (void *const *)call->matrices : m->scratch.matrices;

	return TFS_DIRECT(cublasLtMatmul)(call->handle, m->product, call->alpha, at[0],
		       call->layouts[0], at[1], call->layouts[1], call->beta, at[2],
		       call->layouts[2], at[3], call->layouts[3], one->algorithm,
		       one->workspace > 0 ? m->scratch.workspace : NULL, one->workspace,
		       (cudaStream_t)m->device->stream) == CUBLAS_STATUS_SUCCESS;
}

/* Milliseconds of one product among so many; false when it failed. */
static bool sample(
	const struct measuring *m, const struct candidate *one, uint32_t calls, float *out_ms)
{
	const CUstream stream = m->device->stream;
	bool done = TFS_DIRECT(cuEventRecord)(m->begin, stream) == CUDA_SUCCESS;
	float ms = 0;

	for (uint32_t i = 0; i < calls && done; i++)
		done = run(m, one);
	if (!done || TFS_DIRECT(cuEventRecord)(m->end, stream) != CUDA_SUCCESS ||
		TFS_DIRECT(cuEventSynchronize)(m->end) != CUDA_SUCCESS ||
		TFS_DIRECT(cuEventElapsedTime)(&ms, m->begin, m->end) != CUDA_SUCCESS)
		return false;
	*out_ms = ms / (float)calls;
	return true;
}

static bool is_late(const struct measuring *m)
{
	return tfs_clock_ns(CLOCK_MONOTONIC) > m->until_ns;
}

/* Once each, since a kernel's first launch loads it; then how many calls make a round. */
static enum tfs_lt_result warm_up(struct measuring *m)
{
	struct candidate *own = m->candidates;
	float ms;

	for (uint32_t i = 0; i < m->count; i++) {
		if (is_late(m))
			return TFS_LT_NO_TIME;
		m->candidates[i].out = !sample(m, &m->candidates[i], 1, &ms);
	}
	if (own->out || !sample(m, own, 1, &ms))
		return TFS_LT_FAILED;
	m->calls = ms * MOST_CALLS > ROUND_MS ? (uint32_t)(ROUND_MS / ms) + 1 : MOST_CALLS;
	return TFS_LT_DONE;
}

/* Every other time the other way round: what drifts with time is nobody's gain. */
static enum tfs_lt_result measure_round(struct measuring *m, uint32_t round)
{
	const struct candidate *own = m->candidates;

	for (uint32_t i = 0; i < m->count; i++) {
		struct candidate *one = &m->candidates[round % 2 ? m->count - 1 - i : i];

		if (one->out)
			continue;
		if (is_late(m))
			return TFS_LT_NO_TIME;
		if (!sample(m, one, m->calls, &one->ms[round]))
			one->out = true;
		one->out |= round == 0 && one->ms[0] > HOPELESS * own->ms[0];
	}
	return own->out ? TFS_LT_FAILED : TFS_LT_DONE;
}

static struct tfs_lt_time summarise(const struct candidate *one)
{
	float ms[ROUNDS];

	memcpy(ms, one->ms, sizeof(ms));
	for (uint32_t i = 1; i < ROUNDS; i++)
		for (uint32_t k = i; k > 0 && ms[k - 1] > ms[k]; k--) {
			const float swapped = ms[k];

			ms[k] = ms[k - 1];
			ms[k - 1] = swapped;
		}
	return (struct tfs_lt_time){ms[ROUNDS / 2], ms[ROUNDS - 1] - ms[0], one->workspace};
}

bool tfs_lt_clear(const struct tfs_lt_time *own, const struct tfs_lt_time *best)
{
	return best->median_ms <= own->median_ms * (1 - LEAST_GAIN) &&
	       best->median_ms + best->spread_ms < own->median_ms - own->spread_ms;
}

static void conclude(const struct measuring *m, struct tfs_lt_measured *out)
{
	const struct tfs_lt_time own = summarise(m->candidates);

	*out = (struct tfs_lt_measured){.own = own,
		.best = own,
		.most_workspace = largest(m->call),
		.tried = (uint16_t)(m->count - 1),
		.first = m->first == 0};
	for (uint32_t i = 1; i < m->count; i++) {
		const struct candidate *one = &m->candidates[i];
		const struct tfs_lt_time time = summarise(one);

		if (one->out || !(time.median_ms < out->best.median_ms))
			continue;
		out->best = time;
		out->first = i == m->first;
	}
	out->clear = tfs_lt_clear(&own, &out->best);
}

static enum tfs_lt_result measure(struct measuring *m, struct tfs_lt_measured *out)
{
	m->candidates[m->count++] =
		(struct candidate){m->call->algorithm, m->call->workspace_bytes, {0}, false};
	ask(m, m->call->workspace_bytes);
	ask(m, largest(m->call));
	if (m->answered == 0)
		return TFS_LT_FAILED;
	enum tfs_lt_result result = warm_up(m);
	for (uint32_t round = 0; round < ROUNDS && result == TFS_LT_DONE; round++)
		result = measure_round(m, round);
	if (result != TFS_LT_DONE)
		return result;
	conclude(m, out);
	return tfs_lt_idle(m->device, m->call) ? TFS_LT_DONE : TFS_LT_BUSY;
}

static enum tfs_lt_result with_events(struct measuring *m, struct tfs_lt_measured *out)
{
	enum tfs_lt_result result = TFS_LT_FAILED;

	if (TFS_DIRECT(cuEventCreate)(&m->begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
		return TFS_LT_FAILED;
	if (TFS_DIRECT(cuEventCreate)(&m->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS) {
		result = measure(m, out);
		TFS_DIRECT(cuEventDestroy_v2)(m->end);
	}
	TFS_DIRECT(cuEventDestroy_v2)(m->begin);
	return result;
}

enum tfs_lt_result tfs_lt_measure(struct tfs_search_device *device,
	const struct tfs_product_call *call, uint64_t until_ns, struct tfs_lt_measured *out)
{
	struct measuring m = {.device = device, .call = call, .until_ns = until_ns};
	enum tfs_lt_result result = TFS_LT_FAILED;

	if (!tfs_lt_scratch_get(
		    device, call, largest(call), tfs_options.search_memory_bytes, &m.scratch))
		return TFS_LT_NO_MEMORY;
	m.product = tfs_lt_copy_make(
		call->product, m.scratch.bias, m.scratch.auxiliary, m.scratch.scale);
	if (m.product) {
		result = with_events(&m, out);
		tfs_lt_copy_drop(m.product);
	}
	tfs_lt_scratch_give_back(device, &m.scratch);
	return result;
}
