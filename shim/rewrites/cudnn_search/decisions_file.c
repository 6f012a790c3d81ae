/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/decisions_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/base/heap.h"
#include "shim/base/log.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/cudnn_search/search_fences.h"

#define MOST_WORKSPACE (1LL << 50)
#define HEAD_BYTES 21u /* "# tfshim decisions 2:" */

static char path[PATH_MAX];
static bool not_ours; /* not to be written either */
static uint64_t bytes_read;

const char *tfs_decisions_path(void)
{
	return path;
}

bool tfs_decisions_may_write(void)
{
	return *path != '\0' && !not_ours;
}

uint64_t tfs_decisions_bytes(void)
{
	return bytes_read;
}

void tfs_decisions_refuse(
	enum tfs_fact_code why, const char *object, uint64_t number, uint64_t more)
{
	static _Atomic bool said;

	tfs_recorder_fact(why, object, number, more);
	if (atomic_exchange(&said, true) || tfs_options.rank != 0 || tfs_options.quiet)
		return;
	if (why >= TFS_FACT_line_cut && why <= TFS_FACT_line_surplus)
		tfs_log_say("%s: line %" PRIu64 " is not used; the report says why", path, number);
	else
		tfs_log_say("%s is not used; the report says why", path);
}

/* TFSHIM_DECISIONS, else beside the recordings, named after the program. Neither needs a recording
 * to be there. */
