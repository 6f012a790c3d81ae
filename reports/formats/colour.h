/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_COLOUR_H
#define TFS_REPORTS_FORMATS_COLOUR_H

/*
 * Colour on terminals. It never carries meaning alone: the word and a sign stand beside it.
 */

#include <stdbool.h>
#include <stdio.h>

#include "reports/model/model.h"

/* Escape sequences, or empty strings. */
struct tfs_paint {
	const char *bold;
	const char *dim;
	const char *error;
	const char *warn;
	const char *note;
	const char *good;
	const char *reset;
};

extern const struct tfs_paint tfs_paint_plain;

enum tfs_colour { TFS_COLOUR_AUTO, TFS_COLOUR_ALWAYS, TFS_COLOUR_NEVER };

/* Reads auto, always or never; false when it is none of them. */
bool tfs_colour_parse(const char *text, enum tfs_colour *out_colour);

/* The paint for `out`: by NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, else for terminals. */
const struct tfs_paint *tfs_colour_choose(enum tfs_colour colour, FILE *out);

/* The paint of a level. */
const char *tfs_paint_level(const struct tfs_paint *paint, enum tfs_level level);

#endif
