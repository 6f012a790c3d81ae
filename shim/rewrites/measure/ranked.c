/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure/ranked.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tfs_ranked_add(struct tfs_ranked *plan, const char *name)
{
	if (plan->count == TFS_VERDICTS_MOST || strlen(name) >= TFS_VERDICT_NAME)
		return false;
	strcpy(plan->names[plan->count++], name);
	return true;
}

static uint32_t block_steps(const struct tfs_ranked *plan)
{
	const struct tfs_blocks_plan blocks = tfs_trial_plan(plan->period);

	return blocks.left_out + blocks.counted;
}

uint32_t tfs_ranked_pairs(const struct tfs_ranked *plan)
{
	const uint32_t pairs = plan->steps / (2 * block_steps(plan));

	return pairs < TFS_TRIAL_PAIRS ? pairs : TFS_TRIAL_PAIRS;
}

uint64_t tfs_ranked_steps(const struct tfs_ranked *plan)
{
	return (uint64_t)plan->count * tfs_ranked_pairs(plan) * 2 * block_steps(plan);
}

bool tfs_ranked_at(
	const struct tfs_ranked *plan, uint64_t index, struct tfs_ranked_place *out_place)
{
	const uint32_t block = block_steps(plan);
	const uint32_t pairs = tfs_ranked_pairs(plan);

	if (index < plan->first || index - plan->first >= tfs_ranked_steps(plan))
		return false;
	uint64_t step = index - plan->first;
	uint32_t from = 0, to = TFS_TRIAL_FIRST_LOOK;
	for (;; from = to, to *= 2) {
		to = to < pairs ? to : pairs;
		const uint64_t stage = (uint64_t)plan->count * (to - from) * 2 * block;

		if (step < stage)
			break;
		step -= stage;
	}
	const uint64_t number = step / (2 * block);
	out_place->question = (uint32_t)(number / (to - from));
	out_place->pair = from + (uint32_t)(number % (to - from));
	out_place->step = (uint32_t)(step % block);
	const bool second = step % (2 * block) >= block;
	const uint32_t seed = tfs_trial_seed(plan->names[out_place->question]);
	out_place->on = tfs_trial_on_first(seed, out_place->pair) != second;
	return true;
}

void tfs_ranked_write(const struct tfs_ranked *plan, char *out, size_t bytes)
{
	size_t used = (size_t)snprintf(
		out, bytes, "%" PRIu64 " %u %u", plan->first, plan->steps, plan->period);

	for (uint32_t i = 0; i < plan->count && used < bytes; i++)
		used += (size_t)snprintf(out + used, bytes - used, " %s", plan->names[i]);
}

/* The next word's length, 0 at the end; goes on to its start. */
static size_t next_word(const char **text)
{
	*text += strspn(*text, " ");
	return strcspn(*text, " \n");
}

static bool read_number(const char **text, uint64_t least, uint64_t most, uint64_t *out)
{
	char *end;

	*text += strspn(*text, " ");
	if (**text < '0' || **text > '9')
		return false;
	*out = strtoull(*text, &end, 10);
	*text = end;
	return *out >= least && *out <= most;
}

bool tfs_ranked_read(struct tfs_ranked *out_plan, const char *text)
{
	char name[TFS_VERDICT_NAME];
	uint64_t steps, period;
	size_t length;

	*out_plan = (struct tfs_ranked){0};
	if (!read_number(&text, 0, UINT32_MAX, &out_plan->first) ||
		!read_number(&text, 0, TFS_TRIAL_STEPS, &steps) ||
		!read_number(&text, 1, TFS_PERIOD_MOST, &period))
		return false;
	out_plan->steps = (uint32_t)steps;
	out_plan->period = (uint32_t)period;
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
