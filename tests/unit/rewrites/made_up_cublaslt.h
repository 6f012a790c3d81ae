/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_REWRITES_MADE_UP_CUBLASLT_H
#define TFS_TESTS_UNIT_REWRITES_MADE_UP_CUBLASLT_H

/*
 * A cuBLASLt and a device for lt_measure.c: algorithms take the times in `costs`, and questions are
 * answered from `questions`; what was run is in `samples`. Stands in the place of all that the
 * module calls.
 */
#include "shim/rewrites/lt_search/lt_measure.h"

#include <time.h>

#include "shim/base/env.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/lt_search/lt_copy.h"
#include "shim/rewrites/lt_search/lt_scratch.h"
#include "tests/test.h"

#define OWN 0 /* the program's algorithm; others have higher numbers */
#define ALGORITHMS 8
#define SAMPLES 16
#define MIB (UINT64_C(1) << 20)

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

void *tfs_direct_known[TFS_DIRECT_COUNT];
struct tfs_options tfs_options;

static uint64_t now_ns;
static uint64_t matmul_ns; /* that a call keeps the host */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

bool tfs_lookup_steady(enum tfs_library library)
{
	return library == TFS_LIBRARY_cublaslt;
}

bool tfs_direct_there(const uint8_t *calls, size_t count, _Atomic int *known)
{
	(void)calls, (void)count, (void)known;
	return true;
}

/* What is there to be given back. */
static int scratches, copies, events, preferences;
static bool no_scratch, no_copy;
static int no_event; /* the one that is not had, from 1 on */

static char places[8]; /* of A to D, bias, auxiliary, scale, workspace */
static uint64_t scratch_workspace, scratch_most;

bool tfs_lt_scratch_get(struct tfs_search_device *device, const struct tfs_product_call *call,
	uint64_t workspace_bytes, uint64_t most, struct tfs_lt_scratch *out)
{
	(void)device, (void)call;
	scratch_workspace = workspace_bytes;
	scratch_most = most;
	*out = (struct tfs_lt_scratch){.matrices = {&places[0], &places[1], &places[2], &places[3]},
		.bias = &places[4],
		.auxiliary = &places[5],
		.scale = &places[6],
		.workspace = &places[7]};
	scratches += !no_scratch;
	return !no_scratch;
}

void tfs_lt_scratch_give_back(
	struct tfs_search_device *device, const struct tfs_lt_scratch *scratch)
{
	(void)device;
	TEST_TRUE(scratch->scale == &places[6]);
	scratches--;
}

static char product, copy;

cublasLtMatmulDesc_t tfs_lt_copy_make(
	cublasLtMatmulDesc_t of, void *bias, void *auxiliary, void *scale)
{
	TEST_TRUE((char *)of == &product);
	TEST_TRUE(bias == &places[4] && auxiliary == &places[5] && scale == &places[6]);
	copies += !no_copy;
	return no_copy ? NULL : (cublasLtMatmulDesc_t)(void *)&copy;
}

void tfs_lt_copy_drop(cublasLtMatmulDesc_t of)
{
	TEST_TRUE((char *)of == &copy);
	copies--;
}

static bool busy;
static uint64_t idle_ns;
static CUstream idle_stream;

bool tfs_search_device_idle_within(
	struct tfs_search_device *device, CUstream stream, uint64_t most_ns)
{
	(void)device;
	idle_stream = stream;
	idle_ns = most_ns;
	return !busy;
}

uint32_t tfs_product_aligned(const void *address)
{
	return address == (void *)16 ? 16 : address == (void *)64 ? 64 : 256;
}

