/* SPDX-License-Identifier: MIT */
#include "rules/evidence/guards.h"

#include <stdlib.h>
#include <string.h>

#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"

/* Copies that are followed at once. */
#define MOST_HELD 512u

/* Host memory that a copy uses until it is done. */
struct held {
	uint64_t address;
	uint64_t bytes;
	uint64_t number; /* of the copy in its stream */
	uint64_t event;  /* recorded right behind it; 0 = none */
	uint32_t stream;
	uint32_t copy;  /* the call, as the nth of the judged ones */
	uint32_t first; /* the first call behind which it is done, or TFS_NONE */
	uint32_t guard; /* the first that waits for its own event, or TFS_NONE */
	uint32_t maybe; /* the first before them behind which it may be done, or TFS_NONE */
	bool up;
};

/* Work of a stream that uses memory which the host can use too. */
struct shared {
	uint64_t first; /* none of it waited for; 0 = none */
	uint64_t last;
	uint64_t copies_from; /* the stream's latest work since this number is copies only */
};

struct tfs_guards {
	const struct tfs_steady *steady;
	struct tfs_waiting *waits;
	struct held held[MOST_HELD];
	uint32_t held_count;
	uint32_t streams;
	bool host_seen; /* kernels may use memory that no argument shows */
	struct shared shared[];
};

/* Pinned memory that no copy uses is there for kernels; so is managed memory. */
static bool host_seen(const struct tfs_timeline *timeline)
{
	bool *staging = calloc(timeline->range_count + 1u, sizeof(*staging));
	bool seen = false;

	if (!staging)
		return true;
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		struct tfs_operand operand;
		unsigned cursor = 0;

		if (call->family != TFS_FAMILY_copy && call->family != TFS_FAMILY_copy_async)
			continue;
		while (tfs_operand_next(timeline, call, &cursor, &operand))
			if (operand.range != TFS_NONE)
				staging[operand.range] = true;
	}
	for (uint32_t i = 0; i < timeline->range_count; i++) {
		uint32_t memory = timeline->ranges[i].memory;

		seen |= memory == TFS_MEMORY_MANAGED ||
			(memory == TFS_MEMORY_PINNED && !staging[i]);
	}
	free(staging);
	return seen;
}

struct tfs_guards *tfs_guards_create(
	const struct tfs_steady *steady, struct tfs_waiting *waits, uint32_t streams)
{
	struct tfs_guards *guards = calloc(1, sizeof(*guards) + streams * sizeof(*guards->shared));

	if (!guards)
		return NULL;
	guards->steady = steady;
	guards->waits = waits;
	guards->streams = streams;
	guards->host_seen = host_seen(steady->timeline);
	return guards;
}

static void need(struct tfs_guards *guards, uint32_t nth, const struct held *held)
{
	const uint8_t use = held->up ? TFS_GUARDS_REFILL : TFS_GUARDS_READ;

	if (nth != TFS_NONE)
		guards->waits[nth].needed |= use;
}

/* The memory is used anew, or nothing more is known. */
static void release(struct tfs_guards *guards, uint32_t index, bool used)
{
	struct held *held = &guards->held[index];

	if (used) {
		need(guards, held->guard != TFS_NONE ? held->guard : held->first, held);
		need(guards, held->maybe, held);
	}
	*held = guards->held[--guards->held_count];
}

static void hold(struct tfs_guards *guards, const struct tfs_copy *copy, uint32_t nth,
	uint32_t stream, uint64_t number)
{
	for (uint32_t i = guards->held_count; i-- > 0;) {
		const struct held *held = &guards->held[i];

		if (held->address < copy->host_address + copy->bytes &&
			copy->host_address < held->address + held->bytes)
			release(guards, i, true);
	}
	if (guards->held_count == MOST_HELD)
		release(guards, 0, true);
	guards->held[guards->held_count++] = (struct held){.address = copy->host_address,
		.bytes = copy->bytes,
		.number = number,
		.stream = stream,
		.copy = nth,
		.first = TFS_NONE,
		.guard = TFS_NONE,
		.maybe = TFS_NONE,
		.up = copy->direction == TFS_COPY_UP};
}

/* A library's hooks take all memory that they are given for the device's. */
static uint32_t memory_of(const struct tfs_timeline *timeline, const struct tfs_operand *operand)
{
	return operand->range != TFS_NONE ? timeline->ranges[operand->range].memory
					  : operand->memory;
}

static bool on_host(uint32_t memory)
{
	return memory == TFS_MEMORY_PAGEABLE || memory == TFS_MEMORY_PINNED ||
	       memory == TFS_MEMORY_HOST;
}

/* Whether work uses memory that the host reaches without a copy; `copy` is NULL for what is none.
 * An asynchronous one may be from or to the host where its direction is not known. */
static bool shares(const struct tfs_guards *guards, const struct tfs_host_call *call,
	const struct tfs_copy *copy)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	if (copy && copy->async && copy->direction == TFS_COPY_UNKNOWN)
		return true;
	if (call->family == TFS_FAMILY_host_func || call->family == TFS_FAMILY_graph_launch)
		return true;
	if (call->family == TFS_FAMILY_launch && guards->host_seen)
		return true;
	while (tfs_operand_next(guards->steady->timeline, call, &cursor, &operand)) {
		uint32_t memory = memory_of(guards->steady->timeline, &operand);

		if (memory == TFS_MEMORY_MANAGED || (!copy && on_host(memory)))
			return true;
	}
	return false;
}

/* Whether the host's memory is used by the copy when the call has returned, or may be: what is
 * asynchronous may wait where that is pageable. */
