/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/decisions.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/rewrites/decisions_file.h"
#include "shim/spin.h"

#define MOST_MACHINES 32u

static struct tfs_decision decisions[TFS_MOST_DECISIONS];
static uint32_t decision_count;
static struct {
	char name[128]; /* "GPU | cuDNN" */
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

uint32_t tfs_decisions_machine(const char *gpu, size_t cudnn_version)
{
	char name[sizeof(machines[0].name)];
	uint32_t own = 0;
	uint32_t other = 0;

	snprintf(name, sizeof(name), "%.90s | %zu", gpu, cudnn_version);
	for (char *c = name; c < name + strnlen(gpu, 90); c++)
		if (*c == '|' || *c == '\n')
			*c = '/';
	tfs_spin_lock(&lock);
	const uint32_t machine = find_machine(name);
	for (uint32_t i = 0; i < decision_count; i++) {
		if (!decisions[i].replayed)
			continue;
		own += decisions[i].machine == machine;
		other = decisions[i].machine != machine ? decisions[i].machine : other;
	}
	const bool tell = machine > 0 && own == 0 && other > 0 && !machines[machine - 1].told;
	if (tell)
		machines[machine - 1].told = true;
	tfs_spin_unlock(&lock);
	if (tell)
		tfs_decisions_refuse(
			"it is for '%s', not for '%s': not used", machines[other - 1].name, name);
	return machine;
}

const struct tfs_decision *tfs_decisions_find(
	uint32_t machine, const struct tfs_problem *problem, int asked)
{
	for (uint32_t i = 0; i < __atomic_load_n(&decision_count, __ATOMIC_ACQUIRE); i++)
		if (decisions[i].machine == machine &&
			(asked == TFS_ASKED_ANY || decisions[i].asked == asked) &&
			memcmp(&decisions[i].problem, problem, sizeof(*problem)) == 0)
			return &decisions[i];
	return NULL;
}

const struct tfs_decision *tfs_decisions_keep(const struct tfs_decision *decision)
{
	struct tfs_decision *kept = NULL;

	tfs_spin_lock(&lock);
	if (decision_count < TFS_MOST_DECISIONS) {
		kept = &decisions[decision_count];
		*kept = *decision;
		__atomic_store_n(&decision_count, decision_count + 1, __ATOMIC_RELEASE);
	}
	tfs_spin_unlock(&lock);
	return kept;
}

/* Is the file's last line whole? What a full disk or a kill cut off must not run into ours. */
static bool ends_in_newline(int fd, const struct stat *status)
{
	char last = '\n';

	return status->st_size == 0 ||
	       (pread(fd, &last, 1, status->st_size - 1) == 1 && last == '\n');
}

/* Milliseconds with six decimals; the program's locale has no say in it. */
static int put_time(char *out, size_t bytes, float ms)
{
	const unsigned long long ns = (unsigned long long)((double)ms * 1e6 + 0.5);

	return snprintf(out, bytes, " %llu.%06llu", ns / 1000000, ns % 1000000);
}

/* Once: the next one is not written either. */
static void say_lost(void)
{
	static _Atomic bool told;

	if (!atomic_exchange(&told, true))
		tfs_decisions_refuse("it cannot be written: the next run searches again");
}

/* One write to a file opened for appending: lines of several processes do not mix. */
static void append(const struct tfs_decision *decision)
{
	char line[1024];
	struct stat status;
	int used = 0;

	if (!tfs_decisions_may_write())
		return;
	const int fd = open(
		tfs_decisions_path(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
	if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		say_lost();
		if (fd >= 0)
			close(fd);
		return;
	}
	if (status.st_size == 0)
		used = snprintf(line, sizeof(line), "%s", TFS_DECISIONS_HEAD);
	else if (!ends_in_newline(fd, &status))
		line[used++] = '\n';
	used += snprintf(line + used, sizeof(line) - (size_t)used, "%s | %d %d %llu",
		machines[decision->machine - 1].name, decision->asked, decision->chosen,
		(unsigned long long)decision->workspace);
	used += put_time(line + used, sizeof(line) - (size_t)used, decision->asked_ms);
	used += put_time(line + used, sizeof(line) - (size_t)used, decision->chosen_ms);
	used += snprintf(line + used, sizeof(line) - (size_t)used, " |");
	for (uint32_t i = 0; i < TFS_PROBLEM_FIELD_COUNT && used < (int)sizeof(line) - 16; i++)
		used += snprintf(line + used, sizeof(line) - (size_t)used, " %d",
			decision->problem.fields[i]);
	line[used++] = '\n';
	if (write(fd, line, (size_t)used) != used)
		say_lost();
	close(fd);
}

const struct tfs_decision *tfs_decisions_add(const struct tfs_decision *decision, bool last)
{
	const struct tfs_decision *kept = tfs_decisions_keep(decision);

	if (kept != NULL && last)
		append(decision);
	return kept;
}
