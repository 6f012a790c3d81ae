/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_MODEL_H
#define TFS_REPORTS_MODEL_MODEL_H

/*
 * What a report says, with every name resolved and every list in the order of printing. Formats
 * read this and nothing else, so that none of them knows the recording or the rules. Times are
 * nanoseconds since the process started; a figure that is not known is NaN, a text NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/headline.h"
#include "reports/model/model_charts.h"
#include "rules/outcome.h"
#include "rules/support/arena.h"

struct tfs_model_frame {
	const char *function; /* NULL = unknown */
	const char *file;
	const char *folder; /* where a relative file is looked for; NULL = not known */
	unsigned line;
	const char *module; /* base name of the program or library, with an offset if need be */
	bool inlined;
	bool foreign; /* CUDA's, libc's, C code under Python's, or what nvcc wrote for a launch: no
		       * line of the program's */
};

/* A call stack, innermost first: frames[0] made the call. */
struct tfs_model_place {
	const struct tfs_model_frame *frames;
	size_t frame_count;
	size_t folded; /* frames of C code that Python code called: the first ones */
	uint64_t key;  /* the same in every run of an unchanged program: no ids, no addresses */
};

struct tfs_rule_text {
	const char *id;    /* "TFS101" */
	const char *slug;  /* "pageable-copy" */
	const char *title; /* one line */
	const char *why;   /* a paragraph */
};

struct tfs_model_rule {
	const struct tfs_rule_text *rule;
	enum tfs_state state;
	const char *reason;
	size_t findings;
};

/* Lines of source around a call site. */
struct tfs_model_source {
	const char *const *lines;
	size_t count;    /* 0 = there are none */
	unsigned first;  /* number of the first one */
	unsigned marked; /* and of the call site's */
};

/* How a finding's patch is applied, from anywhere. */
#define TFS_PATCH_COMMAND "patch -d / -p1"

struct tfs_model_finding {
	const struct tfs_rule_text *rule; /* that of the model's rules */
	enum tfs_level level;
	unsigned group;     /* 0 = none; members of a group share one cost */
	const char *call;   /* name of the called function, or NULL */
	const char *stream; /* "legacy", "per-thread", its number or "several"; NULL = none */
	struct tfs_model_place place;
	struct tfs_model_source source; /* of the first findings */
	double count_per_step;
	double bytes_per_step;
	double time_per_step_ns;
	uint64_t count_total;
	struct tfs_cost cost;
	const char *doubt; /* why it is of low confidence; NULL = it is not */
	const char *message;
	const char *advice;
	const char *patch;         /* what it says, as a unified diff; NULL = there is none */
	const char *evidence;      /* which steps and records this rests on */
	const char *rewrite;       /* NULL = there is none */
	const char *rewrite_state; /* applied, refused, off, none, not known */
	const char *rewrite_reason;
	bool repaired; /* by a rewrite whose gain is proven: nothing to fix first */
};

/* Findings with one cause, in the order of the program. */
struct tfs_model_card {
	const size_t *findings; /* indices */
	size_t finding_count;
	size_t lead; /* the one that names the card: of the highest level */
	enum tfs_level level;
	struct tfs_cost cost; /* of all of them together */
	bool repaired;        /* all of them */
};

struct tfs_model_refusal {
	const char *check; /* for machines */
	const char *text;  /* for people */
	uint64_t count;
	struct tfs_model_place place;
};

struct tfs_model_rewrite {
	const char *name;
	const char *class_name; /* exact, rounding, reduced */
	const char *state;      /* off, report, shadow, apply, lost */
	const char *measured;   /* faster, ..., or NULL */
	const char *reason;
	bool acts;         /* it is on, and was applied, or may have been */
	bool silent;       /* it is off, and there is nothing else to tell */
	const char *proof; /* of `gain`: "A/B test"; NULL = its gain is not proven */
	struct tfs_span gain;
	const char *where; /* "TFS101 at train.c:42": what it repairs; NULL = no finding */
	const char *off;   /* the setting that switches it off */
	uint64_t applied;
	bool more; /* or more than that: the recording does not tell it all */
	uint64_t bytes;
	double predicted_ns;
	double realised_ns;
	double realised_low_ns;
	double realised_high_ns;
	const struct tfs_model_refusal *refusals;
	size_t refusal_count;
};

