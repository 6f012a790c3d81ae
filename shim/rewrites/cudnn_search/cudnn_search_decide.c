/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/convolution.h"
#include "shim/rewrites/cudnn_search/cudnn_search.h"
#include "shim/rewrites/cudnn_search/decisions_file.h"
#include "shim/rewrites/cudnn_search/search_fences.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_live.h"

_Atomic bool tfs_search_by_itself;

static _Atomic uint32_t searched;
static _Atomic uint32_t not_searched; /* problems that the file says nothing about */
static _Atomic uint64_t spent_ns;

/* Variables by which frameworks and users ask for the same bits each time. */
static bool determinism_asked(void)
{
	static const char *const names[] = {"TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC",
		"FLAGS_cudnn_deterministic", "CUDNN_DETERMINISTIC", "CUBLAS_WORKSPACE_CONFIG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value != '\0' && strcmp(value, "0") != 0)
			return true;
	}
	return false;
}

static void write_search(uint32_t problem, int algorithm, const struct tfs_candidate *candidate,
	int math, uint32_t flags)
{
	const struct tfs_search_record record = {
		.algorithm = (uint16_t)algorithm,
		.problem = problem,
		.time_ms = candidate->median_ms,
		.spread_ms = candidate->spread_ms,
		.workspace = candidate->workspace,
		.math = (uint32_t)math,
		.flags = flags | (candidate->deterministic ? 1u : 0),
	};

	tfs_recorder_put(&record, TFS_RECORD_search, sizeof(record));
}

/* Chooses among what was measured. */
static void conclude(const struct tfs_search *what, const struct tfs_candidate *candidates,
	struct tfs_decision *decision, uint32_t site)
{
	const uint32_t id = tfs_problem_id(&decision->problem);
	const int asked = decision->asked;
	const int chosen = tfs_search_best(what->family, candidates, asked, what->most);

	for (int i = 0; i < (int)TFS_SEARCH_ALGORITHMS; i++)
		if (candidates[i].available)
			write_search(id, i, &candidates[i], (int)what->math,
				(i == asked ? 2u : 0) | (i == chosen ? 4u : 0) |
					(tfs_search_fits(what->family, candidates, asked, i) ? 8u
											     : 0));
	decision->chosen = chosen;
	decision->workspace = candidates[chosen].workspace;
	decision->asked_ms = candidates[asked].median_ms;
	decision->chosen_ms = candidates[chosen].median_ms;
	tfs_search_check(TFS_SEARCH_GAIN, chosen != asked, site);
}

/* The device's equipment is taken. */
static bool search(struct tfs_search_device *device, const struct tfs_search *what,
	struct tfs_decision *decision, uint32_t site)
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
	if (idle && !tfs_search_handle_make(device))
		result = TFS_SEARCH_NO_MEMORY;
	else if (idle)
		result = tfs_search_run(device, what, &limits, decision->asked, candidates);
	/* All that it did is over; soon the device may wait for the program. */
	if (idle && tfs_held_gates())
		tfs_search_handle_end(device);
	searched += idle;
	spent_ns += tfs_clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (!tfs_search_check(TFS_SEARCH_IDLE, idle, site) ||
		!tfs_search_check(TFS_SEARCH_MEMORY, result != TFS_SEARCH_NO_MEMORY, site) ||
		!tfs_search_check(TFS_SEARCH_TIME, result != TFS_SEARCH_NO_TIME, site) ||
		!tfs_search_check(TFS_SEARCH_SEARCH, result != TFS_SEARCH_FAILED, site) ||
		!tfs_search_check(TFS_SEARCH_SAME, result != TFS_SEARCH_DIFFERS, site))
		return false;
	conclude(what, candidates, decision, site);
	return true;
}

/* False: as asked. */
static bool decide(struct tfs_search_device *device, const struct tfs_search *what,
	struct tfs_decision *decision, uint32_t site)
{
	if (!tfs_search_check(TFS_SEARCH_CAPTURE,
		    !tfs_search_capturing((CUstream)tfs_cudnn_stream(what->handle)), site) ||
		!tfs_search_check(TFS_SEARCH_OWN_SEARCH, !tfs_search_by_itself, site) ||
		!tfs_search_check(TFS_SEARCH_SEARCH, tfs_search_device_made(device), site) ||
		!tfs_search_check(
			TFS_SEARCH_PROBLEMS, searched < tfs_options.search_problems, site) ||
		!tfs_search_check(TFS_SEARCH_TIME,
			spent_ns < tfs_options.search_ms * UINT64_C(1000000), site) ||
		!tfs_search_check(TFS_SEARCH_ALONE, tfs_search_device_take(device), site))
		return false;
	const bool decided = search(device, what, decision, site);
	tfs_search_device_leave(device);
	return decided;
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

/* By the library's own word, which a file's may differ from. */
static bool read_needs(const struct tfs_search *what, struct tfs_decision *decision)
{
	return decision->in_list ||
	       (tfs_search_need(what, decision->asked, &decision->asked_workspace) &&
		       tfs_search_need(what, decision->chosen, &decision->workspace));
}

/* What the file says is done whatever else is the case now, so that it is done in every run. */
static struct tfs_known *replay(struct tfs_search_device *device, const struct tfs_search *what,
	const struct tfs_problem *problem, uint32_t site)
{
	const struct tfs_decision *earlier =
		tfs_decisions_find(tfs_search_machine(device), problem);
	struct tfs_decision decision;

	if (!tfs_search_check(TFS_SEARCH_REPLAYED, earlier != NULL, site)) {
		struct tfs_known *left =
			tfs_known_add(tfs_search_machine(device), problem, false, true, NULL);

		not_searched += left != NULL;
		return left;
	}
	decision = *earlier;
	const bool usable = read_needs(what, &decision);
	struct tfs_known *known = tfs_known_add(tfs_search_machine(device), problem,
		decision.in_list, true, usable ? &decision : NULL);
	if (known)
		write_replay(earlier);
	return known;
}

bool tfs_search_written(const struct tfs_decision *decision)
{
	return tfs_rewrite_mode(&tfs_rewrite_cudnn_search) != TFS_MODE_APPLY ||
	       (tfs_decisions_ours() && tfs_decisions_write(decision));
}

/* The file says "as asked" before anything else is tried, so that it does whatever happens. */
static void decide_new(struct tfs_search_device *device, const struct tfs_search *what,
	struct tfs_known *known, int asked, uint32_t site)
{
	const struct tfs_decision as_asked = {.problem = known->problem,
		.machine = tfs_search_machine(device),
		.asked = asked,
		.chosen = asked,
		.in_list = known->in_list};
	struct tfs_decision decision = as_asked;

