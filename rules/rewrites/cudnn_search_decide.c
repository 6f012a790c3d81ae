/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "rules/rewrites/cudnn_search.h"
#include "rules/rewrites/search_fences.h"
#include "rules/rewrites/search_live.h"
#include "shim/clock.h"
#include "shim/env.h"
#include "shim/recorder.h"

_Atomic bool tfs_search_by_itself;

static _Atomic uint32_t searched;
static _Atomic uint64_t spent_ns;

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

/* Chooses among what was measured, and keeps it. */
static const struct tfs_decision *conclude(const struct tfs_search *what,
	const struct tfs_decision *question, const struct tfs_candidate *candidates, uint32_t site)
{
	const uint32_t id = tfs_problem_id(&question->problem);
	const int asked = question->asked;
	const int chosen = tfs_search_best(what->family, candidates, asked);
	struct tfs_decision decision = *question;

	for (int i = 0; i < (int)TFS_SEARCH_ALGORITHMS; i++)
		if (candidates[i].available)
			write_search(id, i, &candidates[i], (int)what->math,
				(i == asked ? 2u : 0) | (i == chosen ? 4u : 0) |
					(tfs_search_fits(what->family, candidates, asked, i) ? 8u
											     : 0));
	decision.chosen = chosen;
	decision.workspace = candidates[chosen].workspace;
	decision.asked_ms = candidates[asked].median_ms;
	decision.chosen_ms = candidates[chosen].median_ms;
	tfs_search_check(TFS_SEARCH_GAIN, chosen != asked, site);
	return tfs_decisions_add(
		&decision, tfs_rewrite_mode(&tfs_rewrite_cudnn_search) == TFS_MODE_APPLY);
}

/* The device's equipment is taken. */
static const struct tfs_decision *search(struct tfs_search_device *device,
	const struct tfs_search *what, const struct tfs_decision *question, uint32_t site)
{
	struct tfs_candidate candidates[TFS_SEARCH_ALGORITHMS];
	const uint64_t budget_ns = tfs_options.search_ms * UINT64_C(1000000);
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const struct tfs_search_limits limits = {
		.workspace = tfs_options.search_workspace_bytes,
		.memory = tfs_options.search_memory_bytes,
		.until_ns = start_ns + budget_ns - spent_ns,
	};
	enum tfs_search_result result = TFS_SEARCH_FAILED;

	const bool idle = tfs_search_device_idle(device, (CUstream)tfs_cudnn_stream(what->handle));
	if (idle)
		result = tfs_search_run(device, what, &limits, question->asked, candidates);
	searched += idle;
	spent_ns += tfs_clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (!tfs_search_check(TFS_SEARCH_IDLE, idle, site) ||
		!tfs_search_check(TFS_SEARCH_MEMORY, result != TFS_SEARCH_NO_MEMORY, site) ||
		!tfs_search_check(TFS_SEARCH_TIME, result != TFS_SEARCH_NO_TIME, site) ||
		!tfs_search_check(TFS_SEARCH_SEARCH, result != TFS_SEARCH_FAILED, site) ||
		!tfs_search_check(TFS_SEARCH_SAME, result != TFS_SEARCH_DIFFERS, site))
		return NULL;
	return conclude(what, question, candidates, site);
}

static const struct tfs_decision *decide(struct tfs_search_device *device,
	const struct tfs_search *what, const struct tfs_decision *question, uint32_t site)
{
	const struct tfs_decision *decision;

	if (!tfs_search_check(TFS_SEARCH_SEARCH, tfs_search_device_made(device), site) ||
		!tfs_search_check(TFS_SEARCH_RANKS, tfs_options.ranks == 1, site) ||
		!tfs_search_check(
			TFS_SEARCH_PROBLEMS, searched < tfs_options.search_problems, site) ||
		!tfs_search_check(TFS_SEARCH_TIME,
			spent_ns < tfs_options.search_ms * UINT64_C(1000000), site) ||
		!tfs_search_check(TFS_SEARCH_ALONE, tfs_search_device_take(device), site))
		return NULL;
	decision = search(device, what, question, site);
	tfs_search_device_leave(device);
	return decision;
}

static void write_replay(const struct tfs_decision *decision)
{
	const uint32_t id = tfs_problem_id(&decision->problem);
	const int math = decision->problem.fields[TFS_PROBLEM_math];
	const struct tfs_candidate own = {.median_ms = decision->asked_ms};
	const struct tfs_candidate chosen = {
		.median_ms = decision->chosen_ms, .workspace = decision->workspace};

	write_search(id, decision->asked, &own, math,
		decision->chosen == decision->asked ? 2u | 4u | 8u : 2u | 8u);
	if (decision->chosen != decision->asked)
		write_search(id, decision->chosen, &chosen, math, 4u | 8u);
}

/* A problem that was not met before. What needs no search is decided at once, so that no thread can
 * come in between: a replay is the same each time. */
static struct tfs_known *meet_new(struct tfs_search_device *device, const struct tfs_search *what,
	const struct tfs_problem *problem, int asked, uint32_t site, bool in_list)
{
	const struct tfs_decision question = {
		.problem = *problem, .machine = device->machine, .asked = asked};
	const bool allowed =
		tfs_search_check(TFS_SEARCH_CAPTURE,
			!tfs_search_capturing((CUstream)tfs_cudnn_stream(what->handle)), site) &&
		tfs_search_check(TFS_SEARCH_OWN_SEARCH, !tfs_search_by_itself, site) &&
		tfs_search_check(TFS_SEARCH_DETERMINISM, !determinism_asked(), site);
	const struct tfs_decision *earlier =
		allowed ? tfs_decisions_find(device->machine, problem, asked) : NULL;
	struct tfs_known *known = tfs_known_add(
		device->machine, problem, in_list, !allowed || earlier != NULL, earlier);

	if (known == NULL)
		return tfs_known_find(device->machine, problem);
	if (earlier != NULL)
		write_replay(earlier);
	else if (allowed)
		tfs_known_decide(known, decide(device, what, &question, site));
	return known;
}

struct tfs_known *tfs_search_meet(const struct tfs_search *what, const struct tfs_problem *problem,
	int asked, uint32_t site, bool in_list, struct tfs_search_device **out_device)
{
	struct tfs_search_device *device = tfs_search_device();

	*out_device = device;
	if (!tfs_search_check(TFS_SEARCH_SEARCH, device != NULL, site))
		return NULL;
	struct tfs_known *known = tfs_known_find(device->machine, problem);
	if (known == NULL)
		known = meet_new(device, what, problem, asked, site, in_list);
	if (!tfs_search_check(TFS_SEARCH_PROBLEMS, known != NULL, site) ||
		!tfs_search_check(TFS_SEARCH_FIRST, tfs_known_settled(known), site))
		return NULL;
	return known;
}

void tfs_search_write(void)
{
	tfs_recorder_fact("cudnn-search", "problems searched", searched);
	tfs_recorder_fact(
		"cudnn-search live", "outputs held against the program's own", tfs_live_count());
	tfs_recorder_fact("cudnn-search time", "nanoseconds", spent_ns);
}
