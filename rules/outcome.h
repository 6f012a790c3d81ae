/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_OUTCOME_H
#define TFS_RULES_OUTCOME_H

/*
 * In what terms rules and reports speak of what was found: how bad it is, what became of a rule,
 * and what it costs.
 */

enum tfs_level { TFS_LEVEL_NOTE, TFS_LEVEL_WARN, TFS_LEVEL_ERROR };
enum tfs_state {
	TFS_STATE_PASSED,
	TFS_STATE_VIOLATED,
	TFS_STATE_NOT_MEASURABLE,
	TFS_STATE_WAIVED,
	TFS_STATE_NOT_APPLICABLE, /* the program does not use what the rule is about */
	TFS_STATE_COUNT
};

/* How a cost was found. */
enum tfs_cost_method {
	TFS_COST_NONE,     /* none was looked for, which is not one of 0 */
	TFS_COST_REPLAY,   /* what-if replay of the judged steps */
	TFS_COST_MODELLED, /* the same on the simulated device */
	TFS_COST_SEARCHED, /* a measured search of algorithms */
	TFS_COST_BOUND,    /* the host's time in the calls: it is at most that */
	TFS_COST_UNKNOWN   /* not measurable: the replay cannot be relied on, and says why */
};

/* Nanoseconds per step, with an interval. */
struct tfs_cost {
	double ns;
	double low_ns;
	double high_ns;
	enum tfs_cost_method method;
};

#endif
