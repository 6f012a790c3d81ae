/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/ranked.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tfs_ranked_add(struct tfs_ranked *plan, const char *name)
{
	if (plan->count == TFS_RANKED_MOST || strlen(name) >= TFS_RANKED_NAME)
		return false;
	strcpy(plan->names[plan->count++], name);
	return true;
}

uint32_t tfs_ranked_questions(const struct tfs_ranked *plan)
{
	return plan->count > 1 ? plan->count + 1 : plan->count;
}

void tfs_ranked_trial(const struct tfs_ranked *plan, struct tfs_trial *out_trial)
{
	tfs_trial_init(out_trial, plan->steps);
}

bool tfs_ranked_at(
	const struct tfs_ranked *plan, uint64_t index, uint32_t *out_question, bool *out_on)
{
	struct tfs_trial trial;

	if (index < plan->first || plan->steps == 0)
		return false;
	const uint64_t step = index - plan->first;
	if (step / plan->steps >= tfs_ranked_questions(plan))
		return false;
	tfs_ranked_trial(plan, &trial);
	*out_question = (uint32_t)(step / plan->steps);
	trial.block = (uint32_t)(step % plan->steps) / trial.block_steps;
	*out_on = trial.block < trial.blocks && tfs_trial_on(&trial);
	return true;
}

void tfs_ranked_write(const struct tfs_ranked *plan, char *out, size_t bytes)
{
	size_t used = (size_t)snprintf(out, bytes, "%" PRIu64 " %u", plan->first, plan->steps);

	for (uint32_t i = 0; i < plan->count && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, " %s", plan->names[i]);
}

/* The next word's length, 0 at the end; goes on to its start. */
static size_t next_word(const char **text)
{
	*text += strspn(*text, " ");
	return strcspn(*text, " \n");
}

static bool read_number(const char **text, uint64_t most, uint64_t *out)
{
	char *end;

	*text += strspn(*text, " ");
	if (**text < '0' || **text > '9')
		return false;
	*out = strtoull(*text, &end, 10);
	*text = end;
	return *out <= most;
}

bool tfs_ranked_read(struct tfs_ranked *out_plan, const char *text)
{
	char name[TFS_RANKED_NAME];
	uint64_t steps;
	size_t length;

	*out_plan = (struct tfs_ranked){0};
	if (!read_number(&text, UINT32_MAX, &out_plan->first) ||
		!read_number(&text, 1u << 20, &steps))
		return false;
	out_plan->steps = (uint32_t)steps;
	for (; (length = next_word(&text)) > 0; text += length) {
		if (length >= sizeof(name))
			return false;
		memcpy(name, text, length);
		name[length] = '\0';
		if (!tfs_ranked_add(out_plan, name))
			return false;
	}
	return out_plan->count > 0;
}

void tfs_ranked_write_verdict(const struct tfs_ranked_verdict *verdict, char *out, size_t bytes)
{
	snprintf(out, bytes, "%s %s %" PRId64 " %" PRId64 " %" PRId64 " %u %u\n", verdict->name,
		verdict->won ? "won" : "lost", (int64_t)verdict->gain.middle,
		(int64_t)verdict->gain.low, (int64_t)verdict->gain.high, verdict->blocks,
		verdict->ranks);
}

static bool read_gain(const char **text, double *out)
{
	char *end;
	const int64_t ns = strtoll(*text, &end, 10);

	if (end == *text)
		return false;
	*text = end;
	*out = (double)ns;
	return true;
}

bool tfs_ranked_read_verdict(struct tfs_ranked_verdict *out_verdict, const char *line)
{
	uint64_t blocks, ranks;
	const size_t length = next_word(&line);

	*out_verdict = (struct tfs_ranked_verdict){0};
	if (length == 0 || *line == '#' || length >= sizeof(out_verdict->name))
		return false;
	memcpy(out_verdict->name, line, length);
	line += length;
	const size_t word = next_word(&line);
	out_verdict->won = word == 3 && strncmp(line, "won", word) == 0;
	if (!out_verdict->won && (word != 4 || strncmp(line, "lost", word) != 0))
		return false;
	line += word;
	if (!read_gain(&line, &out_verdict->gain.middle) ||
		!read_gain(&line, &out_verdict->gain.low) ||
		!read_gain(&line, &out_verdict->gain.high) || !read_number(&line, 1000, &blocks) ||
		!read_number(&line, UINT32_MAX, &ranks))
		return false;
	out_verdict->blocks = (uint32_t)blocks;
	out_verdict->ranks = (uint32_t)ranks;
	return *line == '\n' || *line == '\0';
}
