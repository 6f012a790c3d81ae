/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_SUPPORT_LOAD_H
#define TFS_REPORTS_SUPPORT_LOAD_H

/*
 * From a recording to a model: open, lay out, judge, resolve.
 */

#include "reports/model/model.h"

struct tfs_trace;

struct tfs_load_options {
	/* Comma-separated ids, slugs or id prefixes; NULL = all rules, none. */
	const char *select;
	const char *ignore;
	bool charts;   /* also what is drawn: steps, lanes, the tree */
	bool progress; /* says on stderr what it is at when it takes more than two seconds */
};

/* Whether every name of such a list is a rule's. */
bool tfs_load_knows_rules(const char *list);

/* Loads one recording; 0, or a negative errno and a reason in `out_why` that the caller frees. The
 * caller finishes the model. */
int tfs_load(const char *path, const struct tfs_load_options *options, struct tfs_model *out_model,
	char **out_why);

/* The exit status where a recording could not be loaded. */
int tfs_load_status(int err);

/* The same for a recording that is open, and stays it; `path` is what the model calls it. */
int tfs_load_trace(struct tfs_trace *trace, const char *path,
	const struct tfs_load_options *options, struct tfs_model *out_model, char **out_why);

#endif
