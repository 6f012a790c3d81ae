/* SPDX-License-Identifier: MIT */
/*
 * Which record of an event a wait is for. Newer exports number the records, and waits name the
 * number; else it is the latest of the same event before the wait, as correlation ids are given out
 * in the order of calls. Older ones, and those of runs whose events were not traced, have no
 * records: then that stays unknown.
 */
#include <errno.h>
#include <stdlib.h>

#include "reports/import/nsight/nsight_part.h"

enum { PROCESS, CORRELATION, STREAM, EVENT, NUMBER };

struct tfs_nsight_wait {
	size_t sync; /* of those collected */
	uint64_t number;
};

struct record {
	uint64_t number; /* 0 = none */
	uint32_t event, correlation;
	uint32_t stream;
};

struct records {
	struct record *items;
	size_t count;
};

int tfs_nsight_note_wait(struct tfs_nsight *nsight, size_t sync, uint64_t number)
{
	struct tfs_nsight_wait *wait =
		tfs_collected_more(&nsight->waits, &nsight->wait_count, sizeof(*nsight->waits));

	if (!wait)
		return -ENOMEM;
	wait->sync = sync;
	wait->number = number;
	return 0;
}

static int read_records(struct tfs_nsight *nsight, struct records *records)
{
	static const char *const columns[] = {
		"globalPid", "correlationId", "streamId", "eventId", "eventSyncId", NULL};
	struct tfs_rows rows;

	int row =
		tfs_rows_open(&rows, &nsight->database, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", columns);
	if (row == -ENOENT)
		return tfs_rows_close(&rows, 0);
	while (!row && (row = tfs_rows_next(&rows)) > 0) {
		const uint32_t call = (uint32_t)tfs_rows_whole(&rows, CORRELATION, UINT32_MAX);

		row = 0;
		if (!call || !tfs_nsight_is_own(nsight, &rows, PROCESS) ||
			(nsight->cut && (call < nsight->first_call || call > nsight->last_call)))
			continue;
		struct record *record =
			tfs_collected_more(&records->items, &records->count, sizeof(*record));
		if (!record) {
			row = -ENOMEM;
			continue;
		}
		record->correlation = call;
		record->number = tfs_rows_whole(&rows, NUMBER, INT64_MAX);
		record->event = (uint32_t)tfs_rows_whole(&rows, EVENT, UINT32_MAX);
		record->stream = (uint32_t)tfs_rows_whole(&rows, STREAM, UINT32_MAX - 1);
	}
	return tfs_rows_close(&rows, row);
}

static int compare_numbers(const void *left, const void *right)
{
	const struct record *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_events(const void *left, const void *right)
{
	const struct record *a = left, *b = right;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

static void take(struct tfs_collected_sync *sync, const struct record *record)
{
	sync->recorded = record->correlation;
	sync->recorded_stream = record->stream;
}

static void match_numbers(struct tfs_nsight *nsight, const struct records *records)
{
	qsort(records->items, records->count, sizeof(*records->items), compare_numbers);
	for (size_t i = 0; i < nsight->wait_count; i++) {
		const struct record key = {.number = nsight->waits[i].number};
		const struct record *record =
			key.number ? bsearch(&key, records->items, records->count, sizeof(key),
					     compare_numbers)
				   : NULL;

		if (record)
			take(&nsight->collected->syncs[nsight->waits[i].sync], record);
	}
}

/* The latest record of an event before a call; NULL where there is none. */
static const struct record *latest(
	const struct records *records, uint32_t event, uint32_t correlation)
{
	const struct record key = {.event = event, .correlation = correlation};
	size_t low = 0, high = records->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_events(&records->items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && records->items[low - 1].event == event ? &records->items[low - 1] : NULL;
}

static void match_events(struct tfs_nsight *nsight, const struct records *records)
{
	qsort(records->items, records->count, sizeof(*records->items), compare_events);
	for (size_t i = 0; i < nsight->wait_count; i++) {
		struct tfs_collected_sync *sync = &nsight->collected->syncs[nsight->waits[i].sync];
		const struct record *record =
			sync->recorded || !sync->event || nsight->waits[i].number
				? NULL
				: latest(records, sync->event, sync->correlation);

		if (record)
			take(sync, record);
	}
}

int tfs_nsight_events(struct tfs_nsight *nsight)
{
	struct records records = {0};
	const int err = nsight->wait_count ? read_records(nsight, &records) : 0;

	if (!err && records.count) {
		match_numbers(nsight, &records);
		match_events(nsight, &records);
	}
	free(records.items);
	return err;
}
