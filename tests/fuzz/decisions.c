/* SPDX-License-Identifier: MIT */
/*
 * The file of cudnn-search's decisions, which anyone may have written. Whatever it says: what is
 * kept stays within the rewrite's fences, is found again, and reads back as it was when written.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/cudnn_search/decisions.c" /* for its tables */
#include "shim/rewrites/cudnn_search/search_fences.h"

struct tfs_options tfs_options = {.quiet = 1};
struct tfs_writer tfs_recording;
enum tfs_log_level tfs_log_limit;

void tfs_log_say(const char *format, ...)
{
	(void)format;
}

void tfs_log_write(enum tfs_log_level level, const char *file, int line, const char *format, ...)
{
	(void)level, (void)file, (void)line, (void)format;
}

int tfs_env_output(char *out_path, size_t bytes)
{
	(void)out_path, (void)bytes;
	return -1;
}

const char *tfs_env_program(void)
{
	return "";
}

void tfs_recorder_fact(enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other)
{
	(void)fact, (void)number, (void)other;
	if (object && strlen(object) > 300)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void forget(void)
{
	memset(decisions, 0, sizeof(decisions));
	memset(machines, 0, sizeof(machines));
	decision_count = machine_count = 0;
	too_many = false;
}

/* As a file of its own. */
static void read_back(const struct tfs_decision *decision)
{
	const char *name = tfs_decisions_name(decision->machine);
	static char text[sizeof(TFS_DECISIONS_HEAD) + TFS_DECISION_LINE];
	const size_t head = strlen(TFS_DECISIONS_HEAD);
	const size_t bytes = tfs_decisions_line(decision, text + head);
	const struct tfs_decision *kept = decisions;

	require(bytes < TFS_DECISION_LINE && strlen(name) < sizeof(machines[0].name));
	memcpy(text, TFS_DECISIONS_HEAD, head);
	text[head + bytes] = '\0';
	forget();
	tfs_decisions_read(text, head + bytes);
	require(decision_count == 1 && !too_many);
	require(kept->asked == decision->asked && kept->chosen == decision->chosen &&
		kept->workspace == decision->workspace && kept->in_list == decision->in_list &&
		kept->replayed);
	require(memcmp(&kept->problem, &decision->problem, sizeof(kept->problem)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	memcpy(text, data, bytes);
	text[bytes] = '\0';
	forget();
	tfs_decisions_read(text, bytes);
	free(text);
	for (uint32_t i = 0; i < decision_count; i++) {
		const struct tfs_decision *one = &decisions[i];

		require(tfs_decisions_find(one->machine, &one->problem) == one);
		require(tfs_decisions_complete(one->machine));
		require(tfs_search_allowed((enum tfs_family)one->problem.fields[TFS_PROBLEM_family],
			one->asked, one->chosen));
	}
	if (decision_count > 0) {
		const struct tfs_decision last = decisions[decision_count - 1];

		read_back(&last);
	}
	return 0;
}
