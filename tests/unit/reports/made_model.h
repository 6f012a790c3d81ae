/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_REPORTS_MADE_MODEL_H
#define TFS_TESTS_UNIT_REPORTS_MADE_MODEL_H

/* A made-up recording, read, with all that a report's model is built of. */

#include "reports/build/build.h"
#include "tests/unit/scenes/builder.h"

struct made_model {
	struct builder *builder;
	struct tfs_trace *trace;
	struct tfs_timeline *timeline;
	struct tfs_judgement judgement; /* for the test to fill */
	struct tfs_model model;
	struct tfs_build build;
};

/* Reads what was made up; the builder is taken over. A failure ends the test. */
void made_model_open(struct made_model *made, struct builder *builder);

void made_model_close(struct made_model *made);

#endif
