/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/decisions.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/env.h"
#include "shim/log.h"
#include "shim/recorder.h"

#define MOST_DECISIONS 512u
#define MOST_BYTES (1 << 20)
#define VERSION_LINE "# tfshim decisions 1: GPU | cuDNN | asked chosen workspace ms ms | problem\n"

static struct tfs_decision decisions[MOST_DECISIONS];
static uint32_t decision_count;
static char path[PATH_MAX];
static char key[160]; /* "GPU | cuDNN |", how a line for this machine begins */

/* TFSHIM_DECISIONS, else beside the recordings, named after the program. */
static void find_path(void)
{
	const char *program = strrchr(tfs_recording.header->program, '/');
	const char *slash = strrchr(tfs_recording.path, '/');

	if (tfs_options.decisions != NULL && *tfs_options.decisions != '\0')
		snprintf(path, sizeof(path), "%s", tfs_options.decisions);
	else if (slash != NULL && program != NULL)
		snprintf(path, sizeof(path), "%.*s/%s.decisions", (int)(slash - tfs_recording.path),
			tfs_recording.path, program + 1);
}

static bool same_problem(const struct tfs_problem *one, const struct tfs_problem *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

const struct tfs_decision *tfs_decisions_find(const struct tfs_problem *problem)
{
	for (uint32_t i = 0; i < __atomic_load_n(&decision_count, __ATOMIC_ACQUIRE); i++)
		if (same_problem(&decisions[i].problem, problem))
			return &decisions[i];
	return NULL;
}

static const struct tfs_decision *keep(const struct tfs_decision *decision)
{
	const uint32_t at = decision_count;

	if (at == MOST_DECISIONS)
		return NULL;
	decisions[at] = *decision;
	__atomic_store_n(&decision_count, at + 1, __ATOMIC_RELEASE);
	return &decisions[at];
}

/* Reads one integer of a line; false and nothing moved when there is none in range. */
static bool read_integer(const char **text, long long low, long long high, long long *out)
{
	char *end;
	const long long number = strtoll(*text, &end, 10);

	if (end == *text || number < low || number > high)
		return false;
	*text = end;
	*out = number;
	return true;
}

static bool read_line(const char *line, struct tfs_decision *out)
{
	long long number;
	char *end;

	memset(out, 0, sizeof(*out));
	if (!read_integer(&line, 0, 99, &number))
		return false;
	out->asked = (int)number;
	if (!read_integer(&line, 0, 99, &number))
		return false;
	out->chosen = (int)number;
	if (!read_integer(&line, 0, LLONG_MAX, &number))
		return false;
	out->workspace = (uint64_t)number;
	out->asked_ms = strtof(line, &end);
	out->chosen_ms = strtof(end, (char **)&line);
	if (strncmp(line, " |", 2) != 0 || !(out->asked_ms >= 0) || !(out->chosen_ms >= 0))
		return false;
	line += 2;
	for (uint32_t i = 0; i < TFS_PROBLEM_FIELD_COUNT; i++) {
		if (!read_integer(&line, INT32_MIN, INT32_MAX, &number))
			return false;
		out->problem.fields[i] = (int32_t)number;
	}
	out->replayed = true;
	return *line == '\0';
}

static void read_lines(char *text)
{
	struct tfs_decision decision;
	uint32_t bad = 0;
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
		line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] == '#' || strncmp(line, key, strlen(key)) != 0)
			continue;
		if (!read_line(line + strlen(key), &decision))
			bad++;
		else if (tfs_decisions_find(&decision.problem) == NULL)
			keep(&decision);
	}
	if (bad > 0)
		tfs_log(TFS_LOG_WARN, "%s: %u lines could not be read", path, bad);
}

void tfs_decisions_open(const char *gpu, size_t cudnn_version)
{
	struct stat status;
	char *text;

	find_path();
	snprintf(key, sizeof(key), "%.100s | %zu |", gpu, cudnn_version);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
		status.st_size < MOST_BYTES) {
		text = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		if (text != MAP_FAILED) {
			if (read(fd, text, MOST_BYTES - 1) > 0)
				read_lines(text);
			munmap(text, MOST_BYTES);
		}
	}
	close(fd);
}

/* One write to a file opened for appending: lines of several processes do not mix. */
static void append(const struct tfs_decision *decision)
{
	char line[1024];
	struct stat status;
	int used = 0;
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0) {
		tfs_log(TFS_LOG_WARN, "%s cannot be written: the next run searches again", path);
		return;
	}
	if (fstat(fd, &status) == 0 && status.st_size == 0)
		used = snprintf(line, sizeof(line), "%s", VERSION_LINE);
	used += snprintf(line + used, sizeof(line) - (size_t)used, "%s %d %d %llu %.9g %.9g |", key,
		decision->asked, decision->chosen, (unsigned long long)decision->workspace,
		(double)decision->asked_ms, (double)decision->chosen_ms);
	for (uint32_t i = 0; i < TFS_PROBLEM_FIELD_COUNT && used < (int)sizeof(line) - 16; i++)
		used += snprintf(line + used, sizeof(line) - (size_t)used, " %d",
			decision->problem.fields[i]);
	line[used++] = '\n';
	if (write(fd, line, (size_t)used) != used)
		tfs_log(TFS_LOG_WARN, "%s: the decision was not written whole", path);
	close(fd);
}

const struct tfs_decision *tfs_decisions_add(const struct tfs_decision *decision, bool last)
{
	const struct tfs_decision *kept = keep(decision);

	if (kept != NULL && last)
		append(decision);
	return kept;
}
