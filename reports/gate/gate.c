/* SPDX-License-Identifier: MIT */
#include "reports/gate/gate.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/formats/text.h"
#include "reports/support/load.h"
#include "reports/support/newest.h"

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
		gate->command, "--fail-on %s: it takes error, warn, note or never", value);
}

static int set_rules(
	const struct tfs_gate *gate, const char *option, const char *value, const char **out_list)
{
	if (!*value || !tfs_rule_list_valid(value))
		return tfs_options_misuse(gate->command,
			"--%s %s: names no rule; 'tfshim rules' lists them", option, value);
	if (*out_list)
		return tfs_options_misuse(
			gate->command, "--%s is given twice; separate ids by commas", option);
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

static void complain(const struct tfs_gate *gate, const char *path, const char *what)
{
	tfs_text_line(stderr, "tfshim %s: %s: %s", gate->command->name, path, what);
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

static int load(const struct tfs_gate *gate, const char *path, struct tfs_model *out_model)
{
	struct tfs_load_options loading = {
		.judge = {.select = gate->select, .ignore = gate->ignore},
		.progress = true,
	};
	char *why;

	if (!tfs_load(path, &loading, out_model, &why))
		return 0;
	complain(gate, path, why ? why : "cannot be read");
	if (is_report(path))
		complain(gate, path,
			"reports are made of recordings, which are what is judged and compared: "
			"name the .tfs file");
	free(why);
	return TFS_EXIT_NO_DATA;
}

/* NULL, or why there is nothing to judge by. */
static const char *why_unusable(const struct tfs_model *model)
{
	if (!model->usable)
		return model->verdict;
	return model->cut ? "the file was cut short: record it again, or copy it whole" : NULL;
}

static int is_recording(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".tfs");
}

struct entry {
	char *path;
	bool named; /* by people, not by a folder */
};

struct list {
	struct entry *entries;
	size_t count;
};

static void list_add(struct list *list, char *path, bool named)
{
	if (!path)
		return;
	list->entries = tfs_grow(list->entries, list->count, sizeof(*list->entries));
	list->entries[list->count++] = (struct entry){path, named};
}

static void list_finish(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->entries[i].path);
	free(list->entries);
}

/* Of a folder's recordings all, or those that a later run does not replace. */
static void list_folder(const struct tfs_gate *gate, const char *folder, char **paths, size_t count,
	bool newest, struct list *list)
{
	bool *old = calloc(count + 1, sizeof(*old));
	size_t left = 0;

	if (old && newest)
		tfs_newest_find(paths, count, old);
	for (size_t i = 0; i < count; i++) {
		if (old && old[i]) {
			left++;
			free(paths[i]);
		} else {
			list_add(list, paths[i], false);
		}
	}
	if (left)
		tfs_text_line(stderr,
			"tfshim %s: %s: %zu recording%s of earlier runs left out; name a recording "
			"to judge it",
			gate->command->name, folder, left, left == 1 ? "" : "s");
	free(old);
}

/* A recording, or those in a folder; 0, or TFS_EXIT_NO_DATA when that has none. */
static int list_path(const struct tfs_gate *gate, const char *path, bool newest, struct list *list)
{
	struct dirent **entries;
	struct stat about;
	const size_t before = list->count;

	if (stat(path, &about) || !S_ISDIR(about.st_mode)) {
		list_add(list, strdup(path), true);
		return 0;
	}
	const int count = scandir(path, &entries, is_recording, alphasort);

	if (count < 0) {
		complain(gate, path, strerror(errno));
		return TFS_EXIT_NO_DATA;
	}
	char **paths = calloc((size_t)count + 1, sizeof(*paths));
	size_t found = 0;

	for (int i = 0; i < count; i++) {
		if (paths && asprintf(&paths[found], "%s/%s", path, entries[i]->d_name) >= 0)
			found++;
		free(entries[i]);
	}
	free(entries);
	list_folder(gate, path, paths, found, newest, list);
	free(paths);
	if (list->count > before)
		return 0;
	complain(gate, path,
		"no recordings (.tfs) in this folder; 'tfshim run -o FOLDER/NAME' makes them");
	return TFS_EXIT_NO_DATA;
}

/* A folder may hold recordings of helpers, which nothing is compared with. */
int tfs_gate_open(struct tfs_gate *gate)
{
	struct list list = {0};
	int status = gate->baseline ? list_path(gate, gate->baseline, false, &list) : 0;

	for (size_t i = 0; !status && i < list.count; i++) {
		gate->before = tfs_grow(gate->before, gate->before_count, sizeof(*gate->before));
		struct tfs_model *model = &gate->before[gate->before_count];

		status = load(gate, list.entries[i].path, model);
		if (status)
			break;
		const char *why = why_unusable(model);

		if (!why) {
			gate->before_count++;
			continue;
		}
		complain(gate, list.entries[i].path, why);
		tfs_model_finish(model);
	}
	list_finish(&list);
	if (gate->baseline && !status && !gate->before_count) {
		complain(gate, gate->baseline,
			"no baseline: record a run that trains, and keep its .tfs file");
		status = TFS_EXIT_NO_DATA;
	}
	return status;
}

