/* SPDX-License-Identifier: MIT */
#include "rules/evidence/series.h"

#include <math.h>

/* Whether a thread gives the device work or waits for it between two of its calls. */
static bool apart(const struct tfs_steady *steady, uint32_t before, uint32_t after)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t thread = timeline->calls[before].thread;

	for (uint32_t i = steady->place[before] + 1; i < steady->place[after]; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (call->thread == thread && (call->op_count || tfs_family_submits(call->family) ||
						      steady->waits[i].wait != TFS_WAIT_NONE))
			return true;
	}
	return timeline->calls[after].thread != thread;
}

static bool same_step(
	const struct tfs_steady *steady, const struct tfs_hit *one, const struct tfs_hit *other)
{
	return steady->timeline->calls[one->call].step == steady->timeline->calls[other->call].step;
}

struct tfs_series tfs_series_at(
	const struct tfs_steady *steady, const struct tfs_place *place, size_t nth)
{
	struct tfs_series series = {&place->items[nth], 1};

	while (nth + series.count < place->count) {
		const struct tfs_hit *last = &series.items[series.count - 1];

		if (!same_step(steady, last, last + 1) || apart(steady, last->call, last[1].call))
			break;
		series.count++;
	}
	return series;
}

struct tfs_series tfs_series_step(
	const struct tfs_steady *steady, const struct tfs_place *place, size_t nth)
{
	struct tfs_series series = {&place->items[nth], 1};

	while (nth + series.count < place->count &&
		same_step(steady, series.items, &series.items[series.count]))
		series.count++;
	return series;
}

void tfs_series_merge(const struct tfs_steady *steady, const struct tfs_series *series, size_t nth,
	double merged_ns, struct tfs_hits *edits)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct tfs_hit *hit = &series->items[i];
		const double ns = tfs_steady_device_ns(steady, &steady->timeline->calls[hit->call]);
		struct tfs_edit edit = {.gone = i != nth};

		if (i == nth && ns > 0)
			edit.scale = (float)(merged_ns / ns);
		tfs_hits_add(edits, hit->call, hit->bytes, edit);
	}
}

double tfs_series_merged_ns(
	const struct tfs_steady *steady, const struct tfs_series *series, double floor_ns)
{
	double ns = floor_ns;

	for (size_t i = 0; i < series->count; i++)
		ns += fmax(0, tfs_steady_device_ns(
				      steady, &steady->timeline->calls[series->items[i].call]) -
				      floor_ns);
	return ns;
}
