/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_FORMAT_H
#define TFS_REPORTS_FORMATS_FORMAT_H

/*
 * A format turns a model into one file.
 *
 * To add one: write reports/formats/<name>.c with one `const struct tfs_format tfs_format_<name>`
 * (json.c is the one to read first), and add <name> to `formats` in the meson.build beside it. It
 * can then be asked for with --format <name>, and is written beside every recording if `beside` is
 * set.
 */

#include <stdbool.h>
#include <stdio.h>

#include "reports/formats/colour.h"
#include "reports/model/model.h"

struct tfs_format {
	const char *name;   /* as in --format */
	const char *suffix; /* ".txt" */
	const char *title;  /* one line for --help */
	bool beside;        /* written beside the recording without being asked for */
	bool judged;        /* that only where there was something to judge by */
	/* Writes all of it; 0 or -ENOMEM. Errors of writing are left in the stream's error flag. */
	int (*write)(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint);
};

/* All formats, sorted by name; the list ends with NULL. */
extern const struct tfs_format *const tfs_formats[];

/* The format of this name, or NULL. */
const struct tfs_format *tfs_format_find(const char *name);

/* The same of anything that can be written. */
int tfs_format_save_by(
	const char *path, int (*write_to)(const void *what, FILE *out), const void *what);

/* Writes `path` with `.tmp` appended and renames it when it is whole. Returns 0 or negative
 * errno, after which neither file is left behind. */
int tfs_format_save(
	const struct tfs_format *format, const struct tfs_model *model, const char *path);

#endif
