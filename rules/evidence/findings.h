/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_FINDINGS_H
#define TFS_RULES_EVIDENCE_FINDINGS_H

/*
 * What rules write their findings with. A rule collects hits (calls of judged steps that break it,
 * each with the edit that would fix it), walks them place by place (call site and function), and
 * adds a finding for each place it minds. Costs, groups and levels are made later, by judge.c.
 */

#include <stdarg.h>
#include <stddef.h>

#include "rules/evidence/steady.h"
#include "rules/replay/replay.h"
#include "rules/support/arena.h"
#include "rules/support/figures.h"

struct tfs_hit {
	uint32_t call; /* index in the timeline */
	uint64_t bytes;
	struct tfs_edit edit;
};

/* Zeroed = empty. */
struct tfs_hits {
	struct tfs_hit *items;
	size_t count;
	size_t room;
	bool sorted;
	bool by_code; /* see tfs_hits_fold() */
};

/* The hits of one call site and function. Zeroed = before the first one. */
struct tfs_place {
	const struct tfs_hit *items;
	size_t count;
	size_t next;
	uint32_t site;
	uint16_t function;
	uint32_t steps; /* judged steps that have one */
	uint64_t bytes;
	uint64_t largest; /* hit, in bytes */
	double time_ns;   /* of the calls */
	bool seldom;      /* in at most every tenth step */
	bool folded;      /* `site` is the first of several */
	bool spread;      /* the hits are of several sites and functions, which the rule joins */
};

/* A finding on its way; `group` of the finding is decided later. */
struct tfs_draft {
	struct tfs_finding finding;
	struct tfs_hit
		*hits; /* what an edit changes: the place's calls, and others it takes along */
	size_t hit_count;
	enum tfs_level most; /* not above this level */
	bool priced;         /* the rule has set the cost: it cannot be replayed */
	double beside_ns;    /* per step that may be saved as well, which no edit shows */
	double less_ns;  /* per step that may be saved less than replayed, as an edit is a guess, */
	double more_ns;  /* and more */
	bool needed;     /* what its hits do cannot be left out: they save nothing */
	bool apart;      /* its cause is its own, whatever else its call is found for */
	bool unsure;     /* whether it can be fixed was not seen: it may save nothing */
	bool unrepaired; /* though the rule has a rewrite */
	bool spread;     /* as its place */
	uint32_t serial; /* of all that were added, from 1 on */
	uint32_t parent; /* of the union of findings that share a cost */
};

struct tfs_findings {
	const struct tfs_steady *steady;
	struct tfs_arena *arena;
	const struct tfs_rule *rule; /* the one that is being asked */
	struct tfs_draft *items;
	size_t count;
	size_t room;
	const struct tfs_rule *asked; /* the one that has added the latest */
	size_t first;                 /* of its findings */
	size_t dropped;               /* of its findings, beyond what is listed */
	uint32_t serial;              /* of the latest draft */
	uint32_t *owners; /* of the timeline's idles, by serial; 0: none; NULL: none of all */
	bool failed;      /* out of memory: the list is not whole */
};

void tfs_hits_add(struct tfs_hits *hits, uint32_t call, uint64_t bytes, struct tfs_edit edit);
void tfs_hits_finish(struct tfs_hits *hits);

/* From now on a place is one of the code, whatever called that. */
void tfs_hits_fold(struct tfs_hits *hits);

/* Steps to the next place, in order of call site; false behind the last. */
bool tfs_hits_next(const struct tfs_steady *steady, struct tfs_hits *hits, struct tfs_place *place);

/* The same, passing over places that are seldom; `rare` counts these. */
bool tfs_hits_next_usual(const struct tfs_steady *steady, struct tfs_hits *hits,
	struct tfs_place *place, unsigned *rare);

/* Joins all places that are not seldom into one, at the site and function that weigh most. Its hits
 * are `out_usual`'s, which the caller finishes. Returns how many places these are; 0 = none. */
size_t tfs_hits_join(const struct tfs_steady *steady, struct tfs_hits *hits,
	double (*weigh)(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count),
	struct tfs_hits *out_usual, struct tfs_place *out_place);

/* Hits in a judged step, on average. */
double tfs_place_per_step(const struct tfs_place *place, const struct tfs_steady *steady);

/* The same in words: "1 call/step", "60 calls in the recorded run". */
struct tfs_figure tfs_place_calls(const struct tfs_place *place, const struct tfs_steady *steady);

/* Adds a finding of the current rule with a message; NULL where the list is full. `extra` are edits
 * that belong to it at other calls (may be NULL). The draft is valid until the next one is added.
 */
struct tfs_draft *tfs_findings_add(struct tfs_findings *findings, const struct tfs_place *place,
	const struct tfs_hits *extra, const char *message, ...)
	__attribute__((format(printf, 4, 5)));

/* The wait of a finding is needed, or may be: at most a note, without repair, and without saving
 * where it is needed for certain; `needed` is TFS_GUARDS_*, and `then` (may be NULL) the advice
 * that is safe once it is not needed any more. */
void tfs_draft_needed(
	struct tfs_findings *findings, struct tfs_draft *draft, uint32_t needed, const char *then);

/* A finding is about this one of the timeline's idles, if it stays. */
void tfs_findings_own(struct tfs_findings *findings, const struct tfs_draft *draft, uint32_t idle);

/* Of each of the timeline's idles: whether a finding that stayed is about it; NULL: none is. */
const bool *tfs_findings_owned(const struct tfs_findings *findings);

/* Adds a finding about the whole program, without calls or cost. */
struct tfs_draft *tfs_findings_note(struct tfs_findings *findings, const char *message, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets a verdict: violated if there are findings since `before`, else `otherwise` with the reason.
 */
void tfs_verdict_set(struct tfs_verdict *verdict, const struct tfs_findings *findings,
	size_t before, enum tfs_state otherwise, const char *reason, ...)
	__attribute__((format(printf, 5, 6)));

#endif
