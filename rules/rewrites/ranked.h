/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_RANKED_H
#define TFS_RULES_REWRITES_RANKED_H

/*
 * Proof where several ranks train together. They wait for each other in every step, so all have to
 * switch at the same steps, and one verdict has to hold for all: which steps run with which
 * rewrites follows from the step's index alone, and the verdict is found over the slowest rank's
 * steps when the recordings of all are at hand. It goes into a file that the next run replays.
 * Used in the traced process and after the run; pure. No allocation.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/rewrites/trial.h"

#define TFS_RANKED_MOST 8u /* rewrites that are measured */
#define TFS_RANKED_NAME 32u

struct tfs_ranked {
	uint64_t first; /* index of the first step that is measured */
	uint32_t steps; /* of each question */
	uint32_t count; /* rewrites: one question for each alone, then one for all together */
	char names[TFS_RANKED_MOST][TFS_RANKED_NAME];
};

/* Adds a rewrite; false when there are too many, or its name is too long. */
bool tfs_ranked_add(struct tfs_ranked *plan, const char *name);

/* Which question is put in a step, and is its subject on in it? False when it is none of these
 * steps. Question `count` is about all rewrites together. */
bool tfs_ranked_at(
	const struct tfs_ranked *plan, uint64_t index, uint32_t *out_question, bool *out_on);

/* How many questions there are. */
uint32_t tfs_ranked_questions(const struct tfs_ranked *plan);

/* The trial of a question, with no steps yet. */
void tfs_ranked_trial(const struct tfs_ranked *plan, struct tfs_trial *out_trial);

/* The plan as one line, as a recording states it, and back. */
void tfs_ranked_write(const struct tfs_ranked *plan, char *out, size_t bytes);
bool tfs_ranked_read(struct tfs_ranked *out_plan, const char *text);

/* A verdict as a line of the file, with its newline. */
struct tfs_ranked_verdict {
	char name[TFS_RANKED_NAME];
	bool won;
	struct tfs_gain gain;
	uint32_t blocks;
	uint32_t ranks;
};

#define TFS_VERDICTS_HEAD "# tfshim verdicts 1: rewrite | ns per step, low, high | blocks, ranks\n"

void tfs_ranked_write_verdict(const struct tfs_ranked_verdict *verdict, char *out, size_t bytes);

/* False for a comment, and for what is none. */
bool tfs_ranked_read_verdict(struct tfs_ranked_verdict *out_verdict, const char *line);

#endif
