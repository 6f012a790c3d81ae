/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/cudnn_search.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RESULTS 16

/* The three public result structs differ in the type of their first field only. */
_Static_assert(sizeof(cudnnConvolutionFwdAlgoPerf_t) == sizeof(struct tfs_dnn_perf), "size");
_Static_assert(sizeof(cudnnConvolutionBwdDataAlgoPerf_t) == sizeof(struct tfs_dnn_perf), "size");
_Static_assert(sizeof(cudnnConvolutionBwdFilterAlgoPerf_t) == sizeof(struct tfs_dnn_perf), "size");

/* What a measurement may write to. */
struct target {
	float *out;
	const struct tfs_view *view;
	bool alone; /* without a workspace of the caller's */
	void *workspace;
	size_t workspace_bytes;
};

static cudnnStatus_t ask(const struct tfs_dnn_question *q, struct tfs_dnn_problem *out_problem)
{
	return tfs_dnn_problem_init(out_problem, q->family, q->x, q->w, q->conv, q->y);
}

static int by_time(const void *a, const void *b)
{
	const struct tfs_dnn_perf *p = a;
	const struct tfs_dnn_perf *q = b;

	if ((p->status == CUDNN_STATUS_SUCCESS) != (q->status == CUDNN_STATUS_SUCCESS))
		return p->status == CUDNN_STATUS_SUCCESS ? -1 : 1;
	if (p->time < q->time || p->time > q->time)
		return p->time < q->time ? -1 : 1;
	/* Equal times come in no documented order. */
	if (tfsim_hostile_seed())
		return q->algo - p->algo;
	return p->algo != q->algo ? p->algo - q->algo : (int)p->math - (int)q->math;
}

static void describe(const struct tfs_dnn_problem *p, int algo, struct tfs_dnn_perf *out)
{
	const struct tfs_dnn_algo *a = tfs_dnn_algo_find(p, algo);
	struct tfs_dnn_work w = tfs_dnn_algo_work(p, algo);

	memset(out, 0, sizeof(*out));
	out->algo = algo;
	out->math = p->math;
	out->time = -1.0f;
	out->status = CUDNN_STATUS_NOT_SUPPORTED;
	if (!a)
		return;
	out->status = CUDNN_STATUS_SUCCESS;
	out->memory = a->workspace(p);
	out->determinism = a->deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
	w.slower *= a->prologue ? 4.0 / 3.0 : 1.0;
	out->time = (float)((double)tfs_dnn_cost(&w) / 1e6);
}

/*
 * All algorithms with the descriptor's math type, and with default math too where that one allows
 * conversions: those are measured both ways.
 */
static int list(const struct tfs_dnn_problem *p, struct tfs_dnn_perf *out)
{
	struct tfs_dnn_problem plain = *p;
	int n = 0;

	for (int i = 0; i < tfs_dnn_algo_count(p->family); i++)
		describe(p, i, &out[n++]);
	if (!p->conv.tf32)
		return n;
	plain.math = CUDNN_DEFAULT_MATH;
	plain.conv.tf32 = false;
	for (int i = 0; i < tfs_dnn_algo_count(p->family); i++)
		describe(&plain, i, &out[n++]);
	return n;
}

static void hand_out(struct tfs_dnn_perf *all, int n, int requested, int *returned, void *results)
{
	qsort(all, (size_t)n, sizeof(*all), by_time);
	if (n > requested)
		n = requested;
	memcpy(results, all, (size_t)n * sizeof(*all));
	*returned = n;
}

