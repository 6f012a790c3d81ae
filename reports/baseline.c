/* SPDX-License-Identifier: MIT */
#include "reports/baseline.h"

#include <stdlib.h>
#include <string.h>

/* What happens every so many steps falls into a window once more or once less. */
#define CALL_SLACK 0.05
#define SLACK 1.01

static int by_key(const void *a, const void *b)
{
	const struct tfs_model_call *one = a;
	const struct tfs_model_call *two = b;
	if (one->place.key != two->place.key)
		return one->place.key < two->place.key ? -1 : 1;
	return strcmp(one->function, two->function);
}

static bool more(double now, double before, double slack)
{
	return now > before * SLACK && now > before + slack;
}

size_t tfs_baseline_compare(const struct tfs_model *now, const struct tfs_model *before,
	struct tfs_difference **out_differences)
{
	struct tfs_difference *list = NULL;
	size_t count = 0;

	for (size_t i = 0; i < now->call_count; i++) {
		const struct tfs_model_call *call = &now->calls[i];
		const struct tfs_model_call *old =
			!before->call_count ? NULL
					    : bsearch(call, before->calls, before->call_count,
						      sizeof(*call), by_key);
		struct tfs_difference difference = {.now = call, .before = old};
		double old_calls = old ? old->per_step : 0;
		double old_bytes = old ? old->bytes_per_step : 0;
		if (more(call->per_step, old_calls, CALL_SLACK))
			difference.kind =
				old && old_calls > 0 ? TFS_DIFFERENCE_CALLS : TFS_DIFFERENCE_NEW;
		else if (more(call->bytes_per_step, old_bytes, 64 * CALL_SLACK))
			difference.kind = TFS_DIFFERENCE_BYTES;
		else
			continue;
		list = tfs_grow(list, count, sizeof(*list));
		list[count++] = difference;
	}
	*out_differences = list;
	return count;
}

bool tfs_baseline_knows(const struct tfs_model *before, const struct tfs_model_finding *finding)
{
	const char *call = finding->call ? finding->call : "";
	for (size_t i = 0; i < before->finding_count; i++) {
		const struct tfs_model_finding *old = &before->findings[i];
		if (!strcmp(old->rule->id, finding->rule->id) &&
			old->place.key == finding->place.key &&
			!strcmp(old->call ? old->call : "", call))
			return true;
	}
	return false;
}
