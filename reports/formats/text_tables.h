/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_TEXT_TABLES_H
#define TFS_REPORTS_FORMATS_TEXT_TABLES_H

/*
 * The tables of the text report; each writes nothing where there is nothing for it.
 */

#include <stdio.h>

#include "reports/formats/colour.h"
#include "reports/model/model.h"

/* The program's NVTX ranges inside its steps. */
void tfs_text_layers(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);

/* The most expensive call sites of a run whose steps are not judged. */
void tfs_text_expenses(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint,
	struct tfs_arena *arena);

#endif
