/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/support/pages.h"
#include "rules/support/sort.h"
#include "rules/timeline/timeline_build.h"

/* Families whose calls may wait for the device. */
static bool may_wait(uint16_t family)
{
	switch (family) {
	case TFS_FAMILY_device_sync:
	case TFS_FAMILY_stream_sync:
	case TFS_FAMILY_event_sync:
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
	case TFS_FAMILY_set:
	case TFS_FAMILY_free:
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_free:
	case TFS_FAMILY_host_register:
	case TFS_FAMILY_host_unregister:
	case TFS_FAMILY_stream_destroy:
	case TFS_FAMILY_reset:
		return true;
	default:
		return false;
	}
}

/* The call that took most of the host's time between two moments, if that is half of it. */
static uint32_t longest_call(const struct tfs_timeline *timeline, uint32_t first, uint32_t last,
	uint64_t start_ns, uint64_t end_ns)
{
	uint32_t longest = TFS_NONE;
	uint64_t most = (end_ns - start_ns) / 2;

	for (uint32_t i = first; i < last; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		uint64_t from = call->start_ns > start_ns ? call->start_ns : start_ns;
		uint64_t until = call->end_ns < end_ns ? call->end_ns : end_ns;

		if (until > from && until - from >= most) {
			most = until - from;
			longest = i;
		}
	}
	return longest;
}

/* The call behind which the host's longest stretch of its own code lies, before the last call. */
static uint32_t longest_code(
	const struct tfs_timeline *timeline, uint32_t first, uint32_t last, uint64_t start_ns)
{
	uint32_t longest = last > first ? last - 1 : TFS_NONE;
	uint64_t most = 0;

	for (uint32_t i = first; i < last; i++) {
		const uint64_t end_ns = timeline->calls[i].end_ns;
		const uint64_t from = end_ns > start_ns ? end_ns : start_ns;
		const uint64_t until = timeline->calls[i + 1].start_ns;

		if (until > from && until - from >= most) {
			most = until - from;
			longest = i;
		}
	}
	return longest;
}

static void explain(const struct tfs_timeline *timeline, struct tfs_idle *idle)
{
	uint32_t launch = timeline->ops[idle->next_op].call, before;
	const struct tfs_host_call *call;

	idle->why = TFS_IDLE_UNKNOWN;
	idle->call = TFS_NONE;
	if (launch == TFS_NONE)
		return;
	call = &timeline->calls[launch];
	idle->call = launch;
	idle->why = TFS_IDLE_QUEUED;
	if (call->start_ns <= idle->start_ns) {
		/* begun before, but the host was still in it: it launched late */
		if (call->end_ns > idle->start_ns + (idle->end_ns - idle->start_ns) / 2)
			idle->why = TFS_IDLE_CALL;
		return;
	}
	before = tfs_timeline_call_before(timeline, call->thread, idle->start_ns);
	if (before != TFS_NONE && timeline->calls[before].end_ns > idle->start_ns &&
		may_wait(timeline->calls[before].family)) {
		idle->why = TFS_IDLE_DRAINED;
		idle->call = before;
		return;
	}
	if (before == TFS_NONE)
		before = timeline->threads[call->thread].first_call;
	idle->call = longest_call(timeline, before, launch, idle->start_ns, call->start_ns);
	idle->why = TFS_IDLE_CALL;
	if (idle->call == TFS_NONE) {
		idle->why = TFS_IDLE_HOST;
		idle->call = longest_code(timeline, before, launch, idle->start_ns);
	}
}

/* Only time between two operations of one window with device activity counts. */
static bool observed(const struct tfs_timeline *timeline, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t window = tfs_timeline_window_at(timeline, start_ns);

	return window != TFS_NONE && timeline->windows[window].flags & 2 &&
	       end_ns <= timeline->windows[window].end_ns;
}

/* One device's operations in the order of their start. */
static void walk_device(struct tfs_timeline *timeline, struct tfs_device *device,
	const struct tfs_key *keys, size_t count)
{
	uint64_t busy_until = 0;

	device->first_idle = timeline->idle_count;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_device_op *op = &timeline->ops[keys[i].value];

		if (i && op->start_ns > busy_until &&
			observed(timeline, busy_until, op->start_ns)) {
			struct tfs_idle *idle = &timeline->private->idles[timeline->idle_count++];

			*idle = (struct tfs_idle){.start_ns = busy_until,
				.end_ns = op->start_ns,
				.device = device->number,
				.next_op = keys[i].value,
				.step = op->step};
			explain(timeline, idle);
		}
		if (op->end_ns > busy_until) {
			device->busy_ns += op->end_ns -
					   (op->start_ns > busy_until ? op->start_ns : busy_until);
			busy_until = op->end_ns;
		}
	}
	device->idle_count = timeline->idle_count - device->first_idle;
}

int tfs_timeline_build_idles(struct tfs_timeline *timeline)
{
	struct tfs_key *keys = tfs_pages_alloc(timeline->op_count + 1u, sizeof(*keys));
	uint32_t stream = 0;
	int err = 0;

	timeline->private->idles =
		tfs_pages_alloc(timeline->op_count + 1u, sizeof(*timeline->idles));
	timeline->idles = timeline->private->idles;
	if (!keys || !timeline->idles)
		err = -ENOMEM;
	for (uint32_t i = 0; i < timeline->device_count && !err; i++) {
		struct tfs_device *device = &timeline->private->devices[i];
		size_t count = 0;

		/* streams are sorted by device */
		for (; stream < timeline->stream_count &&
			timeline->streams[stream].device == device->number;
			stream++) {
			const struct tfs_stream *here = &timeline->streams[stream];

			for (uint32_t op = 0; op < here->op_count; op++, count++)
				keys[count] = (struct tfs_key){
					timeline->ops[here->first_op + op].start_ns,
					here->first_op + op};
		}
		err = tfs_sort_keys(keys, count);
		if (!err)
			walk_device(timeline, device, keys, count);
	}
	free(keys);
	return err;
}

uint32_t tfs_timeline_working_devices(const struct tfs_timeline *timeline)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < timeline->device_count; i++)
		count += timeline->devices[i].busy_ns > 0;
	return count;
}
