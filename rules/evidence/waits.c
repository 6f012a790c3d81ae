/* SPDX-License-Identifier: MIT */
#include "rules/evidence/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/copies.h"
#include "rules/evidence/guards.h"
#include "rules/evidence/steady.h"
#include "rules/evidence/streams.h"

bool tfs_frees_nothing(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	if (call->family != TFS_FAMILY_free && call->family != TFS_FAMILY_host_free)
		return false;
	/* Hooks tell no operand that is NULL; some recordings have none at all. */
	if (!tfs_operand_next(timeline, call, &cursor, &operand))
		return timeline->range_count > 0;
	return !operand.address;
}

/* What a call waits for, seen alone. */
static enum tfs_wait wait_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_copy copy;

	if (call->record->status || tfs_frees_nothing(timeline, call))
		return TFS_WAIT_NONE;
	switch ((enum tfs_family)call->family) {
	case TFS_FAMILY_device_sync:
	case TFS_FAMILY_free:
	case TFS_FAMILY_host_free:
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_unregister:
	case TFS_FAMILY_reset:
		return TFS_WAIT_DEVICE;
	case TFS_FAMILY_stream_sync:
		return TFS_WAIT_STREAM;
	case TFS_FAMILY_event_sync:
		return TFS_WAIT_EVENT;
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
		tfs_copy_describe(timeline, call, &copy);
		if (copy.direction == TFS_COPY_DEVICE)
			return TFS_WAIT_NONE;
		if (copy.direction == TFS_COPY_UP && copy.host_memory != TFS_MEMORY_PINNED &&
			copy.bytes <= TFS_EARLY_COPY_BYTES)
			return TFS_WAIT_NONE;
		if (copy.async && copy.host_memory != TFS_MEMORY_PAGEABLE)
			return TFS_WAIT_NONE;
		return TFS_WAIT_OWN;
	default:
		break;
	}
	return tfs_steady_attribute(call, TFS_ATTRIBUTE_host_result, 0) ? TFS_WAIT_OWN
									: TFS_WAIT_NONE;
}

/* Beside what was waited for, this much is hardly anything. */
#define HARDLY 0.05
/* How far the host and each stream know that each stream has come: counts of submissions. */
struct progress {
	struct tfs_stream_numbers numbers;
	uint32_t streams;   /* the last one stands for calls whose stream is not known */
	uint64_t *given;    /* submissions to each stream */
	uint64_t *seen;     /* row per stream: what has finished once its latest work has */
	uint64_t *done;     /* what has finished for certain */
	uint32_t *by;       /* per stream: the latest wait that found more of it done */
	double **work;      /* per stream: time of the device for its first n submissions */
	uint64_t *room;     /* of these */
	double left;        /* when hardly anything was left, this much was */
	struct mark *marks; /* of events */
	size_t mark_count, mark_room;
};

struct mark {
	uint64_t event;
	uint64_t *seen;
};

static uint64_t *row(const struct progress *progress, uint32_t stream)
{
	return &progress->seen[(size_t)stream * progress->streams];
}

/* Whether there was anything new. */
static bool merge(uint64_t *into, const uint64_t *from, uint32_t streams)
{
	bool more = false;

	for (uint32_t i = 0; i < streams; i++) {
		if (from[i] <= into[i])
			continue;
		into[i] = from[i];
		more = true;
	}
	return more;
}

static bool all_done(const struct progress *progress)
{
	for (uint32_t i = 0; i < progress->streams; i++)
		if (progress->given[i] > progress->done[i])
			return false;
	return true;
}

static uint32_t stream_flags(const struct progress *progress, uint32_t stream)
{
	return stream < progress->numbers.count ? progress->numbers.flags[stream] : 1;
}

/* What the next work of a stream comes after. */
static void order_stream(struct progress *progress, uint32_t stream)
{
	uint32_t flags = stream_flags(progress, stream);

	for (uint32_t i = 0; i < progress->streams; i++) {
		uint32_t other = stream_flags(progress, i);

		if (i != stream && !(flags & 4) && !(other & 4) && ((flags | other) & 1))
			merge(row(progress, stream), row(progress, i), progress->streams);
	}
}

