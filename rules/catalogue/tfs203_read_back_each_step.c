/* SPDX-License-Identifier: MIT */
/*
 * TFS203: a few bytes read back each step and waited for at once: the loss, an accuracy, a norm.
 * Reading every tenth step or more seldom, or a step later, passes. So do more bytes, unless the
 * step reads the same ones more than once, or the host had them already: they are its own upload.
 */
#include <stdlib.h>

#include "rules/device/zeroing.h"
#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"
#include "rules/timeline/flow.h"

#define SMALL_BYTES 4096u
/* Places that a step reads, of which the rule keeps track. */
#define MOST_READS 64u

/* A read-back that others of its step repeat, and one that repeats another; it may be both. And one
 * of what the host uploaded in the same step. */
#define AGAIN_FIRST 1u
#define AGAIN_REPEAT 2u
#define READ_UPLOAD 4u

/* The call that waits for the value before the device is given anything new to do, by its place in
 * the evidence; TFS_NONE = nothing does. */
static uint32_t consumer_of(const struct tfs_steady *steady, uint32_t position)
{
	uint32_t stream = steady->waits[position].stream;

	if (steady->waits[position].wait == TFS_WAIT_OWN)
		return position;
	for (uint32_t i = position + 1; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const struct tfs_waiting *waiting = &steady->waits[i];
		struct tfs_copy copy;

		if (waiting->wait == TFS_WAIT_DEVICE ||
			(waiting->wait != TFS_WAIT_NONE && waiting->stream == stream) ||
			(waiting->wait == TFS_WAIT_EVENT && waiting->drains))
			return i;
		if (tfs_copy_describe(steady->timeline, call, &copy) &&
			copy.direction == TFS_COPY_DOWN)
			continue;
		if (tfs_family_submits(call->family))
			break;
	}
	return TFS_NONE;
}

/* As is advised: the value is there a step later, unless the step had it already. */
static struct tfs_edit read_later(const struct tfs_steady *steady, uint32_t position,
	const struct tfs_copy *copy, bool repeats)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, position);
	const bool waits = steady->waits[position].wait == TFS_WAIT_OWN;

	return (struct tfs_edit){.gone = repeats,
		.no_wait = true,
		.scale = tfs_copy_pinned_scale(steady, call, copy),
		.adds_ns = TFS_RECORD_EVENT_NS + (waits ? TFS_PAST_EVENT_NS : 0)};
}

/* Calls elsewhere that wait for the copies of a place. */
static void add_consumers(
	const struct tfs_steady *steady, const struct tfs_place *place, struct tfs_hits *waits)
{
	for (size_t i = 0; i < place->count; i++) {
		uint32_t consumer = consumer_of(steady, steady->place[place->items[i].call]);

		if (consumer != TFS_NONE && steady->calls[consumer] != place->items[i].call)
			tfs_hits_add(waits, steady->calls[consumer], 0,
				(struct tfs_edit){.no_wait = true, .adds_ns = TFS_PAST_EVENT_NS});
	}
}

/* The latest read-backs of a step. */
struct reads {
	struct {
		uint64_t address;
		uint32_t nth;
	} items[MOST_READS];
	uint32_t step, count;
};

/* Whether nothing may have written what a call reads since another one read it. */
static bool unchanged(const struct tfs_timeline *timeline, uint32_t since, uint32_t call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	while (tfs_operand_next(timeline, &timeline->calls[call], &cursor, &operand)) {
		const struct tfs_access *writer;

		if (!(operand.role & TFS_ROLE_READ))
			continue;
		if (operand.range == TFS_NONE)
			return false;
		writer = tfs_flow_writer(timeline, call, &operand);
		return !writer || writer->start_ns < timeline->calls[since].start_ns;
	}
	return false;
}

/* The copy from the host that wrote the whole of what a call reads, and wrote it last, by its place
 * in the evidence; TFS_NONE = none in the same step. */
