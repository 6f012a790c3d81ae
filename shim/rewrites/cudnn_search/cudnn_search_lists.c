/* SPDX-License-Identifier: MIT */
/* The lists of algorithms that a program asks cuDNN for. */
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/spin.h"
#include "shim/rewrites/convolution.h"
#include "shim/rewrites/cudnn_search/cudnn_search.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/memory/blocks.h"

#define MOST_ENTRIES (TFS_SEARCH_ALGORITHMS * 2)
#define MOST_REMEMBERED 64u

/* A measured list as the program got it. */
static struct remembered {
	struct tfs_problem problem;
	uint32_t machine;
	uint64_t workspace_bytes;
	int count;
	int requested;
	struct tfs_performance list[MOST_ENTRIES];
} remembered[MOST_REMEMBERED];
static uint32_t remembered_count;
static struct tfs_spin lock;

static bool describe(const struct tfs_choice_call *call, struct tfs_problem *out_problem,
	struct tfs_search *out_what)
{
	if (!tfs_search_check(TFS_SEARCH_PROBLEM,
		    tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			    call->convolution, call->y_descriptor, out_problem),
		    call->site))
		return false;
	*out_what = (struct tfs_search){
		.family = call->family,
		.handle = call->handle,
		.x = call->x_descriptor,
		.w = call->w_descriptor,
		.y = call->y_descriptor,
		.convolution = call->convolution,
		.math = (cudnnMathType_t)out_problem->fields[TFS_PROBLEM_math],
		.most = call->list[0].memory,
	};
	return true;
}

static int position(
	const struct tfs_performance *list, int count, int algorithm, cudnnMathType_t math)
{
	for (int i = 0; i < count; i++)
		if ((int)list[i].algo == algorithm && list[i].mathType == math &&
			list[i].status == CUDNN_STATUS_SUCCESS)
			return i;
	return -1;
}

/* Puts the choice at the list's head, if it needs no more workspace than what was there; the others
 * keep their order. A list that was asked for with fewer entries than there are loses its last one
 * instead of the choice. */
static void move_to_head(struct tfs_choice_call *call, const struct tfs_search *what, int chosen)
{
	struct tfs_performance all[MOST_ENTRIES];
	struct tfs_performance entry;
	int at = position(call->list, call->count, chosen, what->math);

	if (at == 0)
		return;
	if (at > 0) {
		entry = call->list[at];
	} else {
		const int count = call->measured ? 0 : tfs_search_guess(what, all, MOST_ENTRIES);
		const int there = position(all, count, chosen, what->math);

		if (there < 0)
			return;
		entry = all[there];
		at = call->count - 1;
	}
	if (!tfs_search_check(
		    TFS_SEARCH_WORKSPACE, entry.memory <= call->list[0].memory, call->site) ||
		!tfs_rewrite_apply(&tfs_rewrite_cudnn_search, 0))
		return;
	memmove(&call->list[1], &call->list[0], (size_t)at * sizeof(entry));
	call->list[0] = entry;
}

static void guessed(struct tfs_choice_call *call)
{
	struct tfs_search_device *device;
	struct tfs_problem problem;
	struct tfs_search what;

	if (!describe(call, &problem, &what))
		return;
	const struct tfs_known *known = tfs_search_meet(
		&what, &problem, (int)call->list[0].algo, call->site, true, &device);
	if (known && known->decision && known->in_list &&
		tfs_search_check(TFS_SEARCH_ASKED,
			known->decision->asked == (int)call->list[0].algo, call->site))
		move_to_head(call, &what, known->decision->chosen);
}

/* The program has measured for itself: what it found stands, and is the decision that later runs
 * replay, so that noise does not choose anew each time. */
static struct tfs_known *meet_measured(const struct tfs_choice_call *call,
	const struct tfs_search *what, const struct tfs_problem *problem, uint32_t machine)
{
	const struct tfs_performance *head = call->list;
	const struct tfs_decision own = {
		.problem = *problem,
		.machine = machine,
		.asked = (int)head->algo,
		.chosen = (int)head->algo,
		.workspace = head->memory,
		.asked_ms = head->time,
		.chosen_ms = head->time,
		.in_list = true,
	};
	const struct tfs_decision *decision = tfs_decisions_find(machine, problem);

	if (!decision && !tfs_decisions_complete(machine) && head->mathType == what->math &&
		head->time >= 0 &&
		tfs_search_check(TFS_SEARCH_RANKS, tfs_options.ranks == 1, call->site) &&
		tfs_search_check(TFS_SEARCH_WRITTEN, tfs_search_written(&own), call->site))
		decision = &own;
	struct tfs_known *known = tfs_known_add(machine, problem, true, true, decision);

	return known ? known : tfs_known_find(machine, problem);
}

