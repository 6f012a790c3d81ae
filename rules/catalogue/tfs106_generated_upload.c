/* SPDX-License-Identifier: MIT */
/*
 * TFS106: what is copied to the device in each step is one value again and again, or integers at
 * equal distances: the device could fill its memory itself. What it holds already is TFS105's.
 */
#include "rules/device/uploads.h"
#include "rules/evidence/bandwidth.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/guards.h"
#include "rules/support/figures.h"

/* What a place uploads is told from so much a step on, or where its calls take so much of it. */
#define LEAST_BYTES TFS_EARLY_COPY_BYTES
#define HOST_SHARE 0.01
/* Of what is not known: uploads that were not looked at. */
#define UNSEEN_SHARE 0.05
/* How far the time of the kernel that fills the memory may be off. */
#define GUESS 0.25

/* The judged calls of a place, whatever they copy. */
static size_t calls_of(const struct tfs_steady *steady, const struct tfs_place *place)
{
	size_t count = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		count += call->record->site == place->site && call->function == place->function;
	}
	return count;
}

static bool matters(const struct tfs_steady *steady, const struct tfs_place *place)
{
	return (double)place->bytes / (double)steady->step_count > LEAST_BYTES ||
	       place->time_ns >= HOST_SHARE * steady->step_ns * steady->step_count;
}

/* The call stays, as one that fills, and its work writes the memory. */
static struct tfs_edit edit_of(const struct tfs_steady *steady, const struct tfs_upload *upload)
{
	const struct tfs_host_call *call = &steady->timeline->calls[upload->call];
	const double now_ns = tfs_steady_device_ns(steady, call);
	const double then_ns = tfs_memory_pass_ns(steady, (double)upload->bytes);

	return (struct tfs_edit){.no_wait = true,
		.scale = then_ns > 0 && now_ns > then_ns ? (float)(then_ns / now_ns) : 1};
}

/* What the device does for the kernels that take the copies' place, per step. */
static double then_ns(const struct tfs_steady *steady, const struct tfs_place *place)
{
	double ns = 0;

	for (size_t i = 0; i < place->count; i++)
		ns += tfs_memory_pass_ns(steady, (double)place->items[i].bytes);
	return ns / (double)steady->step_count;
}

static bool all_ramps(const struct tfs_steady *steady, const struct tfs_place *place)
{
	for (size_t i = 0; i < place->count; i++)
		if (tfs_steady_attribute(&steady->timeline->calls[place->items[i].call],
			    TFS_ATTRIBUTE_pattern, 0) != TFS_PATTERN_RAMP)
			return false;
	return true;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const uint32_t needed = tfs_guards_of(steady, place);
	struct tfs_draft *draft =
		tfs_findings_add(findings, place, NULL, "copies %s %s to the device in %s: %s",
			tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
			tfs_steady_each(steady), tfs_place_calls(place, steady).text,
			all_ramps(steady, place) ? "integers at equal distances"
						 : "one value again and again");

	if (!draft)
		return;
	draft->unsure = true;
	draft->less_ns = draft->more_ns = GUESS * then_ns(steady, place);
	if (needed)
		tfs_draft_needed(findings, draft, needed, findings->rule->advice);
}

static void conclude(const struct tfs_findings *findings, size_t before,
	const struct tfs_uploads *uploads, struct tfs_verdict *out_verdict)
{
	const size_t all = uploads->count + uploads->unseen + uploads->late;

	if ((double)(uploads->unseen + uploads->late) > UNSEEN_SHARE * (double)all)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the bytes of %s are not known",
			tfs_figure_number(
				(double)(uploads->unseen + uploads->late), "H2D copy", "H2D copies")
				.text);
	else if (all)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call site copies much to the device that is the same value throughout, or evenly spaced integers");
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

	if (tfs_uploads_find(steady, &uploads)) {
		findings->failed = true;
		return;
	}
	for (size_t i = 0; i < uploads.count; i++) {
		const struct tfs_upload *upload = &uploads.items[i];

		if (upload->pattern && upload->again != TFS_AGAIN_KEPT)
			tfs_hits_add(&hits, upload->call, upload->bytes, edit_of(steady, upload));
	}
	while (tfs_hits_next(steady, &hits, &place))
		if (!place.seldom && place.count == calls_of(steady, &place) &&
			matters(steady, &place))
			report(steady, findings, &place);
	conclude(findings, before, &uploads, out_verdict);
	tfs_hits_finish(&hits);
	tfs_uploads_finish(&uploads);
}

const struct tfs_rule tfs_rule_tfs106 = {
	.id = "TFS106",
	.slug = "generated-upload",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_COPIES,
	.title = "the host fills and copies what the device could fill itself",
	.why = "Zeros for an accumulator, ones for a mask or positions from 0 on are often made on the host and copied. "
	       "The device writes its memory many times as fast as a link brings it, and the host need not fill a buffer. "
	       "tfshim looks at what is copied: up to 4 KiB whole, of more some places in each step and all bytes in a few.",
	.advice =
		"If these values are the same whatever the data, let the device fill the memory, on the stream where it is copied now: "
		"cudaMemsetAsync where all bytes are the same, such as of zeros, cuMemsetD32Async where all numbers are, and a kernel of a line for positions. "
		"In PyTorch: torch.zeros, torch.ones, torch.full or torch.arange with device=, or zero_() on the tensor that is there, in place of making it on the CPU and calling .to(device).",
	.detect = detect,
};
