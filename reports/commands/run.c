/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/formats/text.h"
#include "reports/gate/gate.h"
#include "reports/support/child.h"
#include "reports/support/locate.h"
#include "reports/support/options.h"
#include "reports/support/recordings.h"
#include "reports/support/rewrite_names.h"
#include "reports/support/save.h"
#include "shim/base/env_flag.h"
#include "shim/trace/area.h"

#define EXIT_NOT_EXECUTABLE 126

extern const struct tfs_command tfs_command_run;

struct run_options {
	const char *output;
	const char *rewrite;
	const char *record;
	const char *log;
	const char *more; /* TFSHIM_OPTIONS, as given */
	bool no_report;
	bool check;
	bool gate_options; /* one was given that only --check reads */
	struct tfs_gate gate;
};

static int one_of(const char *option, const char *value, const char *const *choices)
{
	for (size_t i = 0; choices[i]; i++) {
		if (!strcmp(choices[i], value))
			return 0;
	}
	return tfs_options_misuse(&tfs_command_run, "--%s %s: choose %s", option, value,
		!strcmp(option, "log") ? "none, error, warn, info or debug"
				       : "none, windows or all");
}

static int set_rewrite(struct run_options *options, const char *value)
{
	char unknown[64];
	if (!tfs_rewrite_names_valid(value, unknown, sizeof(unknown)))
		return tfs_options_misuse(&tfs_command_run,
			"unknown rewrite or mode '%s'; "
			"choose off, report, exact, safe, all, or any of %s, "
			"each alone or with =off, =report, =shadow or =apply",
			unknown, tfs_rewrite_names_text());
	options->rewrite = value;
	return 0;
}

static int apply(void *state, char key, const char *value)
{
	static const char *const records[] = {"none", "windows", "all", NULL};
	static const char *const levels[] = {"none", "error", "warn", "info", "debug", NULL};
	struct run_options *options = state;
	switch (key) {
	case 'o':
		options->output = value;
		return 0;
	case 'r':
		return set_rewrite(options, value);
	case '0':
		options->record = value;
		return one_of("record", value, records);
	case '1':
		options->log = value;
		return one_of("log", value, levels);
	case 'O':
		options->more = value;
		return 0;
	case '2':
		options->no_report = true;
		return 0;
	case 'c':
		options->check = true;
		return 0;
	case 'q':
		options->gate.quiet = true;
		return 0;
	default:
		options->gate_options = true;
		return tfs_gate_option(&options->gate, key, value);
	}
}

/* Options of the environment, then those of the command line: a later one wins. The program finds
 * `memory` by our process: it has no descriptor more than without us. */
static int set_options(const struct run_options *options, int memory)
{
	const char *old = getenv("TFSHIM_OPTIONS");
	char place[64] = "";
	char *text;
	if (memory >= 0)
		snprintf(place, sizeof(place), ":memory=/proc/%d/fd/%d", (int)getpid(), memory);
	if (asprintf(&text, "%s:%s:%s%s:report=0%s", old ? old : "",
		    options->more ? options->more : "", options->record ? "record=" : "",
		    options->record ? options->record : "", place) < 0)
		return -ENOMEM;
	int err = setenv("TFSHIM_OPTIONS", text, 1);
	free(text);
	return err;
}

/* The shim comes first; `more` may be empty. */
static int set_preload(const char *library, const char *more)
{
	const char *old = getenv("LD_PRELOAD");
	char *text;
	if (asprintf(&text, "%s%s%s%s%s", library, *more ? ":" : "", more, old && *old ? ":" : "",
		    old ? old : "") < 0)
		return -ENOMEM;
	int err = setenv("LD_PRELOAD", text, 1);
	free(text);
	return err;
}

