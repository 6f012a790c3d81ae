/* SPDX-License-Identifier: MIT */
/*
 * TFS104: many small copies in one direction from one place of the code in each step, such as an
 * image or a row at a time. Each takes its call and a start on the device, beside which its bytes
 * hardly count. Copies that follow each other are taken for one copy of all their bytes; where
 * other work lies between them, whether they can be one was not seen.
 */
#include <math.h>

#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/series.h"
#include "rules/support/figures.h"

#define TINY_BYTES (64u << 10)
#define MANY 16
/* How far the time of the merged copy may be off: links and hosts differ. */
#define GUESS 0.1

static bool tiny(const struct tfs_steady *steady, const struct tfs_host_call *call,
	enum tfs_direction direction, struct tfs_copy *copy)
{
	return tfs_copy_describe(steady->timeline, call, copy) && !call->record->status &&
	       copy->direction == direction && copy->bytes > 0 && copy->bytes < TINY_BYTES;
}

/* What such copies take on the device that is not for their bytes, as the shortest has it. */
static double floor_ns(const struct tfs_steady *steady, enum tfs_direction direction)
{
	const unsigned way = direction == TFS_COPY_UP ? 0 : 1;
	const double rate = steady->pinned_rates[steady->pinned_rates[way] > 0 ? way : !way];
	double shortest = INFINITY;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const double ns = tfs_steady_device_ns(steady, call);
		struct tfs_copy copy;

		if (tiny(steady, call, direction, &copy) && ns > 0)
			shortest = fmin(shortest, ns - (rate > 0 ? (double)copy.bytes / rate : 0));
	}
	return isfinite(shortest) ? fmax(shortest, 0) : 0;
}

/* What merging a place's copies changes. */
struct merging {
	struct tfs_hits edits;
	size_t follow;    /* copies that come right behind another one */
	double merged_ns; /* of the device, per step */
};

/* The data of copies to the device is all there at the last of them; what comes from the device is
 * there at the first, where nothing else is between. With `apart`, where something is: the first
 * must bring what is used before the last, and the last takes what is made behind the first. */
static void merge(const struct tfs_steady *steady, const struct tfs_place *place,
	enum tfs_direction direction, bool apart, struct merging *out)
{
	const double floor = floor_ns(steady, direction);
	const bool last = (direction == TFS_COPY_UP) != apart;

	*out = (struct merging){0};
	for (size_t i = 0; i < place->count;) {
		const struct tfs_series series =
			apart ? tfs_series_step(steady, place, i) : tfs_series_at(steady, place, i);
		const double ns = tfs_series_merged_ns(steady, &series, floor);

		tfs_series_merge(steady, &series, last ? series.count - 1 : 0, ns, &out->edits);
		out->follow += series.count - 1;
		out->merged_ns += ns / (double)steady->step_count;
		i += series.count;
	}
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, enum tfs_direction direction)
{
	const bool up = direction == TFS_COPY_UP;
	struct tfs_place merged = *place;
	struct merging merging;
	struct tfs_draft *draft;
	bool apart;

	merge(steady, place, direction, false, &merging);
	apart = merging.follow * 2 < place->count;
	if (apart) {
		tfs_hits_finish(&merging.edits);
		merge(steady, place, direction, true, &merging);
	}
	/* Without memory for all edits it has the place's own, which change nothing. */
	if (merging.edits.count == place->count)
		merged.items = merging.edits.items;
	draft = tfs_findings_add(findings, &merged, NULL, "copies %s %s in %s of %s each%s%s",
		tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
		up ? "to the device" : "from the device", tfs_place_calls(place, steady).text,
		tfs_figure_bytes((double)place->bytes / (double)place->count).text,
		place->folded ? ", called from several call sites" : "",
		apart ? ", with other work between them" : "");
	if (draft) {
		draft->unsure = apart;
		draft->less_ns = draft->more_ns = GUESS * merging.merged_ns;
		if (!up)
			draft->finding.advice =
				apart ? "If the host needs the values only after the last of these copies, "
					"let the kernels write them side by side into one device buffer "
					"and copy this buffer with one call. "
					"In PyTorch: torch.stack on the device, then one .cpu()."
				      : "Let the kernels write these values side by side into one device buffer, "
					"and copy this buffer with one call (cudaMemcpy2DAsync where rows have a pitch). "
					"In PyTorch: torch.stack or torch.cat on the device, then one .cpu() "
					"in place of one .item() or .cpu() for each.";
		else if (apart)
			draft->finding.advice =
				"If the host has all of this data before the first of these copies, "
				"gather it in one host buffer, copy this buffer with one call to one device buffer "
				"that holds all of it, and let the kernels use its parts. "
				"In PyTorch: torch.stack on the host, then one .to(device), then slices of it.";
	}
	tfs_hits_finish(&merging.edits);
}

/* Counts places with too few such copies, and those of a run without known steps with enough. */
static void look(const struct tfs_steady *steady, struct tfs_findings *findings,
	enum tfs_direction direction, unsigned *few, unsigned *stepless)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};

	for (uint32_t i = 0; i < steady->call_count; i++) {
		struct tfs_copy copy;

		if (tiny(steady, tfs_steady_call(steady, i), direction, &copy))
			tfs_hits_add(&hits, steady->calls[i], copy.bytes, (struct tfs_edit){0});
	}
	/* A helper that copies is one place, whatever calls it. */
	tfs_hits_fold(&hits);
	while (tfs_hits_next(steady, &hits, &place)) {
		if (place.seldom || tfs_place_per_step(&place, steady) < MANY)
			++*few;
		else if (steady->run)
			++*stepless;
		else
			report(steady, findings, &place, direction);
	}
	tfs_hits_finish(&hits);
}

/* Small copies of which it is not known which way they go. */
static unsigned unknown(const struct tfs_steady *steady)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		struct tfs_copy copy;

		count += tiny(steady, tfs_steady_call(steady, i), TFS_COPY_UNKNOWN, &copy);
	}
	return count;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	const unsigned open = unknown(steady);
	unsigned few = 0, stepless = 0;

	look(steady, findings, TFS_COPY_UP, &few, &stepless);
	look(steady, findings, TFS_COPY_DOWN, &few, &stepless);
	if (stepless)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known how many of the small copies at %s a step makes",
			tfs_figure_number(stepless, "call site", "call sites").text);
	else if (open >= MANY * steady->step_count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"it is not known in which direction %s copy",
			tfs_figure_number(open, "small call", "small calls").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call site makes %d copies of less than 64 KiB in one direction %s%s",
			MANY, tfs_steady_each(steady),
			tfs_figure_also(few, "call site makes fewer", "call sites make fewer")
				.text);
}

const struct tfs_rule tfs_rule_tfs104 = {
	.id = "TFS104",
	.slug = "tiny-copies",
	.level = TFS_LEVEL_NOTE,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_COPIES,
	.title = "many small copies where one would do",
	.why = "A copy of a few kilobytes takes a call of several microseconds on the host and a start on the copy engine, "
	       "and hardly anything for its bytes. Sixteen copies of 4 KiB take many times as long as one copy of 64 KiB.",
	.advice =
		"Gather the pieces in one contiguous host buffer, copy it with one call to one contiguous device buffer "
		"(cudaMemcpy2DAsync where rows have a pitch), and let the kernels use parts of that buffer; "
		"keep the synchronisation after which the host fills the pieces again. "
		"In PyTorch: torch.stack or torch.cat on the host, then one .to(device), then slices of it.",
	.detect = detect,
};
