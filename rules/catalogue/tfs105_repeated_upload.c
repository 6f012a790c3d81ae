/* SPDX-License-Identifier: MIT */
/*
 * TFS105: the same bytes are copied to the same device memory, step after step. Where nothing
 * writes to that memory between, one upload would have done. Where something does, or may, a second
 * copy on the device can bring the bytes back, which takes no link. What could be computed on the
 * device is TFS106's.
 */
#include <math.h>

#include "rules/device/uploads.h"
#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

/* In this share of the steps. */
#define LEAST_STEPS 0.5
/* What a place uploads is told from so much a step on, or where its calls take so much of it. */
#define LEAST_BYTES TFS_EARLY_COPY_BYTES
#define HOST_SHARE 0.01
/* How far the time of a copy within the device may be off. */
#define GUESS 0.25
/* Of what is not known: uploads that were not looked at. */
#define UNSEEN_SHARE 0.05

/* An upload whose bytes nothing has overwritten goes; another one becomes a copy on the device. */
static struct tfs_edit edit_of(const struct tfs_steady *steady, const struct tfs_upload *upload)
{
	const struct tfs_host_call *call = &steady->timeline->calls[upload->call];
	const double now_ns = tfs_steady_device_ns(steady, call);
	const double then_ns = tfs_memory_pass_ns(steady, 2 * (double)upload->bytes);

	if (upload->again == TFS_AGAIN_KEPT)
		return (struct tfs_edit){.gone = true};
	return (struct tfs_edit){
		.scale = then_ns > 0 && now_ns > then_ns ? (float)(then_ns / now_ns) : 1};
}

/* What a copy on the device does not make shorter stays as it is. */
static bool is_again(const struct tfs_upload *upload, struct tfs_edit edit)
{
	return upload->again == TFS_AGAIN_KEPT ||
	       (upload->again == TFS_AGAIN_WRITTEN && !upload->pattern && edit.scale < 1);
}

/* What the device does for the copies that take their place, per step. */
static double then_ns(const struct tfs_steady *steady, const struct tfs_place *place)
{
	double ns = 0;

	for (size_t i = 0; i < place->count; i++)
		if (!place->items[i].edit.gone)
			ns += tfs_memory_pass_ns(steady, 2 * (double)place->items[i].bytes);
	return ns / (double)steady->step_count;
}

static bool matters(const struct tfs_steady *steady, const struct tfs_place *place)
{
	return place->steps >= LEAST_STEPS * steady->step_count &&
	       ((double)place->bytes / (double)steady->step_count > LEAST_BYTES ||
		       place->time_ns >= HOST_SHARE * steady->step_ns * steady->step_count);
}

static bool all_kept(const struct tfs_place *place)
{
	for (size_t i = 0; i < place->count; i++)
		if (!place->items[i].edit.gone)
			return false;
	return true;
}

/* Of any of a place's uploads. */
struct doubts {
	bool supposed;
	bool turns;
};

static struct doubts doubts_of(const struct tfs_uploads *uploads, const struct tfs_place *place)
{
	struct doubts doubts = {0};

	for (size_t i = 0; i < uploads->count; i++) {
		const struct tfs_upload *upload = &uploads->items[i];

		for (size_t j = 0; (upload->supposed || upload->turns) && j < place->count; j++) {
			if (upload->call != place->items[j].call)
				continue;
			doubts.supposed |= upload->supposed;
			doubts.turns |= upload->turns;
		}
	}
	return doubts;
}

static const char *writers(bool kept, bool turns)
{
	if (!kept)
		return "other work writes there as well, or may do so";
	return turns ? "something else is written there now and then" : "nothing else writes there";
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, struct doubts doubts)
{
	const bool kept = all_kept(place);
	const uint32_t needed = tfs_guards_of(steady, place);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"copies the same %s to the same device memory again in %s; %s",
		tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
		tfs_place_calls(place, steady).text, writers(kept, doubts.turns));

	if (!draft)
		return;
	draft->less_ns = draft->more_ns = GUESS * then_ns(steady, place);
	if (!kept)
		draft->finding.advice =
			"Copy these bytes once, before the loop, to device memory of their own that nothing writes to, "
			"and in the loop let cudaMemcpyAsync copy them from there in place of the copy from the host, both on the stream that uses them; "
			"copy them from the host again only where the host has changed them. "
			"If nothing on the device changes these bytes, the copy before the loop is all that is needed. "
			"A benchmark that trains on one batch gets this finding for its input; in real training the input differs from step to step. "
			"In PyTorch: keep the tensor on the device and call tensor.copy_() from it.";
	draft->unsure = doubts.supposed;
	if (doubts.supposed)
		draft->finding.advice = tfs_arena_print(findings->arena,
			"If only the host writes to this pinned memory: %s", draft->finding.advice);
	if (needed)
		tfs_draft_needed(findings, draft, needed, draft->finding.advice);
}

static void conclude(const struct tfs_findings *findings, size_t before,
	const struct tfs_uploads *uploads, size_t unknown, struct tfs_verdict *out_verdict)
{
	const double all = (double)(uploads->count + uploads->unseen + uploads->late);

	if ((double)(uploads->unseen + unknown) > UNSEEN_SHARE * all)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the bytes of %s were not looked at",
			tfs_figure_number(uploads->unseen + unknown, "H2D copy", "H2D copies")
				.text);
	else if ((double)uploads->late > UNSEEN_SHARE * all)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"%s from pinned memory that the device may have changed before",
			tfs_figure_number(uploads->late, "H2D copy is", "H2D copies are").text);
	else if (all > 0)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call site copies much to the device that is there already");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"nothing is copied to the device");
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_uploads uploads;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t unknown = 0;

	if (tfs_uploads_find(steady, &uploads)) {
		findings->failed = true;
		return;
	}
	for (size_t i = 0; i < uploads.count; i++) {
		const struct tfs_upload *upload = &uploads.items[i];
		const struct tfs_edit edit = edit_of(steady, upload);

		unknown += upload->again == TFS_AGAIN_UNKNOWN;
		if (is_again(upload, edit))
			tfs_hits_add(&hits, upload->call, upload->bytes, edit);
	}
	while (tfs_hits_next(steady, &hits, &place))
		if (matters(steady, &place))
			report(steady, findings, &place, doubts_of(&uploads, &place));
	conclude(findings, before, &uploads, unknown, out_verdict);
	tfs_hits_finish(&hits);
	tfs_uploads_finish(&uploads);
}

const struct tfs_rule tfs_rule_tfs105 = {
	.id = "TFS105",
	.slug = "repeated-upload",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_COPIES,
	.title = "the same data is copied to the device again and again",
	.why = "Tables, masks and weights that stay the same are often copied to the device with each batch. "
	       "Device memory keeps what it was given: from the second step on such a copy brings nothing, and takes the link, the host's time and often a wait. "
	       "tfshim compares what is copied: up to 4 KiB whole, of more some places in each step and all bytes in a few.",
	.advice =
		"Copy this data to the device once, before the loop and on the stream that uses it, and again only where the host has changed it, or other work, as of an evaluation, has written there. "
		"A benchmark that trains on one batch gets this finding for its input; in real training the input differs from step to step. "
		"In PyTorch: create the tensor with device= before the loop, or register_buffer it, in place of calling .to(device) in the step.",
	.detect = detect,
};
