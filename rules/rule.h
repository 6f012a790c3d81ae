/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_RULE_H
#define TFS_RULES_RULE_H

/*
 * A rule looks at a timeline and says whether the program breaks it, and what that costs.
 *
 * To add one: write rules/catalogue/<id>_<slug>.c with one `const struct tfs_rule tfs_rule_<id>`
 * (that of tfs904 is the shortest), and add its name to `rules` in the meson.build beside it. Give
 * it a program that breaks it, marked with figures (tests/rules/marks.py), a clean twin that does
 * what its advice says, and a trap, in tests/rules. The catalogue of ids is fixed; ids are never
 * reused.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/outcome.h"

struct tfs_steady;

/* What a rule needs to see; missing evidence makes it not measurable before detect() is asked. */
#define TFS_NEEDS_STEPS (1u << 0)    /* at least `minimum steps` training steps in windows */
#define TFS_NEEDS_CALLS (1u << 1)    /* call records, not only aggregates */
#define TFS_NEEDS_DEVICE (1u << 2)   /* device activity (CUPTI) */
#define TFS_NEEDS_RUNTIME (1u << 3)  /* hooks on the CUDA runtime */
#define TFS_NEEDS_CUDNN (1u << 4)    /* hooks on cuDNN */
#define TFS_NEEDS_FAMILIES (1u << 5) /* families that older recordings do not tell apart */
/* What recordings of other tools lack. */
#define TFS_NEEDS_OPERANDS (1u << 6) /* what calls touch, their arguments and status */
#define TFS_NEEDS_ALL (1u << 7)      /* to have passed, all of the program's calls */

/* Which of the program's calls a rule is about. Where CUPTI saw some that no hook did, it has not
 * passed: it is not measurable. */
#define TFS_ABOUT_COPIES (1u << 0)
#define TFS_ABOUT_SETS (1u << 1)
#define TFS_ABOUT_LAUNCHES (1u << 2)
#define TFS_ABOUT_WAITS (1u << 3)
#define TFS_ABOUT_MEMORY (1u << 4) /* allocating, releasing, registering */

enum tfs_repair_state {
	TFS_REPAIR_NONE,
	TFS_REPAIR_OFF,
	TFS_REPAIR_APPLIED,
	TFS_REPAIR_REFUSED,
	TFS_REPAIR_NOT_KNOWN
};

/* What the rewrite of a finding's rule did at its call site. */
struct tfs_repair {
	const char *name; /* NULL = no rewrite repairs this */
	enum tfs_repair_state state;
	const char *reason; /* the failed check, or why it is off; "" = none */
};

/* An address in the program's code, and how many samples of a thread were there. */
struct tfs_code {
	uint64_t address;
	uint32_t samples;
};

/* Where a thread ran, most often first. */
struct tfs_code_samples {
	const struct tfs_code *items;
	uint32_t count; /* 0 = not known, or hardly anywhere */
	uint32_t all;   /* samples, of listed code and other */
};

/* One place where a rule is broken. Strings are owned by the result set. */
struct tfs_finding {
	const struct tfs_rule *rule;
	enum tfs_level level;
	uint32_t site;      /* call site; 0 = the whole program */
	uint16_t function;  /* id of the called function; 0 = none */
	uint32_t group;     /* findings of one group share one cost; 0 = none */
	const char *stream; /* of the calls, see streams.h; NULL = none, or not known */
	double count_per_step;
	double bytes_per_step;
	double time_per_step_ns; /* time the host spent in these calls */
	uint64_t count_total;    /* whole run, from the aggregates */
	struct tfs_cost cost;
	const char *doubt;            /* why it is of low confidence; NULL = it is not */
	char *message;                /* what happens here, one sentence with figures */
	const char *advice;           /* what to change; never NULL */
	const char *evidence;         /* which steps and records this rests on */
	struct tfs_code_samples code; /* of the host's thread, meanwhile */
	struct tfs_repair repair;
	bool repaired; /* by a rewrite whose gain is proven */
	bool removes;  /* the rule's advice, if it is this one's, is to take the call out of the
			* source, and no more */
};

/* What a rule said, in detect(). */
struct tfs_verdict {
	enum tfs_state state;
	char reason[200]; /* why it is not measurable, or what was seen when it passed */
	uint32_t site;    /* call site that the reason is about; 0 = none */
};

struct tfs_findings; /* a growing list, see findings.h */

struct tfs_rule {
	const char *id;   /* "TFS101" */
	const char *slug; /* "pageable-copy" */
	enum tfs_level level;
	bool any_cost; /* keeps its level whatever the cost */
	bool anywhere; /* its findings hold wherever in the run: steps need not be known for them */
	bool totals;   /* where no steps are known, the totals of the run are evidence enough */
	uint32_t needs;
	uint32_t about;      /* TFS_ABOUT_* */
	unsigned library;    /* enum tfs_library: not applicable where it is not called; 0 = any */
	const char *title;   /* one line */
	const char *why;     /* a paragraph, for `tfshim rules ID` */
	const char *advice;  /* what to change, in the imperative */
	const char *rewrite; /* repairs findings of it, unless their draft says no; or NULL */
	const char *rewrite_note; /* behind that name in what `tfshim rules` says, or NULL */
	bool searched; /* what that gains is measured by its searches, not by A/B tests */
	/* Adds findings and sets the verdict; the state is violated if and only if it added one. */
	void (*detect)(const struct tfs_steady *steady, struct tfs_findings *findings,
		struct tfs_verdict *out_verdict);
};

#endif
