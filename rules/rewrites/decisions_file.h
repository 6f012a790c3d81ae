/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_REWRITES_DECISIONS_FILE_H
#define TFS_RULES_REWRITES_DECISIONS_FILE_H

/* The file of decisions, and what decisions.c and decisions_file.c do for each other. */

#include "rules/rewrites/decisions.h"

#define TFS_DECISIONS_HEAD                                                                         \
	"# tfshim decisions 1: GPU | cuDNN | asked chosen workspace ms ms | problem\n"

/* Where the file is; "" before tfs_decisions_load(). */
const char *tfs_decisions_path(void);

/* Is there a place for the file, and is what lies there one of ours? */
bool tfs_decisions_may_write(void);

/* Says once on stderr, and each time in the report, why the file or a part of it is not used. */
void tfs_decisions_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The number of the machine that is named "GPU | cuDNN"; 0 when there are too many. */
uint32_t tfs_decisions_named(const char *name);

/* Keeps a decision in memory; NULL when there are too many. */
const struct tfs_decision *tfs_decisions_keep(const struct tfs_decision *decision);

#endif