static uint32_t upload_of(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const uint32_t index = (uint32_t)(call - timeline->calls);
	struct tfs_operand operand = {.range = TFS_NONE};
	const struct tfs_access *writer;
	const struct tfs_host_call *upload;
	unsigned cursor = 0;
	uint64_t offset;
	struct tfs_copy copy;

	while (tfs_operand_next(timeline, call, &cursor, &operand) &&
		!(operand.role & TFS_ROLE_READ))
		operand.range = TFS_NONE;
	if (operand.range == TFS_NONE || !operand.bytes)
		return TFS_NONE;
	writer = tfs_flow_writer(timeline, index, &operand);
	upload = writer ? &timeline->calls[writer->call] : NULL;
	if (!upload || upload->step != call->step || upload->record->status ||
		!tfs_copy_describe(timeline, upload, &copy) || copy.direction != TFS_COPY_UP)
		return TFS_NONE;
	offset = operand.address - timeline->ranges[operand.range].address;
	/* Rows with gaps in between are fewer bytes than they reach over. */
	if (!writer->bounded || writer->bytes != copy.bytes || writer->offset > offset ||
		offset + operand.bytes > writer->offset + writer->bytes)
		return TFS_NONE;
	return steady->place[writer->call];
}

/* Marks all read-backs of what the same step has read already, and these, wherever they are made;
 * and those of what it has uploaded. Returns how many there may be besides: something between may
 * have written what they read. */
static uint32_t mark_known(const struct tfs_steady *steady, uint8_t *again)
{
	struct reads reads = {.step = TFS_NONE};
	uint32_t opaque = 0, unclear = 0; /* behind the latest call that is opaque; reads */

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_copy copy;
		uint32_t at = 0, upload;

		if (tfs_zeros_opaque(steady->timeline, call))
			opaque = i + 1;
		if (!tfs_copy_describe(steady->timeline, call, &copy) || call->record->status ||
			copy.direction != TFS_COPY_DOWN || !copy.device_address)
			continue;
		upload = upload_of(steady, call);
		if (upload != TFS_NONE && opaque <= upload)
			again[i] |= READ_UPLOAD;
		else
			unclear += upload != TFS_NONE && copy.bytes > SMALL_BYTES;
		if (call->step != reads.step)
			reads.count = 0;
		reads.step = call->step;
		while (at < reads.count && reads.items[at].address != copy.device_address)
			at++;
		if (at == MOST_READS)
			continue;
		if (at < reads.count &&
			unchanged(steady->timeline, steady->calls[reads.items[at].nth],
				steady->calls[i])) {
			bool clear = opaque <= reads.items[at].nth;

			again[i] |= clear ? AGAIN_REPEAT : 0;
			again[reads.items[at].nth] |= clear ? AGAIN_FIRST : 0;
			unclear += !clear;
		}
		reads.count += at == reads.count;
		reads.items[at].address = copy.device_address;
		reads.items[at].nth = i;
	}
	return unclear;
}

/* Whether the steps read what a place reads more than once. */
static bool read_again(
	const struct tfs_steady *steady, const struct tfs_place *place, const uint8_t *again)
{
	for (size_t i = 0; i < place->count; i++)
		if (again[steady->place[place->items[i].call]] & (AGAIN_FIRST | AGAIN_REPEAT))
			return true;
	return false;
}

/* Whether a place reads nothing but what the host uploaded. */
static bool read_own(
	const struct tfs_steady *steady, const struct tfs_place *place, const uint8_t *again)
{
	for (size_t i = 0; i < place->count; i++)
		if (!(again[steady->place[place->items[i].call]] & READ_UPLOAD))
			return false;
	return true;
}

/* The work that a step is given behind a call, as a number. */
static uint64_t work_behind(const struct tfs_steady *steady, uint32_t position)
{
	const struct tfs_host_call *read = tfs_steady_call(steady, position);
	uint64_t work = 0;

	for (uint32_t i = position + 1; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		if (call->step != read->step)
			break;
		if (call->thread == read->thread && tfs_family_submits(call->family))
			work = (work ^ ((uint64_t)call->record->site << 16 | call->function)) *
			       UINT64_C(0x9E3779B97F4A7C15);
	}
	return work;
}

/* Whether the steps do not all go on in the same way behind the value. */
static bool decides(const struct tfs_steady *steady, const struct tfs_place *place)
{
	uint64_t first = work_behind(steady, steady->place[place->items[0].call]);
	uint32_t step = TFS_NONE;

	for (size_t i = 0; i < place->count; i++) {
		uint32_t call = place->items[i].call;

		/* The first of a step, as the hits come in order. */
		if (steady->timeline->calls[call].step == step)
			continue;
		step = steady->timeline->calls[call].step;
		if (work_behind(steady, steady->place[call]) != first)
			return true;
	}
	return false;
}

/* What else rests on the waits for a value. */
static uint32_t needed_for(const struct tfs_steady *steady, const struct tfs_place *place,
	const struct tfs_hits *waits)
{
	uint32_t needed = tfs_guards_of(steady, place);

	for (size_t i = 0; i < waits->count; i++)
		needed |= tfs_guards_at(steady, waits->items[i].call);
	return needed & ~TFS_GUARDS_READ;
}

