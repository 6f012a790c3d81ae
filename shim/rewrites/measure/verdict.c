/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NS 1e15

static const char *const outcomes[TFS_OUTCOME_COUNT] = {
	[TFS_OUTCOME_UNDECIDED] = "undecided",
	[TFS_OUTCOME_FASTER] = "faster",
	[TFS_OUTCOME_SLOWER] = "slower",
	[TFS_OUTCOME_NO_DIFFERENCE] = "no-difference",
};

static int64_t whole(double number)
{
	if (isnan(number))
		return 0;
	return (int64_t)(number > MOST_NS ? MOST_NS : number < -MOST_NS ? -MOST_NS : number);
}

size_t tfs_verdict_write(const struct tfs_proof *verdict, char *out, size_t bytes)
{
	size_t used = (size_t)snprintf(out, bytes,
		"%s %s %" PRId64 " %" PRId64 " %" PRId64 " %u %u %u %" PRId64 " %" PRId64,
		verdict->name, outcomes[verdict->outcome], whole(verdict->gain.middle),
		whole(verdict->gain.low), whole(verdict->gain.high), verdict->ranks,
		verdict->period, verdict->pairs, whole(verdict->step_ns),
		whole(verdict->step_bytes));

	for (uint32_t i = 0; i < verdict->pairs && verdict->outcome == TFS_OUTCOME_UNDECIDED; i++)
		used += (size_t)snprintf(used < bytes ? out + used : NULL,
			used < bytes ? bytes - used : 0, " %" PRId64, whole(verdict->gains[i]));
	if (used + 2 > bytes)
		return *out = '\0', 0;
	out[used++] = '\n';
	out[used] = '\0';
	return used;
}

/* The next word's length, 0 at the end; goes on to its start. */
static size_t next_word(const char **text)
{
	*text += strspn(*text, " ");
	return strcspn(*text, " \n");
}

/* False when there is none in range. */
static bool read_number(const char **text, double least, double most, double *out)
{
	char *end;
	const size_t length = next_word(text);
	const int64_t number = strtoll(*text, &end, 10);

	if (length == 0 || end != *text + length || (double)number < least || (double)number > most)
		return false;
	*text = end;
	*out = (double)number;
	return true;
}

static bool read_count(const char **text, uint32_t most, uint32_t *out)
{
	double number;

	if (!read_number(text, 0, most, &number))
		return false;
	*out = (uint32_t)number;
	return true;
}

static bool read_outcome(const char **text, enum tfs_outcome *out)
{
	const size_t length = next_word(text);

	for (uint32_t i = 0; i < TFS_OUTCOME_COUNT; i++) {
		if (strlen(outcomes[i]) != length || strncmp(*text, outcomes[i], length) != 0)
			continue;
		*out = (enum tfs_outcome)i;
		*text += length;
		return true;
	}
	return false;
}

/* A question with all its pairs is decided. */
static bool read_gains(const char **text, struct tfs_proof *verdict)
{
	if (verdict->outcome != TFS_OUTCOME_UNDECIDED)
		return true;
	if (verdict->pairs == TFS_TRIAL_PAIRS)
		return false;
	for (uint32_t i = 0; i < verdict->pairs; i++)
		if (!read_number(text, -MOST_NS, MOST_NS, &verdict->gains[i]))
			return false;
	return true;
}

bool tfs_verdict_read(struct tfs_proof *out_verdict, const char *line)
{
	const size_t length = next_word(&line);
	struct tfs_proof verdict = {.ranks = 0};

	if (length == 0 || *line == '#' || length >= sizeof(verdict.name))
		return false;
	memcpy(verdict.name, line, length);
	line += length;
	if (!read_outcome(&line, &verdict.outcome) ||
		!read_number(&line, -MOST_NS, MOST_NS, &verdict.gain.middle) ||
		!read_number(&line, -MOST_NS, MOST_NS, &verdict.gain.low) ||
		!read_number(&line, -MOST_NS, MOST_NS, &verdict.gain.high) ||
		!read_count(&line, UINT32_MAX, &verdict.ranks) ||
		!read_count(&line, TFS_PERIOD_MOST, &verdict.period) ||
		!read_count(&line, TFS_TRIAL_PAIRS, &verdict.pairs) ||
		!read_number(&line, 0, MOST_NS, &verdict.step_ns) ||
		!read_number(&line, 0, MOST_NS, &verdict.step_bytes) ||
		!read_gains(&line, &verdict) || next_word(&line) != 0)
		return false;
	*out_verdict = verdict;
	return true;
}

bool tfs_verdicts_each(
	char *text, void (*each)(const struct tfs_proof *verdict, void *context), void *context)
{
	struct tfs_proof verdict;

	if (strncmp(text, TFS_VERDICTS_HEAD, TFS_VERDICTS_HEAD_BYTES) != 0)
		return false;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (tfs_verdict_read(&verdict, line))
			each(&verdict, context);
	}
	return true;
}

struct merging {
	const struct tfs_proof *verdicts;
	uint32_t count;
	char *out;
	size_t used;
	size_t bytes;
};

static void append(struct merging *to, const struct tfs_proof *verdict)
{
	to->used += tfs_verdict_write(verdict, to->out + to->used, to->bytes - to->used);
}

static void keep_other(const struct tfs_proof *old, void *context)
{
	struct merging *to = context;

	for (uint32_t i = 0; i < to->count; i++)
		if (to->verdicts[i].ranks == old->ranks &&
			strcmp(to->verdicts[i].name, old->name) == 0)
			return;
	append(to, old);
}

void tfs_verdicts_merge(
	char *old, const struct tfs_proof *verdicts, uint32_t count, char *out, size_t bytes)
{
	struct merging to = {.verdicts = verdicts, .count = count, .out = out, .bytes = bytes};

	to.used = (size_t)snprintf(out, bytes, "%s", TFS_VERDICTS_HEAD);
	for (uint32_t i = 0; i < count; i++)
		append(&to, &verdicts[i]);
	tfs_verdicts_each(old, keep_other, &to);
}
