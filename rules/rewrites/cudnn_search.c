/* SPDX-License-Identifier: MIT */
/*
 * cudnn-search: a convolution whose algorithm the program fixed, or took from cuDNN's heuristics,
 * runs with the fastest one that a measured search finds within the fences below.
 *
 * Contract (rounding: the same mathematics, sums in another order):
 * - Decided once per problem, before its first execution: where the program asks cuDNN for a list,
 *   the choice is moved to the list's head; else at the first call, with a workspace of ours.
 *   Never changed during a run, written to a file, and replayed from it without a search, so that
 *   the next run computes the same bits.
 * - The candidate has the descriptor's own math type; it is deterministic if the program's is, by
 *   cuDNN's flag and by its documentation; it is neither FFT nor Winograd unless the program's is.
 * - The search works on scratch tensors only; what it takes is given back. It stays within the
 *   options' time, number of problems and workspace, and leaves the device a margin.
 * - Not while the program's stream is busy and stays so: what it waits for may be this thread.
 * - Not during capture, not when the program searches itself, not when a variable asks for
 *   determinism, not with several ranks unless the decisions are there already.
 * - A list that the program asked for is reordered, never shortened.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rewrites/convolution.h"
#include "rules/rewrites/decisions.h"
#include "rules/rewrites/rewrite.h"
#include "rules/rewrites/search.h"
#include "shim/capture.h"
#include "shim/clock.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/steps.h"
#include "shim/streams.h"
#include "shim/tensors.h"

#define MOST_PROBLEMS 512u
#define MOST_WORKSPACES 32u
#define LEAST_GAIN 0.05 /* of the program's own time */

/* Tests only, option `naive`: what the contract forbids, so that its tests are seen to bite. */
#define NAIVE_LIVE 4u   /* searches on the program's own tensors */
#define NAIVE_SWITCH 8u /* decides in the middle of the run */
#define NAIVE_AFTER 3u  /* executions */

enum check {
	CHECK_CAPTURE,
	CHECK_OWN_SEARCH,
	CHECK_DETERMINISM,
	CHECK_RANKS,
	CHECK_PROBLEM,
	CHECK_PROBLEMS,
	CHECK_TIME,
	CHECK_IDLE,
	CHECK_MEMORY,
	CHECK_SEARCH,
	CHECK_GAIN,
	CHECK_WORKSPACE,
};

static const char *const checks[] = {"not-capturing", "program-does-not-search",
	"determinism-not-asked", "one-rank-or-decided", "plain-problem", "problem-budget",
	"time-budget", "streams-idle", "device-memory", "search-works", "gain", "workspace-memory",
	NULL};

extern const struct tfs_rewrite tfs_rewrite_cudnn_search;
#define SELF (&tfs_rewrite_cudnn_search)

