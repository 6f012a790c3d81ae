/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/import/nsight/nsight_part.h"

#define BUCKETS 8192u

/* How many events began when; a bucket becomes twice as long where time goes on behind the last. */
struct histogram {
	uint64_t counts[BUCKETS];
	int64_t first_ns; /* what came before counts as this */
	unsigned shift;   /* of nanoseconds */
	uint64_t total;
};

static void add(struct histogram *histogram, int64_t at_ns)
{
	if (!histogram->total)
		histogram->first_ns = at_ns;
	const uint64_t start_ns =
		at_ns > histogram->first_ns ? (uint64_t)(at_ns - histogram->first_ns) : 0;

	while (start_ns >> histogram->shift >= BUCKETS) {
		for (uint32_t i = 0; i < BUCKETS; i++)
			histogram->counts[i] =
				i < BUCKETS / 2
					? histogram->counts[2 * i] + histogram->counts[2 * i + 1]
					: 0;
		histogram->shift++;
	}
	histogram->counts[start_ns >> histogram->shift]++;
	histogram->total++;
}

static int count(struct tfs_nsight *nsight, struct histogram *histogram, const char *table,
	const char *owner)
{
	const char *const columns[] = {"start", owner, NULL};
	struct tfs_rows rows;
	int64_t start_ns, number;

	int row = tfs_rows_open(&rows, &nsight->database, table, columns);
	if (row == -ENOENT)
		return tfs_rows_close(&rows, 0);
	while (!row && (row = tfs_rows_next(&rows)) > 0) {
		const bool own = tfs_rows_number(&rows, 1, &number)
					 ? TFS_NSIGHT_PROCESS(number) == nsight->process
					 : !nsight->chosen;
		if (own && tfs_rows_number(&rows, 0, &start_ns) && start_ns >= 0 &&
			start_ns <= TFS_NSIGHT_MOST_NS)
			add(histogram, start_ns);
		row = 0;
	}
	return tfs_rows_close(&rows, row);
}

static double whole_s(const struct histogram *histogram)
{
	uint32_t last = BUCKETS - 1;

	while (last && !histogram->counts[last])
		last--;
	return (double)((uint64_t)(last + 1) << histogram->shift) / 1e9;
}

/* From the middle of the events on to both sides, as far as there is room for them. */
static void open_window(struct tfs_nsight *nsight, const struct histogram *histogram)
{
	const uint64_t *counts = histogram->counts;
	uint64_t before = 0, inside;
	uint32_t first = 0, last;

	while (before + counts[first] <= histogram->total / 2)
		before += counts[first++];
	inside = counts[last = first];
	for (bool grown = true; grown;) {
		grown = first > 0 && inside + counts[first - 1] <= TFS_NSIGHT_EVENTS;
		if (grown)
			inside += counts[--first];
		if (last + 1 < BUCKETS && inside + counts[last + 1] <= TFS_NSIGHT_EVENTS) {
			inside += counts[++last];
			grown = true;
		}
	}
	if (first)
		nsight->first_ns =
			histogram->first_ns + (int64_t)((uint64_t)first << histogram->shift);
	nsight->end_ns = histogram->first_ns + (int64_t)((uint64_t)(last + 1) << histogram->shift);
	/* the last bucket that has any ends all */
	while (last && !counts[last])
		last--;
	snprintf(nsight->collected->tool, sizeof(nsight->collected->tool),
		"Nsight Systems; %.1f of its %.1f s, with %.1f of %.1f million events, are read",
		(double)((uint64_t)(last - first + 1) << histogram->shift) / 1e9,
		whole_s(histogram), (double)inside / 1e6, (double)histogram->total / 1e6);
}

int tfs_nsight_window(struct tfs_nsight *nsight)
{
	static const char *const tables[][2] = {{"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid"},
		{"CUPTI_ACTIVITY_KIND_MEMSET", "globalPid"}, {"NVTX_EVENTS", "globalTid"}};
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	int err = histogram ? 0 : -ENOMEM;

	nsight->end_ns = INT64_MAX;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++)
		err = count(nsight, histogram, tables[i][0], tables[i][1]);
	if (!err && histogram->total > TFS_NSIGHT_EVENTS) {
		open_window(nsight, histogram);
		nsight->cut = true;
	}
	free(histogram);
	return err;
}