/* The program may change its folder before its first CUDA call, so the pattern is made absolute. */
static int set_output(const char *pattern)
{
	char folder[PATH_MAX];
	char text[PATH_MAX * 3];
	size_t used = 0;
	if (!pattern || !*pattern)
		pattern = TFS_RECORDINGS_PATTERN;
	const char *name =
		pattern[strlen(pattern) - 1] == '/' ? strrchr(TFS_RECORDINGS_PATTERN, '/') + 1 : "";
	if (*pattern == '/')
		*folder = '\0';
	else if (!getcwd(folder, sizeof(folder)))
		return -errno;
	for (const char *c = folder; *c; c++) {
		text[used++] = *c;
		if (*c == '%')
			text[used++] = '%';
	}
	if (snprintf(text + used, sizeof(text) - used, "%s%s%s", *folder ? "/" : "", pattern,
		    name) >= (int)(sizeof(text) - used))
		return -ENAMETOOLONG;
	return setenv("TFSHIM_OUTPUT", text, 1);
}

/* A heap cannot be changed under a program that runs. */
static int find_heap(const struct run_options *options, char out_path[PATH_MAX])
{
	*out_path = '\0';
	if (!options->rewrite || !tfs_rewrite_names_asks(options->rewrite, "jemalloc") ||
		!tfs_locate_jemalloc(out_path))
		return 0;
	fputs("tfshim run: jemalloc is not installed: "
	      "no libjemalloc.so.2 in the system's folders (Debian: apt install libjemalloc2)\n",
		stderr);
	return TFS_EXIT_MISUSE;
}

static int set_environment(
	const struct run_options *options, const char *library, const char *heap, int memory)
{
	int err = set_options(options, memory) | set_preload(library, heap);
	err |= set_output(options->output ? options->output : getenv("TFSHIM_OUTPUT"));
	if (options->rewrite)
		err |= setenv("TFSHIM_REWRITE", options->rewrite, 1);
	if (options->log)
		err |= setenv("TFSHIM_LOG", options->log, 1);
	return err;
}

static bool is_off(const char *variable)
{
	const char *value = getenv(variable);
	return value && *value && strcmp(value, "0");
}

/* Reports on what this run recorded. */
static void make_reports(const struct run_options *options, const struct tfs_recordings *recordings)
{
	for (size_t i = 0; i < recordings->count; i++)
		tfs_save_report(recordings->paths[i], options->gate.quiet);
	if (!recordings->count && !options->gate.quiet && !is_off("TFSHIM_DISABLE"))
		fputs("tfshim run: nothing was recorded: "
		      "no CUDA call of the program was seen ('tfshim doctor PROGRAM' says why)\n",
			stderr);
}

/* The gate over what this run recorded, and over nothing else. */
static int check(
	struct run_options *options, const char *program, const struct tfs_recordings *recordings)
{
	if (recordings->running)
		tfs_text_line(stderr,
			"tfshim run: --check: %zu of the processes that %s started %s still running: "
			"their recordings are incomplete and are not judged",
			recordings->running, program, recordings->running == 1 ? "is" : "are");
	else if (!recordings->count)
		tfs_text_line(stderr,
			"tfshim run: --check: nothing was recorded, so nothing was judged: %s",
			is_off("TFSHIM_DISABLE")
				? "TFSHIM_DISABLE is set"
				: "no CUDA call was seen, "
				  "or no file could be written ('tfshim doctor PROGRAM' and TFSHIM_LOG=info say why)");
	options->gate.own_rank = tfs_recordings_own_rank() >= 0;
	int status = tfs_gate_judge(&options->gate, recordings->paths, recordings->count);

	return recordings->running ? TFS_EXIT_NO_DATA : status;
}

static bool asks_for_no_report(const struct run_options *options)
{
	bool on = tfs_env_flag(getenv("TFSHIM_OPTIONS"), "report", true);

	return options->no_report || !tfs_env_flag(options->more, "report", on);
}

/* Runs the program and says what is to be said of it; the exit status. */
static int run_and_report(struct run_options *options, char **program, int memory, bool reports)
{
	struct tfs_recordings recordings;
	struct tfs_child child;

	tfs_recordings_start(&recordings, getenv("TFSHIM_OUTPUT"));
	int status = tfs_child_run(&child, program);

	if (child.error) {
		tfs_text_line(
			stderr, "tfshim run: cannot run %s: %s", program[0], strerror(child.error));
		status = child.error == ENOENT ? TFS_CHILD_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	} else {
		if (memory >= 0)
			tfs_areas_save(memory);
		tfs_recordings_find(&recordings);
		tfs_child_settle(&child, &recordings);
		/* Other ranks are silent. */
		if (reports && !(tfs_recordings_own_rank() > 0))
			make_reports(options, &recordings);
		int verdict = options->check ? check(options, program[0], &recordings) : 0;

		status = status ? status : verdict;
	}
	tfs_recordings_finish(&recordings);
	return status;
}

