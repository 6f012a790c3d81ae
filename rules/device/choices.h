/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_CHOICES_H
#define TFS_RULES_DEVICE_CHOICES_H

/*
 * What the recording library has measured of the products that cuBLASLt computes.
 */

#include <stdbool.h>

#include "rules/timeline/timeline.h"

struct tfs_arena;

/* Whether a call is such a product, and did not fail. */
bool tfs_choice_made(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* What was measured of the call's product; NULL = nothing. */
const struct tfs_product_record *tfs_choice_measured(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* Whether the fastest is faster than the program's by more than chance. */
bool tfs_choice_clear(const struct tfs_product_record *measured);

/* Whether it is hardly any faster, chance or not. */
bool tfs_choice_close(const struct tfs_product_record *measured);

/* Why something was not measured, most often, as the end of a sentence; "" = not known. */
const char *tfs_choice_unmeasured(const struct tfs_trace *trace, struct tfs_arena *arena);

#endif
