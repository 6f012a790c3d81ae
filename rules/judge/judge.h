/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_JUDGE_H
#define TFS_RULES_JUDGE_JUDGE_H

/*
 * The judgement of one recording: everything a report says, as plain numbers and text, in the order
 * a report says it. Formats read this and, for lanes and call stacks, the timeline it was made
 * from; none of them judges again. Call sites are ids of the timeline's sites.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/judge/expenses.h"
#include "rules/judge/idle.h"
#include "rules/judge/layers.h"
#include "rules/rule.h"
#include "rules/timeline/pairs.h"
#include "shim/trace/format/format.h"

struct tfs_fact_line {
	const char *key;
	const char *text; /* never NULL */
};

struct tfs_library_line {
	const char *name; /* "cudart" */
	const char *path;
	uint32_t version;
	bool hooked;      /* hooks saw calls to it */
	bool static_copy; /* no shared one: if it is used, it is linked in, and symbol hooks do not
			     see it */
};

/* What could be seen; a rule without its evidence is not measurable, never passed. */
struct tfs_visibility {
	bool steps;     /* training steps were found */
	bool calls;     /* call records of the judged steps; of the run where none are known */
	bool device;    /* device activity, likewise, tied to the calls */
	bool untied;    /* there is some, but most of it is tied to no call */
	bool lost;      /* much of it was dropped, and what is left is no evidence */
	bool partial;   /* something ran that no layer saw */
	char text[240]; /* the visibility line */
	struct tfs_library_line *libraries;
	size_t library_count;
	struct tfs_fact_line *facts;
	size_t fact_count;
	const struct tfs_pairs *pairs;
	const char *compared; /* hooks against CUPTI, in words */
	bool agrees;          /* false: they differ, or cannot be compared */
	const char *runtimes; /* what libraries did with runtimes of their own, in words */
};

struct tfs_step_summary {
	uint64_t count;     /* training steps of the whole run, warm-up apart */
	uint64_t warmup;    /* steps before the steady state */
	uint64_t judged;    /* recorded training steps with rewrites off: the evidence */
	uint64_t rewritten; /* training steps with a rewrite on: no evidence */
	uint64_t evaluation;
	double median_ns; /* of the steps outside windows, where there are any */
	double p95_ns;
	double judged_median_ns;
	double spread_ns;     /* standard error of the mean judged step; NaN = of too few */
	double recorded_ns;   /* of the mean judged step, as written */
	double written_ns;    /* mean judged step without rewrites: what costs are a share of */
	const char *source;   /* "nvtx", "api", "loops", or "none" */
	double replayed_ns;   /* what replaying the judged steps gives; 0 = no replay */
	double replay_error;  /* see tfs_whatif_error(); negative = no replay */
	uint64_t worst_step;  /* index of the step that has it */
	double host_load;     /* share of the step that something else took of the host's time */
	const char *unpriced; /* why costs by replay are not measurable; NULL = they are */
	bool ahead;           /* the host runs ahead: times of judged steps are the device's */
	double ahead_busy;    /* share of them in which a device works */
};

struct tfs_rule_line {
	const struct tfs_rule *rule;
	struct tfs_verdict verdict;
	uint32_t findings;
};

/* Findings that share one cost: taking one of them away saves nothing, or all of it. */
struct tfs_group {
	uint32_t id; /* from 1 */
	struct tfs_cost cost;
	uint32_t findings;
};

struct tfs_refusal_line {
	const char *check; /* the failed precondition, for machines */
	const char *text;  /* what was the case, for people */
	uint32_t site;
	uint64_t count;
};

/* What makes the gain of a rewrite certain enough to count on. */
enum tfs_gain_proof { TFS_PROOF_NONE, TFS_PROOF_AB, TFS_PROOF_SEARCH };

/* Per step, with an interval of 95 % or more. */
struct tfs_proven_gain {
	double ns;
	double low_ns;
	double high_ns;
};

struct tfs_rewrite_line {
	const char *name;
	const char *class_name; /* "exact", "rounding", "reduced" */
	enum tfs_rewrite_state state;
	enum tfs_rewrite_outcome outcome;
	const char *reason; /* "" = none given */
	uint64_t applied;   /* calls it took part in */
	bool more;          /* or more than that: the recording does not tell it all */
	uint64_t bytes;
	double predicted_ns; /* gain per step; NaN = not predicted */
	double realised_ns;  /* NaN = not measured */
	double realised_low_ns;
	double realised_high_ns;
	enum tfs_gain_proof proof;
	struct tfs_proven_gain gain; /* that is proven, while the rewrite is on */
	struct tfs_refusal_line *refusals;
	size_t refusal_count;
};

struct tfs_loss_line {
	const char *name; /* "records_dropped" */
	const char *text;
	uint64_t count;
};

struct tfs_judgement {
	const struct tfs_timeline *timeline; /* borrowed: must outlive the judgement */
	const char *program;                 /* path of the executable */
	uint32_t pid;
	uint32_t rank;
	bool finished;           /* the process closed its recording */
	bool whole;              /* and nothing of it is missing */
	const char *device_name; /* "" = none seen */
	bool simulated;
	struct tfs_visibility visibility;
	struct tfs_step_summary steps;
	struct tfs_layers layers;
	struct tfs_expenses expenses[TFS_EXPENSES]; /* of the run */
	struct tfs_idle_summary idle;               /* of the judged steps */
	struct tfs_rule_line *rules;                /* every registered rule, by id */
	size_t rule_count;
	struct tfs_finding *findings; /* most recoverable time first, then by level */
	size_t finding_count;
	struct tfs_group *groups;
	size_t group_count;
	struct tfs_cost joint;   /* saving of all findings, replayed together */
	uint32_t joint_findings; /* how many causes that is */
	struct tfs_cost open;    /* the same beside what rewrites are proven to have repaired */
	uint32_t open_findings;
	double open_least_ns; /* the device's work that is left then, per step */
	struct tfs_rewrite_line *rewrites;
	size_t rewrite_count;
	struct tfs_loss_line *losses; /* those that happened */
	size_t loss_count;
	uint32_t levels[3]; /* findings per enum tfs_level */
	bool usable; /* false: no steps, no calls, or nothing of the device: `verdict` says which */
	char verdict[320];       /* the verdict line */
	struct tfs_arena *arena; /* owns all of the above */
};

struct tfs_judge_options {
	const char *ignore; /* comma-separated ids, slugs or id prefixes: these rules are waived */
	const char *select; /* likewise: all others are waived; NULL = all rules */
	uint32_t min_steps; /* fewer judged steps lower the confidence; 0 = 20 */
};

/* Judges a timeline; 0 or a negative errno (-EINVAL: an option names no rule). The caller owns the
 * judgement; the options may go. One thread at a time for each timeline. */
int tfs_judge(const struct tfs_timeline *timeline, const struct tfs_judge_options *options,
	struct tfs_judgement **out_judgement);

/* Frees a judgement; NULL is fine. */
void tfs_judgement_destroy(struct tfs_judgement *judgement);

/* The n-th rule of the catalogue in order of id, NULL behind the last; any thread. */
const struct tfs_rule *tfs_rule_at(size_t n);

/* The rule with this id ("TFS101", any case) or slug, or NULL; any thread. */
const struct tfs_rule *tfs_rule_find(const char *name);

/* Whether every name of a comma-separated list matches a rule; any thread. */
bool tfs_rule_list_valid(const char *list);

#endif
