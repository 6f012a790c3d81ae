/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_TEXT_HEADLINE_H
#define TFS_REPORTS_FORMATS_TEXT_HEADLINE_H

/* The text's answers to: how fast, what was fixed, what was not judged. */

#include <stdio.h>

#include "reports/formats/colour.h"
#include "reports/model/model.h"

/* A step as written, now and possible, with what lies between. */
void tfs_text_states(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);

/* Rewrites that act, one each; and the others, with why. */
void tfs_text_fixed(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);
void tfs_text_rewrites(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);

/* Rules that could not be judged, those that this version does not check, and the rest. */
void tfs_text_unjudged(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);
void tfs_text_passed(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);

#endif