	if (!tfs_search_check(TFS_SEARCH_WRITTEN, tfs_search_written(&as_asked), site) ||
		!decide(device, what, &decision, site) || !read_needs(what, &decision) ||
		tfs_known_overtaken(known) ||
		!tfs_search_check(TFS_SEARCH_WRITTEN, tfs_search_written(&decision), site)) {
		tfs_known_decide(known, NULL);
		return;
	}
	/* Run as asked while it was written: then that is what counts. */
	if (!tfs_known_decide(known, &decision))
		tfs_search_written(&as_asked);
}

/* A problem that was not met before. What needs no search is decided at once, so that no thread can
 * come in between: a replay is the same each time. */
static struct tfs_known *meet_new(struct tfs_search_device *device, const struct tfs_search *what,
	const struct tfs_problem *problem, int asked, uint32_t site, bool in_list)
{
	struct tfs_known *known;

	if (!tfs_search_check(TFS_SEARCH_DETERMINISM, !determinism_asked(), site))
		known = tfs_known_add(tfs_search_machine(device), problem, in_list, true, NULL);
	else if (tfs_decisions_complete(tfs_search_machine(device)))
		known = replay(device, what, problem, site);
	else if (!tfs_search_check(TFS_SEARCH_RANKS, tfs_options.ranks == 1, site))
		known = tfs_known_add(tfs_search_machine(device), problem, in_list, true, NULL);
	else if ((known = tfs_known_add(tfs_search_machine(device), problem, in_list, false, NULL)))
		decide_new(device, what, known, asked, site);
	return known ? known : tfs_known_find(tfs_search_machine(device), problem);
}

struct tfs_known *tfs_search_meet(const struct tfs_search *what, const struct tfs_problem *problem,
	int asked, uint32_t site, bool in_list, struct tfs_search_device **out_device)
{
	struct tfs_search_device *device = tfs_search_cudnn_device();

	*out_device = device;
	if (!tfs_search_check(TFS_SEARCH_SEARCH, device != NULL, site))
		return NULL;
	struct tfs_known *known = tfs_known_find(tfs_search_machine(device), problem);
	if (!known)
		known = meet_new(device, what, problem, asked, site, in_list);
	if (!tfs_search_check(TFS_SEARCH_PROBLEMS, known != NULL, site) ||
		!tfs_search_check(TFS_SEARCH_FIRST, tfs_known_settled(known), site))
		return NULL;
	return known;
}

void tfs_search_leave(const struct tfs_convolution_call *call)
{
	const struct tfs_search_device *device = tfs_search_cudnn_device();
	struct tfs_decision as_asked = {.asked = call->asked_algorithm};

	if (!device || !tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			       call->convolution, call->y_descriptor, &as_asked.problem))
		return;
	as_asked.chosen = as_asked.asked;
	as_asked.machine = tfs_search_machine(device);
	if (tfs_known_add(tfs_search_machine(device), &as_asked.problem, false, true, NULL) &&
		!tfs_decisions_complete(tfs_search_machine(device)) && tfs_options.ranks == 1)
		tfs_search_written(&as_asked);
}

void tfs_search_regret(const struct tfs_known *known)
{
	struct tfs_decision as_asked = known->own;

	as_asked.chosen = as_asked.asked;
	as_asked.workspace = 0;
	as_asked.chosen_ms = as_asked.asked_ms;
	tfs_decisions_write(&as_asked);
}

void tfs_search_write(void)
{
	const uint32_t left = atomic_load(&not_searched);

	tfs_recorder_fact(TFS_FACT_searched, NULL, searched, 0);
	tfs_recorder_fact(TFS_FACT_search_live, NULL, tfs_live_count(), 0);
	tfs_recorder_fact(TFS_FACT_search_time, NULL, spent_ns, 0);
	if (left > 0)
		tfs_recorder_fact(TFS_FACT_decisions_left, tfs_decisions_path(), left, 0);
}
