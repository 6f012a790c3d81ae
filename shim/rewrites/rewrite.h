/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_REWRITE_H
#define TFS_SHIM_REWRITES_REWRITE_H

/*
 * A rewrite changes how a call is carried out, in the traced process, and never what it means.
 *
 * To add one: write shim/rewrites/<id>/<id>.c with one `const struct tfs_rewrite tfs_rewrite_<id>`,
 * its safety contract in the head comment, and add <id> to `rewrites` in meson.build beside it.
 * It says which kinds of calls it wants to take part in, and finds each described in op.h: before()
 * may carry the call out, or mind how it goes, which after() is told; event() is told the rest.
 * Every precondition is a check of format/check.h; every check has a test in which it refuses, and
 * every counterexample of the contract a test in which a naive version goes wrong.
 *
 * Members that a rewrite has no use for are NULL. All run inside a hook, with hooks off, in the
 * program's thread; they must keep errno and the runtime's last error, and may not block for
 * longer than the call they stand for would have.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/likely.h"
#include "shim/record/op.h"
#include "shim/trace/format/check.h"
#include "shim/trace/format/reason.h"

enum tfs_rewrite_mode {
	TFS_MODE_OFF,
	TFS_MODE_REPORT, /* checks are run and counted, the call is left alone */
	TFS_MODE_SHADOW, /* the program's call, then the rewrite's aside; both are compared */
	TFS_MODE_APPLY
};

enum tfs_rewrite_class { TFS_CLASS_EXACT = 1, TFS_CLASS_ROUNDING = 2, TFS_CLASS_REDUCED = 3 };

/* What a rewrite says to a call that is about to be made. */
enum tfs_answer {
	TFS_LEAVES, /* nothing */
	TFS_MINDS,  /* it wants to know how it went: after() */
	TFS_DONE    /* it has carried it out, with the status in `op` */
};

struct tfs_rewrite {
	const char *name; /* "pinned-staging", as users write it */
	enum tfs_rewrite_class class;
	const char *rules; /* "TFS101" */
	/* Can be switched at any call without changing a result: then it stays off in windows,
	 * where the program is judged as it was written, and has to prove itself (measure.h). */
	bool switchable;
	/* Only on when it is named, or with "all", which jemalloc comes too late for: it has to be
	 * preloaded. */
	bool by_name;
	bool compares; /* can run in shadow */

	/* Who has the lower number is asked about a call first, and told last how it went. */
	int priority;
	/* Kinds of calls, TFS_OP_BIT(): those it is asked about while it takes part, and those it
	 * is asked about in any case, once it was started: op->may_act says whether it takes part.
	 * Copies are followed only while zeros are, see fills.h, and who acts on them has to be
	 * switchable and keeps errno itself: most copies are refused at once. */
	uint32_t acts;
	uint32_t follows;
	/* About to be made. */
	enum tfs_answer (*before)(struct tfs_op *op);
	/* A call that it minded was made: op->status. True when it is to be made once more, as `op`
	 * says now; not of a copy, which is recorded by then. Also when the rewrite was switched
	 * off meanwhile. */
	bool (*after)(struct tfs_op *op);
	/* Of the kinds that rewrites are only told. */
	void (*event)(const struct tfs_op *op);

	/* Reads the files that start() needs; the thread that touches files. */
	void (*fetch)(void);
	/* Once, when the recording is open and the mode is not off. False = cannot work here. */
	bool (*start)(void);
	void (*finish)(void); /* at exit; CUDA must not be called */
};

/* Reads TFSHIM_REWRITE and starts what it names. Unknown names are said once and are off. */
void tfs_rewrite_start(void);

/* Counts that `check`, an enum tfs_check, failed at `site`. */
void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site);

/* For rewrites. `holds` is the outcome of a check; a failed one is counted. Returns `holds`. */
static inline bool tfs_rewrite_check(
	const struct tfs_rewrite *rewrite, uint32_t check, bool holds, uint32_t site)
{
	if (!holds)
		tfs_rewrite_refuse(rewrite, check, site);
	return holds;
}

