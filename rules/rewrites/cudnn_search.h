/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_CUDNN_SEARCH_H
#define TFS_RULES_REWRITES_CUDNN_SEARCH_H

/* What the parts of cudnn-search share: its checks, and how a problem is met and decided. */

#include "rules/rewrites/rewrite.h"
#include "rules/rewrites/search.h"
#include "rules/rewrites/search_known.h"

/* X(constant, name as users see it) */
#define TFS_SEARCH_CHECKS(X)                                                                       \
	X(CAPTURE, "not-capturing")                                                                \
	X(OWN_SEARCH, "program-does-not-search")                                                   \
	X(DETERMINISM, "determinism-not-asked")                                                    \
	X(RANKS, "one-rank-or-decided")                                                            \
	X(PROBLEM, "plain-problem")                                                                \
	X(BACKEND, "not-backend-api")                                                              \
	X(FIRST, "decided-before-first-use")                                                       \
	X(ASKED, "asked-as-decided")                                                               \
	X(PROBLEMS, "problem-budget")                                                              \
	X(TIME, "time-budget")                                                                     \
	X(ALONE, "one-search-at-a-time")                                                           \
	X(IDLE, "streams-idle")                                                                    \
	X(MEMORY, "device-memory")                                                                 \
	X(SEARCH, "search-works")                                                                  \
	X(SAME, "same-result")                                                                     \
	X(GAIN, "gain")                                                                            \
	X(WORKSPACE, "workspace-memory")                                                           \
	X(WRITTEN, "decision-is-written")                                                          \
	X(REPLAYED, "not-a-replay")                                                                \
	X(ENOUGH, "asked-with-its-workspace")

enum tfs_search_check {
#define X(constant, name) TFS_SEARCH_##constant,
	TFS_SEARCH_CHECKS(X)
#undef X
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

/* A list that the program asked for: before cuDNN is asked, and after. */
bool tfs_search_answer(struct tfs_choice_call *call);
void tfs_search_choice(struct tfs_choice_call *call);

/* Does the program search by itself? From its first measured list on. */
extern _Atomic bool tfs_search_by_itself;

/* Writes what the searches took; at exit. */
void tfs_search_write(void);

#endif
