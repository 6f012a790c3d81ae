/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/baseline.h"
#include "reports/colour.h"
#include "reports/load.h"
#include "reports/options.h"
#include "reports/text.h"
#include "reports/words.h"

#define EXIT_CLEAN 0
#define EXIT_BROKEN 1
#define FAIL_NEVER 3

extern const struct tfs_command tfs_command_check;

struct check_options {
	const char *baseline;
	const char *select;
	const char *ignore;
	unsigned fail_on; /* enum tfs_level, or FAIL_NEVER */
	enum tfs_colour colour;
	bool quiet;
};

static int set_level(struct check_options *options, const char *value)
{
	static const char *const names[] = {"note", "warn", "error", "never"};
	for (unsigned i = 0; i < 4; i++) {
		if (!strcmp(names[i], value)) {
			options->fail_on = i;
			return 0;
		}
	}
	return tfs_options_misuse(
		&tfs_command_check, "--fail-on %s: it takes error, warn, note or never", value);
}

static int set_rules(const char *option, const char *value, const char **out_list)
{
	if (!*value || !tfs_rule_list_valid(value))
		return tfs_options_misuse(&tfs_command_check,
			"--%s %s: names no rule; 'tfshim rules' lists them", option, value);
	if (*out_list)
		return tfs_options_misuse(
			&tfs_command_check, "--%s is given twice; separate ids by commas", option);
	*out_list = value;
	return 0;
}

static int apply(void *state, char key, const char *value)
{
	struct check_options *options = state;
	switch (key) {
	case 'b':
		options->baseline = value;
		return 0;
	case 'f':
		return set_level(options, value);
	case 's':
		return set_rules("select", value, &options->select);
	case 'i':
		return set_rules("ignore", value, &options->ignore);
	case 'q':
		options->quiet = true;
		return 0;
	default:
		if (!tfs_colour_parse(value, &options->colour))
			return tfs_options_misuse(
				&tfs_command_check, "--color %s: not a choice", value);
		return 0;
	}
}

static int load(const char *path, const struct check_options *options, struct tfs_model *out_model)
{
	struct tfs_load_options loading = {
		.judge = {.select = options->select, .ignore = options->ignore},
		.progress = true,
	};
	char *why;
	int error = tfs_load(path, &loading, out_model, &why);
	if (!error)
		return 0;
	if (error == -EINVAL && why && strstr(why, "judged")) {
		free(why);
		return tfs_options_misuse(&tfs_command_check, "a rule id is not known");
	}
	tfs_text_line(stderr, "tfshim check: %s: %s", path, why ? why : "cannot be read");
	free(why);
	return TFS_EXIT_NO_DATA;
}

static int usable(const struct tfs_model *model, const char *path)
{
	const char *why = NULL;
	if (!model->usable)
		why = model->verdict;
	else if (model->cut)
		why = "the file was cut short";
	if (!why)
		return 0;
	tfs_text_line(stderr, "tfshim check: %s: no usable data: %s", path, why);
	return TFS_EXIT_NO_DATA;
}

static void print_finding(const struct tfs_model *model, const struct tfs_model_finding *finding,
	const struct tfs_paint *paint, bool known, struct tfs_region *region)
{
	printf("%s%s %-5s%s %s %s  ", tfs_paint_level(paint, finding->level),
		tfs_words_sign(finding->level), tfs_words_level(finding->level), paint->reset,
		finding->rule->id, finding->rule->slug);
	tfs_text_put(stdout, tfs_words_place(region, &finding->place));
	if (finding->call) {
		fputs("  ", stdout);
		tfs_text_put(stdout, finding->call);
	}
	printf("  %s per step", tfs_words_count(region, finding->count_per_step));
	if (finding->cost.ns > 0)
		printf(", costs %s%s", tfs_words_time(region, finding->cost.ns),
			model->simulated ? " (modelled)" : "");
	puts(known ? "  [known]" : "");
}

static void print_difference(const struct tfs_difference *difference, const struct tfs_paint *paint,
	struct tfs_region *region)
{
	const struct tfs_model_call *now = difference->now;
	const struct tfs_model_call *before = difference->before;
	const char *was = tfs_words_count(region, before ? before->per_step : 0);
	const char *is = tfs_words_count(region, now->per_step);

	printf("%sx %s%s  ", paint->error, difference->kind == TFS_DIFFERENCE_NEW ? "new " : "more",
		paint->reset);
	tfs_text_put(stdout, tfs_words_place(region, &now->place));
	fputs("  ", stdout);
	tfs_text_put(stdout, now->function);
	if (difference->kind == TFS_DIFFERENCE_BYTES)
		printf("  %s per step, %s before\n", tfs_words_bytes(region, now->bytes_per_step),
			tfs_words_bytes(region, before->bytes_per_step));
	else if (difference->kind == TFS_DIFFERENCE_CALLS)
		printf("  calls per step: %s, %s before\n", is, was);
	else
		printf("  calls per step: %s, not in the baseline\n", is);
}

