/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_TEXT_STEPS_H
#define TFS_REPORTS_FORMATS_TEXT_STEPS_H

#include <stdio.h>

struct tfs_model;
struct tfs_arena;

/* The lines of a text on how many steps there were, or what stands for them, and their times. */
void tfs_text_steps(const struct tfs_model *model, FILE *out, struct tfs_arena *arena);

#endif