/* A problem that was met; what is decided about it never changes. */
struct known {
	struct tfs_problem problem;
	const struct tfs_decision *decision; /* NULL: left alone */
	bool in_list; /* the program was given the choice in a list, and chooses itself */
	uint64_t executed;
	uint64_t met; /* tests only */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known problems[MOST_PROBLEMS];
static _Atomic uint32_t problem_count;
static uint32_t searched;
static uint64_t spent_ns;
static bool opened;
static bool can_search;
static _Atomic bool program_searches;

/* One buffer per stream: work on a stream is ordered, so its calls can share one. Outgrown buffers
 * stay until the device is reset, since work may still use them. */
static struct {
	uint16_t stream;
	void *memory;
	uint64_t bytes;
} workspaces[MOST_WORKSPACES];
static uint32_t workspace_count;
static uint64_t workspace_total;

/* Variables by which frameworks and users ask for the same bits each time. */
static bool determinism_asked(void)
{
	static const char *const names[] = {"TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC",
		"FLAGS_cudnn_deterministic", "CUDNN_DETERMINISTIC", "CUBLAS_WORKSPACE_CONFIG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value != NULL && *value != '\0' && strcmp(value, "0") != 0)
			return true;
	}
	return false;
}

/* Transforms: their error grows in ways that plain sums do not have. */
static bool is_transform(enum tfs_family family, int algorithm)
{
	switch (family) {
	case TFS_FAMILY_conv_forward:
		return algorithm >= CUDNN_CONVOLUTION_FWD_ALGO_FFT;
	case TFS_FAMILY_conv_backward_data:
		return algorithm >= CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT;
	default:
		return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT ||
		       algorithm >= CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD;
	}
}

static void open_decisions(void)
{
	CUresult (*get_device)(CUdevice *) =
		(CUresult(*)(CUdevice *))tfs_lookup_named(TFS_LIBRARY_cuda, "cuCtxGetDevice");
	CUresult (*get_name)(char *, int, CUdevice) = (CUresult(*)(
		char *, int, CUdevice))tfs_lookup_named(TFS_LIBRARY_cuda, "cuDeviceGetName");
	size_t (*version)(void) =
		(size_t(*)(void))tfs_lookup_named(TFS_LIBRARY_cudnn, "cudnnGetVersion");
	char name[96] = "unknown GPU";
	CUdevice device;

	opened = true;
	can_search = tfs_search_start();
	if (get_device != NULL && get_name != NULL && get_device(&device) == CUDA_SUCCESS)
		get_name(name, sizeof(name), device);
	for (char *c = name; *c != '\0'; c++)
		if (*c == '|' || *c == '\n')
			*c = '/';
	tfs_decisions_open(name, version != NULL ? version() : 0);
}

static void write_search(uint32_t problem, int algorithm, const struct tfs_candidate *candidate,
	int math, uint32_t flags)
{
	const struct tfs_search_record record = {
		.record = {.function = (uint16_t)algorithm, .site = problem},
		.time_ms = candidate->median_ms,
		.spread_ms = candidate->spread_ms,
		.workspace = candidate->workspace,
		.math = (uint32_t)math,
		.flags = flags | (candidate->deterministic ? 1u : 0),
	};

	tfs_recorder_put(&record, TFS_RECORD_search, sizeof(record));
}

static bool within_fences(
	enum tfs_family family, const struct tfs_candidate *candidates, int asked, int algorithm)
{
	const struct tfs_candidate *own = &candidates[asked];
	const struct tfs_candidate *other = &candidates[algorithm];

	return other->available && (other->deterministic || !own->deterministic) &&
	       (!is_transform(family, algorithm) || is_transform(family, asked));
}

/* The fastest candidate within the fences; the asked one unless another is clearly faster. */
static int best(enum tfs_family family, const struct tfs_candidate *candidates, int asked)
{
	const struct tfs_candidate *own = &candidates[asked];
	int chosen = asked;

	for (int i = 0; i < (int)TFS_SEARCH_ALGORITHMS; i++) {
		if (within_fences(family, candidates, asked, i) &&
			candidates[i].median_ms < candidates[chosen].median_ms)
			chosen = i;
	}
	const float limit = own->median_ms * (1 - (float)LEAST_GAIN);
	const struct tfs_candidate *other = &candidates[chosen];
	return other->median_ms <= limit &&
			       other->median_ms + other->spread_ms < own->median_ms - own->spread_ms
		       ? chosen
		       : asked;
}

static const struct tfs_decision *search(
	const struct tfs_search *what, const struct tfs_problem *problem, int asked, uint32_t site)
{
	struct tfs_candidate candidates[TFS_SEARCH_ALGORITHMS];
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const uint32_t id = tfs_problem_id(problem);
	const enum tfs_search_result result = tfs_search_run(what, candidates);

	searched++;
	spent_ns += tfs_clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (!tfs_rewrite_check(SELF, CHECK_MEMORY, result != TFS_SEARCH_NO_MEMORY, site) ||
		!tfs_rewrite_check(SELF, CHECK_SEARCH,
			result == TFS_SEARCH_DONE && asked >= 0 &&
				asked < (int)TFS_SEARCH_ALGORITHMS && candidates[asked].available,
			site))
		return NULL;
	const int chosen = best(what->family, candidates, asked);
	for (int i = 0; i < (int)TFS_SEARCH_ALGORITHMS; i++)
		if (candidates[i].available)
			write_search(id, i, &candidates[i], (int)what->math,
				(i == asked ? 2u : 0) | (i == chosen ? 4u : 0) |
					(within_fences(what->family, candidates, asked, i) ? 8u
											   : 0));
	const struct tfs_decision decision = {
		.problem = *problem,
		.asked = asked,
		.chosen = chosen,
		.workspace = candidates[chosen].workspace,
		.asked_ms = candidates[asked].median_ms,
		.chosen_ms = candidates[chosen].median_ms,
	};
	tfs_rewrite_check(SELF, CHECK_GAIN, chosen != asked, site);
	return tfs_decisions_add(&decision, tfs_rewrite_mode(SELF) == TFS_MODE_APPLY);
}

static const struct tfs_decision *replay(const struct tfs_decision *decision, int asked)
{
	const uint32_t id = tfs_problem_id(&decision->problem);
	const struct tfs_candidate own = {.median_ms = decision->asked_ms};
	const struct tfs_candidate chosen = {
		.median_ms = decision->chosen_ms, .workspace = decision->workspace};

	if (decision->asked != asked)
		return NULL;
	write_search(id, decision->asked, &own, decision->problem.fields[TFS_PROBLEM_math],
		decision->chosen == asked ? 2u | 4u | 8u : 2u | 8u);
	if (decision->chosen != asked)
		write_search(id, decision->chosen, &chosen,
			decision->problem.fields[TFS_PROBLEM_math], 4u | 8u);
	return decision;
}

/* The lock is held; the problem was not met before. */
static const struct tfs_decision *decide(
	const struct tfs_search *what, const struct tfs_problem *problem, int asked, uint32_t site)
{
	if (!opened)
		open_decisions();
	if (!tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), site) ||
		!tfs_rewrite_check(SELF, CHECK_OWN_SEARCH, !program_searches, site) ||
		!tfs_rewrite_check(SELF, CHECK_DETERMINISM, !determinism_asked(), site))
		return NULL;
	const struct tfs_decision *earlier = tfs_decisions_find(problem);
	if (earlier != NULL)
		return replay(earlier, asked);
	if (!tfs_rewrite_check(SELF, CHECK_SEARCH, can_search, site) ||
		!tfs_rewrite_check(SELF, CHECK_RANKS, tfs_options.ranks == 1, site) ||
		!tfs_rewrite_check(
			SELF, CHECK_PROBLEMS, searched < tfs_options.search_problems, site) ||
		!tfs_rewrite_check(SELF, CHECK_TIME,
			spent_ns < tfs_options.search_ms * UINT64_C(1000000), site) ||
		!tfs_rewrite_check(SELF, CHECK_IDLE, tfs_search_idle(what->handle), site))
		return NULL;
	return search(what, problem, asked, site);
}

