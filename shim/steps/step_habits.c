/* SPDX-License-Identifier: MIT */
#include "shim/steps/step_habits.h"

#include <string.h>

#define SLOTS 128u
#define TRIED 16u /* slots, from the one that a site's number hashes to */

static struct habit {
	uint32_t site;
	uint32_t count; /* of steps in a row, up to `step` */
	uint64_t step;  /* 0 = the slot is empty */
} habits[SLOTS];

static struct habit *slot(uint32_t site, uint32_t tried)
{
	return &habits[((site * UINT32_C(0x9E3779B1) >> 25) + tried) % SLOTS];
}

static struct habit *find(uint32_t site)
{
	for (uint32_t i = 0; i < TRIED; i++)
		if (slot(site, i)->step != 0 && slot(site, i)->site == site)
			return slot(site, i);
	return NULL;
}

/* A slot that is empty, or whose site was not seen of late; NULL = none. */
static struct habit *find_room(uint32_t site, uint64_t step)
{
	for (uint32_t i = 0; i < TRIED; i++) {
		struct habit *habit = slot(site, i);

		if (habit->count == 0 || (habit->count < TFS_HABIT_STEPS && habit->step + 1 < step))
			return habit;
	}
	return NULL;
}

void tfs_step_habits_note(uint32_t site, uint64_t step)
{
	struct habit *habit = find(site);

	if (habit && habit->step == step)
		return;
	if (habit && habit->step + 1 == step) {
		habit->count++;
		habit->step = step;
		return;
	}
	if (!habit)
		habit = find_room(site, step);
	if (habit)
		*habit = (struct habit){.site = site, .count = 1, .step = step};
}

bool tfs_step_habits_has(uint32_t site)
{
	const struct habit *habit = find(site);

	return habit && habit->count >= TFS_HABIT_STEPS;
}

void tfs_step_habits_forget(void)
{
	memset(habits, 0, sizeof(habits));
}
