/* SPDX-License-Identifier: MIT */
#include "reports/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/places.h"

static int by_key(const void *a, const void *b)
{
	const struct tfs_model_call *one = a;
	const struct tfs_model_call *two = b;
	if (one->place.key != two->place.key)
		return one->place.key < two->place.key ? -1 : 1;
	return strcmp(one->function, two->function);
}

/* Sites that differ only in addresses or lines become one. */
static size_t join(struct tfs_model_call *calls, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_key(&calls[kept - 1], &calls[i])) {
			calls[kept - 1].count += calls[i].count;
			calls[kept - 1].amount += calls[i].amount;
			continue;
		}
		calls[kept++] = calls[i];
	}
	return kept;
}

void tfs_build_calls(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	size_t count = tfs_trace_totals(build->trace, &totals, &shares);
	struct tfs_model_call *calls = tfs_region_alloc(&model->region, count, sizeof(*calls));
	double steps = (double)(build->timeline->training_steps + build->timeline->warmup_steps);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;
		calls[i].function = tfs_region_string(
			&model->region, tfs_trace_function(build->trace, sum->function));
		calls[i].place = tfs_places_find(build->places, sum->site);
		calls[i].count = sum->count;
		calls[i].amount = sum->amount;
	}
	if (count)
		qsort(calls, count, sizeof(*calls), by_key);
	count = join(calls, count);
	for (size_t i = 0; i < count; i++)
		calls[i].per_step = steps > 0 ? (double)calls[i].count / steps : NAN;
	model->calls = calls;
	model->call_count = count;
}