static bool same_text(const char *one, const char *other)
{
	return one && other && !strcmp(one, other);
}

/* The recording of the same program, GPU, number of processes and rank; else what comes closest, in
 * this order; of several the latest. */
static const struct tfs_model *choose(const struct tfs_gate *gate, const struct tfs_model *now)
{
	const struct tfs_model *best = gate->before_count ? &gate->before[0] : NULL;
	int most = -1;

	for (size_t i = 0; i < gate->before_count; i++) {
		const struct tfs_model *before = &gate->before[i];
		const int alike = 8 * same_text(before->program_name, now->program_name) +
				  4 * same_text(before->device, now->device) +
				  2 * (before->processes == now->processes) +
				  (before->rank == now->rank);

		if (alike > most || (alike == most && before->start_ns > best->start_ns)) {
			most = alike;
			best = before;
		}
	}
	return best;
}

static void say_not_comparable(const struct tfs_gate *gate, const struct tfs_comparison *comparison)
{
	static const char *const what[] = {[TFS_APART_PROGRAM] = "of another program",
		[TFS_APART_DEVICE] = "of another GPU",
		[TFS_APART_PROCESSES] = "of another number of processes"};
	const struct tfs_model *now = comparison->now, *before = comparison->before;
	char counts[2][16];
	const char *is = now->program_name, *was = before->program_name;

	if (comparison->apart == TFS_APART_DEVICE) {
		is = now->device;
		was = before->device;
	} else if (comparison->apart == TFS_APART_PROCESSES) {
		snprintf(counts[0], sizeof(counts[0]), "%u", now->processes);
		snprintf(counts[1], sizeof(counts[1]), "%u", before->processes);
		is = counts[0];
		was = counts[1];
	}
	tfs_text_line(stderr,
		"tfshim %s: %s: not comparable with %s, which is %s (%s, not %s): judged without a "
		"baseline; record one with this program, GPU and number of processes",
		gate->command->name, now->recording, before->recording, what[comparison->apart],
		was, is);
}

static bool same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int judge(const struct tfs_gate *gate, const struct tfs_model *model)
{
	const struct tfs_model *before = choose(gate, model);
	size_t broken;

	if (!before)
		return tfs_gate_print(gate, model, NULL) ? TFS_GATE_BROKEN : TFS_GATE_CLEAN;
	struct tfs_comparison comparison;

	tfs_baseline_compare(model, before, &comparison);
	if (comparison.apart)
		say_not_comparable(gate, &comparison);
	else if (same_file(model->recording, before->recording))
		complain(gate, model->recording,
			"compared with itself, so that nothing can be new: record another run");
	broken = tfs_gate_print(gate, model, comparison.apart ? NULL : &comparison);
	tfs_baseline_finish(&comparison);
	return broken ? TFS_GATE_BROKEN : TFS_GATE_CLEAN;
}

/* Nothing that could put work on a device was called. */
static bool is_bystander(const struct tfs_model *model)
{
	static const char *const words[] = {
		"Launch", "Memcpy", "Memset", "cublas", "cudnn", "nccl", "curand", "Graph"};

	for (size_t i = 0; i < model->call_count; i++)
		for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			if (strstr(model->calls[i].function, words[j]))
				return false;
	return !model->steps.count;
}

/* 2 > 3 > 1 > 0 */
static int gravest(int a, int b)
{
	static const int order[] = {TFS_GATE_CLEAN, TFS_GATE_BROKEN, TFS_EXIT_NO_DATA};

	for (unsigned i = 3; i-- > 0;)
		if (a == order[i] || b == order[i])
			return order[i];
	return TFS_EXIT_MISUSE;
}

struct tally {
	int status;
	size_t judged;
};

static void judge_file(const struct tfs_gate *gate, const struct entry *entry, struct tally *tally)
{
	const char *path = entry->path;
	struct tfs_model model;
	int status = load(gate, path, &model);

	if (status) {
		tally->status = gravest(tally->status, status);
		return;
	}
	const char *why = why_unusable(&model);

	if (!why) {
		tally->judged++;
		status = judge(gate, &model);
	} else if (!entry->named && !model.cut && is_bystander(&model)) {
		tfs_text_line(stderr,
			"tfshim %s: %s: %s put no work on a device, and is not judged",
			gate->command->name, path, model.program_name);
	} else {
		tfs_text_line(stderr,
			"tfshim %s: %s: no usable data: %s; its report ('tfshim report') says what "
			"was not seen, and 'tfshim doctor PROGRAM' why",
			gate->command->name, path, why);
		status = TFS_EXIT_NO_DATA;
	}
	tally->status = gravest(tally->status, status);
	tfs_model_finish(&model);
}

int tfs_gate_judge(struct tfs_gate *gate, char *const *paths, size_t count)
{
	struct tally tally = {0};
	struct list list = {0};

	for (size_t i = 0; i < count; i++)
		tally.status = gravest(tally.status, list_path(gate, paths[i], true, &list));
	for (size_t i = 0; gate->found && i < list.count; i++)
		list.entries[i].named = false;
	for (size_t i = 0; i < list.count; i++)
		judge_file(gate, &list.entries[i], &tally);
	list_finish(&list);
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