/* All that keeps a program from being started, before it is. */
static int prepare(struct run_options *options, char *library, char *heap)
{
	int status;

	if (options->gate_options && !options->check)
		return tfs_options_misuse(&tfs_command_run,
			"--baseline, --fail-on, --select and --ignore need --check");
	if (!options->rewrite && getenv("TFSHIM_REWRITE")) {
		status = set_rewrite(options, getenv("TFSHIM_REWRITE"));
		if (status)
			return status;
	}
	if (tfs_locate_library(library)) {
		fputs("tfshim run: " TFS_LIBRARY_MISSING "\n", stderr);
		return TFS_EXIT_MISUSE;
	}
	status = find_heap(options, heap);
	if (status)
		return status;
	status = tfs_gate_open(&options->gate);
	if (status)
		fputs("tfshim run: the program was not started\n", stderr);
	return status;
}

static int run(int argc, char **argv)
{
	struct run_options options = {
		.gate = {.command = &tfs_command_run, .fail_on = TFS_LEVEL_ERROR, .found = true}};
	char library[PATH_MAX], heap[PATH_MAX];
	int first;
	int status = tfs_options_parse(&tfs_command_run, argc, argv, 1, apply, &options, &first);
	if (status)
		return status < 0 ? 0 : status;
	if (!argv[first])
		return tfs_options_misuse(&tfs_command_run, "no program given");
	status = prepare(&options, library, heap);
	if (!status) {
		bool reports = !asks_for_no_report(&options);
		int memory = tfs_areas_make();

		if (set_environment(&options, library, heap, memory)) {
			fputs("tfshim run: the environment cannot be set\n", stderr);
			status = TFS_EXIT_MISUSE;
		} else {
			status = run_and_report(&options, argv + first, memory, reports);
		}
	}
	tfs_gate_close(&options.gate);
	return status;
}

static const struct tfs_option options[] = {
	{'o', "output", "PATTERN",
		"path of recordings, without suffix: %e program, %p pid, %r rank, %h host, %t time, %n number, %q{VAR}; "
		"default tfshim-out/%e-r%r-%p"},
	{'r', "rewrite", "WHAT",
		"off, report, exact, safe (default), all, or comma-separated names"},
	{'0', "record", "WHAT",
		"none (totals only), windows (default; details of some steps) or all (details of all steps)"},
	{'O', "options", "K=V:K=V",
		"added to TFSHIM_OPTIONS; help=1 lists the options at the first CUDA call"},
	{'1', "log", "LEVEL", "log level: none, error, warn, info or debug"},
	{'2', "no-report", NULL, "record without making reports"},
	{'c', "check", NULL,
		"judge this run's recordings as 'tfshim check' does; "
		"a failure of the program itself decides the exit status"},
	TFS_GATE_OPTIONS,
	{'q', "quiet", NULL, "write the reports and print only what could not be judged"},
	{0},
};

const struct tfs_command tfs_command_run = {
	.name = "run",
	.usage = "[OPTIONS] [--] PROGRAM [ARGUMENT...]",
	.summary = "run a program with the shim preloaded, then report",
	.text = "Sets LD_PRELOAD and the TFSHIM_ variables for the program, "
		"passes signals on to the program, and makes reports when the program has ended, in whatever way. "
		"Exit status: the program's; 128 + n when signal n ended it; "
		"126 or 127 when it could not be run; 2 on misuse. "
		"With --check, if the program's is 0, that of 'tfshim check' on this run's recordings: "
		"1 a rule is broken, 3 no usable data was recorded. "
		"If the baseline cannot be read, the program is not started (3).",
	.options = options,
	.run = run,
};