/* A line of "what was visible" or "how this was measured". */
struct tfs_model_fact {
	const char *key;  /* stable, for machines: "cupti" */
	const char *name; /* for people: "GPU activity (CUPTI)" */
	const char *text;
	bool limits; /* something could not be seen because of this */
};

/* Calls of a function in recording windows, as hooks and as CUPTI saw them. */
struct tfs_model_seen {
	const char *function;
	uint64_t hooks;
	uint64_t cupti;
	bool differs; /* by more than 2 % */
};

/* NVTX ranges of one name inside judged steps; figures are per step. */
struct tfs_model_layer {
	const char *name;
	const char *domain; /* "" = the default one */
	unsigned depth;     /* layers it lies in */
	double count;
	double calls;
	double host_ns; /* both include the layers inside */
	double device_ns;
};

struct tfs_model_loss {
	const char *name;
	const char *text;
	uint64_t count;
};

/* What a call works on: extents of a product, images of a convolution, blocks of a kernel, and the
 * bytes of its first operands. */
#define TFS_MODEL_OPERANDS 4u
enum tfs_model_size {
	TFS_MODEL_SIZE_M,
	TFS_MODEL_SIZE_N,
	TFS_MODEL_SIZE_K,
	TFS_MODEL_SIZE_IMAGES,
	TFS_MODEL_SIZE_BLOCKS,
	TFS_MODEL_SIZE_OPERANDS,
	TFS_MODEL_SIZES = TFS_MODEL_SIZE_OPERANDS + TFS_MODEL_OPERANDS
};

/* Calls and bytes of one function at one call site. */
struct tfs_model_call {
	const char *function;
	struct tfs_model_place place;
	uint64_t count; /* in the whole run */
	uint64_t amount;
	double per_step; /* in the judged steps; NaN when there are none */
	double bytes_per_step;
	double sizes[TFS_MODEL_SIZES]; /* sums per judged step; 0 = none, or not known */
};

/* Calls of one function at call sites that differ only in their callers, and what they cost in the
 * whole run. */
struct tfs_model_expense {
	const char *function;
	const char *where;            /* its call sites read like this */
	size_t sites;                 /* that do */
	struct tfs_model_place place; /* of one of them */
	uint64_t calls;
	double amount; /* nanoseconds or bytes */
};

/* The most expensive call sites of a run, in one regard. */
struct tfs_model_expenses {
	const char *key;                       /* stable, for machines: "blocked" */
	const char *title;                     /* what the amounts are */
	bool bytes;                            /* else nanoseconds */
	const struct tfs_model_expense *items; /* most expensive first */
	size_t count;
	size_t more; /* not listed, with so much in all */
	double more_amount;
	double unowned;         /* of calls that are not in the recording; 0 = none */
	double whole;           /* what amounts are a share of */
	const char *whole_name; /* "the recorded time" */
};

/* GPU idle time that no finding is about: what happened meanwhile. */
struct tfs_model_idle {
	const char *key;      /* stable, for machines: "host" */
	const char *function; /* NULL = no call has to do with it */
	const char *where;    /* its call site; NULL likewise */
	const char *text;     /* all of that in words, samples too */
	const char *samples;  /* what the host did meanwhile; NULL = not known */
	double ns;            /* per step */
};

