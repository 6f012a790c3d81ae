/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_VERDICT_H
#define TFS_SHIM_REWRITES_MEASURE_VERDICT_H

/*
 * What earlier runs of a program found about a rewrite, as a line of the file PROGRAM.verdicts
 * beside the recordings. A question that was not decided goes on there. Anyone may have written the
 * file. Used in the traced process and after the run; pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/rewrites/measure/trial.h"

#define TFS_VERDICT_NAME 32u
#define TFS_VERDICT_LINE 1600u /* bytes, with its newline and NUL, at most */
#define TFS_VERDICTS_MOST 8u   /* rewrites that are measured */
#define TFS_VERDICTS_HEAD                                                                          \
	"# tfshim verdicts 2: rewrite, outcome | ns per step, low, high | ranks, period, pairs | " \
	"ns and bytes of a step | ns of each pair\n"
#define TFS_VERDICTS_HEAD_BYTES 20u /* "# tfshim verdicts 2:" */

struct tfs_proof {
	char name[TFS_VERDICT_NAME];
	enum tfs_outcome outcome;
	struct tfs_gain gain; /* zeros where not known */
	uint32_t ranks;
	uint32_t period; /* of the steps; 0 = not known */
	uint32_t pairs;
	double step_ns; /* of steps after the decision; 0 = not known */
	double step_bytes;
	double gains[TFS_TRIAL_PAIRS]; /* of undecided ones */
};

/* Writes the line and returns its length. */
size_t tfs_verdict_write(const struct tfs_proof *verdict, char *out, size_t bytes);

/* False for a comment, and for what is none. */
bool tfs_verdict_read(struct tfs_proof *out_verdict, const char *line);

/* Calls `each` for the verdicts of a whole file; false, and none, when it is no such file. The text
 * is changed. */
bool tfs_verdicts_each(
	char *text, void (*each)(const struct tfs_proof *verdict, void *context), void *context);

/* A new file's text: these, and the old text's about other rewrites or numbers of ranks, as far as
 * there is room. The old text, which may be empty, is changed. */
void tfs_verdicts_merge(
	char *old, const struct tfs_proof *verdicts, uint32_t count, char *out, size_t bytes);

#endif
