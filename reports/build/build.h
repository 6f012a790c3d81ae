/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_BUILD_BUILD_H
#define TFS_REPORTS_BUILD_BUILD_H

/*
 * How a model is put together from a judged recording, one file per part of it. Everything is
 * copied into the model's arena, so that the recording can be closed afterwards.
 */

#include "reports/model/model.h"
#include "rules/judge/judge.h"
#include "rules/timeline/timeline.h"

struct tfs_places;

struct tfs_build {
	const struct tfs_trace *trace;
	const struct tfs_timeline *timeline;
	const struct tfs_judgement *judgement;
	struct tfs_places *places;
	struct tfs_model *model; /* zeroed before the first part */
};

/* Program, device, steps, visibility, losses, how it was measured. */
void tfs_build_head(struct tfs_build *build, const char *path);

/* Rules, findings, rewrites; and findings by their cause. */
void tfs_build_findings(struct tfs_build *build);
/* What these findings, which are all but put into the model, say as changes of the source. */
void tfs_build_patches(struct tfs_build *build, struct tfs_model_finding *findings);
void tfs_build_cards(struct tfs_build *build);

/* The step as written, now and possible; behind the head and the findings. */
void tfs_build_headline(struct tfs_build *build);

/* Calls of the whole run, and the tree of call sites. */
void tfs_build_calls(struct tfs_build *build);
void tfs_build_tree(struct tfs_build *build);

/* Where the time of a run goes whose steps are not judged; behind the head. */
void tfs_build_expenses(struct tfs_build *build);

/* What the findings explain of the GPU's idle time, and what they do not; behind the charts. */
void tfs_build_idle(struct tfs_build *build);

/* The program's own names for parts of its steps. */
void tfs_build_layers(struct tfs_build *build);

/* Step times, chosen steps, shares of the GPU's time. */
void tfs_build_charts(struct tfs_build *build);
void tfs_build_lanes(struct tfs_build *build);
/* Device memory in use over the run. */
void tfs_build_memory(struct tfs_build *build);

#endif
