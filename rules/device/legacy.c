/* SPDX-License-Identifier: MIT */
#include "rules/device/legacy.h"

#include "rules/device/used.h"

#define LEGACY 1u
#define NON_BLOCKING 4u
/* cudaMemcpyKind, as device records have it. */
#define COPY_UP 1u
#define COPY_DOWN 2u
/* Work that starts so soon after other work's end waited for it; of the shortest kernel's time, as
 * that of a device has to do with how long it takes to start. */
#define SOON 3.0
/* Operations of a stream that a hold is looked for among. */
#define MOST_LOOKED 64u
/* Calls among which an event is looked for that keeps the same order. */
#define MOST_BETWEEN 1024u

static const struct tfs_device_op *op_of(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call, uint32_t nth)
{
	return &timeline->ops[timeline->call_ops[call->first_op + nth]];
}

static unsigned flags_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	return call->op_count ? timeline->streams[op_of(timeline, call, 0)->stream].flags
			      : NON_BLOCKING;
}

bool tfs_legacy_works(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	return flags_of(timeline, call) & LEGACY;
}

bool tfs_legacy_held(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	return !(flags_of(timeline, call) & (LEGACY | NON_BLOCKING));
}

/* Whether it takes the time of what computes; a copy between host and device does not. */
static bool computes(const struct tfs_device_op *op)
{
	return op->record->operation != TFS_DEVICE_MEMCPY ||
	       (op->record->copy_kind != COPY_UP && op->record->copy_kind != COPY_DOWN);
}

bool tfs_legacy_leaves_room(const struct tfs_timeline *timeline, const struct tfs_device_op *op)
{
	const struct tfs_device_record *device =
		timeline->devices[timeline->streams[op->stream].device].record;
	const uint32_t *grid = op->record->grid;
	const double blocks = (double)grid[0] * grid[1] * grid[2];

	return op->record->operation == TFS_DEVICE_KERNEL && device && blocks > 0 &&
	       2 * blocks <= device->multiprocessors;
}

/* Whether two operations would run at once, if nothing kept them from it. */
static bool overlap(const struct tfs_timeline *timeline, const struct tfs_device_op *one,
	const struct tfs_device_op *other, struct tfs_legacy_hold *hold)
{
	if (computes(one) && computes(other)) {
		hold->beside |= tfs_legacy_leaves_room(timeline, one) &&
				tfs_legacy_leaves_room(timeline, other);
		return false;
	}
	return computes(one) || computes(other) ||
	       one->record->copy_kind != other->record->copy_kind;
}

/* Whether results need no order of two calls, for all that is seen. */
static bool apart(const struct tfs_timeline *timeline, const struct tfs_host_call *one,
	const struct tfs_host_call *other, struct tfs_legacy_hold *hold)
{
	const struct tfs_used mine = tfs_used_by(timeline, one);
	const struct tfs_used its = tfs_used_by(timeline, other);

	if (tfs_used_unknown(timeline, one, &mine) || tfs_used_unknown(timeline, other, &its)) {
		hold->opaque = true;
		return false;
	}
	if (tfs_used_both(timeline, &mine, &its))
		return false;
	hold->own |= one->family == TFS_FAMILY_launch || other->family == TFS_FAMILY_launch;
	return true;
}

/* Whether an event was recorded last on this stream, behind one of the steady calls and before
 * another. */
static bool recorded(const struct tfs_steady *steady, uint64_t event, uint32_t from, uint32_t to,
	uint32_t stream)
{
	while (--to > from) {
		const struct tfs_host_call *call = tfs_steady_call(steady, to);

		if (call->family == TFS_FAMILY_event_record &&
			tfs_steady_attribute(call, TFS_ATTRIBUTE_event, 0) == event)
			return steady->waits[to].stream == stream;
	}
	return false;
}

/* Whether an event keeps the order of two calls' work as well. */
static bool by_event(const struct tfs_steady *steady, uint32_t one, uint32_t other)
{
	const uint32_t from = steady->place[one], to = steady->place[other];

	if (from == TFS_NONE || to == TFS_NONE)
		return false;
	for (uint32_t i = to; i > from + 1 && to - i < MOST_BETWEEN; i--) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i - 1);

		if (call->family == TFS_FAMILY_stream_wait &&
			steady->waits[i - 1].stream == steady->waits[to].stream &&
			recorded(steady, tfs_steady_attribute(call, TFS_ATTRIBUTE_event, 0), from,
				i - 1, steady->waits[from].stream))
			return true;
	}
	return false;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The first operation of a stream that starts at or after a moment. */