/* What to do in the place of reading. */
static const char *advise(struct tfs_findings *findings, bool own, bool twice)
{
	const char *advice = findings->rule->advice;

	if (own)
		return "Use the values that the host copied to the device, "
		       "or a copy of them that the host keeps, and remove this copy: "
		       "no call that was seen writes them on the device in between.";
	if (twice)
		return tfs_arena_print(findings->arena,
			"Copy the value once and use it at the other call sites too: "
			"no call that was seen writes it in between. %s",
			advice);
	return advice;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, const uint8_t *again)
{
	const bool own = read_own(steady, place, again);
	const bool twice = !own && read_again(steady, place, again);
	const char *advice = advise(findings, own, twice);
	struct tfs_hits waits = {0};
	struct tfs_draft *draft;
	uint32_t needed;

	add_consumers(steady, place, &waits);
	needed = needed_for(steady, place, &waits);
	draft = tfs_findings_add(findings, place, &waits,
		"copies %s to the host and waits for them, %s%s",
		tfs_figure_bytes((double)place->bytes / (double)place->count).text,
		tfs_figure_calls(tfs_place_per_step(place, steady)).text,
		own     ? "; the host copied them to the device in the same step"
		: twice ? "; the same memory more than once"
			: "");
	if (draft)
		draft->finding.advice = advice;
	for (size_t i = 0; draft && own && i < place->count && i < draft->hit_count; i++)
		draft->hits[i].edit.gone = true;
	if (needed)
		tfs_draft_needed(findings, draft, needed, own ? advice : findings->rule->advice);
	if (draft && !own && decides(steady, place)) {
		tfs_draft_needed(findings, draft, needed, NULL);
		draft->finding.advice =
			"Keep this copy: the steps differ after it, so its value may decide how they continue. "
			"To remove the copy, keep the decision on the device: "
			"launch the work in all steps, and let its kernels read the value and do nothing where it says so.";
	}
	tfs_hits_finish(&waits);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	uint8_t *again = calloc(steady->call_count + 1u, sizeof(*again));
	unsigned rare = 0, later = 0, unknown = 0, unclear;

	if (!again) {
		findings->failed = true;
		return;
	}
	unclear = mark_known(steady, again);
	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_copy copy;

		if (!tfs_copy_describe(steady->timeline, call, &copy) || call->record->status)
			continue;
		unknown += copy.direction == TFS_COPY_UNKNOWN && copy.bytes <= SMALL_BYTES;
		if (copy.direction != TFS_COPY_DOWN || (copy.bytes > SMALL_BYTES && !again[i]))
			continue;
		if (consumer_of(steady, i) != TFS_NONE)
			tfs_hits_add(&hits, steady->calls[i], copy.bytes,
				read_later(steady, i, &copy, again[i] & AGAIN_REPEAT));
		else
			later++;
	}
	while (tfs_hits_next_usual(steady, &hits, &place, &rare))
		report(steady, findings, &place, again);
	if (unclear)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"%s what the step has already copied, "
			"but kernels of the program, graphs or host functions in between may have written it",
			tfs_figure_number(unclear, "copy reads", "copies read").text);
	else if (unknown)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"it is not known whether %s from the device",
			tfs_figure_number(unknown, "small copy is", "small copies are").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no small value is copied to the host and waited for in each step%s%s",
			tfs_figure_also(rare, "call site does so rarely", "call sites do so rarely")
				.text,
			tfs_figure_also(later, "copy is read in a later step",
				"copies are read in a later step")
				.text);
	free(again);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs203 = {
	.id = "TFS203",
	.slug = "read-back-each-step",
	.level = TFS_LEVEL_ERROR,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_COPIES | TFS_ABOUT_WAITS,
	.title = "a small value read back in each step",
	.why = "To print or test a loss, the host copies a few bytes and waits for them, "
	       "and so for all the work that was queued before: "
	       "the step cannot overlap with the next one. "
	       "The value is rarely needed in each step, or so soon.",
	.advice =
		"If the step depends on this value (loss scaling, clipping, early stopping), keep the decision on the device. "
		"Otherwise sum the values on the device and read the sum every 10 steps or more; "
		"or copy the value with cudaMemcpyAsync into one of two alternating pinned buffers, "
		"record an event, and read it one step later, after cudaEventSynchronize.",
	.detect = detect,
};
