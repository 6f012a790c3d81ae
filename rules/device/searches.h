/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_SEARCHES_H
#define TFS_RULES_DEVICE_SEARCHES_H

/*
 * What measured searches in the recording say of a convolution call.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/timeline/timeline.h"

struct tfs_recorded_search {
	uint32_t asked; /* the algorithm that the program asks for */
	uint32_t best;  /* the fastest one within the rewrite's fences */
	float asked_ms;
	float best_ms;
	float ran_ms; /* of the algorithm that the call ran; negative = not measured */
	uint64_t best_workspace;
	bool substituted; /* the call ran another algorithm than the program asked for */
};

/* Whether calls of this family have an algorithm to choose. */
bool tfs_search_family(uint32_t family);

/* What was measured for the call's problem; false = nothing, or not what it asks for. */
bool tfs_search_find(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_recorded_search *out_search);

/* The measured searches that the program made itself. */
struct tfs_own_searches {
	bool *problems; /* by id: was searched */
	uint32_t limit;
	uint64_t unknown; /* searches that were only counted, or of what could not be read */
};

/* Finds them; false without memory. */
bool tfs_own_searches_init(struct tfs_own_searches *own, const struct tfs_timeline *timeline);
void tfs_own_searches_finish(struct tfs_own_searches *own);

/* Whether one was for the call's problem. */
bool tfs_own_searches_have(const struct tfs_own_searches *own, const struct tfs_host_call *call);

/* cuDNN's name of an algorithm, and of the call that searches. */
const char *tfs_algorithm_name(uint32_t family, uint32_t algorithm);
const char *tfs_search_function(uint32_t family);

#endif
