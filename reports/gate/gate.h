/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_GATE_GATE_H
#define TFS_REPORTS_GATE_GATE_H

/*
 * The gate that `tfshim check` and `tfshim run --check` share: judges recordings, against those of
 * an earlier run if wanted, prints what it found on stdout, and says why it could not on stderr.
 */

#include "reports/formats/colour.h"
#include "reports/gate/baseline.h"
#include "reports/support/options.h"

#define TFS_GATE_CLEAN 0
#define TFS_GATE_BROKEN 1

struct tfs_gate {
	const struct tfs_command *command; /* that people called */
	const char *baseline;              /* a recording, or a folder of them; NULL = none */
	const char *select;
	const char *ignore;
	unsigned fail_on; /* enum tfs_level, or above: nothing fails */
	enum tfs_colour colour;
	bool quiet;
	bool found;               /* the recordings were looked for, and nobody named them, */
	bool own_rank;            /* and are of one rank only */
	struct tfs_model *before; /* what `baseline` names */
	size_t before_count;
};

/* The rows of the options that the gate understands, for both tables. */
#define TFS_GATE_OPTIONS                                                                           \
	{'b', "baseline", "OLD",                                                                   \
		"an earlier recording, or a folder of them: its findings pass, unless they "       \
		"happen more often per step"},                                                     \
		{'f', "fail-on", "LEVEL",                                                          \
			"lowest level that fails: error (default), warn, note or never"},          \
		{'s', "select", "IDS",                                                             \
			"only these rules: comma-separated ids, slugs or prefixes of ids"},        \
	{                                                                                          \
		'i', "ignore", "IDS", "all rules except these"                                     \
	}

/* Takes the value of one of them; 0, or TFS_EXIT_MISUSE after a message. */
int tfs_gate_option(struct tfs_gate *gate, char key, const char *value);

/* Reads the baseline, if there is one; 0, or an exit status after a message. */
int tfs_gate_open(struct tfs_gate *gate);

/* Judges recordings and folders of recordings; an exit status: 2 before 3 before 1 before 0. Of
 * those that nobody named, the ones that put no work on a device, as of programs that only ask for
 * devices, are told and do not count. */
int tfs_gate_judge(struct tfs_gate *gate, char *const *paths, size_t count);

void tfs_gate_close(struct tfs_gate *gate);

/* Compares with the most alike recording of the baseline that can be compared, since names may have
 * changed; where none can, with the most alike of all. Says on stderr what is odd about that. False
 * where there is no baseline. */
bool tfs_gate_compare(const struct tfs_gate *gate, const struct tfs_model *now,
	struct tfs_comparison *out_comparison);

/* Prints how a recording stands, unless that is not wanted; how many findings break the gate.
 * `comparison` may be NULL. */
size_t tfs_gate_print(const struct tfs_gate *gate, const struct tfs_model *model,
	const struct tfs_comparison *comparison);

#endif
