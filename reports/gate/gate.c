/* SPDX-License-Identifier: MIT */
#include "reports/gate/gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/text.h"
#include "reports/gate/entries.h"
#include "reports/gate/ranks.h"
#include "reports/model/words.h"
#include "reports/support/load.h"
#include "reports/support/must.h"

#define FAIL_NEVER 3

static int set_level(struct tfs_gate *gate, const char *value)
{
	static const char *const names[] = {"note", "warn", "error", "never"};

	for (unsigned i = 0; i <= FAIL_NEVER; i++) {
		if (!strcmp(names[i], value)) {
			gate->fail_on = i;
			return 0;
		}
	}
	return tfs_options_misuse(
		gate->command, "--fail-on %s: choose error, warn, note or never", value);
}

static int set_rules(
	const struct tfs_gate *gate, const char *option, const char *value, const char **out_list)
{
	if (!*value || !tfs_load_knows_rules(value))
		return tfs_options_misuse(gate->command,
			"--%s %s: unknown rule; 'tfshim rules' lists the rules", option, value);
	if (*out_list)
		return tfs_options_misuse(gate->command,
			"--%s is given twice; give it once, with comma-separated ids", option);
	*out_list = value;
	return 0;
}

int tfs_gate_option(struct tfs_gate *gate, char key, const char *value)
{
	switch (key) {
	case 'f':
		return set_level(gate, value);
	case 's':
		return set_rules(gate, "select", value, &gate->select);
	case 'i':
		return set_rules(gate, "ignore", value, &gate->ignore);
	default:
		if (gate->baseline)
			return tfs_options_misuse(gate->command,
				"--baseline is given twice; name a folder for several recordings");
		gate->baseline = value;
		return 0;
	}
}

#define BASELINE "baseline "

/* `role` is BASELINE, or "" of what is judged. */
static void complain(
	const struct tfs_gate *gate, const char *role, const char *path, const char *what)
{
	tfs_text_line(stderr, "tfshim %s: %s%s: %s", gate->command->name, role, path, what);
}

/* Not of the recording, but of what is made of it. */
static bool is_report(const char *path)
{
	static const char *const suffixes[] = {".txt", ".json", ".html"};
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i]))
			return true;
	return false;
}

static int load(const struct tfs_gate *gate, const char *role, const char *path,
	struct tfs_model *out_model)
{
	struct tfs_load_options loading = {
		.select = gate->select,
		.ignore = gate->ignore,
		.progress = true,
	};
	char *why;

	int err = tfs_load(path, &loading, out_model, &why);
	if (!err)
		return 0;
	complain(gate, role, path, why ? why : "cannot be read");
	if (err == -EBADMSG && is_report(path))
		complain(gate, role, path,
			"this is a report; name the recording (.tfs) that it was made from");
	free(why);
	return tfs_load_status(err);
}

/* NULL, or why there is nothing to judge by. */
static const char *why_unusable(const struct tfs_model *model)
{
	if (!model->usable)
		return model->verdict;
	return model->cut ? "the file is truncated: record the run again, or copy the whole file"
			  : NULL;
}

/* A folder may hold recordings of helpers, which nothing is compared with. */
int tfs_gate_open(struct tfs_gate *gate)
{
	struct tfs_entries list = {0};
	int status =
		gate->baseline ? tfs_entries_add(&list, gate->command, gate->baseline, false) : 0;

	for (size_t i = 0; !status && i < list.count; i++) {
		gate->before =
			tfs_must_grow(gate->before, gate->before_count, sizeof(*gate->before));
		struct tfs_model *model = &gate->before[gate->before_count];

		status = load(gate, BASELINE, list.entries[i].path, model);
		if (status)
			break;
		const char *why = why_unusable(model);

		if (!why) {
			gate->before_count++;
			continue;
		}
		complain(gate, BASELINE, list.entries[i].path, why);
		if (model->cut)
			status = TFS_EXIT_NO_DATA;
		tfs_model_finish(model);
	}
	tfs_entries_finish(&list);
	if (gate->baseline && !status && !gate->before_count) {
		complain(gate, BASELINE, gate->baseline,
			"not usable as a baseline: record a run that trains, and keep its .tfs file");
		status = TFS_EXIT_NO_DATA;
	}
	return status;
}

static int judge(const struct tfs_gate *gate, const struct tfs_model *model)
{
	struct tfs_comparison comparison;
	struct tfs_arena arena = {0};
	size_t broken;

	if (!model->finished)
		tfs_text_line(stderr,
			"tfshim %s: %s: %s was ended from outside or by _exit: "
			"judged as far as it went, which is %s",
			gate->command->name, model->recording, model->program_name,
			tfs_words_number(&arena, (double)model->steps.count, "step", "steps"));
	tfs_must_finish(&arena);
	if (!tfs_gate_compare(gate, model, &comparison))
		return tfs_gate_print(gate, model, NULL) ? TFS_GATE_BROKEN : TFS_GATE_CLEAN;
	broken = tfs_gate_print(gate, model, comparison.apart ? NULL : &comparison);
	tfs_baseline_finish(&comparison);
	return broken ? TFS_GATE_BROKEN : TFS_GATE_CLEAN;
}