static struct remembered *find(
	uint32_t machine, const struct tfs_problem *problem, uint64_t workspace_bytes)
{
	for (uint32_t i = 0; i < remembered_count; i++)
		if (remembered[i].machine == machine &&
			remembered[i].workspace_bytes == workspace_bytes &&
			memcmp(&remembered[i].problem, problem, sizeof(*problem)) == 0)
			return &remembered[i];
	return NULL;
}

static void remember(
	const struct tfs_choice_call *call, const struct tfs_problem *problem, uint32_t machine)
{
	if (call->count > (int)MOST_ENTRIES)
		return;
	tfs_spin_lock(&lock);
	struct remembered *one = find(machine, problem, call->workspace_bytes);
	if (!one && remembered_count < MOST_REMEMBERED)
		one = &remembered[remembered_count++];
	if (one) {
		one->problem = *problem;
		one->machine = machine;
		one->workspace_bytes = call->workspace_bytes;
		one->count = call->count;
		one->requested = call->requested;
		memcpy(one->list, call->list, (size_t)call->count * sizeof(one->list[0]));
	}
	tfs_spin_unlock(&lock);
}

static void measured(struct tfs_choice_call *call)
{
	struct tfs_search_device *device = tfs_search_cudnn_device();
	struct tfs_problem problem;
	struct tfs_search what;

	if (!device || !describe(call, &problem, &what))
		return;
	struct tfs_known *known = tfs_known_find(tfs_search_machine(device), &problem);
	if (!known)
		known = meet_measured(call, &what, &problem, tfs_search_machine(device));
	if (known && tfs_known_settled(known) && known->decision)
		move_to_head(call, &what, known->decision->chosen);
	remember(call, &problem, tfs_search_machine(device));
}

void tfs_search_choice(const struct tfs_op *op)
{
	struct tfs_choice_call *call = op->choice;

	call->count = op->status == CUDNN_STATUS_SUCCESS ? *call->returned : 0;
	if (call->measured)
		tfs_search_by_itself = true;
	if (call->count < 1 || call->list[0].status != CUDNN_STATUS_SUCCESS)
		return;
	if (call->measured)
		measured(call);
	else
		guessed(call);
}

/* As many entries of a remembered list as asked for now; 0 when it does not have them. */
static int recall(
	const struct tfs_choice_call *call, const struct tfs_problem *problem, uint32_t machine)
{
	int count = 0;

	tfs_spin_lock(&lock);
	const struct remembered *one = find(machine, problem, call->workspace_bytes);
	/* Complete, or at least as long. */
	if (one && (one->count < one->requested || call->requested <= one->requested)) {
		count = call->requested < one->count ? call->requested : one->count;
		memcpy(call->list, one->list, (size_t)count * sizeof(one->list[0]));
	}
	tfs_spin_unlock(&lock);
	return count;
}

/* A call whose memory is there no more has to fail; rewrites may hold what the program has freed.
 */
static bool is_memory_there(const struct tfs_choice_call *call)
{
	if (call->workspace_bytes == TFS_CHOICE_OWN_MEMORY)
		return true;
	tfs_blocks_given(call->memory[0], call->memory[1]);
	tfs_blocks_given(call->memory[2], call->memory[3]);
	for (int i = 0; i < 4; i++)
		if ((i < 3 || call->workspace_bytes > 0) && !tfs_search_is_memory(call->memory[i]))
			return false;
	return true;
}

/* A search that the program repeats gets the same answer again: the wait stays, the measuring does
 * not. */
bool tfs_search_answer(struct tfs_op *op)
{
	struct tfs_choice_call *call = op->choice;
	struct tfs_search_device *device = tfs_search_cudnn_device();
	struct tfs_problem problem;

	call->site = op->site;
	if (!call->handle || !call->list || !call->returned || call->requested <= 0 ||
		!call->measured || !device || remembered_count == 0 ||
		tfs_search_capturing((CUstream)tfs_cudnn_stream(call->handle)) ||
		tfs_rewrite_mode(&tfs_rewrite_cudnn_search) != TFS_MODE_APPLY ||
		!tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			call->convolution, call->y_descriptor, &problem) ||
		!is_memory_there(call))
		return false;
	const int count = recall(call, &problem, tfs_search_machine(device));
	if (count == 0 || !tfs_search_device_wait((CUstream)tfs_cudnn_stream(call->handle),
				  call->workspace_bytes == TFS_CHOICE_OWN_MEMORY))
		return false;
	*call->returned = count;
	op->status = CUDNN_STATUS_SUCCESS;
	return tfs_rewrite_apply(&tfs_rewrite_cudnn_search, 0);
}
