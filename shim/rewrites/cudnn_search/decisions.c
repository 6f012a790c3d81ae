/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/decisions.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/spin.h"
#include "shim/rewrites/cudnn_search/decisions_file.h"

#define MOST_DECISIONS 1024u
#define MOST_MACHINES 32u

/* Constant once the file is read. */
static struct tfs_decision decisions[MOST_DECISIONS];
static uint32_t decision_count;
static bool too_many;

static struct {
	char name[TFS_MACHINE_BYTES]; /* "GPU | cuDNN" */
	bool told;
} machines[MOST_MACHINES];
static uint32_t machine_count;
static struct tfs_spin lock;

/* The lock is held. */
static uint32_t find_machine(const char *name)
{
	uint32_t i = 0;

	while (i < machine_count && strcmp(machines[i].name, name) != 0)
		i++;
	if (i == MOST_MACHINES)
		return 0;
	if (i == machine_count) {
		snprintf(machines[i].name, sizeof(machines[i].name), "%s", name);
		machine_count++;
	}
	return i + 1;
}

uint32_t tfs_decisions_named(const char *name)
{
	tfs_spin_lock(&lock);
	const uint32_t machine = find_machine(name);
	tfs_spin_unlock(&lock);
	return machine;
}

const char *tfs_decisions_name(uint32_t machine)
{
	return machines[machine - 1].name;
}

static bool has_lines(uint32_t machine)
{
	for (uint32_t i = 0; i < decision_count; i++)
		if (decisions[i].machine == machine)
			return true;
	return false;
}

uint32_t tfs_decisions_machine(const char *gpu, size_t cudnn_version)
{
	char name[sizeof(machines[0].name)];

	snprintf(name, sizeof(name), "%.90s | %zu", gpu, cudnn_version);
	for (char *c = name; c < name + strnlen(gpu, 90); c++)
		if (*c == '|' || *c == '\n')
			*c = '/';
	tfs_spin_lock(&lock);
	const uint32_t machine = find_machine(name);
	const bool tell = machine > 0 && decision_count > 0 && !has_lines(machine) &&
			  !machines[machine - 1].told;
	if (tell)
		machines[machine - 1].told = true;
	tfs_spin_unlock(&lock);
	if (tell)
		tfs_decisions_refuse(TFS_FACT_decisions_elsewhere,
			tfs_decisions_name(decisions[decision_count - 1].machine), 0, 0);
	return machine;
}

bool tfs_decisions_complete(uint32_t machine)
{
	return too_many || has_lines(machine);
}

void tfs_decisions_too_many(void)
{
	too_many = true;
}

const struct tfs_decision *tfs_decisions_find(uint32_t machine, const struct tfs_problem *problem)
{
	for (uint32_t i = 0; i < decision_count; i++)
		if (decisions[i].machine == machine &&
			memcmp(&decisions[i].problem, problem, sizeof(*problem)) == 0)
			return &decisions[i];
	return NULL;
}

bool tfs_decisions_keep(const struct tfs_decision *decision)
{
	struct tfs_decision *kept =
		(struct tfs_decision *)tfs_decisions_find(decision->machine, &decision->problem);

	if (!kept && decision_count == MOST_DECISIONS)
		return false;
	if (!kept)
		kept = &decisions[decision_count++];
	*kept = *decision;
	return true;
}

/* Milliseconds with six decimals; the program's locale has no say in it. */
static int put_time(char *out, size_t bytes, float ms)
{
	const unsigned long long ns = (unsigned long long)((double)ms * 1e6 + 0.5);

	return snprintf(out, bytes, " %llu.%06llu", ns / 1000000, ns % 1000000);
}

size_t tfs_decisions_line(
	const struct tfs_decision *decision, char out_line[static TFS_DECISION_LINE])
{
	const size_t bytes = TFS_DECISION_LINE;
	int used = snprintf(out_line, bytes, "%s | %s %d %d %llu",
		tfs_decisions_name(decision->machine), decision->in_list ? "list" : "call",
		decision->asked, decision->chosen, (unsigned long long)decision->workspace);

	used += put_time(out_line + used, bytes - (size_t)used, decision->asked_ms);
	used += put_time(out_line + used, bytes - (size_t)used, decision->chosen_ms);
	used += snprintf(out_line + used, bytes - (size_t)used, " |");
	for (uint32_t i = 0; i < TFS_PROBLEM_FIELD_COUNT && used < (int)bytes - 16; i++)
		used += snprintf(
			out_line + used, bytes - (size_t)used, " %d", decision->problem.fields[i]);
	out_line[used++] = '\n';
	return (size_t)used;
}