static void find_path(void)
{
	char output[PATH_MAX];

	if (tfs_options.decisions && *tfs_options.decisions != '\0') {
		snprintf(path, sizeof(path), "%s", tfs_options.decisions);
		return;
	}
	if (tfs_env_output(output, sizeof(output)) != 0)
		return;
	const char *slash = strrchr(output, '/');
	const int used = snprintf(path, sizeof(path), "%.*s/%s.decisions", (int)(slash - output),
		output, tfs_env_program());
	if (used >= (int)sizeof(path))
		*path = '\0';
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

/* Milliseconds with six decimals; the program's locale has no say in it. */
static bool read_time(const char **text, float *out)
{
	long long whole, millionths = 0;

	if (!read_integer(text, 0, INT32_MAX, &whole) || **text != '.' ||
		strspn(*text + 1, "0123456789") != 6)
		return false;
	++*text;
	read_integer(text, 0, 999999, &millionths);
	*out = (float)((double)whole + (double)millionths / 1e6);
	return true;
}

/* What stands behind the machine; none, or why it is refused. */
static enum tfs_fact_code read_decision(const char *text, struct tfs_decision *out)
{
	long long asked, chosen, workspace, number;

	out->in_list = strncmp(text, " list ", 6) == 0;
	if (!out->in_list && strncmp(text, " call ", 6) != 0)
		return TFS_FACT_line_no_decision;
	text += 6;
	if (!read_integer(&text, 0, 99, &asked) || !read_integer(&text, 0, 99, &chosen) ||
		!read_integer(&text, 0, MOST_WORKSPACE, &workspace) ||
		!read_time(&text, &out->asked_ms) || !read_time(&text, &out->chosen_ms) ||
		strncmp(text, " |", 2) != 0)
		return TFS_FACT_line_no_decision;
	text += 2;
	for (uint32_t i = 0; i < TFS_PROBLEM_FIELD_COUNT; i++) {
		if (!read_integer(&text, INT32_MIN, INT32_MAX, &number))
			return TFS_FACT_line_no_problem;
		out->problem.fields[i] = (int32_t)number;
	}
	if (*text != '\0')
		return TFS_FACT_line_too_long;
	out->asked = (int)asked;
	out->chosen = (int)chosen;
	out->workspace = (uint64_t)workspace;
	out->replayed = true;
	return tfs_search_allowed((enum tfs_family)out->problem.fields[TFS_PROBLEM_family],
		       out->asked, out->chosen)
		       ? TFS_FACT_none
		       : TFS_FACT_line_forbidden;
}

/* None, or why the line is refused. */
static enum tfs_fact_code read_line(char *line)
{
	struct tfs_decision decision = {.asked = 0};

	if (*line == '#' || *line == '\0')
		return TFS_FACT_none;
	char *version = strstr(line, " | ");
	char *rest = version ? strstr(version + 3, " |") : NULL;

	if (!rest || version == line || rest == version + 3 ||
		strspn(version + 3, "0123456789") != (size_t)(rest - version - 3))
		return TFS_FACT_line_no_machine;
	*rest = '\0';
	if (strlen(line) >= TFS_MACHINE_BYTES)
		return TFS_FACT_line_no_machine;
	enum tfs_fact_code why = read_decision(rest + 2, &decision);
	if (why != TFS_FACT_none)
		return why;
	decision.machine = tfs_decisions_named(line);
	if (decision.machine == 0 || !tfs_decisions_keep(&decision)) {
		tfs_decisions_too_many();
		return TFS_FACT_line_surplus;
	}
	return TFS_FACT_none;
}

void tfs_decisions_read(char *text, size_t bytes)
{
	enum tfs_fact_code first_why = TFS_FACT_none;
	uint32_t number = 0;
	uint32_t first = 0;
	uint32_t bad = 0;

	if (bytes < HEAD_BYTES || strncmp(text, TFS_DECISIONS_HEAD, HEAD_BYTES) != 0) {
		not_ours = true;
		tfs_decisions_refuse(TFS_FACT_decisions_foreign, NULL, 0, 0);
		return;
	}
	for (char *line = text, *next; line < text + bytes; line = next) {
		char *end = memchr(line, '\n', (size_t)(text + bytes - line));
		enum tfs_fact_code why = TFS_FACT_line_cut;

		next = end ? end + 1 : text + bytes;
		number++;
		if (end) {
			*end = '\0';
			why = strlen(line) == (size_t)(end - line) ? read_line(line)
								   : TFS_FACT_line_no_text;
		}
		if (why == TFS_FACT_none)
			continue;
		if (bad++ == 0) {
			first = number;
			first_why = why;
		}
	}
	if (bad > 0)
		tfs_decisions_refuse(first_why, NULL, first, bad - 1);
}

/* A file that is being decided upon is not used, nor one that is no file of ours. */
static enum tfs_fact_code look_at(int fd, struct stat *out_status)
{
	if (fstat(fd, out_status) != 0 || !S_ISREG(out_status->st_mode) ||
		(uint64_t)out_status->st_size >= TFS_DECISIONS_BYTES)
		return TFS_FACT_decisions_no_file;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return TFS_FACT_decisions_busy;
	/* What was written before the lock was had. */
	return fstat(fd, out_status) == 0 ? TFS_FACT_none : TFS_FACT_decisions_unreadable;
}

static struct {
	char *text;
	uint64_t bytes;
	enum tfs_fact_code why; /* it is not to be used */
	int error;              /* and what the kernel said */
} found;

static enum tfs_fact_code load(int fd)
{
	struct stat status;
	const enum tfs_fact_code why = look_at(fd, &status);

	if (why != TFS_FACT_none || status.st_size == 0)
		return why;
	found.text = tfs_heap_alloc(TFS_DECISIONS_BYTES);
	if (!found.text || read(fd, found.text, TFS_DECISIONS_BYTES - 1) != status.st_size)
		return TFS_FACT_decisions_unreadable;
	found.bytes = (uint64_t)status.st_size;
	return TFS_FACT_none;
}

void tfs_decisions_fetch(void)
{
	find_path();
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0) {
		found.why = load(fd);
		close(fd);
	} else if (*path != '\0' && errno != ENOENT) {
		found.why = TFS_FACT_decisions_unreadable;
		found.error = errno;
	}
}

void tfs_decisions_start(void)
{
	if (found.why != TFS_FACT_none) {
		not_ours = true;
		tfs_decisions_refuse(found.why, NULL, (uint64_t)(unsigned)found.error, 0);
	} else if (found.bytes > 0) {
		bytes_read = found.bytes;
		tfs_decisions_read(found.text, found.bytes);
	}
	tfs_heap_free(found.text, TFS_DECISIONS_BYTES);
}