static struct known *find_known(const struct tfs_problem *problem)
{
	const uint32_t count = atomic_load_explicit(&problem_count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++)
		if (memcmp(&problems[i].problem, problem, sizeof(*problem)) == 0)
			return &problems[i];
	return NULL;
}

/* Finds the problem among those met, or decides it. NULL when there are too many. */
static struct known *meet(const struct tfs_search *what, const struct tfs_problem *problem,
	int asked, uint32_t site, bool in_list)
{
	struct known *known = find_known(problem);

	if (known != NULL)
		return known;
	pthread_mutex_lock(&lock);
	known = find_known(problem);
	const uint32_t count = atomic_load(&problem_count);
	if (known == NULL && count < MOST_PROBLEMS) {
		known = &problems[count];
		known->problem = *problem;
		known->in_list = in_list;
		known->decision = decide(what, problem, asked, site);
		atomic_store_explicit(&problem_count, count + 1, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return known;
}

/* A buffer of at least `bytes` for the stream, NULL when there is none to be had. */
static void *get_workspace(uint16_t stream, uint64_t bytes)
{
	void *memory = NULL;
	uint32_t at = 0;

	pthread_mutex_lock(&lock);
	while (at < workspace_count && workspaces[at].stream != stream)
		at++;
	if (at < workspace_count && workspaces[at].bytes >= bytes) {
		memory = workspaces[at].memory;
	} else if (at < MOST_WORKSPACES &&
		   workspace_total + bytes <= tfs_options.search_workspace_bytes) {
		memory = tfs_search_allocate(bytes);
		if (memory != NULL) {
			workspaces[at].stream = stream;
			workspaces[at].memory = memory;
			workspaces[at].bytes = bytes;
			workspace_total += bytes;
			workspace_count += at == workspace_count;
		}
	}
	pthread_mutex_unlock(&lock);
	return memory;
}

static void convolution(struct tfs_convolution_call *call)
{
	struct tfs_problem problem;
	void *workspace = call->workspace;

	if (!tfs_rewrite_check(SELF, CHECK_PROBLEM,
		    tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			    call->convolution, call->y_descriptor, &problem),
		    call->site))
		return;
	const struct tfs_search what = {
		.family = call->family,
		.handle = call->handle,
		.x = call->x_descriptor,
		.w = call->w_descriptor,
		.y = call->y_descriptor,
		.convolution = call->convolution,
		.math = (cudnnMathType_t)problem.fields[TFS_PROBLEM_math],
		.workspace_limit = tfs_options.search_workspace_bytes,
		.live_x = (tfs_options.naive & NAIVE_LIVE) != 0 ? (void *)call->x : NULL,
		.live_w = (tfs_options.naive & NAIVE_LIVE) != 0 ? (void *)call->w : NULL,
		.live_y = (tfs_options.naive & NAIVE_LIVE) != 0 ? (void *)call->y : NULL,
	};
	struct known *known = meet(&what, &problem, call->algorithm, call->site, false);
	if ((tfs_options.naive & NAIVE_SWITCH) != 0 && known != NULL && known->decision != NULL &&
		!known->decision->replayed && known->met++ < NAIVE_AFTER)
		return;
	if (known == NULL || known->decision == NULL || known->in_list ||
		known->decision->asked != call->algorithm ||
		known->decision->chosen == call->algorithm ||
		!tfs_rewrite_check(SELF, CHECK_CAPTURE, !tfs_capturing(), call->site))
		return;
	const uint64_t bytes = known->decision->workspace;
	if (bytes > call->workspace_bytes)
		workspace = get_workspace(tfs_stream_id(tfs_cudnn_stream(call->handle), 0), bytes);
	if (!tfs_rewrite_check(
		    SELF, CHECK_WORKSPACE, bytes == 0 || workspace != NULL, call->site) ||
		!tfs_rewrite_apply(SELF, 0))
		return;
	known->executed++;
	call->algorithm = known->decision->chosen;
	call->workspace = workspace;
	if (bytes > call->workspace_bytes)
		call->workspace_bytes = bytes;
}

static int position(const struct tfs_choice_call *call, int algorithm, cudnnMathType_t math)
{
	for (int i = 0; i < call->count; i++)
		if ((int)call->list[i].algo == algorithm && call->list[i].mathType == math &&
			call->list[i].status == CUDNN_STATUS_SUCCESS)
			return i;
	return -1;
}

static void choice(struct tfs_choice_call *call)
{
	struct tfs_problem problem;

	if (call->measured)
		program_searches = true;
	if (call->measured || call->count < 1 || call->list[0].status != CUDNN_STATUS_SUCCESS ||
		!tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			call->convolution, call->y_descriptor, &problem))
		return;
	const struct tfs_search what = {
		.family = call->family,
		.handle = call->handle,
		.x = call->x_descriptor,
		.w = call->w_descriptor,
		.y = call->y_descriptor,
		.convolution = call->convolution,
		.math = (cudnnMathType_t)problem.fields[TFS_PROBLEM_math],
		.workspace_limit = tfs_options.search_workspace_bytes,
	};
	const struct known *known =
		meet(&what, &problem, (int)call->list[0].algo, call->site, true);
	if (known == NULL || known->decision == NULL || !known->in_list)
		return;
	const int at = position(call, known->decision->chosen, what.math);
	if (at <= 0 || !tfs_rewrite_apply(SELF, 0))
		return;
	const struct tfs_performance chosen = call->list[at];
	memmove(&call->list[1], &call->list[0], (size_t)at * sizeof(chosen));
	call->list[0] = chosen;
}

static void reset(uint32_t device)
{
	(void)device;
	pthread_mutex_lock(&lock);
	workspace_count = 0;
	workspace_total = 0;
	pthread_mutex_unlock(&lock);
}

static void finish(void)
{
	const uint64_t steps = tfs_steps_count();
	double gain_ns = 0;

	for (uint32_t i = 0; i < atomic_load(&problem_count); i++)
		if (problems[i].decision != NULL)
			gain_ns += (double)problems[i].executed * 1e6 *
				   (double)(problems[i].decision->asked_ms -
					    problems[i].decision->chosen_ms);
	if (steps > 0)
		tfs_rewrite_predict(SELF, gain_ns / (double)steps);
	tfs_recorder_fact("cudnn-search", "problems searched", searched);
	tfs_recorder_fact("cudnn-search time", "nanoseconds", spent_ns);
}

const struct tfs_rewrite tfs_rewrite_cudnn_search = {
	.name = "cudnn-search",
	.rank = TFS_CLASS_ROUNDING,
	.rules = "TFS601",
	.checks = checks,
	.convolution = convolution,
	.choice = choice,
	.reset = reset,
	.finish = finish,
};
