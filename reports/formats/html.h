/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_HTML_H
#define TFS_REPORTS_FORMATS_HTML_H

/*
 * The page, one file per part of it. Every text that comes from outside goes through
 * the %s of tfs_html_print(); nothing else writes names.
 */

#include <stdio.h>

#include "reports/model/model.h"

#define TFS_HTML_SHAPES 2000u /* shapes with a tooltip per chart, at most */

struct tfs_html {
	FILE *out;
	const struct tfs_model *model;
	struct tfs_arena arena; /* for words; released with the page */
};

/* Markup, as it is. */
void tfs_html_raw(struct tfs_html *html, const char *markup);

/* Markup in which each `%s` is replaced by an escaped text and each `%n` by a double with at most
 * two decimals; `%%` is a percent sign. Nothing else is understood. */
void tfs_html_print(struct tfs_html *html, const char *markup, ...);

/* A heading with an anchor, and the line under it; closed by tfs_html_section_end(). */
void tfs_html_section(
	struct tfs_html *html, const char *anchor, const char *title, const char *lead);
void tfs_html_section_end(struct tfs_html *html);

/* A table of the model's cards from `first` to before `end`. */
void tfs_html_cards(struct tfs_html *html, size_t first, size_t end);

/* The step as written, now and possible, with what lies between; part of the verdict. */
void tfs_html_states(struct tfs_html *html);

/* The sections, in the order of the page. */
void tfs_html_verdict(struct tfs_html *html);
void tfs_html_expenses(struct tfs_html *html);
void tfs_html_fixed(struct tfs_html *html);
void tfs_html_findings(struct tfs_html *html);
void tfs_html_unjudged(struct tfs_html *html);
void tfs_html_timeline(struct tfs_html *html);
void tfs_html_gpu(struct tfs_html *html);
void tfs_html_memory(struct tfs_html *html);
void tfs_html_lanes(struct tfs_html *html);
void tfs_html_layers(struct tfs_html *html);
void tfs_html_tree(struct tfs_html *html);
void tfs_html_rewrites(struct tfs_html *html);
void tfs_html_rules(struct tfs_html *html);
void tfs_html_method(struct tfs_html *html);

#endif