/* Whether another recording is of a later run of the same program. */
static bool is_replaced(
	const struct tfs_gate *gate, const struct tfs_model *model, const char *replaced)
{
	const struct tfs_load_options loading = {.select = gate->select, .ignore = gate->ignore};
	struct tfs_comparison comparison;
	struct tfs_model later;
	char *why;
	bool same = false;

	if (!replaced || tfs_load(replaced, &loading, &later, &why))
		return false;
	if (!why_unusable(&later)) {
		tfs_baseline_compare(&later, model, &comparison);
		same = tfs_baseline_same_steps(&comparison);
		tfs_baseline_finish(&comparison);
	}
	tfs_model_finish(&later);
	return same;
}

/* 2 > 3 > 1 > 0 */
static int gravest(int a, int b)
{
	static const int order[] = {
		TFS_EXIT_MISUSE, TFS_EXIT_NO_DATA, TFS_GATE_BROKEN, TFS_GATE_CLEAN};
	unsigned i = 0;

	while (a != order[i] && b != order[i])
		i++;
	return order[i];
}

struct tally {
	int status;
	size_t judged;
	struct tfs_ranks ranks; /* of what nobody named */
};

#define MARK_STEPS                                                                                 \
	"mark where each step begins (TFSHIM_STEP() from shim/tfshim.h, or the option step_range)"

static void say_unusable(const struct tfs_gate *gate, const char *path,
	const struct tfs_model *model, const char *why)
{
	const char *name = gate->command->name;

	if (model->steps.iterations && !model->usable)
		tfs_text_line(stderr,
			"tfshim %s: %s: %s, which passes or fails no gate; " MARK_STEPS
			" and record again",
			name, path, why);
	else if (model->per_run && model->works && !model->cut)
		tfs_text_line(stderr,
			"tfshim %s: %s: no usable data: no training steps were found; " MARK_STEPS
			", and record again",
			name, path);
	else
		tfs_text_line(stderr,
			"tfshim %s: %s: no usable data: %s; "
			"its report ('tfshim report') lists what was not recorded, and 'tfshim doctor PROGRAM' says why",
			name, path, why);
}

static void judge_file(
	const struct tfs_gate *gate, const struct tfs_entry *entry, struct tally *tally)
{
	const char *path = entry->path;
	struct tfs_model model;
	int status = load(gate, "", path, &model);

	if (status) {
		tally->status = gravest(tally->status, status);
		return;
	}
	const char *why = why_unusable(&model);
	const bool bystander = !entry->named && !model.cut && !model.works && !model.steps.count;

	if (!why && is_replaced(gate, &model, entry->replaced)) {
		complain(gate, "", path,
			"left out: a recording of an earlier run; name the recording to judge it");
	} else if (!why) {
		tally->judged++;
		status = judge(gate, &model);
	} else if (bystander) {
		tfs_text_line(stderr, "tfshim %s: %s: not judged: %s put no work on a GPU",
			gate->command->name, path, model.program_name);
	} else {
		say_unusable(gate, path, &model, why);
		status = TFS_EXIT_NO_DATA;
	}
	if (!entry->named && (!why || !bystander))
		tfs_ranks_add(&tally->ranks, &model);
	tally->status = gravest(tally->status, status);
	tfs_model_finish(&model);
}

/* A run under `tfshim run` may be one machine's share of its job, or one of its ranks. */
static bool may_be_elsewhere(const struct tfs_gate *gate, const struct tfs_ranks_missing *missing)
{
	return gate->found && (gate->own_rank || tfs_ranks_are_a_share(missing));
}

static void judge_ranks(const struct tfs_gate *gate, struct tally *tally)
{
	struct tfs_ranks_missing missing;
	size_t cursor = 0;

	while (tfs_ranks_next_missing(&tally->ranks, &cursor, &missing)) {
		if (may_be_elsewhere(gate, &missing))
			continue;
		tfs_text_line(stderr,
			"tfshim %s: no recording of rank %u: %u of the job's %u processes %s here; "
			"name recordings to judge only these",
			gate->command->name, missing.rank, missing.present, missing.processes,
			missing.present == 1 ? "is" : "are");
		tally->status = gravest(tally->status, TFS_EXIT_NO_DATA);
	}
}

int tfs_gate_judge(struct tfs_gate *gate, char *const *paths, size_t count)
{
	struct tally tally = {0};
	struct tfs_entries list = {0};

	for (size_t i = 0; i < count; i++)
		tally.status = gravest(
			tally.status, tfs_entries_add(&list, gate->command, paths[i], true));
	for (size_t i = 0; i < list.count; i++) {
		list.entries[i].named &= !gate->found;
		judge_file(gate, &list.entries[i], &tally);
	}
	judge_ranks(gate, &tally);
	tfs_entries_finish(&list);
	tfs_ranks_finish(&tally.ranks);
	/* Who judged nothing has not passed. */
	if (!tally.judged)
		tally.status = gravest(tally.status, TFS_EXIT_NO_DATA);
	return tally.status;
}

void tfs_gate_close(struct tfs_gate *gate)
{
	for (size_t i = 0; i < gate->before_count; i++)
		tfs_model_finish(&gate->before[i]);
	free(gate->before);
	gate->before = NULL;
	gate->before_count = 0;
}
