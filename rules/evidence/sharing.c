/* SPDX-License-Identifier: MIT */
#include "rules/evidence/sharing.h"

#include <string.h>

/* The attribute is documented (CU_DEVICE_ATTRIBUTE_MPS_ENABLED). */
static bool has_mps(const struct tfs_timeline *timeline, uint32_t number)
{
	const struct tfs_trace *trace = timeline->trace;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *fact = tfs_trace_at(trace, TFS_RECORD_fact, i);

		if (fact->fact == TFS_FACT_mps && fact->numbers[0] == number)
			return true;
	}
	return false;
}

enum tfs_sharing tfs_sharing_of(
	const struct tfs_timeline *timeline, const struct tfs_device *device)
{
	if (has_mps(timeline, device->number))
		return TFS_SHARING_MPS;
	/* "NVIDIA A100-SXM4-40GB MIG 1g.5gb": the device's name, then the instance's profile. */
	if (device->record &&
		strstr(tfs_trace_string(timeline->trace, device->record->name), " MIG "))
		return TFS_SHARING_SLICE;
	return TFS_SHARING_NONE;
}

bool tfs_sharing_any(const struct tfs_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->device_count; i++)
		if (timeline->devices[i].busy_ns > 0 &&
			tfs_sharing_of(timeline, &timeline->devices[i]) != TFS_SHARING_NONE)
			return true;
	return false;
}
