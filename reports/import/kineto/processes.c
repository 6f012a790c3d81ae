/* SPDX-License-Identifier: MIT */
#include "reports/import/kineto/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/import/collected/choice.h"
#include "reports/import/collected/collected.h"

#define MOST_PROCESSES 256u
#define MOST_NAMED 8u

bool tfs_kineto_is_own(const struct tfs_kineto_processes *processes, int64_t pid)
{
	return !processes->choice->by_process || (uint64_t)pid == processes->choice->number;
}

/* NULL without memory, or where there are too many. */
static struct tfs_kineto_process *find(struct tfs_kineto_processes *processes, int64_t pid)
{
	for (size_t i = processes->count; i-- > 0;)
		if (processes->items[i].pid == pid)
			return &processes->items[i];
	if (processes->count == MOST_PROCESSES)
		return NULL;
	struct tfs_kineto_process *process =
		tfs_collected_more(&processes->items, &processes->count, sizeof(*processes->items));
	if (process)
		process->pid = pid;
	return process;
}

int tfs_kineto_see_call(struct tfs_kineto_processes *processes, int64_t pid,
	const struct tfs_kineto_foreign *call, bool *out_own)
{
	struct tfs_kineto_process *process = find(processes, pid);

	if (!process && processes->count < MOST_PROCESSES)
		return -ENOMEM;
	if (process)
		process->calls++;
	*out_own = tfs_kineto_is_own(processes, pid);
	if (*out_own)
		return 0;
	struct tfs_kineto_foreign *foreign = tfs_collected_more(
		&processes->foreign, &processes->foreign_count, sizeof(*processes->foreign));
	if (!foreign)
		return -ENOMEM;
	*foreign = *call;
	return 0;
}

int tfs_kineto_name_process(struct tfs_kineto_processes *processes, int64_t pid, uint32_t name)
{
	struct tfs_kineto_process *process = find(processes, pid);

	if (!process)
		return processes->count < MOST_PROCESSES ? -ENOMEM : 0;
	if (!process->name)
		process->name = name;
	return 0;
}

static size_t count_calling(const struct tfs_kineto_processes *processes)
{
	size_t count = 0;

	for (size_t i = 0; i < processes->count; i++)
		count += processes->items[i].calls > 0;
	return count;
}

/* One line that says what can be asked for. */
static int list(const struct tfs_kineto_processes *processes, const struct tfs_collected *collected,
	char *out_why, size_t bytes)
{
	const struct tfs_choice *choice = processes->choice;
	const size_t calling = count_calling(processes);
	FILE *file = fmemopen(out_why, bytes, "w");
	size_t said = 0;

	if (!file)
		return -ENOMEM;
	if (choice->by_rank)
		fprintf(file, "it does not say which process is of which rank; ");
	if (choice->by_process)
		fprintf(file, "it holds no process %" PRIu64 "; ", choice->number);
	fprintf(file, "it holds %zu %s; name one:", calling,
		calling == 1 ? "process" : "processes");
	for (size_t i = 0; i < processes->count && said < MOST_NAMED; i++) {
		const struct tfs_kineto_process *process = &processes->items[i];

		if (process->calls)
			fprintf(file, "%s %s:%" PRId64 " (%s%scalls: %" PRIu64 ")",
				said++ ? "," : "", choice->file, process->pid,
				tfs_texts_text(&collected->names, process->name),
				process->name ? ", " : "", process->calls);
	}
	if (calling > said)
		fprintf(file, " and %zu more", calling - said);
	fclose(file);
	return -EILSEQ;
}

/* The process that is read; NULL where there is none, or more than one. */
static const struct tfs_kineto_process *chosen(const struct tfs_kineto_processes *processes)
{
	const struct tfs_kineto_process *found = NULL;

	for (size_t i = 0; i < processes->count; i++) {
		const struct tfs_kineto_process *process = &processes->items[i];

		if (!process->calls || !tfs_kineto_is_own(processes, process->pid))
			continue;
		if (found)
			return NULL;
		found = process;
	}
	return found;
}

int tfs_kineto_settle(const struct tfs_kineto_processes *processes, struct tfs_collected *collected,
	char *out_why, size_t why_bytes)
{
	const struct tfs_choice *choice = processes->choice;
	const struct tfs_kineto_process *process = chosen(processes);
	const size_t calling = count_calling(processes);

	if (!process && (calling > 1 || (choice->by_process && calling)))
		return list(processes, collected, out_why, why_bytes);
	if (choice->by_rank && !(processes->ranked && collected->rank == choice->number)) {
		if (processes->ranked)
			snprintf(out_why, why_bytes, "it is of rank %" PRIu64 ", not %" PRIu64,
				collected->rank, choice->number);
		else
			snprintf(out_why, why_bytes, "it does not say which rank it is of");
		return -ENODATA;
	}
	if (process) {
		collected->pid = process->pid;
		collected->program = process->name ? process->name : collected->program;
	}
	const int err = processes->foreign_count ? tfs_kineto_share(collected, processes->foreign,
							   processes->foreign_count)
						 : 0;
	if (err == -EILSEQ)
		snprintf(out_why, why_bytes,
			"it holds several processes, and does not say whose work is whose");
	return err;
}

void tfs_kineto_processes_finish(struct tfs_kineto_processes *processes)
{
	free(processes->items);
	free(processes->foreign);
	processes->items = NULL;
	processes->foreign = NULL;
}
