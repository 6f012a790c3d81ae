/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_SUPPORT_FIGURES_H
#define TFS_RULES_SUPPORT_FIGURES_H

/*
 * Figures as people read them, the same in every message and report. Returned by value, so that
 * the text needs no memory and no buffer: tfs_figure_bytes(bytes).text lives until the end of the
 * expression that asks for it. What is not a finite number reads "?". Any thread.
 */

struct tfs_figure {
	char text[64];
};

/* "518 ns", "38.4 ms", "2.50 min": three digits; "0" below half a nanosecond. Microseconds have
 * their sign, U+00B5, in UTF-8. */
struct tfs_figure tfs_figure_time(double ns);

/* "4 B", "196 KiB", "4.05 MiB". Below 1 KiB a whole number, else three digits, four from 1000 to
 * 1023 of a unit. */
struct tfs_figure tfs_figure_bytes(double bytes);

/* "12", "0.5", "12,345". */
struct tfs_figure tfs_figure_count(double count);

/* "1 call site", "0.5 call sites", "12 call sites": a count and what it counts, with the verb where
 * one follows. */
struct tfs_figure tfs_figure_number(double count, const char *one, const char *many);

/* "; 1 call site does so rarely": the same at the end of a sentence, "" for 0. */
struct tfs_figure tfs_figure_also(double count, const char *one, const char *many);

/* "1 call/step", "0.5 calls/step". */
struct tfs_figure tfs_figure_calls(double per_step);

/* "2.5 %", "12 %" for 0.12. */
struct tfs_figure tfs_figure_share(double share);

/* "1.58x", with U+00D7 in UTF-8. */
struct tfs_figure tfs_figure_factor(double factor);

#endif