/* The same of a check that fails because of something with a name: `cause`, NULL if it holds. The
 * report tells the first one; the text stays. */
bool tfs_rewrite_check_cause(
	const struct tfs_rewrite *rewrite, uint32_t check, const char *cause, uint32_t site);

/* For rewrites, when all checks hold: may the call be carried out? Counts it if so. */
bool tfs_rewrite_apply(const struct tfs_rewrite *rewrite, uint64_t bytes);

/* The same in two parts, where it is known only afterwards what was done: may it act, which asks no
 * more than that, and it has acted. */
bool tfs_rewrite_may_act(const struct tfs_rewrite *rewrite);
void tfs_rewrite_acted(const struct tfs_rewrite *rewrite, uint64_t bytes);

/* The same in shadow mode: may a call be done aside? Counts it if so. */
bool tfs_rewrite_shadow(const struct tfs_rewrite *rewrite, uint64_t bytes);

/* And what it did aside differed: it is off for the rest of the run, and the report says so. */
void tfs_rewrite_differs(
	const struct tfs_rewrite *rewrite, uint32_t site, const struct tfs_reason *evidence);

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite);

/* Why it is as it is, for the report: a reason without figures, with the name of what caused it or
 * NULL. What measuring finds has precedence. */
void tfs_rewrite_explain(
	const struct tfs_rewrite *rewrite, enum tfs_reason_code reason, const char *object);

/* The gain that the rewrite itself predicts, in nanoseconds per step; NaN while it cannot. */
void tfs_rewrite_predict(const struct tfs_rewrite *rewrite, double ns_per_step);

/* For switchable ones: what its model expects that a call it took part in has gained, in
 * nanoseconds; the frame makes that a prediction per step. */
void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns);

/* For the measurement, by number in the list: its name, calls taken part in, predicted gain per
 * step (NaN: none), and that rewrite `i` was decided upon. */
const char *tfs_rewrite_name(uint32_t i);
uint64_t tfs_rewrite_applied(uint32_t i);
double tfs_rewrite_predicted(uint32_t i);
void tfs_rewrite_decided(uint32_t i);

/* A training step outside windows ended, whose thread's calls moved so many bytes; its own thread.
 */
void tfs_rewrite_step(uint64_t ns, uint64_t bytes);

/* Hooks' side. */

/* Makes hooks offer copies, or leave that, when windows let rewrites take part or no longer do. */
void tfs_rewrite_offer(void);

/* Kinds of calls that rewrites want, by TFS_OP_BIT(); relaxed atomic. take.h is what hooks use. */
extern uint32_t tfs_rewrites_wanting TFS_OWN;

/* Asks them about a call that is about to be made, where they keep errno themselves; op->minded
 * counts only if one minds. */
enum tfs_answer tfs_rewrite_ask(struct tfs_op *op);

/* The same for all others; true: one has carried it out. And tells those that minded how it went;
 * true: it is to be made once more. */
bool tfs_rewrite_before(struct tfs_op *op);
bool tfs_rewrite_after(struct tfs_op *op);

/* Tells them, each in the thread it happened in. */
void tfs_rewrite_tell(struct tfs_op *op);

/* The same of a call that may use zeros, and of one that was made. The hook keeps errno. */
void tfs_rewrite_call(const struct tfs_function *function);
void tfs_rewrite_submitted(const struct tfs_function *function, const struct tfs_details *details);

/* After a call that has waited for the device: gives its blocks back that no rewrite wants. */
void tfs_rewrite_tidy(bool driver, uint32_t device);

/* Writes what measuring found since the last time. The thread that touches files. */
void tfs_rewrite_keep(void);

/* Writes the ledger; at exit. */
void tfs_rewrite_finish(void);

/* In a forked child. */
void tfs_rewrite_forget(void);

/* May a switchable rewrite that takes part act now? For the step's flags. */
bool tfs_rewrite_any_switchable(void);

#endif