/* What is done has been waited for by the host, which gives the stream work only now. */
static void come_after_waits(struct progress *progress, uint32_t stream, struct tfs_waiting *waits)
{
	uint64_t *seen = row(progress, stream);

	order_stream(progress, stream);
	/* Nothing is said of streams that are not known. */
	for (uint32_t i = 0; i + 1 < progress->streams && stream + 1 < progress->streams; i++)
		if (i != stream && seen[i] < progress->done[i])
			waits[progress->by[i]].orders = true;
	merge(seen, progress->done, progress->streams);
}

static bool submit(struct progress *progress, uint32_t stream, double device_ns)
{
	uint64_t number = ++progress->given[stream];
	double *work = progress->work[stream];

	order_stream(progress, stream);
	row(progress, stream)[stream] = number;
	if (number >= progress->room[stream]) {
		uint64_t room = progress->room[stream] ? progress->room[stream] * 2 : 64;

		work = realloc(work, room * sizeof(*work));
		if (!work)
			return false;
		work[0] = 0;
		progress->work[stream] = work;
		progress->room[stream] = room;
	}
	work[number] = work[number - 1] + device_ns;
	return true;
}

/* The device's time for what has finished for certain, or for all. */
static double work_until(const struct progress *progress, const uint64_t *numbers)
{
	double ns = 0;

	for (uint32_t i = 0; i < progress->streams; i++)
		ns += numbers[i] ? progress->work[i][numbers[i]] : 0;
	return ns;
}

static struct mark *mark_of(struct progress *progress, uint64_t event)
{
	struct mark *mark;

	for (size_t i = 0; i < progress->mark_count; i++)
		if (progress->marks[i].event == event)
			return &progress->marks[i];
	if (progress->mark_count == progress->mark_room) {
		size_t room = progress->mark_room ? progress->mark_room * 2 : 16;
		struct mark *marks = realloc(progress->marks, room * sizeof(*marks));

		if (!marks)
			return NULL;
		progress->marks = marks;
		progress->mark_room = room;
	}
	mark = &progress->marks[progress->mark_count];
	mark->event = event;
	mark->seen = calloc(progress->streams, sizeof(uint64_t));
	if (!mark->seen)
		return NULL;
	progress->mark_count++;
	return mark;
}

/* So much is done behind the nth call; whether that is more than before. */
static bool advance(struct progress *progress, const uint64_t *done, uint32_t nth)
{
	for (uint32_t i = 0; i < progress->streams; i++)
		if (done[i] > progress->done[i])
			progress->by[i] = nth;
	return merge(progress->done, done, progress->streams);
}

/* Whether there was something for the nth call to wait for. */
static bool wait_for(struct progress *progress, const struct tfs_steady *steady, uint32_t nth,
	enum tfs_wait wait, uint32_t stream)
{
	struct mark *mark;

	switch (wait) {
	case TFS_WAIT_DEVICE:
		return advance(progress, progress->given, nth);
	case TFS_WAIT_STREAM:
		order_stream(progress, stream);
		return advance(progress, row(progress, stream), nth);
	case TFS_WAIT_EVENT:
		mark = mark_of(progress,
			tfs_steady_attribute(tfs_steady_call(steady, nth), TFS_ATTRIBUTE_event, 0));
		return mark && advance(progress, mark->seen, nth);
	case TFS_WAIT_OWN:
		return advance(progress, row(progress, stream), nth);
	case TFS_WAIT_NONE:
		break;
	}
	return false;
}

static void follow(struct progress *progress, const struct tfs_host_call *call, uint32_t stream)
{
	struct mark *mark;

	if (call->family != TFS_FAMILY_event_record && call->family != TFS_FAMILY_stream_wait)
		return;
	mark = mark_of(progress, tfs_steady_attribute(call, TFS_ATTRIBUTE_event, 0));
	if (!mark)
		return;
	if (call->family == TFS_FAMILY_event_record) {
		order_stream(progress, stream);
		memcpy(mark->seen, row(progress, stream), progress->streams * sizeof(uint64_t));
	} else {
		merge(row(progress, stream), mark->seen, progress->streams);
	}
}

