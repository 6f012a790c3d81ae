/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_REWRITES_MADE_UP_REWRITES_H
#define TFS_TESTS_UNIT_REWRITES_MADE_UP_REWRITES_H

/* What measure.c asks of the rewrites and of the file: a table, and an array. */

#include <string.h>

#include "shim/base/env.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/measure_file.h"
#include "shim/rewrites/measure_ranks.h"
#include "shim/rewrites/rewrite.h"
#include "shim/steps/steps.h"

struct tfs_options tfs_options = {.measure = 4000, .ranks = 1};

#define REWRITES 6u
static uint64_t applied[REWRITES];
static double predicted_loss[REWRITES];
static unsigned decided;
static uint32_t planned; /* for several ranks */
static struct tfs_proof file[REWRITES];
static uint32_t file_count;

static const char *const names[REWRITES] = {
	"pinned-staging", "alloc-pool", "deferred-free", "memset-elision", "fifth", "sixth"};

uint64_t tfs_steps_count(void)
{
	return 0;
}

uint64_t tfs_rewrite_applied(uint32_t i)
{
	return i < REWRITES ? applied[i] : 0;
}

double tfs_rewrite_predicted(uint32_t i)
{
	return 1 - predicted_loss[i];
}

const char *tfs_rewrite_name(uint32_t i)
{
	return names[i];
}

void tfs_rewrite_decided(uint32_t i)
{
	decided |= 1u << i;
}

void tfs_measure_file_read(uint32_t ranks, uint32_t switchable,
	void (*take)(uint32_t i, const struct tfs_proof *verdict))
{
	(void)ranks, (void)switchable;
	for (uint32_t k = 0; k < file_count; k++)
		for (uint32_t i = 0; i < REWRITES; i++)
			if (strcmp(names[i], file[k].name) == 0)
				take(i, &file[k]);
}

void tfs_measure_file_write(const struct tfs_proof *verdicts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = 0;

		while (k < file_count && strcmp(file[k].name, verdicts[i].name) != 0)
			k++;
		file[k] = verdicts[i];
		file_count += k == file_count;
	}
}

void tfs_measure_ranks_start(uint32_t switchable)
{
	planned = switchable;
}

const struct tfs_proof *tfs_measure_ranks_verdict(uint32_t i)
{
	(void)i;
	return NULL;
}

uint32_t tfs_measure_ranks_mask(uint64_t step)
{
	return (uint32_t)step;
}

bool tfs_measure_ranks_begun(uint64_t step)
{
	return step > 0;
}

#endif