struct tfs_model_steps {
	uint64_t count;  /* training steps, warm-up not included */
	bool iterations; /* none were found: what is counted stands for them */
	uint64_t warmup;
	uint64_t judged; /* steps seen with full records and no rewrite */
	double median_ns;
	double p95_ns;
	double judged_ns;     /* median of the judged ones */
	double recorded_ns;   /* of the mean judged step while it is recorded */
	double written_ns;    /* mean of these without rewrites: what costs are a share of */
	const char *source;   /* nvtx, api, loops; NULL = no steps found */
	double replay_error;  /* 0.02 = 2 %, of the worst step */
	uint64_t worst_step;  /* index of that step */
	double host_load;     /* share of the step that something else took of the host's time */
	const char *unpriced; /* why costs are not measurable; NULL = they are */
	bool ahead;           /* the host runs ahead: times of judged steps are the device's */
	double gpu_busy;      /* shares of the step, 0 to 1 */
	double copy_overlap;
};

struct tfs_model {
	const char *program;      /* path; of a Python program, of its script */
	const char *program_name; /* its last part */
	const char *interpreter;  /* path of what runs the script; NULL = it is no script */
	const char *version;      /* of the recording library */
	const char *started;      /* ISO 8601, UTC; "" = not known */
	const char *recording;    /* path of the .tfs file */
	uint32_t pid;
	uint32_t rank;
	uint32_t processes;     /* that train together; 0 = not known */
	uint32_t job_processes; /* the same, as the launcher said if it did */
	uint64_t start_ns;      /* since 1970 */
	uint64_t run;           /* of `tfshim run`; 0 = none */
	double duration_ns;
	bool imported; /* from another tool's recording, which says nothing of the program's end */
	bool finished;
	bool whole;    /* nothing is missing at the end or in between */
	bool cut;      /* the file ends where it should not */
	bool usable;   /* false: nothing to judge by; the verdict says what is missing */
	bool per_run;  /* no steps are known: figures of findings are of the recorded run, not per
			  step */
	bool works;    /* some call may have put work on a device */
	bool computes; /* and other work than copies and fills */
	const char *verdict;
	const char *sight; /* the visibility line */

	const char *device; /* NULL = none seen */
	bool simulated;
	uint64_t device_memory;
	uint64_t device_bandwidth;

	struct tfs_model_steps steps;
	struct tfs_model_headline headline;
	const struct tfs_model_layer *layers; /* in the order of the step */
	size_t layer_count;
	size_t layers_more;                 /* not listed */
	double idle_ns;                     /* of the GPU, per step; NaN = not known */
	double idle_explained;              /* share of it that findings are about */
	const struct tfs_model_idle *idles; /* the largest of the rest */
	size_t idle_count;
	const struct tfs_model_expenses *expenses; /* only where no steps are judged */
	size_t expense_count;
	const struct tfs_model_rule *rules;
	size_t rule_count;
	const struct tfs_model_finding *findings; /* worst first */
	size_t finding_count;
	const struct tfs_model_card *cards; /* most recoverable time first; repaired ones last */
	size_t card_count;
	size_t open_cards;     /* the first ones: those that are not repaired */
	size_t levels[3];      /* findings per enum tfs_level */
	unsigned joint_count;  /* causes that the joint saving is of */
	struct tfs_cost joint; /* of all findings, beside no rewrite */
	const struct tfs_model_rewrite *rewrites;
	size_t rewrite_count;
	const struct tfs_model_fact *visibility;
	size_t visibility_count;
	const struct tfs_model_seen *seen; /* largest difference first */
	size_t seen_count;
	const struct tfs_model_fact *method;
	size_t method_count;
	const struct tfs_model_loss *losses; /* only those above zero */
	size_t loss_count;
	const struct tfs_model_call *calls; /* sorted by key and function */
	size_t call_count;
	struct tfs_model_charts charts;
	struct tfs_arena arena; /* owns all of the above */
};

/* The innermost frame with a source line that is not foreign, else the innermost with a function;
 * NULL if none. */
const struct tfs_model_frame *tfs_model_best_frame(const struct tfs_model_place *place);

/* Index of the innermost frame that is not foreign; 0 where all are. */
size_t tfs_model_own_frame(const struct tfs_model_place *place);

/* Releases the model's memory. */
void tfs_model_finish(struct tfs_model *model);

#endif
