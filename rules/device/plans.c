/* SPDX-License-Identifier: MIT */
#include "rules/device/plans.h"

#define NO_PLAN UINT64_MAX

bool tfs_plan_read(const struct tfs_host_call *call, uint64_t *out_operations)
{
	*out_operations = tfs_steady_attribute(call, TFS_ATTRIBUTE_operations, NO_PLAN);
	return *out_operations != NO_PLAN && !call->record->status;
}

uint32_t tfs_plans_count(const struct tfs_steady *steady, uint32_t operations)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		uint64_t own;

		if (tfs_plan_read(tfs_steady_call(steady, i), &own))
			count += !own || (TFS_OPERATIONS_ALL(own) & operations);
	}
	return count;
}