static CUresult CUDAAPI event_create(CUevent *out, unsigned flags)
{
	TEST_EQ(flags, CU_EVENT_DEFAULT);
	if (++events == no_event) {
		events--;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*out = (CUevent)(uintptr_t)events;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI event_destroy(CUevent event)
{
	TEST_TRUE(event);
	events--;
	return CUDA_SUCCESS;
}

/* The device's time, when each of the two events was last recorded, and what was run in between. */
static double device_ms, recorded_ms[3];
static bool synchronized;
static struct {
	uint8_t algorithm, calls;
} samples[ALGORITHMS * SAMPLES];
static unsigned sample_count, sampled[ALGORITHMS];

static struct tfs_search_device device;
static char own_stream, programs_stream;

static CUresult CUDAAPI event_record(CUevent event, CUstream stream)
{
	TEST_TRUE((char *)stream == &own_stream);
	recorded_ms[(uintptr_t)event] = device_ms;
	synchronized = false;
	if ((uintptr_t)event == 1)
		TEST_NEED(++sample_count <= sizeof(samples) / sizeof(samples[0]));
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI event_synchronize(CUevent event)
{
	synchronized = (uintptr_t)event == 2;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI event_elapsed(float *out, CUevent begin, CUevent end)
{
	TEST_TRUE(synchronized);
	*out = (float)(recorded_ms[(uintptr_t)end] - recorded_ms[(uintptr_t)begin]);
	return CUDA_SUCCESS;
}

static const float one = 1, zero;
static char lt, layouts[4];
static cublasLtMatmulAlgo_t own_algorithm;
static uint64_t workspace_of[ALGORITHMS];
static uint64_t more_workspace; /* that one is run with too */
/* Milliseconds of an algorithm in each of its samples; a negative one fails. Its first is to warm
 * up, and so is the program's second. */
static float costs[ALGORITHMS][SAMPLES];

static cublasStatus_t CUBLASWINAPI matmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
	const void *alpha, const void *a, cublasLtMatrixLayout_t al, const void *b,
	cublasLtMatrixLayout_t bl, const void *beta, const void *c, cublasLtMatrixLayout_t cl,
	void *d, cublasLtMatrixLayout_t dl, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
	size_t bytes, cudaStream_t stream)
{
	const unsigned number = algorithm ? (unsigned)algorithm->data[0] : OWN;

	TEST_TRUE((char *)handle == &lt && (char *)how == &copy && (char *)stream == &own_stream);
	TEST_TRUE(alpha == &one && beta == &zero);
	TEST_TRUE(a == &places[0] && b == &places[1] && c == &places[2] && d == &places[3]);
	TEST_TRUE((char *)al == &layouts[0] && (char *)bl == &layouts[1]);
	TEST_TRUE((char *)cl == &layouts[2] && (char *)dl == &layouts[3]);
	TEST_TRUE(bytes == workspace_of[number] || (more_workspace > 0 && bytes == more_workspace));
	TEST_TRUE(workspace == (bytes > 0 ? &places[7] : NULL));
	TEST_NEED(sample_count > 0 && number < ALGORITHMS);
	now_ns += matmul_ns;
	if (samples[sample_count - 1].calls++ == 0) {
		samples[sample_count - 1].algorithm = (uint8_t)number;
		sampled[number]++;
	}
	TEST_EQ(samples[sample_count - 1].algorithm, number);
	TEST_NEED(sampled[number] <= SAMPLES);
	const float cost = costs[number][sampled[number] - 1];
	device_ms += cost;
	return cost < 0 ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

/* What is preferred in the question that is put now. */
static uint64_t preferred_workspace;
static uint32_t preferred_alignment[4];
static bool no_preference;

static cublasStatus_t CUBLASWINAPI preference_create(cublasLtMatmulPreference_t *out)
{
	if (no_preference)
		return CUBLAS_STATUS_ALLOC_FAILED;
	preferences++;
	preferred_workspace = 0;
	memset(preferred_alignment, 0, sizeof(preferred_alignment));
	*out = (cublasLtMatmulPreference_t)(void *)&preferred_workspace;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t CUBLASWINAPI preference_destroy(cublasLtMatmulPreference_t preference)
{
	TEST_TRUE((void *)preference == &preferred_workspace);
	preferences--;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t CUBLASWINAPI preference_set(cublasLtMatmulPreference_t preference,
	cublasLtMatmulPreferenceAttributes_t attribute, const void *value, size_t bytes)
{
	const int which = (int)attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;

	TEST_TRUE((void *)preference == &preferred_workspace);
	if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
		TEST_EQ(bytes, 8);
		memcpy(&preferred_workspace, value, 8);
	} else {
		TEST_EQ(bytes, 4);
		TEST_NEED(which >= 0 && which < 4);
		memcpy(&preferred_alignment[which], value, 4);
	}
	return CUBLAS_STATUS_SUCCESS;
}

/* What is answered to the first question and the second. */
static struct {
	uint64_t workspace; /* that was asked with */
	cublasLtMatmulHeuristicResult_t list[4];
	int count;
	bool refused;
} questions[2];
static unsigned question;

static cublasStatus_t CUBLASWINAPI heuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
	cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
	cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most,
	cublasLtMatmulHeuristicResult_t *out, int *out_count)
{
	TEST_TRUE((char *)handle == &lt && (char *)how == &copy);
	TEST_TRUE((char *)a == &layouts[0] && (char *)b == &layouts[1]);
	TEST_TRUE((char *)c == &layouts[2] && (char *)d == &layouts[3]);
	TEST_TRUE((void *)preference == &preferred_workspace && most >= 4);
	TEST_NEED(question < 2);
	/* Of the program's matrices. */
	TEST_EQ(preferred_alignment[0], 16);
	TEST_EQ(preferred_alignment[1], 64);
	TEST_EQ(preferred_alignment[2], 256);
	TEST_EQ(preferred_alignment[3], 256);
	questions[question].workspace = preferred_workspace;
	memcpy(out, questions[question].list, sizeof(questions[0].list));
	*out_count = questions[question].count;
	return questions[question++].refused ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

void *tfs_direct_look_up(enum tfs_direct call)
{
	switch (call) {
	case TFS_DIRECT_cublasLtMatmul:
		return (void *)matmul;
	case TFS_DIRECT_cublasLtMatmulAlgoGetHeuristic:
		return (void *)heuristic;
	case TFS_DIRECT_cublasLtMatmulPreferenceCreate:
		return (void *)preference_create;
	case TFS_DIRECT_cublasLtMatmulPreferenceDestroy:
		return (void *)preference_destroy;
	case TFS_DIRECT_cublasLtMatmulPreferenceSetAttribute:
		return (void *)preference_set;
	case TFS_DIRECT_cuEventCreate:
		return (void *)event_create;
	case TFS_DIRECT_cuEventDestroy_v2:
		return (void *)event_destroy;
	case TFS_DIRECT_cuEventElapsedTime:
		return (void *)event_elapsed;
	case TFS_DIRECT_cuEventRecord:
		return (void *)event_record;
	case TFS_DIRECT_cuEventSynchronize:
		return (void *)event_synchronize;
	default:
		return NULL;
	}
}

/* An answer: an algorithm, and the workspace that it takes. */
static void answer(unsigned to, unsigned algorithm, uint64_t workspace)
{
	cublasLtMatmulHeuristicResult_t *one_more = &questions[to].list[questions[to].count++];

	*one_more = (cublasLtMatmulHeuristicResult_t){
		.workspaceSize = workspace, .state = CUBLAS_STATUS_SUCCESS};
	one_more->algo.data[0] = algorithm;
	workspace_of[algorithm] = workspace;
}

static void cost(unsigned algorithm, float ms)
{
	for (unsigned i = 0; i < SAMPLES; i++)
		costs[algorithm][i] = ms;
}

#endif
