/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "reports/import/collected/choice.h"
#include "reports/import/nsight/nsight_part.h"

#define MOST_PROCESSES 256u
#define MOST_NAMED 8u

struct process {
	int64_t number;
	uint64_t calls, work;
	bool ranked;
	uint64_t rank;
};

struct processes {
	struct process items[MOST_PROCESSES];
	uint32_t count, latest;
	bool tables; /* there was one with something of a process */
	bool common; /* work of which its table does not say whose it is */
};

static struct process *find(struct processes *processes, int64_t number)
{
	struct process *items = processes->items;

	if (processes->count && items[processes->latest].number == number)
		return &items[processes->latest];
	for (uint32_t i = 0; i < processes->count; i++)
		if (items[i].number == number)
			return &items[processes->latest = i];
	if (processes->count == MOST_PROCESSES)
		return NULL;
	processes->latest = processes->count++;
	items[processes->latest] = (struct process){.number = number};
	return &items[processes->latest];
}

static int count_rows(struct tfs_nsight *nsight, struct processes *processes, const char *table,
	const char *column, bool calls)
{
	const char *const columns[] = {column, NULL};
	struct tfs_rows rows;
	int64_t number;

	int row = tfs_rows_open(&rows, &nsight->database, table, columns);
	if (row == -ENOENT)
		return tfs_rows_close(&rows, 0);
	if (!row && tfs_rows_lack(&rows, 0))
		processes->common = true;
	while (!row && (row = tfs_rows_next(&rows)) > 0) {
		processes->tables = true;
		struct process *process = tfs_rows_number(&rows, 0, &number)
						  ? find(processes, TFS_NSIGHT_PROCESS(number))
						  : NULL;
		if (process && calls)
			process->calls++;
		else if (process)
			process->work++;
		row = 0;
	}
	return tfs_rows_close(&rows, row);
}