static bool outlasts(const struct tfs_copy *copy)
{
	if (!copy->async || !copy->host_address)
		return false;
	if (copy->direction == TFS_COPY_UP)
		return copy->host_memory != TFS_MEMORY_PAGEABLE ||
		       copy->bytes > TFS_EARLY_COPY_BYTES;
	return copy->direction == TFS_COPY_DOWN;
}

void tfs_guards_submit(struct tfs_guards *guards, uint32_t nth, uint32_t stream, uint64_t number)
{
	const struct tfs_host_call *call = tfs_steady_call(guards->steady, nth);
	struct shared *shared = &guards->shared[stream];
	struct tfs_copy copy;
	bool copies = tfs_copy_describe(guards->steady->timeline, call, &copy);

	if (!copies)
		shared->copies_from = number + 1;
	/* What the call itself waits for needs no other wait. */
	if (guards->waits[nth].wait != TFS_WAIT_NONE && !(copies && copy.async))
		return;
	if (copies && outlasts(&copy))
		hold(guards, &copy, nth, stream, number);
	if (shares(guards, call, copies ? &copy : NULL)) {
		shared->first = shared->first ? shared->first : number;
		shared->last = number;
	}
}

void tfs_guards_record(struct tfs_guards *guards, uint64_t event, uint32_t stream)
{
	for (uint32_t i = 0; i < guards->held_count; i++) {
		struct held *held = &guards->held[i];

		if (held->stream == stream && !held->event &&
			held->number >= guards->shared[stream].copies_from)
			held->event = event;
	}
}

void tfs_guards_wait(struct tfs_guards *guards, uint32_t nth, uint64_t event, const uint64_t *done)
{
	for (uint32_t i = 0; i < guards->held_count; i++) {
		struct held *held = &guards->held[i];

		if (done[held->stream] < held->number)
			continue;
		if (held->first == TFS_NONE)
			held->first = nth;
		if (held->guard == TFS_NONE && event && event == held->event)
			held->guard = nth;
	}
	for (uint32_t i = 0; i < guards->streams; i++) {
		struct shared *shared = &guards->shared[i];

		if (!shared->first || done[i] < shared->first)
			continue;
		guards->waits[nth].needed |= TFS_GUARDS_SHARED;
		shared->first = shared->last > done[i] ? done[i] + 1 : 0;
	}
}

void tfs_guards_may_wait(struct tfs_guards *guards, uint32_t nth, const uint64_t *done)
{
	for (uint32_t i = 0; i < guards->held_count; i++) {
		struct held *held = &guards->held[i];

		if (held->copy != nth && held->first == TFS_NONE && held->maybe == TFS_NONE &&
			done[held->stream] >= held->number)
			held->maybe = nth;
	}
	for (uint32_t i = 0; i < guards->streams; i++)
		if (guards->shared[i].first && done[i] >= guards->shared[i].first)
			guards->waits[nth].needed |= TFS_GUARDS_SHARED;
}

void tfs_guards_destroy(struct tfs_guards *guards)
{
	/* What was copied to the host is there to be read; what was copied from it may not be
	 * filled any more. */
	while (guards && guards->held_count)
		release(guards, guards->held_count - 1, !guards->held[guards->held_count - 1].up);
	free(guards);
}

uint32_t tfs_guards_at(const struct tfs_steady *steady, uint32_t call)
{
	return steady->waits[steady->place[call]].needed;
}

uint32_t tfs_guards_of(const struct tfs_steady *steady, const struct tfs_place *place)
{
	uint32_t needed = 0;

	for (size_t i = 0; i < place->count; i++)
		needed |= tfs_guards_at(steady, place->items[i].call);
	return needed;
}

uint32_t tfs_guards_or_unknown(const struct tfs_steady *steady, const struct tfs_place *place)
{
	const uint32_t needed = tfs_guards_of(steady, place);

	if (!needed && tfs_trace_fact(steady->timeline->trace, TFS_FACT_imported))
		return TFS_GUARDS_UNKNOWN;
	return needed;
}

static const char *unknown_advice(struct tfs_arena *arena, const char *then)
{
	if (then)
		return tfs_arena_print(arena,
			"%s The trace does not say which memory the host uses after this call: "
			"make sure that the host reads no value that another call copies, "
			"and refills no buffer that is being copied, before the next synchronisation.",
			then);
	return "The trace does not say which memory the host uses after this call. "
	       "Remove the call only if the host reads no copied value, "
	       "and refills no buffer that is being copied, before the next synchronisation. "
	       "In PyTorch, where the call is inside an operator, "
	       "avoid that operator (.item(), .cpu(), a blocking .to()) in the step.";
}

const char *tfs_guards_advice(struct tfs_arena *arena, uint32_t needed, const char *then)
{
	const char *why =
		"after it the host may use memory that the device uses too (managed or mapped memory, "
		"or memory of a graph or a host function)";
	const char *how = "let the device work on one buffer while the host uses the other, "
			  "record an event after the work on each";

	if (needed & TFS_GUARDS_UNKNOWN)
		return unknown_advice(arena, then);
	if (needed & TFS_GUARDS_REFILL) {
		why = "after it the host may overwrite a buffer that is still being copied";
		how = "copy from two alternating buffers, "
		      "record an event after each copy "
		      "(and let other streams that need the data wait with cudaStreamWaitEvent)";
	} else if (needed & TFS_GUARDS_READ) {
		why = "after it the host may read the copied data";
		how = "copy into two alternating buffers, record an event after each copy";
	}
	return tfs_arena_print(arena,
		"Keep this synchronisation: %s. To remove it, %s, "
		"and before the host uses a buffer, "
		"call cudaEventSynchronize on the buffer's event of an earlier step%s%s",
		why, how, then ? ". With that done: " : ".", then ? then : "");
}
