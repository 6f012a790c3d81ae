/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/making/families.h"
#include "reports/import/making/making.h"
#include "reports/import/making/totals.h"

/* The call that others may lie in. */
struct outer {
	uint32_t unit;
	int64_t end_ns; /* INT64_MIN: there is none */
};

/* Those of one call behind each other, the one that knows its stream first. */
static int compare_records(const void *left, const void *right)
{
	const struct tfs_recorded *a = left, *b = right;

	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->stream > b->stream ? -1 : a->stream < b->stream;
}

static int list_recorded(struct tfs_making *making)
{
	const struct tfs_collected *collected = making->collected;

	making->recorded = malloc((collected->sync_count + 1) * sizeof(*making->recorded));
	if (!making->recorded)
		return -ENOMEM;
	for (size_t i = 0; i < collected->sync_count; i++) {
		const struct tfs_collected_sync *sync = &collected->syncs[i];

		if (sync->recorded)
			making->recorded[making->recorded_count++] = (struct tfs_recorded){
				sync->recorded, sync->recorded_stream, sync->device};
	}
	qsort(making->recorded, making->recorded_count, sizeof(*making->recorded), compare_records);
	return 0;
}

/* What a call recorded; NULL where it did not, or that is not known. */
static const struct tfs_recorded *record_of(const struct tfs_making *making, uint32_t correlation)
{
	size_t low = 0, high = making->recorded_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (making->recorded[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < making->recorded_count && making->recorded[low].correlation == correlation
		       ? &making->recorded[low]
		       : NULL;
}

static int compare_correlation(const void *key, const void *item)
{
	const uint32_t a = *(const uint32_t *)key,
		       b = ((const struct tfs_given *)item)->correlation;

	return a < b ? -1 : a > b;
}

static int compare_sync(const void *left, const void *right)
{
	const struct tfs_collected_sync *a = left, *b = right;

	return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* The number of a function; 0 where there are too many. */
static uint16_t function_of(struct tfs_making *making, uint32_t name)
{
	const char *text = tfs_texts_text(&making->collected->names, name);
	const size_t bytes = strlen(text);

	if (making->functions[name] || making->function_count == UINT16_MAX)
		return making->functions[name];
	const struct tfs_function_record record = {.id = ++making->function_count,
		.library = tfs_library_of(text),
		.family = tfs_family_of(text),
		.name_bytes = (uint32_t)bytes};
	tfs_chunks_put(
		&making->chunks, TFS_RECORD_function, &record, sizeof(record), text, bytes + 1);
	making->functions[name] = record.id;
	return record.id;
}

/* Which event a call records or waits for, by the call that recorded it; 0 = not known. */
static uint64_t event_of(const struct tfs_recorded *record, const struct tfs_collected_sync *sync)
{
	if (sync && sync->recorded)
		return sync->recorded;
	return record ? record->correlation : 0;
}

static uint16_t stream_named(const struct tfs_making *making, uint32_t stream, uint16_t device)
{
	for (uint32_t i = 0; stream && i < making->stream_count; i++)
		if (making->streams[i].cupti_id == stream && making->streams[i].device == device)
			return making->streams[i].id;
	return TFS_NO_STREAM;
}

/* The stream that a call gave work to, waits for, or recorded an event on. Where all work is of one
 * stream, so is what any call waits for. */
static uint16_t stream_of(const struct tfs_making *making, const struct tfs_given *given,
	const struct tfs_collected_sync *sync, const struct tfs_recorded *record,
	enum tfs_family family)
{
	if (given)
		return given->stream;
	if (making->working_count == 1 && family == TFS_FAMILY_stream_sync)
		return making->streams[0].id;
	if (sync)
		return stream_named(making, sync->stream, sync->device);
	return record ? stream_named(making, record->stream, record->device) : TFS_NO_STREAM;
}

static uint32_t put_call(
	struct tfs_making *making, const struct tfs_collected_call *call, struct tfs_totals *totals)
{
	const struct tfs_collected *collected = making->collected;
	const struct tfs_collected_sync key = {.correlation = call->correlation};
	const struct tfs_given *given = bsearch(&call->correlation, making->given,
		making->given_count, sizeof(*making->given), compare_correlation);
	const struct tfs_collected_sync *sync =
		collected->sync_count ? bsearch(&key, collected->syncs, collected->sync_count,
						sizeof(key), compare_sync)
				      : NULL;
	const struct tfs_recorded *recorded = record_of(making, call->correlation);
	const uint64_t event = event_of(recorded, sync);
	const struct tfs_item items[2] = {{event, TFS_ATTRIBUTE_event}};
	const struct tfs_call record = {.function = function_of(making, call->name),
		.site = call->site,
		.start_ticks = tfs_making_ns(making, call->start_ns),
		.duration_ticks = (float)(call->end_ns - call->start_ns),
		.stream = stream_of(making, given, sync, recorded,
			tfs_family_of(tfs_texts_text(&collected->names, call->name))),
		.amount = given ? given->bytes : 0};

	if (tfs_totals_add(totals, &record))
		making->chunks.failed = true;
	return tfs_chunks_put(&making->chunks, TFS_RECORD_call, &record, sizeof(record), items,
		event ? sizeof(items) : 0);
}

/* A call inside another one is that one's, and so is what it gave the device to do. */
static void take_call(struct tfs_making *making, const struct tfs_collected_call *call,
	struct outer *outer, struct tfs_totals *totals)
{
	struct tfs_link_record link = {.correlation = call->correlation};

	if (call->start_ns >= outer->end_ns || call->end_ns > outer->end_ns) {
		outer->end_ns = call->end_ns;
		outer->unit = put_call(making, call, totals);
	}
	link.call_unit = outer->unit;
	if (call->correlation)
		tfs_chunks_put(&making->chunks, TFS_RECORD_link, &link, sizeof(link), NULL, 0);
}

static int put_thread(struct tfs_making *making, size_t first, size_t end, uint32_t index)
{
	const struct tfs_collected_call *calls = making->collected->calls;
	const struct tfs_thread_record thread = {.index = index, .tid = calls[first].tid};
	struct outer outer = {.end_ns = INT64_MIN};
	struct tfs_totals totals = {0};

	tfs_chunks_thread(&making->chunks, index);
	tfs_chunks_put(&making->chunks, TFS_RECORD_thread, &thread, sizeof(thread), NULL, 0);
	for (size_t i = first; i < end; i++)
		take_call(making, &calls[i], &outer, &totals);
	for (uint32_t i = 0; i < totals.count; i++)
		tfs_chunks_aggregate(&making->chunks, &totals.items[i]);
	tfs_totals_finish(&totals);
	return making->chunks.failed ? -ENOMEM : 0;
}

int tfs_making_calls(struct tfs_making *making)
{
	struct tfs_collected *collected = making->collected;
	uint32_t index = 1;
	int err = list_recorded(making);

	making->functions = calloc(collected->names.count + 1u, sizeof(*making->functions));
	if (!making->functions)
		return -ENOMEM;
	if (collected->sync_count)
		qsort(collected->syncs, collected->sync_count, sizeof(*collected->syncs),
			compare_sync);
	for (size_t i = 0, end; i < collected->call_count && !err; i = end) {
		for (end = i + 1; end < collected->call_count &&
				  collected->calls[end].tid == collected->calls[i].tid;)
			end++;
		err = put_thread(making, i, end, index++);
	}
	return err;
}