static uint32_t first_from(
	const struct tfs_timeline *timeline, const struct tfs_stream *stream, uint64_t ns)
{
	uint32_t low = stream->first_op, high = low + stream->op_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (timeline->ops[middle].start_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* When an operation might have started: it was given, and its stream was free. */
static uint64_t ready_ns(
	const struct tfs_timeline *timeline, const struct tfs_stream *stream, uint32_t op)
{
	const struct tfs_device_op *this = &timeline->ops[op];
	const uint64_t given = timeline->calls[this->call].start_ns;

	return op > stream->first_op ? later(given, timeline->ops[op - 1].end_ns) : given;
}

static bool soon(const struct tfs_steady *steady, uint64_t end_ns, uint64_t start_ns)
{
	return start_ns >= end_ns && (double)(start_ns - end_ns) <= SOON * steady->kernel_floor_ns;
}

/* Whether nothing but the legacy stream's order has an operation wait for what that stream was
 * given behind a call: for the last of it, it did. */
static bool waits_behind(const struct tfs_steady *steady, const struct tfs_host_call *call,
	const struct tfs_device_op *waiting, struct tfs_legacy_hold *hold)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t own = timeline->call_ops[call->first_op + call->op_count - 1];
	const struct tfs_stream *mine = &timeline->streams[timeline->ops[own].stream];
	const uint32_t end = mine->first_op + mine->op_count;
	const struct tfs_host_call *waiter = &timeline->calls[waiting->call];
	uint64_t last_ns = timeline->ops[own].end_ns;

	for (uint32_t i = own + 1; i < end && timeline->ops[i].start_ns < waiting->start_ns; i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (i - own > MOST_LOOKED || op->call == TFS_NONE ||
			timeline->calls[op->call].start_ns > waiter->start_ns ||
			!apart(timeline, &timeline->calls[op->call], waiter, hold))
			return false;
		last_ns = op->end_ns;
	}
	return soon(steady, last_ns, waiting->start_ns) && apart(timeline, call, waiter, hold) &&
	       !by_event(steady, (uint32_t)(call - timeline->calls), waiting->call);
}

/* What a call's work held up of a stream's. */
static void look_behind(const struct tfs_steady *steady, const struct tfs_host_call *call,
	const struct tfs_stream *stream, struct tfs_legacy_hold *hold)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_device_op *first = op_of(timeline, call, 0);
	const struct tfs_device_op *last = op_of(timeline, call, call->op_count - 1);
	const uint32_t next = first_from(timeline, stream, last->end_ns);
	uint64_t free;

	if (next >= stream->first_op + stream->op_count || timeline->ops[next].call == TFS_NONE)
		return;
	free = later(ready_ns(timeline, stream, next), first->start_ns);
	if (timeline->calls[timeline->ops[next].call].start_ns > call->start_ns &&
		free < last->end_ns && waits_behind(steady, call, &timeline->ops[next], hold) &&
		overlap(timeline, last, &timeline->ops[next], hold))
		hold->behind_ns += (double)(last->end_ns - free);
}

/* What a stream's work held up a call's, and the other way round. */
static void look(const struct tfs_steady *steady, const struct tfs_host_call *call,
	const struct tfs_stream *stream, uint64_t ready, struct tfs_legacy_hold *hold)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_device_op *first = op_of(timeline, call, 0);
	const uint32_t at = first_from(timeline, stream, first->start_ns);

	for (uint32_t i = at; i > stream->first_op && at - i < MOST_LOOKED; i--) {
		const struct tfs_device_op *op = &timeline->ops[i - 1];

		if (op->end_ns <= ready)
			break;
		/* What comes before needed work has to be waited for anyway. */
		if (op->call == TFS_NONE || op->end_ns > first->start_ns ||
			timeline->calls[op->call].start_ns > call->start_ns ||
			!apart(timeline, call, &timeline->calls[op->call], hold) ||
			by_event(steady, op->call, (uint32_t)(call - timeline->calls)))
			break;
		if (overlap(timeline, first, op, hold))
			hold->before_ns += (double)(op->end_ns - later(op->start_ns, ready));
	}
	look_behind(steady, call, stream, hold);
}

struct tfs_legacy_hold tfs_legacy_hold_of(
	const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_device_op *first = op_of(timeline, call, 0);
	const struct tfs_stream *mine = &timeline->streams[first->stream];
	const uint64_t ready = ready_ns(timeline, mine, timeline->call_ops[call->first_op]);
	struct tfs_legacy_hold hold = {.opaque = false};

	for (uint32_t i = 0; i < timeline->stream_count; i++) {
		const struct tfs_stream *stream = &timeline->streams[i];

		if (stream->device == mine->device && !(stream->flags & (LEGACY | NON_BLOCKING)))
			look(steady, call, stream, ready, &hold);
	}
	return hold;
}

/* Whether a call's work comes behind other streams' work of its step that it needs, and before some
 * that needs it: then there is no time at which it is in nothing's way. */
bool tfs_legacy_chained(const struct tfs_steady *steady, uint32_t index)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[index];
	const struct tfs_used mine = tfs_used_by(timeline, call);
	bool before = false, behind = false;

	for (int way = -1; way <= 1; way += 2)
		for (uint32_t i = steady->place[index] + (uint32_t)way; i < steady->call_count;
			i += (uint32_t)way) {
			const struct tfs_host_call *other = tfs_steady_call(steady, i);
			const struct tfs_used its = tfs_used_by(timeline, other);

			if (other->step != call->step)
				break;
			if (tfs_legacy_held(timeline, other) &&
				tfs_used_both(timeline, &mine, &its))
				*(way < 0 ? &before : &behind) = true;
		}
	return before && behind;
}
