/* SPDX-License-Identifier: MIT */
/* Two runs of one program: what was fixed between them, what is new, and what a step takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/commands/diff_page.h"
#include "reports/formats/format.h"
#include "reports/formats/text.h"
#include "reports/gate/diff.h"
#include "reports/gate/entries.h"
#include "reports/support/load.h"
#include "reports/support/options.h"

extern const struct tfs_command tfs_command_diff;

/* The runs in the order of the command line. */
struct diff {
	struct tfs_model before, now;
	const char *output; /* NULL = stdout */
	bool page;
};

static void print_row(FILE *out, const struct tfs_diff_row *row)
{
	tfs_text_line(out, "  %s %s  %s  %s%s%s%s%s", row->rule->id, row->rule->slug, row->place,
		row->call, row->more[0] ? "  " : "", row->more, row->costs[0] ? "  " : "",
		row->costs);
}

static int print_text(const void *difference_, FILE *out)
{
	const struct tfs_diff *difference = difference_;

	fprintf(out, "step time%s\n", difference->simulated ? ", modelled" : "");
	for (size_t i = 0; i < 2; i++) {
		const struct tfs_diff_time *time = &difference->times[i];

		if (time->between)
			tfs_text_line(out, "  %-11s %s: %s", time->name, time->between, time->text);
		else
			tfs_text_line(out, "  %-11s not measurable: %s", time->name, time->text);
	}
	for (size_t i = 0; i < difference->part_count; i++) {
		fprintf(out, "%s\n", difference->parts[i].title);
		for (size_t j = 0; j < difference->parts[i].count; j++)
			print_row(out, &difference->parts[i].rows[j]);
	}
	if (!difference->part_count)
		fputs("the findings are the same\n", out);
	return 0;
}

static int load(const char *path, struct tfs_model *out_model)
{
	const struct tfs_load_options options = {.progress = true};
	char *why;

	int err = tfs_load(path, &options, out_model, &why);
	if (!err)
		return 0;
	tfs_entries_complain(&tfs_command_diff, path, why ? why : "cannot be read");
	free(why);
	return tfs_load_status(err);
}

/* Complains of runs that have no figures to compare, or figures of unlike things. */
static int refuse(const struct diff *diff, const char *before, const char *now)
{
	int status = 0;

	if (diff->before.usable != diff->now.usable &&
		diff->before.steps.iterations != diff->now.steps.iterations) {
		tfs_entries_complain(&tfs_command_diff, now,
			diff->now.steps.iterations
				? "not comparable: it has iterations of a loop, and the other training steps"
				: "not comparable: it has training steps, and the other iterations of a loop");
		return TFS_EXIT_NO_DATA;
	}
	if (!diff->before.usable) {
		tfs_entries_complain(&tfs_command_diff, before, diff->before.verdict);
		status = TFS_EXIT_NO_DATA;
	}
	if (!diff->now.usable) {
		tfs_entries_complain(&tfs_command_diff, now, diff->now.verdict);
		status = TFS_EXIT_NO_DATA;
	}
	return status;
}

static int print(const struct diff *diff, const struct tfs_diff *difference)
{
	int (*const write)(const void *, FILE *) = diff->page ? tfs_diff_page : print_text;
	int err = 0;

	if (diff->output)
		err = tfs_format_save_by(diff->output, write, difference);
	else
		err = write(difference, stdout);
	if (!err)
		return 0;
	tfs_text_line(stderr, "tfshim diff: cannot write %s: %s",
		diff->output ? diff->output : "the differences", strerror(-err));
	return TFS_EXIT_MISUSE;
}

static int compare(const struct diff *diff, const char *path)
{
	static const char *const why[] = {[TFS_APART_NOT] = "",
		[TFS_APART_PROGRAM] = "not comparable: of another program",
		[TFS_APART_DEVICE] = "not comparable: of another GPU",
		[TFS_APART_PROCESSES] = "not comparable: of another number of processes"};
	struct tfs_diff difference;
	const enum tfs_apart apart = tfs_diff_find(&diff->before, &diff->now, &difference);
	int status = TFS_EXIT_NO_DATA;

	if (apart)
		tfs_entries_complain(&tfs_command_diff, path, why[apart]);
	else
		status = print(diff, &difference);
	tfs_diff_finish(&difference);
	return status;
}

static int apply(void *state, char key, const char *value)
{
	struct diff *diff = state;

	(void)key;
	diff->output = strcmp(value, "-") ? value : NULL;
	diff->page = strlen(value) > 5 && !strcmp(value + strlen(value) - 5, ".html");
	return 0;
}

static const struct tfs_option options[] = {
	{'o', "output", "FILE", "write to FILE: a page for a browser where its name ends in .html"},
	{0, NULL, NULL, NULL}};

static int run(int argc, char **argv)
{
	struct diff diff = {0};
	int first;
	int status = tfs_options_parse(&tfs_command_diff, argc, argv, 0, apply, &diff, &first);

	if (status)
		return status < 0 ? 0 : status;
	if (!argv[first] || !argv[first + 1] || argv[first + 2])
		return tfs_options_misuse(&tfs_command_diff, "give two recordings");
	status = load(argv[first], &diff.before);
	if (!status)
		status = load(argv[first + 1], &diff.now);
	if (!status)
		status = refuse(&diff, argv[first], argv[first + 1]);
	if (!status)
		status = compare(&diff, argv[first + 1]);
	tfs_model_finish(&diff.before);
	tfs_model_finish(&diff.now);
	return status;
}

const struct tfs_command tfs_command_diff = {
	.name = "diff",
	.usage = "[OPTIONS] A B",
	.summary = "compare two recordings of one program",
	.text = "Prints what the second run has fixed, what is new in it and what has changed, and the "
		"step time of both with the 95 % interval of the difference. "
		"Findings are matched as 'tfshim check --baseline' matches them. "
		"Exit status: 0 done, 2 misuse or FILE cannot be written, 3 a recording cannot be read or cannot be judged, or the two are not comparable.",
	.options = options,
	.run = run,
};