/* How many findings break the gate; all are printed, those of the baseline marked. */
static size_t judge_findings(const struct check_options *options, const struct tfs_model *model,
	const struct tfs_model *baseline, const struct tfs_paint *paint, struct tfs_region *region)
{
	size_t broken = 0;
	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];
		bool known = baseline && tfs_baseline_knows(baseline, finding);
		if (!options->quiet)
			print_finding(model, finding, paint, known, region);
		if (!known && (unsigned)finding->level >= options->fail_on)
			broken++;
	}
	return broken;
}

/* With a list of rules, only call sites that these rules point at count. */
static bool concerns(const struct check_options *options, const struct tfs_model *model,
	const struct tfs_model_call *call)
{
	if (!options->select)
		return true;
	for (size_t i = 0; i < model->finding_count; i++) {
		if (model->findings[i].place.key == call->place.key &&
			(!model->findings[i].call ||
				!strcmp(model->findings[i].call, call->function)))
			return true;
	}
	return false;
}

static size_t judge_differences(const struct check_options *options, const struct tfs_model *model,
	const struct tfs_model *baseline, const struct tfs_paint *paint, struct tfs_region *region)
{
	struct tfs_difference *differences;
	size_t count = tfs_baseline_compare(model, baseline, &differences);
	size_t broken = 0;
	for (size_t i = 0; i < count; i++) {
		if (!concerns(options, model, differences[i].now))
			continue;
		if (!options->quiet)
			print_difference(&differences[i], paint, region);
		broken++;
	}
	free(differences);
	return options->fail_on == FAIL_NEVER ? 0 : broken;
}

static int judge(const struct check_options *options, const char *path,
	const struct tfs_model *model, const struct tfs_model *baseline)
{
	const struct tfs_paint *paint = tfs_colour_choose(options->colour, stdout);
	struct tfs_region region = {0};
	size_t broken = judge_findings(options, model, baseline, paint, &region);
	size_t worse = baseline ? judge_differences(options, model, baseline, paint, &region) : 0;

	if (!options->quiet) {
		bool clean = !broken && !worse;
		printf("%s%s%s  ", clean ? paint->good : paint->error, clean ? "clean" : "broken",
			paint->reset);
		tfs_text_put(stdout, path);
		printf(": findings: %zu, of which break the gate: %zu", model->finding_count,
			broken);
		if (baseline)
			printf("; call sites worse than the baseline: %zu", worse);
		putchar('\n');
	}
	tfs_region_finish(&region);
	return broken || worse ? EXIT_BROKEN : EXIT_CLEAN;
}

/* 2 > 3 > 1 > 0 */
static int gravest(int a, int b)
{
	static const int order[] = {0, 1, 3, 2};
	for (unsigned i = 4; i-- > 0;) {
		if (a == order[i] || b == order[i])
			return order[i];
	}
	return TFS_EXIT_MISUSE;
}

static int check_file(
	const struct check_options *options, const char *path, const struct tfs_model *baseline)
{
	struct tfs_model model;
	int status = load(path, options, &model);
	if (status)
		return status;
	status = usable(&model, path);
	if (!status)
		status = judge(options, path, &model, baseline);
	tfs_model_finish(&model);
	return status;
}

static int run(int argc, char **argv)
{
	struct check_options options = {.fail_on = TFS_LEVEL_ERROR};
	struct tfs_model baseline = {0};
	int first;
	int status = tfs_options_parse(&tfs_command_check, argc, argv, 0, apply, &options, &first);
	if (status)
		return status < 0 ? 0 : status;
	if (!argv[first])
		return tfs_options_misuse(&tfs_command_check, "which recording?");
	bool compares = false;
	if (options.baseline) {
		status = load(options.baseline, &options, &baseline);
		compares = !status;
		if (compares)
			status = usable(&baseline, options.baseline);
	}
	for (int i = first; argv[i]; i++)
		status =
			gravest(status, check_file(&options, argv[i], compares ? &baseline : NULL));
	tfs_model_finish(&baseline);
	return status;
}

static const struct tfs_option options[] = {
	{'b', "baseline", "OLD.tfs",
		"known findings pass; more calls or bytes per step at a call site, or a new call "
		"site, "
		"do not"},
	{'f', "fail-on", "LEVEL", "error (default), warn, note or never"},
	{'s', "select", "IDS", "only these rules: ids, slugs or beginnings of ids, by commas"},
	{'i', "ignore", "IDS", "all rules but these"},
	{'q', "quiet", NULL, "only the exit status"},
	{'0', "color", "WHEN", "auto (default), always or never"},
	{0},
};

const struct tfs_command tfs_command_check = {
	.name = "check",
	.usage = "[OPTIONS] FILE.tfs...",
	.summary = "the gate for CI: fail when a rule is broken",
	.text = "Exit status: 0 clean, 1 a rule is broken, 2 misuse (an unknown rule id included), "
		"3 no "
		"usable data; if several apply, 2 before 3 before 1.",
	.options = options,
	.run = run,
};
