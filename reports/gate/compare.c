/* SPDX-License-Identifier: MIT */
/* Which recording of the baseline is that of a run? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/formats/text.h"
#include "reports/gate/entries.h"
#include "reports/gate/gate.h"

static bool same_text(const char *one, const char *other)
{
	return one && other && !strcmp(one, other);
}

/* Of the same program, GPU, number of processes and rank, in this order. */
static int alikeness(const struct tfs_model *before, const struct tfs_model *now)
{
	return 8 * same_text(before->program_name, now->program_name) +
	       4 * same_text(before->device, now->device) +
	       2 * (before->processes == now->processes) + (before->rank == now->rank);
}

/* The most alike of those that were not `tried`; of several the latest. NULL = none is left. */
static const struct tfs_model *next_best(
	const struct tfs_gate *gate, const struct tfs_model *now, bool *tried)
{
	size_t best = gate->before_count;
	int most = -1;

	for (size_t i = 0; i < gate->before_count; i++) {
		const struct tfs_model *before = &gate->before[i];
		const int alike = alikeness(before, now);

		if (!tried[i] &&
			(alike > most || (alike == most &&
						 before->start_ns > gate->before[best].start_ns))) {
			most = alike;
			best = i;
		}
	}
	if (best == gate->before_count)
		return NULL;
	tried[best] = true;
	return &gate->before[best];
}

static void say_not_comparable(const struct tfs_gate *gate, const struct tfs_comparison *comparison)
{
	static const char *const what[] = {[TFS_APART_PROGRAM] = "of another program",
		[TFS_APART_DEVICE] = "of another GPU",
		[TFS_APART_PROCESSES] = "of another number of processes"};
	const struct tfs_model *now = comparison->now, *before = comparison->before;
	char counts[2][16], which[512] = " of the same name";
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
	if (!same_text(is, was))
		snprintf(which, sizeof(which), " (%s, not %s)", was, is);
	tfs_text_line(stderr,
		"tfshim %s: %s: not comparable with %s, which is %s%s: judged without a baseline; "
		"record a baseline with this program, GPU and number of processes",
		gate->command->name, now->recording, before->recording, what[comparison->apart],
		which);
}

static bool same_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void say_compared(const struct tfs_gate *gate, const struct tfs_comparison *comparison)
{
	const struct tfs_model *now = comparison->now, *before = comparison->before;

	if (comparison->apart)
		say_not_comparable(gate, comparison);
	else if (same_file(now->recording, before->recording))
		tfs_entries_complain(gate->command, now->recording,
			"the baseline is this recording itself, so no finding can be new: record another run");
	else if (now->rank != before->rank)
		tfs_text_line(stderr,
			"tfshim %s: %s: the baseline has no recording of rank %u: "
			"compared with rank %u, %s",
			gate->command->name, now->recording, now->rank, before->rank,
			before->recording);
}

bool tfs_gate_compare(const struct tfs_gate *gate, const struct tfs_model *now,
	struct tfs_comparison *out_comparison)
{
	bool *tried = calloc(gate->before_count + 1, sizeof(*tried));
	const struct tfs_model *first = tried ? next_best(gate, now, tried) : NULL;

	for (const struct tfs_model *before = first; before; before = next_best(gate, now, tried)) {
		tfs_baseline_compare(now, before, out_comparison);
		if (!out_comparison->apart)
			break;
		tfs_baseline_finish(out_comparison);
	}
	if (first && out_comparison->apart)
		tfs_baseline_compare(now, first, out_comparison);
	free(tried);
	if (first)
		say_compared(gate, out_comparison);
	return first != NULL;
}