static int start(struct progress *progress, const struct tfs_steady *steady)
{
	int err = tfs_stream_numbers_init(&progress->numbers, steady);
	size_t streams = (size_t)progress->numbers.count + 1;

	if (err)
		return err;
	progress->streams = progress->numbers.count + 1;
	progress->given = calloc(streams * (streams + 3), sizeof(uint64_t));
	progress->work = calloc(streams, sizeof(*progress->work));
	if (!progress->given || !progress->work)
		return -ENOMEM;
	progress->by = calloc(streams, sizeof(*progress->by));
	if (!progress->by)
		return -ENOMEM;
	progress->done = progress->given + streams;
	progress->room = progress->done + streams;
	progress->seen = progress->room + streams;
	return 0;
}

static void end(struct progress *progress)
{
	for (size_t i = 0; i < progress->mark_count; i++)
		free(progress->marks[i].seen);
	for (uint32_t i = 0; i < progress->streams && progress->work; i++)
		free(progress->work[i]);
	free(progress->marks);
	free(progress->work);
	free(progress->by);
	free(progress->given);
	tfs_stream_numbers_free(&progress->numbers);
}

/* The host waits in the nth call. */
static void drain(struct progress *progress, const struct tfs_steady *steady, uint32_t nth,
	uint32_t stream, struct tfs_waiting *waiting)
{
	double before = work_until(progress, progress->done), now, left;

	waiting->pending = wait_for(progress, steady, nth, waiting->wait, stream);
	waiting->drains = all_done(progress);
	now = work_until(progress, progress->done);
	left = work_until(progress, progress->given) - now;
	/* What was left behind an earlier wait has had the time since. */
	waiting->hardly = waiting->pending && now > before &&
			  left - progress->left <= HARDLY * (now - before);
	if (waiting->hardly || left < progress->left)
		progress->left = left;
}

int tfs_waits_find(const struct tfs_steady *steady, struct tfs_waiting *out_waits)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct progress progress = {0};
	int err = start(&progress, steady);
	struct tfs_guards *guards =
		err ? NULL : tfs_guards_create(steady, out_waits, progress.streams);
	uint32_t epoch = 0;

	if (!guards)
		err = -ENOMEM;
	for (uint32_t i = 0; i < steady->call_count && !err; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_waiting *waiting = &out_waits[i];
		struct tfs_copy copy;
		uint32_t stream = tfs_stream_number(&progress.numbers, call);
		uint64_t event = tfs_steady_attribute(call, TFS_ATTRIBUTE_event, 0);
		bool submits = tfs_family_submits(call->family) && !call->record->status;
		bool down =
			tfs_copy_describe(timeline, call, &copy) && copy.direction == TFS_COPY_DOWN;

		waiting->wait = wait_of(timeline, call);
		waiting->stream = stream;
		if (stream == TFS_NONE)
			stream = progress.numbers.count;
		if (submits) {
			/* A read-back drains what came before it; it is no new work to wait for. */
			epoch += !down;
			come_after_waits(&progress, stream, out_waits);
			if (!submit(&progress, stream, tfs_steady_device_ns(steady, call))) {
				err = -ENOMEM;
				break;
			}
			tfs_guards_submit(guards, i, stream, progress.given[stream]);
		}
		waiting->epoch = epoch;
		follow(&progress, call, stream);
		if (call->family == TFS_FAMILY_event_record)
			tfs_guards_record(guards, event, stream);
		if (waiting->wait != TFS_WAIT_NONE) {
			drain(&progress, steady, i, stream, waiting);
			if (call->family == TFS_FAMILY_copy_async)
				tfs_guards_may_wait(guards, i, progress.done);
			else
				tfs_guards_wait(guards, i,
					waiting->wait == TFS_WAIT_EVENT ? event : 0, progress.done);
		}
	}
	end(&progress);
	tfs_guards_destroy(guards);
	return err;
}
