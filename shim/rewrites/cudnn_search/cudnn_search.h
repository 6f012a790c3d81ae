/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_CUDNN_SEARCH_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_CUDNN_SEARCH_H

/* What the parts of cudnn-search share: its checks, and how a problem is met and decided. */

#include "shim/rewrites/cudnn_search/search.h"
#include "shim/rewrites/cudnn_search/search_known.h"
#include "shim/rewrites/rewrite.h"

enum tfs_search_check {
	TFS_SEARCH_CAPTURE = TFS_CHECK_not_capturing,
	TFS_SEARCH_OWN_SEARCH = TFS_CHECK_program_does_not_search,
	TFS_SEARCH_DETERMINISM = TFS_CHECK_determinism_not_asked,
	TFS_SEARCH_RANKS = TFS_CHECK_one_rank_or_decided,
	TFS_SEARCH_PROBLEM = TFS_CHECK_plain_problem,
	TFS_SEARCH_BACKEND = TFS_CHECK_not_backend_api,
	TFS_SEARCH_FIRST = TFS_CHECK_decided_before_first_use,
	TFS_SEARCH_ASKED = TFS_CHECK_asked_as_decided,
	TFS_SEARCH_PROBLEMS = TFS_CHECK_problem_budget,
	TFS_SEARCH_TIME = TFS_CHECK_time_budget,
	TFS_SEARCH_ALONE = TFS_CHECK_one_search_at_a_time,
	TFS_SEARCH_IDLE = TFS_CHECK_streams_idle,
	TFS_SEARCH_MEMORY = TFS_CHECK_device_memory,
	TFS_SEARCH_SEARCH = TFS_CHECK_search_works,
	TFS_SEARCH_SAME = TFS_CHECK_same_result,
	TFS_SEARCH_GAIN = TFS_CHECK_gain,
	TFS_SEARCH_WORKSPACE = TFS_CHECK_workspace_memory,
	TFS_SEARCH_WRITTEN = TFS_CHECK_decision_is_written,
	TFS_SEARCH_REPLAYED = TFS_CHECK_not_a_replay,
	TFS_SEARCH_ENOUGH = TFS_CHECK_asked_with_its_workspace,
};

extern const struct tfs_rewrite tfs_rewrite_cudnn_search;

/* Mutants: what the contract forbids, so that its tests are seen to bite. */
#define TFS_SEARCH_NAIVE_LIVE 4u   /* searches on the program's own tensors */
#define TFS_SEARCH_NAIVE_SWITCH 8u /* decides in the middle of the run */

/* Counts and returns, as tfs_rewrite_check() does. */
bool tfs_search_check(enum tfs_search_check check, bool holds, uint32_t site);

/* Finds the problem among those met, or decides it: NULL, or what was decided before anyone ran
 * it; *out_device is the current one. `in_list`: the choice goes into a list that the program asked
 * for. */
struct tfs_known *tfs_search_meet(const struct tfs_search *what, const struct tfs_problem *problem,
	int asked, uint32_t site, bool in_list, struct tfs_search_device **out_device);

/* Is the decision in the file of decisions from now on? In shadow nobody waits for it to be. */
bool tfs_search_written(const struct tfs_decision *decision);

/* The call has run as asked before its problem was met: it stays so. */
void tfs_search_leave(const struct tfs_convolution_call *call);

/* What the chosen algorithm computed was not the same after all: later runs leave it alone. */
void tfs_search_regret(const struct tfs_known *known);

/* A list that the program asked for: true if it is answered without cuDNN; and after cuDNN was
 * asked. */
bool tfs_search_answer(struct tfs_op *op);
void tfs_search_choice(const struct tfs_op *op);

/* Does the program search by itself? From its first measured list on. */
extern _Atomic bool tfs_search_by_itself;

/* Writes what the searches took; at exit. */
void tfs_search_write(void);

#endif
