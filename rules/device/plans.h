/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_DEVICE_PLANS_H
#define TFS_RULES_DEVICE_PLANS_H

/* Plans of cuDNN's graph API: what a call that runs one computes, as far as that was seen. */

#include <stdbool.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

/* Does the call run a plan? Then what it computes, as TFS_ATTRIBUTE_operations has it; 0 = not
 * known. */
bool tfs_plan_read(const struct tfs_host_call *call, uint64_t *out_operations);

/* Judged calls that run plans with any of these TFS_OPERATION_*, or with what is not known. */
uint32_t tfs_plans_count(const struct tfs_steady *steady, uint32_t operations);

#endif
