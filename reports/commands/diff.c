/* SPDX-License-Identifier: MIT */
/* Two runs of one program: what was fixed between them, what is new, and what a step takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/formats/text.h"
#include "reports/gate/baseline.h"
#include "reports/gate/entries.h"
#include "reports/model/words.h"
#include "reports/support/load.h"
#include "reports/support/options.h"

extern const struct tfs_command tfs_command_diff;

/* The runs in the order of the command line, compared both ways. */
struct diff {
	struct tfs_model before, now;
	struct tfs_comparison later;   /* how the findings of `now` stand to `before` */
	struct tfs_comparison earlier; /* and those of `before` to `now` */
	struct tfs_region region;
};

/* The difference of two times that have nothing to do with each other. */
static const char *difference(struct tfs_region *region, const struct tfs_model_time *before,
	const struct tfs_model_time *now)
{
	const double ns = before->ns - now->ns;
	const double less = hypot(before->ns - before->low_ns, now->high_ns - now->ns);
	const double more = hypot(before->high_ns - before->ns, now->ns - now->low_ns);

	if (isnan(less) || isnan(more))
		return "no interval: one step";
	if (ns - less <= 0 && ns + more >= 0)
		return "no difference beyond the 95 % intervals";
	if (ns > 0)
		return tfs_region_print(region, "%s shorter, by %s (%s)",
			tfs_words_share(region, ns / before->ns), tfs_words_time(region, ns),
			tfs_words_span(region, ns - less, ns + more));
	return tfs_region_print(region, "%s longer, by %s (%s)",
		tfs_words_share(region, -ns / before->ns), tfs_words_time(region, -ns),
		tfs_words_span(region, -ns - more, -ns + less));
}

static void print_time(struct diff *diff, const char *name, const struct tfs_model_time *before,
	const struct tfs_model_time *now)
{
	struct tfs_region *region = &diff->region;

	if (before->why || now->why)
		tfs_text_line(stdout, "  %-11s not measurable: %s", name,
			before->why ? before->why : now->why);
	else
		tfs_text_line(stdout, "  %-11s %s \xe2\x86\x92 %s: %s", name,
			tfs_words_time(region, before->ns), tfs_words_time(region, now->ns),
			difference(region, before, now));
}

static void print_finding(struct diff *diff, const struct tfs_model *model,
	const struct tfs_model_finding *finding, const char *what)
{
	struct tfs_region *region = &diff->region;

	tfs_text_line(stdout, "  %s %s  %s  %s%s%s%s", finding->rule->id, finding->rule->slug,
		tfs_words_place(region, &finding->place), finding->call ? finding->call : "", what,
		finding->cost.ns > 0 && !model->per_run ? "  " : "",
		finding->cost.ns > 0 && !model->per_run
			? tfs_region_print(region, "%s per step%s",
				  tfs_words_time(region, finding->cost.ns),
				  model->simulated ? ", modelled" : "")
			: "");
}

/* Whether a rule's silence about a run means that the run does not break it. */
static bool is_judged(const struct tfs_model *model, const struct tfs_rule *rule)
{
	for (size_t i = 0; i < model->rule_count; i++)
		if (model->rules[i].rule == rule)
			return model->rules[i].state != TFS_STATE_NOT_MEASURABLE &&
			       model->rules[i].state != TFS_STATE_WAIVED;
	return false;
}

/* What one run has and the other does not; `sure` asks for those that the other could have. */
static size_t print_missing(
	struct diff *diff, const struct tfs_comparison *comparison, const char *title, bool sure)
{
	const struct tfs_model *model = comparison->now, *other = comparison->before;
	const bool shorter = tfs_baseline_shorter(other, model);
	size_t count = 0;

	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[i];
		const bool known = !shorter && is_judged(other, finding->rule);

		if (tfs_baseline_standing(comparison, finding).standing != TFS_STANDING_NEW ||
			known != sure)
			continue;
		if (!count++)
			printf("%s\n", title);
		print_finding(diff, model, finding, "");
	}
	return count;
}

static size_t print_changed(struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->now.finding_count; i++) {
		const struct tfs_model_finding *finding = &diff->now.findings[i];
		const struct tfs_standing_of of = tfs_baseline_standing(&diff->later, finding);

		if (of.standing != TFS_STANDING_WORSE && of.standing != TFS_STANDING_SCALED)
			continue;
		if (!count++)
			puts("changed");
		print_finding(diff, &diff->now, finding,
			tfs_region_print(&diff->region,
				"  %s \xe2\x86\x92 %s, %s \xe2\x86\x92 %s per step",
				tfs_words_calls(&diff->region, of.calls_before),
				tfs_words_calls(&diff->region, of.calls),
				tfs_words_bytes(&diff->region, of.bytes_before),
				tfs_words_bytes(&diff->region, of.bytes)));
	}
	return count;
}

static void print(struct diff *diff)
{
	size_t count = 0;

	printf("step time%s\n", diff->before.simulated || diff->now.simulated ? ", modelled" : "");
	print_time(diff, "as written", &diff->before.headline.as_written,
		&diff->now.headline.as_written);
	print_time(diff, "now", &diff->before.headline.now, &diff->now.headline.now);
	count += print_missing(diff, &diff->earlier, "fixed", true);
	count += print_missing(diff, &diff->earlier,
		"not known to be fixed: not judged, or not reached, in the second run", false);
	count += print_missing(diff, &diff->later, "new", true);
	count += print_missing(diff, &diff->later,
		"perhaps new: not judged, or not reached, in the first run", false);
	count += print_changed(diff);
	if (!count)
		puts("the findings are the same");
}

static int load(const char *path, struct tfs_model *out_model)
{
	const struct tfs_load_options options = {.progress = true};
	char *why;

	if (!tfs_load(path, &options, out_model, &why))
		return 0;
	tfs_entries_complain(&tfs_command_diff, path, why ? why : "cannot be read");
	free(why);
	return TFS_EXIT_NO_DATA;
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

static int compare(struct diff *diff, const char *path)
{
	static const char *const why[] = {[TFS_APART_NOT] = "",
		[TFS_APART_PROGRAM] = "not comparable: of another program",
		[TFS_APART_DEVICE] = "not comparable: of another GPU",
		[TFS_APART_PROCESSES] = "not comparable: of another number of processes"};

	tfs_baseline_compare(&diff->now, &diff->before, &diff->later);
	tfs_baseline_compare(&diff->before, &diff->now, &diff->earlier);
	if (diff->later.apart)
		tfs_entries_complain(&tfs_command_diff, path, why[diff->later.apart]);
	else
		print(diff);
	const int status = diff->later.apart ? TFS_EXIT_NO_DATA : 0;

	tfs_baseline_finish(&diff->later);
	tfs_baseline_finish(&diff->earlier);
	return status;
}

static int run(int argc, char **argv)
{
	struct diff diff = {0};
	int first;
	int status = tfs_options_parse(&tfs_command_diff, argc, argv, 0, NULL, NULL, &first);

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
	tfs_region_finish(&diff.region);
	return status;
}

const struct tfs_command tfs_command_diff = {
	.name = "diff",
	.usage = "A B",
	.summary = "compare two recordings of one program",
	.text = "Prints what the second run has fixed, what is new in it and what has changed, and the "
		"step time of both with the 95 % interval of the difference. "
		"Findings are matched as 'tfshim check --baseline' matches them. "
		"Exit status: 0 done, 2 misuse, 3 a recording cannot be read or cannot be judged, or the two are not comparable.",
	.run = run,
};
