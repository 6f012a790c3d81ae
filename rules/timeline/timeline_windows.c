/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/support/sort.h"
#include "rules/timeline/timeline_build.h"

static void apply(struct tfs_timeline *timeline, const struct tfs_window_record *record)
{
	struct tfs_window *windows = timeline->private->windows;
	uint64_t ns = tfs_trace_ns(timeline->trace, record->ticks);
	struct tfs_window *last =
		timeline->window_count ? &windows[timeline->window_count - 1] : NULL;

	if (last && last->end_ns == UINT64_MAX)
		last->end_ns = ns;
	if (record->opens)
		windows[timeline->window_count++] = (struct tfs_window){.start_ns = ns,
			.end_ns = UINT64_MAX,
			.number = record->number,
			.flags = record->flags & 4 ? record->flags | 1 : record->flags};
}

/* Calls that are recorded outside windows too. */
static bool recorded_always(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_alloc:
	case TFS_FAMILY_alloc_async:
	case TFS_FAMILY_free:
	case TFS_FAMILY_free_async:
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_free:
	case TFS_FAMILY_host_register:
	case TFS_FAMILY_host_unregister:
	case TFS_FAMILY_stream_create:
	case TFS_FAMILY_stream_destroy:
		return true;
	default:
		return false;
	}
}

static bool holds_more(const struct tfs_trace *trace)
{
	const struct tfs_trace_thread *threads;
	size_t count = tfs_trace_threads(trace, &threads);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_call *call;
		struct tfs_cursor cursor;

		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor)))
			if (!recorded_always(
				    (enum tfs_family)tfs_trace_family(trace, call->function)))
				return true;
	}
	return tfs_trace_count(trace, TFS_RECORD_device_op) > 0;
}

/* A recording without windows that holds more calls than those recorded at any time is taken as
 * one window. */
int tfs_timeline_build_windows(struct tfs_timeline *timeline)
{
	const struct tfs_trace *trace = timeline->trace;
	size_t count = tfs_trace_count(trace, TFS_RECORD_window);
	struct tfs_key *keys = malloc((count + 1) * sizeof(*keys));
	int err;

	timeline->private->windows = calloc(count + 1, sizeof(*timeline->private->windows));
	if (!keys || !timeline->private->windows || count >= TFS_NONE) {
		free(keys);
		return -ENOMEM;
	}
	timeline->windows = timeline->private->windows;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_window_record *record = tfs_trace_at(trace, TFS_RECORD_window, i);

		keys[i] = (struct tfs_key){record->ticks, (uint32_t)i};
	}
	err = tfs_sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++)
		apply(timeline, tfs_trace_at(trace, TFS_RECORD_window, keys[i].value));
	free(keys);
	if (!err && !count && holds_more(trace))
		timeline->private->windows[timeline->window_count++] = (struct tfs_window){
			.start_ns = 0, .end_ns = UINT64_MAX, .flags = 1 | 2 | 4};
	return err;
}

int tfs_timeline_close_windows(struct tfs_timeline *timeline)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < timeline->thread_count; i++) {
		const struct tfs_host_thread *thread = &timeline->threads[i];

		if (thread->call_count) {
			uint64_t end =
				timeline->calls[thread->first_call + thread->call_count - 1].end_ns;

			last = end > last ? end : last;
		}
	}
	for (uint32_t i = 0; i < timeline->op_count; i++)
		if (timeline->ops[i].end_ns > last)
			last = timeline->ops[i].end_ns;
	for (uint32_t i = 0; i < timeline->window_count; i++) {
		struct tfs_window *window = &timeline->private->windows[i];

		if (window->end_ns == UINT64_MAX && last > window->start_ns)
			window->end_ns = last;
	}
	return 0;
}