static int count_all(struct tfs_nsight *nsight, struct processes *processes)
{
	static const char *const work[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
		"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};

	int err = count_rows(nsight, processes, "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid", true);
	for (size_t i = 0; i < sizeof(work) / sizeof(*work) && !err; i++)
		err = count_rows(nsight, processes, work[i], "globalPid", false);
	return err;
}

/* Nsight knows the ranks of MPI's programs. */
static int find_ranks(struct tfs_nsight *nsight, struct processes *processes)
{
	static const char *const columns[] = {"globalTid", "rank", NULL};
	struct tfs_rows rows;
	int64_t number, rank;

	int row = tfs_rows_open(&rows, &nsight->database, "MPI_RANKS", columns);
	if (row == -ENOENT)
		return tfs_rows_close(&rows, 0);
	while (!row && (row = tfs_rows_next(&rows)) > 0) {
		row = 0;
		if (!tfs_rows_number(&rows, 0, &number) || !tfs_rows_number(&rows, 1, &rank) ||
			rank < 0 || rank > UINT16_MAX)
			continue;
		for (uint32_t i = 0; i < processes->count; i++)
			if (processes->items[i].number == TFS_NSIGHT_PROCESS(number)) {
				processes->items[i].ranked = true;
				processes->items[i].rank = (uint64_t)rank;
			}
	}
	return tfs_rows_close(&rows, row);
}

static bool is_candidate(
	const struct process *process, const struct tfs_choice *choice, bool working)
{
	if (choice && choice->by_rank)
		return process->ranked && process->rank == choice->number;
	if (choice && choice->by_process)
		return choice->number == (uint64_t)process->number ||
		       choice->number == TFS_NSIGHT_PID(process->number);
	return !working || process->work;
}

/* The only one that was asked for, or that gave a device work; else how many there are. */
static uint32_t choose(const struct processes *processes, const struct tfs_choice *choice,
	const struct process **out_process, bool *out_working)
{
	uint32_t found = 0;

	for (int working = 1; working >= 0 && !found; working--) {
		*out_working = working;
		for (uint32_t i = 0; i < processes->count; i++)
			if (is_candidate(&processes->items[i], choice, working)) {
				*out_process = &processes->items[i];
				found++;
			}
	}
	return found;
}

static bool is_ambiguous(const struct processes *processes, const struct process *process)
{
	for (uint32_t i = 0; i < processes->count; i++)
		if (&processes->items[i] != process && TFS_NSIGHT_PID(processes->items[i].number) ==
							       TFS_NSIGHT_PID(process->number))
			return true;
	return false;
}

/* Its name in the table of processes; 0 where that has none. */
static int find_name(struct tfs_nsight *nsight, int64_t number, uint32_t *out_name)
{
	static const char *const columns[] = {"globalPid", "name", NULL};
	struct tfs_rows rows;
	size_t bytes = 0;

	*out_name = 0;
	int row = tfs_rows_open_of(&rows, &nsight->database, "PROCESSES", columns);
	if (row)
		return tfs_rows_close(&rows, row == -ENOENT ? 0 : row);
	tfs_rows_set(&rows, number);
	row = tfs_rows_next(&rows);
	const char *text = row > 0 ? tfs_rows_text(&rows, 1, &bytes) : NULL;
	if (text)
		*out_name = tfs_texts_id(&nsight->collected->names, text, bytes);
	return tfs_rows_close(&rows, row < 0 ? row : 0);
}

/* What was asked for and is not there, or is there more than once. */
static void say_choice(FILE *file, const struct processes *processes,
	const struct tfs_choice *choice, uint32_t found)
{
	bool ranked = false;

	for (uint32_t i = 0; i < processes->count; i++)
		ranked |= processes->items[i].ranked;
	if (choice->by_rank && !ranked)
		fprintf(file, "it does not say which process is of which rank; ");
	else if (choice->by_rank || choice->by_process)
		fprintf(file, "it holds %s process %s%" PRIu64 "; ", found ? "more than one" : "no",
			choice->by_rank ? "of rank " : "", choice->number);
}

/* One line that says what can be asked for. */
static int list(struct tfs_nsight *nsight, const struct processes *processes,
	const struct tfs_choice *choice, uint32_t chosen, char *out_why, size_t bytes)
{
	FILE *file = fmemopen(out_why, bytes, "w");
	uint32_t said = 0, name;
	const struct process *any;
	bool working;
	int err = 0;

	if (!file)
		return -ENOMEM;
	const uint32_t found = choose(processes, NULL, &any, &working);
	say_choice(file, processes, choice, chosen);
	fprintf(file, "it holds %u %s; name one:", found, found == 1 ? "process" : "processes");
	for (uint32_t i = 0; i < processes->count && said < MOST_NAMED && !err; i++) {
		const struct process *process = &processes->items[i];

		if (!is_candidate(process, NULL, working))
			continue;
		err = find_name(nsight, process->number, &name);
		fprintf(file, "%s %s:%" PRIu64 " (%s%s", said++ ? "," : "", choice->file,
			is_ambiguous(processes, process) ? (uint64_t)process->number
							 : TFS_NSIGHT_PID(process->number),
			tfs_texts_text(&nsight->collected->names, name), name ? ", " : "");
		if (process->ranked)
			fprintf(file, "rank %" PRIu64 ", ", process->rank);
		fprintf(file, "calls: %" PRIu64 ", device work: %" PRIu64 ")", process->calls,
			process->work);
	}
	if (found > said)
		fprintf(file, " and %u more", found - said);
	fclose(file);
	return err ? err : -EILSEQ;
}

int tfs_nsight_choose(
	struct tfs_nsight *nsight, const struct tfs_choice *choice, char *out_why, size_t bytes)
{
	struct processes processes = {0};
	const struct process *process = NULL;
	struct tfs_collected *collected = nsight->collected;
	bool working = true;

	int err = count_all(nsight, &processes);
	err = err ? err : find_ranks(nsight, &processes);
	if (err)
		return err;
	const uint32_t found = choose(&processes, choice, &process, &working);
	if (!processes.tables) {
		nsight->database.why = "no CUDA call and no work of a device is in it: "
				       "profile with --trace=cuda, and export all";
		return -ENODATA;
	}
	if (processes.common && processes.count > 1) {
		nsight->database.why =
			"it holds several processes, and does not say whose work is whose";
		return -EILSEQ;
	}
	if (found > 1 || ((choice->by_process || choice->by_rank) && !found))
		return list(nsight, &processes, choice, found, out_why, bytes);
	nsight->process = process ? process->number : 0;
	nsight->chosen = processes.count > 1;
	collected->pid = (int64_t)TFS_NSIGHT_PID(nsight->process);
	collected->rank = process ? process->rank : 0;
	return find_name(nsight, nsight->process, &collected->program);
}
