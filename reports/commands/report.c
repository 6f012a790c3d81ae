/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/commands/job.h"
#include "reports/formats/format.h"
#include "reports/formats/text.h"
#include "reports/support/load.h"
#include "reports/support/options.h"
#include "reports/support/patient.h"
#include "reports/support/save.h"

extern const struct tfs_command tfs_command_report;

struct report_options {
	const struct tfs_format *format;
	const char *output;
	enum tfs_colour colour;
	bool summary;
	bool quiet;
};

static int apply(void *state, char key, const char *value)
{
	struct report_options *options = state;
	switch (key) {
	case 'f':
		options->format = tfs_format_find(value);
		if (!options->format)
			return tfs_options_misuse(&tfs_command_report,
				"unknown format '%s': choose text, html or json", value);
		return 0;
	case 'o':
		options->output = value;
		return 0;
	case '1':
		tfs_patient_stderr();
		options->summary = true;
		return 0;
	case 's':
		options->summary = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	default:
		if (!tfs_colour_parse(value, &options->colour))
			return tfs_options_misuse(&tfs_command_report,
				"--color %s: choose auto, always or never", value);
		return 0;
	}
}

/* The format asked for, else the one that the file's name asks for, else text. */
static const struct tfs_format *choose_format(const struct report_options *options)
{
	size_t length = options->output ? strlen(options->output) : 0;
	if (options->format)
		return options->format;
	for (size_t i = 0; tfs_formats[i]; i++) {
		size_t suffix = strlen(tfs_formats[i]->suffix);
		if (length > suffix &&
			!strcmp(options->output + length - suffix, tfs_formats[i]->suffix))
			return tfs_formats[i];
	}
	return tfs_format_find("text");
}

/* One format, to a file or to stdout. */
static int write_one(const struct report_options *options, const struct tfs_model *model)
{
	const struct tfs_format *format = choose_format(options);
	if (options->output && strcmp(options->output, "-")) {
		int err = tfs_format_save(format, model, options->output);
		if (!err)
			return 0;
		tfs_text_line(
			stderr, "tfshim: cannot write %s: %s", options->output, strerror(-err));
		return TFS_EXIT_MISUSE;
	}
	if (!format->write(model, stdout, tfs_colour_choose(options->colour, stdout)))
		return 0;
	tfs_text_line(stderr, "tfshim: %s: %s", model->recording, strerror(ENOMEM));
	return TFS_EXIT_MISUSE;
}

static int report_file(const struct report_options *options, const char *path)
{
	struct tfs_load_options load = {.charts = true, .progress = true};
	struct tfs_model model;
	char *why;

	if (options->summary || (options->quiet && !options->output))
		return tfs_save_report(path, options->quiet);
	int err = tfs_load(path, &load, &model, &why);
	if (err) {
		tfs_text_line(stderr, "tfshim: %s: %s", path, why ? why : "cannot be read");
		free(why);
		return tfs_load_status(err);
	}
	int status = 0;
	if (!options->format && !options->output && tfs_save_beside(&model))
		status = TFS_EXIT_MISUSE;
	int written = write_one(options, &model);
	tfs_model_finish(&model);
	return written ? written : status;
}

static int is_recording(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > 4 && !strcmp(entry->d_name + length - 4, ".tfs");
}

static int worse(int a, int b)
{
	if (a == TFS_EXIT_MISUSE || b == TFS_EXIT_MISUSE)
		return TFS_EXIT_MISUSE;
	return a > b ? a : b;
}

static int report_folder(const struct report_options *options, const char *path)
{
	struct dirent **entries;
	int status = 0;
	int count = scandir(path, &entries, is_recording, alphasort);
	if (count < 0) {
		tfs_text_line(stderr, "tfshim: %s: %s", path, strerror(errno));
		return TFS_EXIT_NO_DATA;
	}
	if (!count) {
		tfs_text_line(stderr, "tfshim: %s: no recordings (.tfs) in this folder", path);
		status = TFS_EXIT_NO_DATA;
	}
	char **files = calloc((size_t)count + 1, sizeof(*files));
	for (int i = 0; i < count; i++) {
		if (files && asprintf(&files[i], "%s/%s", path, entries[i]->d_name) >= 0)
			status = worse(status, report_file(options, files[i]));
		free(entries[i]);
	}
	free(entries);
	if (files && !options->quiet && !options->format)
		status = worse(status, tfs_job_report(path, files, count));
	for (int i = 0; files && i < count; i++)
		free(files[i]);
	free(files);
	return status;
}

static int run(int argc, char **argv)
{
	struct report_options options = {.colour = TFS_COLOUR_AUTO};
	struct stat about;
	int first;
	int status = tfs_options_parse(&tfs_command_report, argc, argv, 0, apply, &options, &first);
	if (status)
		return status < 0 ? 0 : status;
	if (!argv[first])
		return tfs_options_misuse(&tfs_command_report, "no recording given");
	if (options.quiet && (options.output ? !strcmp(options.output, "-") : !!options.format))
		return tfs_options_misuse(
			&tfs_command_report, "--quiet prints nothing: name a file with --output");
	for (int i = first; argv[i]; i++) {
		bool folder = !stat(argv[i], &about) && S_ISDIR(about.st_mode);
		if (options.output && (folder || argv[first + 1]))
			return tfs_options_misuse(
				&tfs_command_report, "--output takes one recording at a time");
		status = worse(status,
			folder ? report_folder(&options, argv[i]) : report_file(&options, argv[i]));
	}
	return status;
}

static const struct tfs_option options[] = {
	{'f', "format", "FORMAT", "write only text, html or json, to stdout or --output"},
	{'o', "output", "FILE", "write to FILE instead of beside the recording; - is stdout"},
	{'s', "summary", NULL, "write beside the recording; name the top three findings on stderr"},
	{'q', "quiet", NULL, "write beside the recording, or to --output, and print nothing"},
	{'0', "color", "WHEN", "auto (default), always or never"},
	{'1', "exit-summary", NULL, NULL},
	{0},
};

const struct tfs_command tfs_command_report = {
	.name = "report",
	.usage = "[OPTIONS] PATH...",
	.summary = "make reports from recordings, or from all recordings in a folder",
	.text = "Reads recordings (.tfs) and writes their .txt, .html and .json beside them; "
		"the text also goes to stdout. "
		"For a folder with all ranks of a job, "
		"it also prints which rewrites made the slowest rank faster, "
		"and saves these results for the job's next run. "
		"Works on recordings of programs that crashed or were killed, "
		"on traces of PyTorch's profiler (.json, .json.gz), "
		"and on exports of Nsight Systems (.sqlite); "
		"FILE:PID or FILE:rankN is one process of several. "
		"Exit status: 0 done, 2 misuse or a report that cannot be written, 3 a recording that cannot be read.",
	.options = options,
	.run = run,
};