static cudnnStatus_t check(cudnnHandle_t handle, int requested, int *returned, void *results)
{
	if (!handle || !returned || !results)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	if (requested < 1)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "requested count below 1");
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_dnn_search_count(cudnnHandle_t handle, enum tfs_dnn_family family, int *count)
{
	if (!handle || !count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	/* Each once per math type. */
	*count = 2 * tfs_dnn_algo_count(family);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_dnn_search_workspace(
	cudnnHandle_t handle, const struct tfs_dnn_question *q, int algo, size_t *bytes)
{
	struct tfs_dnn_problem p;
	const struct tfs_dnn_algo *a;
	cudnnStatus_t rc = ask(q, &p);

	if (rc)
		return rc;
	if (!handle || !bytes)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	a = tfs_dnn_algo_find(&p, algo);
	if (!a)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, "algorithm for this problem");
	*bytes = a->workspace(&p);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_dnn_search_guess(cudnnHandle_t handle, const struct tfs_dnn_question *q,
	int requested, int *returned, void *results)
{
	struct tfs_dnn_perf all[MAX_RESULTS];
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = ask(q, &p);
	int n;

	if (!rc)
		rc = check(handle, requested, returned, results);
	if (rc)
		return rc;
	n = list(&p, all);
	/* A guess that is wrong is still a guess: hostile mode ranks at random. */
	for (int i = 0; i < n && tfsim_hostile_seed(); i++)
		if (all[i].status == CUDNN_STATUS_SUCCESS)
			all[i].time = (float)tfsim_hostile_pick(0x700 + (uint64_t)i, 100);
	hand_out(all, n, requested, returned, results);
	for (int i = 0; i < *returned; i++)
		((struct tfs_dnn_perf *)results)[i].time = -1.0f;
	return CUDNN_STATUS_SUCCESS;
}

struct clobber {
	float *out;
	struct tfs_view view;
	void *workspace;
	size_t workspace_bytes;
};

/* Timing runs leave some algorithm's raw result behind; nobody may rely on which. */
static void run_clobber(void *args)
{
	struct clobber *c = args;

	tfs_math_fill(&c->view, c->out, tfsim_hostile_seed() ? (float)(0.0 / 0.0) : 1234.5f);
	tfsim_workspace_leave(c->workspace, c->workspace_bytes);
	tfsim_workspace_enter(c->workspace, c->workspace_bytes);
}

/* Puts one algorithm's kernels on the stream, as a measurement does. */
static cudnnStatus_t measure(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	const struct tfs_dnn_perf *row, const struct target *t)
{
	struct tfs_dnn_work w = tfs_dnn_algo_work(p, row->algo);
	struct clobber c = {t->out, *t->view, t->workspace, row->memory};
	cudnnStatus_t rc = tfs_dnn_algo_prologue(handle, p, row->algo, NULL);

	if (rc)
		return rc;
	w.run = run_clobber;
	w.args = &c;
	w.args_size = sizeof(c);
	w.writes[0] = t->out;
	w.write_bytes[0] = tfs_dnn_bytes(t->view);
	w.writes[1] = t->workspace;
	w.write_bytes[1] = row->memory;
	return tfs_dnn_submit(handle, &w);
}

/* A test program may define it, to hold a search up; called between two algorithms. */
extern void tfsim_on_search(void) __attribute__((weak, visibility("default")));

/* Each algorithm is lent its own workspace for as long as it is measured. */
static cudnnStatus_t measure_alone(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	const struct tfs_dnn_perf *row, struct target t)
{
	struct tfsim_block own = {NULL, 0, 0};
	cudnnStatus_t rc;

	if (row->memory && tfsim_library_alloc(row->memory, &own))
		return CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
	t.workspace = own.address;
	t.workspace_bytes = own.size;
	rc = measure(handle, p, row, &t);
	if (!rc && tfsim_stream_synchronize(handle->stream))
		rc = CUDNN_STATUS_EXECUTION_FAILED;
	tfsim_library_free(&own);
	return rc;
}

static void measure_all(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	const struct target *t, struct tfs_dnn_perf *all, int n)
{
	for (int i = 0; i < n; i++) {
		struct tfs_dnn_problem q = *p;

		if (all[i].status)
			continue;
		if (tfsim_on_search)
			tfsim_on_search();
		q.math = all[i].math;
		q.conv.tf32 = q.math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
		if (t->alone)
			all[i].status = measure_alone(handle, &q, &all[i], *t);
		else if (all[i].memory > t->workspace_bytes)
			all[i].status = CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
		else
			all[i].status = measure(handle, &q, &all[i], t);
		if (all[i].status)
			all[i].time = -1.0f;
	}
}

static cudnnStatus_t search(cudnnHandle_t handle, const struct tfs_dnn_problem *p,
	const struct target *t, int requested, int *returned, void *results)
{
	struct tfs_dnn_perf all[MAX_RESULTS];
	cudnnStatus_t rc = check(handle, requested, returned, results);
	int n;

	if (rc)
		return rc;
	if (tfsim_stream_synchronize(handle->stream))
		return tfs_dnn_fail(
			CUDNN_STATUS_EXECUTION_FAILED, "the stream cannot be waited for");
	n = list(p, all);
	measure_all(handle, p, t, all, n);
	if (tfsim_stream_synchronize(handle->stream))
		return tfs_dnn_fail(CUDNN_STATUS_EXECUTION_FAILED, "a measurement failed");
	hand_out(all, n, requested, returned, results);
	return CUDNN_STATUS_SUCCESS;
}

static const struct tfs_view *result_of(const struct tfs_dnn_problem *p)
{
	return p->family == TFS_DNN_FWD ? &p->y : p->family == TFS_DNN_DATA ? &p->x : &p->w;
}

cudnnStatus_t tfs_dnn_search_given(cudnnHandle_t handle, const struct tfs_dnn_question *q,
	void *out, void *workspace, size_t workspace_bytes, int requested, int *returned,
	void *results)
{
	struct tfs_dnn_problem p;
	cudnnStatus_t rc = ask(q, &p);
	struct target t = {out, result_of(&p), false, workspace, workspace ? workspace_bytes : 0};

	if (rc)
		return rc;
	if (!handle || !out)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "NULL argument");
	return search(handle, &p, &t, requested, returned, results);
}

cudnnStatus_t tfs_dnn_search_alone(cudnnHandle_t handle, const struct tfs_dnn_question *q,
	int requested, int *returned, void *results)
{
	struct tfs_dnn_problem p;
	const struct tfs_view *views[3] = {&p.x, &p.w, &p.y};
	struct tfsim_block own[3] = {{NULL, 0, 0}};
	struct target t = {.alone = true};
	cudnnStatus_t rc = ask(q, &p);

	if (rc)
		return rc;
	if (!handle)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "handle is NULL");
	t.view = result_of(&p);
	for (int i = 0; i < 3; i++) {
		if (tfsim_library_alloc(tfs_dnn_bytes(views[i]), &own[i])) {
			rc = tfs_dnn_fail(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
				"tensors to measure with");
			break;
		}
		if (views[i] == t.view)
			t.out = own[i].address;
	}
	if (!rc)
		rc = search(handle, &p, &t, requested, returned, results);
	for (int i = 0; i < 3; i++)
		tfsim_library_free(&own[i]);
	return rc;
}
