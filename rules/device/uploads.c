/* SPDX-License-Identifier: MIT */
#include "rules/device/uploads.h"

#include <errno.h>
#include <stdlib.h>

#include "rules/device/zeroing.h"
#include "rules/evidence/copies.h"
#include "rules/timeline/flow.h"

/* So many times all bytes have been read before some of them stand for all. */
#define PROOFS 3u

/* An upload of the recording, judged or not. */
struct seen {
	struct tfs_upload upload;
	uint64_t start_ns;
	uint64_t source;
	uint64_t whole; /* hashes; 0 = not read */
	uint64_t sample;
	uint32_t window;
};

static int compare(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->upload.range != y->upload.range)
		return x->upload.range < y->upload.range ? -1 : 1;
	if (x->upload.address != y->upload.address)
		return x->upload.address < y->upload.address ? -1 : 1;
	if (x->upload.bytes != y->upload.bytes)
		return x->upload.bytes < y->upload.bytes ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool same_place(const struct seen *a, const struct seen *b)
{
	return a->upload.range == b->upload.range && a->upload.address == b->upload.address &&
	       a->upload.bytes == b->upload.bytes;
}

static bool side_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	uint32_t role, struct tfs_operand *out)
{
	unsigned cursor = 0;

	while (tfs_operand_next(timeline, call, &cursor, out))
		if (out->role & role)
			return true;
	return false;
}

static const struct tfs_access *writer_of(const struct tfs_timeline *timeline, uint32_t call,
	const struct tfs_operand *operand, bool before)
{
	return (before ? tfs_flow_before : tfs_flow_after)(timeline, call, operand->range,
		operand->address - timeline->ranges[operand->range].address, operand->bytes,
		TFS_ROLE_WRITE | TFS_ROLE_MAYBE);
}

/* Whether work of the device that is no kernel may write to the host's memory. */
static bool writes_late(const struct tfs_steady *steady)
{
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const uint16_t family = tfs_steady_call(steady, i)->family;

		if (family == TFS_FAMILY_host_func || family == TFS_FAMILY_graph_launch)
			return true;
	}
	return false;
}

/* Pageable memory is read before the call returns. Of other memory what was there at the call is
 * what is copied if only the host writes to it. */
static bool may_change(
	const struct tfs_steady *steady, uint32_t index, const struct tfs_copy *copy, bool late)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_operand source;

	if (copy->host_memory == TFS_MEMORY_PAGEABLE)
		return false;
	if (late || !side_of(timeline, &timeline->calls[index], TFS_ROLE_READ, &source))
		return true;
	return source.range != TFS_NONE && (writer_of(timeline, index, &source, true) ||
						   writer_of(timeline, index, &source, false));
}

/* False where it was not looked at, or its memory is not known. */
static bool look(const struct tfs_timeline *timeline, uint32_t index, const struct tfs_copy *copy,
	struct seen *out)
{
	const struct tfs_host_call *call = &timeline->calls[index];
	struct tfs_operand target;

	if (!side_of(timeline, call, TFS_ROLE_WRITE, &target) || target.range == TFS_NONE)
		return false;
	*out = (struct seen){
		.upload = {.call = index,
			.range = target.range,
			.address = target.address,
			.bytes = target.bytes,
			.pattern = (uint32_t)tfs_steady_attribute(call, TFS_ATTRIBUTE_pattern, 0)},
		.start_ns = call->start_ns,
		.source = copy->host_address,
		.whole = tfs_steady_attribute(call, TFS_ATTRIBUTE_content, 0),
		.sample = tfs_steady_attribute(call, TFS_ATTRIBUTE_sample, 0),
		.window = tfs_timeline_window_at(timeline, call->start_ns),
	};
	return out->whole || out->sample;
}

static bool is_judged(const struct tfs_steady *steady, uint32_t call)
{
	return steady->place[call] != TFS_NONE;
}

/* Appends what the recording has to `seen`, which has room for one of each call. */
static size_t collect(
	const struct tfs_steady *steady, struct seen *seen, struct tfs_uploads *out_uploads)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const bool opaque = tfs_zeros_any_opaque(steady);
	const bool late = writes_late(steady);
	size_t count = 0;

	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const bool judged = is_judged(steady, i);
		struct tfs_copy copy;

		if (!tfs_copy_describe(timeline, &timeline->calls[i], &copy) ||
			copy.direction != TFS_COPY_UP || timeline->calls[i].record->status)
			continue;
		if (!look(timeline, i, &copy, &seen[count]))
			out_uploads->unseen += judged;
		else if (may_change(steady, i, &copy, late))
			out_uploads->late += judged;
		else
			seen[count++].upload.supposed =
				opaque && copy.host_memory != TFS_MEMORY_PAGEABLE;
	}
	return count;
}

