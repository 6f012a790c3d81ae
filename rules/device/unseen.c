/* SPDX-License-Identifier: MIT */
#include "rules/device/unseen.h"

#include "rules/device/kernels.h"
#include "rules/evidence/series.h"

static bool alike(
	const struct tfs_host_call *one, const struct tfs_host_call *other, bool same_shape)
{
	static const enum tfs_attribute keys[] = {TFS_ATTRIBUTE_kernel, TFS_ATTRIBUTE_launch,
		TFS_ATTRIBUTE_grid, TFS_ATTRIBUTE_block, TFS_ATTRIBUTE_grid_z};
	const size_t count = same_shape ? sizeof(keys) / sizeof(keys[0]) : 1;

	for (size_t i = 0; i < count; i++)
		if (tfs_steady_attribute(one, keys[i], 0) !=
			tfs_steady_attribute(other, keys[i], 0))
			return false;
	return true;
}

static uint32_t find_in(const struct tfs_steady *steady, const struct tfs_series *series,
	const struct tfs_unseen_row *row)
{
	const struct tfs_host_call *calls = steady->timeline->calls;

	for (size_t first = 0, next; first < series->count; first = next) {
		double ns = 0;

		for (next = first; next < series->count &&
				   alike(&calls[series->items[first].call],
					   &calls[series->items[next].call], row->same_shape);
			next++)
			ns += tfs_steady_device_ns(steady, &calls[series->items[next].call]);
		if (next - first >= row->least &&
			ns <= row->small * steady->kernel_floor_ns * (double)(next - first))
			return series->items[first].call;
	}
	return TFS_NONE;
}

static uint32_t find_at(const struct tfs_steady *steady, const struct tfs_place *place,
	const struct tfs_unseen_row *row)
{
	uint32_t found = TFS_NONE;

	for (size_t i = 0; i < place->count && found == TFS_NONE;) {
		const struct tfs_series series = row->apart ? tfs_series_step(steady, place, i)
							    : tfs_series_at(steady, place, i);

		found = find_in(steady, &series, row);
		i += series.count;
	}
	return found;
}

static uint32_t find(const struct tfs_steady *steady, const struct tfs_unseen_row *row)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	uint32_t found = TFS_NONE;

	for (uint32_t i = 0; i < steady->call_count; i++)
		if (tfs_kernel_unseen(steady->timeline, tfs_steady_call(steady, i)))
			tfs_hits_add(&hits, steady->calls[i], 0, (struct tfs_edit){0});
	while (found == TFS_NONE && tfs_hits_next(steady, &hits, &place))
		if (!place.seldom)
			found = find_at(steady, &place, row);
	tfs_hits_finish(&hits);
	return found;
}

bool tfs_unseen_conclude(const struct tfs_findings *findings, size_t before,
	const struct tfs_unseen_row *row, struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = findings->steady->timeline;
	const uint32_t call = find(findings->steady, row);

	if (call == TFS_NONE)
		return false;
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
		"a small kernel is launched %u times %sor more; what it works on was not seen",
		row->least, row->apart ? "in a step " : "in a row ");
	if (findings->count == before)
		out_verdict->site = timeline->calls[call].record->site;
	return true;
}
