/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_LAYERS_H
#define TFS_RULES_JUDGE_LAYERS_H

/*
 * The program's own names for parts of its steps: NVTX ranges inside judged steps, with the host's
 * time in them and the device's time for what was launched in them. Both include the layers inside;
 * work that overlaps counts once.
 */

#include <stddef.h>
#include <stdint.h>

#include "rules/evidence/steady.h"
#include "rules/support/arena.h"

struct tfs_layer {
	const char *name;
	const char *domain; /* "" = the default one */
	uint32_t level;     /* ranges of its domain that it lies in */
	uint32_t steps;     /* judged steps that have it */
	double count;       /* all figures are per judged step */
	double calls;       /* wrapped ones, made in it by its thread */
	double host_ns;
	double device_ns; /* NaN = no activity was recorded */
};

struct tfs_layers {
	struct tfs_layer *items; /* in the order of their first start in a step */
	size_t count;
	size_t more; /* left out, the shortest */
};

/* Fills `out_layers` with the arena's memory; 0 or -ENOMEM. */
int tfs_layers_find(
	const struct tfs_steady *steady, struct tfs_arena *arena, struct tfs_layers *out_layers);

#endif