/* Whether the places of a destination's uploads that were looked at stand for all their bytes: each
 * time that these were read, they were alike where the places were, and of a pattern. */
struct trust {
	bool same;  /* places that are alike */
	bool other; /* they are, but never all bytes */
	bool patterns;
};

static struct trust trust_of(const struct seen *seen, size_t count)
{
	unsigned equal = 0, unequal = 0, fit = 0, unfit = 0;
	const struct seen *last = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!seen[i].whole)
			continue;
		fit += seen[i].upload.pattern != 0;
		unfit += seen[i].upload.pattern == 0;
		if (last && seen[i].sample == last->sample && seen[i].window == last->window) {
			equal += seen[i].whole == last->whole;
			unequal += seen[i].whole != last->whole;
		}
		last = &seen[i];
	}
	return (struct trust){.same = equal + 1 >= PROOFS && !unequal,
		.other = unequal + 1 >= PROOFS && !equal,
		.patterns = fit >= PROOFS && !unfit};
}

/* Whether two of them have the same bytes; KEPT stands for yes. */
static enum tfs_again alike(const struct seen *one, const struct seen *other, struct trust trust)
{
	if (one->whole && other->whole)
		return one->whole == other->whole ? TFS_AGAIN_KEPT : TFS_AGAIN_NOT;
	if (one->sample != other->sample || trust.other)
		return TFS_AGAIN_NOT;
	return trust.same ? TFS_AGAIN_KEPT : TFS_AGAIN_UNKNOWN;
}

static enum tfs_again compared(const struct tfs_steady *steady, const struct seen *seen,
	const struct seen *last, struct trust trust, bool opaque)
{
	const struct tfs_operand target = {.address = seen->upload.address,
		.bytes = seen->upload.bytes,
		.range = seen->upload.range};
	const enum tfs_again again = alike(seen, last, trust);
	const struct tfs_access *writer =
		writer_of(steady->timeline, seen->upload.call, &target, true);

	if (again == TFS_AGAIN_KEPT && (opaque || !writer || writer->call != last->upload.call))
		return TFS_AGAIN_WRITTEN;
	return again;
}

/* Whether a destination is given other bytes from elsewhere at times, as by an evaluation. */
static bool takes_turns(
	const struct tfs_steady *steady, const struct seen *seen, size_t count, struct trust trust)
{
	const struct tfs_host_call *calls = steady->timeline->calls;

	for (size_t i = 1; i < count; i++) {
		const struct seen *last = &seen[i - 1];

		if (seen[i].window == last->window &&
			alike(&seen[i], last, trust) != TFS_AGAIN_KEPT &&
			(seen[i].source != last->source ||
				calls[seen[i].upload.call].record->site !=
					calls[last->upload.call].record->site))
			return true;
	}
	return false;
}

/* The uploads to one destination, in order. */
static void judge(const struct tfs_steady *steady, struct seen *seen, size_t count, bool opaque,
	struct tfs_uploads *out_uploads)
{
	const struct trust trust = trust_of(seen, count);
	const size_t first = out_uploads->count;
	bool turns = takes_turns(steady, seen, count, trust);

	for (size_t i = 0; i < count; i++) {
		struct tfs_upload upload = seen[i].upload;

		if (!is_judged(steady, upload.call))
			continue;
		if (!seen[i].whole && !trust.patterns)
			upload.pattern = 0;
		if (i && seen[i].window == seen[i - 1].window)
			upload.again = compared(steady, &seen[i], &seen[i - 1], trust, opaque);
		turns |= upload.again == TFS_AGAIN_WRITTEN;
		out_uploads->items[out_uploads->count++] = upload;
	}
	for (size_t i = first; i < out_uploads->count; i++)
		out_uploads->items[i].turns = turns;
}

int tfs_uploads_find(const struct tfs_steady *steady, struct tfs_uploads *out_uploads)
{
	const size_t room = (size_t)steady->timeline->call_count + 1;
	const bool opaque = tfs_zeros_any_opaque(steady);
	struct seen *seen = malloc(room * sizeof(*seen));
	size_t count;

	*out_uploads = (struct tfs_uploads){.items = malloc(room * sizeof(*out_uploads->items))};
	if (!seen || !out_uploads->items) {
		free(seen);
		tfs_uploads_finish(out_uploads);
		return -ENOMEM;
	}
	count = collect(steady, seen, out_uploads);
	qsort(seen, count, sizeof(*seen), compare);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && same_place(&seen[i], &seen[end]);)
			end++;
		judge(steady, seen + i, end - i, opaque, out_uploads);
	}
	free(seen);
	return 0;
}

void tfs_uploads_finish(struct tfs_uploads *uploads)
{
	free(uploads->items);
	*uploads = (struct tfs_uploads){0};
}
