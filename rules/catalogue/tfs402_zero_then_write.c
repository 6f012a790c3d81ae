/* SPDX-License-Identifier: MIT */
/*
 * TFS402: memory zeroed in the step though nothing needs the zeros: the next call writes all of
 * it, or adds to it once with beta = 1 where beta = 0 would do. Followed through library calls,
 * whose arguments say what they do; where anything comes between that does not say which memory it
 * uses (a kernel of the program, a graph), it is not measurable. Nor is a kernel that looks like a
 * fill. Zeros that several calls add to, or that are read, are needed.
 */
#include "rules/device/zeroing.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"

/* Kernels that may fill memory, and take more of the device's time than this, leave it open. */
#define UNCLEAR_SHARE 0.02

/* What is smaller, and takes less of the step, is not worth telling. */
#define LEAST_BYTES (64u << 10)
#define LEAST_SHARE 0.005

struct tally {
	unsigned needless, added, needed, opaque;
	uint32_t user;
	/* Calls: of the latest whose zeros are needless, and of the first of whose nothing is
	 * known: what is zeroed last may be used when nothing is recorded any more. */
	uint32_t last_needless, first_unknown;
};

static void follow(
	const struct tfs_steady *steady, const struct tfs_place *place, struct tally *out_tally)
{
	struct tally tally = {.user = TFS_NONE, .first_unknown = TFS_NONE};

	for (size_t i = 0; i < place->count; i++) {
		uint32_t call = place->items[i].call, user;
		struct tfs_zero_fill fill;
		enum tfs_zeros zeros;

		tfs_zero_fill_describe(steady->timeline, &steady->timeline->calls[call], &fill);
		zeros = tfs_zeros_follow(steady, call, &fill, &user);
		tally.added += zeros == TFS_ZEROS_ADDED_TO;
		if (zeros == TFS_ZEROS_ADDED_TO || zeros == TFS_ZEROS_OVERWRITTEN) {
			tally.needless++;
			tally.last_needless =
				call > tally.last_needless ? call : tally.last_needless;
		}
		if (zeros == TFS_ZEROS_UNKNOWN && call < tally.first_unknown)
			tally.first_unknown = call;
		tally.needed += zeros == TFS_ZEROS_NEEDED;
		tally.opaque += zeros == TFS_ZEROS_OPAQUE;
		if (tally.user == TFS_NONE && zeros != TFS_ZEROS_UNKNOWN)
			tally.user = user;
	}
	*out_tally = tally;
}

static bool worth_telling(const struct tfs_steady *steady, const struct tfs_place *place)
{
	double ns = 0, whole = steady->simulated ? steady->busy_ns : steady->step_ns;

	for (size_t i = 0; i < place->count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[place->items[i].call]);
	return place->bytes >= (uint64_t)LEAST_BYTES * steady->step_count ||
	       (ns > 0 && ns >= LEAST_SHARE * whole * steady->step_count);
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, const struct tally *tally)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_host_call *call = &timeline->calls[place->items->call];
	const bool by_scaling =
		call->family == TFS_FAMILY_blas_pointwise || call->family == TFS_FAMILY_blas;
	const char *user = tally->user == TFS_NONE ? "the next call"
						   : tfs_trace_function(timeline->trace,
							     timeline->calls[tally->user].function);
	struct tfs_draft *draft =
		tfs_findings_add(findings, place, NULL, "zeroes %s %s%s, which %s then %s",
			tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
			tfs_steady_each(steady), by_scaling ? " by scaling with 0" : "", user,
			tally->added ? "adds to once, with beta = 1" : "overwrites");

	/* Which elides memsets. */
	if (draft && by_scaling)
		draft->unrepaired = true;
	if (draft)
		draft->finding.removes = tally->first_unknown > tally->last_needless;
	if (draft && tally->added)
		draft->finding.advice = tfs_arena_print(findings->arena,
			"Remove this zeroing and call %s and similar calls with beta = 0, which writes without reading.",
			user);
}

/* Whether kernels that write one range at most, which fills do, take a part of the time. */
static bool unclear(const struct tfs_steady *steady)
{
	double ns = 0;
	bool any = false;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		struct tfs_operand operand;
		unsigned cursor = 0, written = 0;

		if (call->family != TFS_FAMILY_launch || call->record->status)
			continue;
		while (tfs_operand_next(steady->timeline, call, &cursor, &operand))
			written += (operand.role & TFS_ROLE_MAYBE) != 0;
		if (written > 1)
			continue;
		any = true;
		ns += tfs_steady_device_ns(steady, call);
	}
	if (!steady->activity || steady->busy_ns <= 0)
		return any;
	return ns >= UNCLEAR_SHARE * steady->busy_ns * steady->step_count;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	size_t before = findings->count;
	unsigned needed = 0, opaque = 0, small = 0;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		struct tfs_zero_fill fill;

		if (tfs_zero_fill_describe(steady->timeline, tfs_steady_call(steady, i), &fill))
			tfs_hits_add(&hits, steady->calls[i], fill.target.bytes,
				(struct tfs_edit){.gone = true});
	}
	while (tfs_hits_next(steady, &hits, &place)) {
		struct tally tally;

		if (place.seldom)
			continue;
		follow(steady, &place, &tally);
		needed += tally.needed > 0;
		opaque += !tally.needed && tally.opaque > 0;
		if (tally.needed || tally.opaque || !tally.needless)
			continue;
		if (!worth_telling(steady, &place))
			small++;
		else
			report(steady, findings, &place, &tally);
	}
	if (opaque)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"memory zeroed at %s may be used by kernels of the program, graphs or host functions; "
			"their use of it was not seen",
			tfs_figure_number(opaque, "call site", "call sites").text);
	else if (unclear(steady))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"kernels of the program that may zero memory take %.0f %% or more of GPU time; "
			"their results were not seen",
			100 * UNCLEAR_SHARE);
	else if (small && !steady->activity)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"%s few bytes without need; what that takes of the GPU's time was not recorded",
			tfs_figure_number(small, "call site zeroes", "call sites zero").text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no significant memory is zeroed only to be overwritten%s%s",
			tfs_figure_also(small, "call site zeroes little", "call sites zero little")
				.text,
			tfs_figure_also(needed, "call site's zeros are needed",
				"call sites' zeros are needed")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs402 = {
	.id = "TFS402",
	.slug = "zero-then-write",
	.level = TFS_LEVEL_WARN,
	.anywhere = true,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_SETS,
	.title = "memory zeroed and then completely overwritten",
	.why = "Zeroing gradients before each backward pass costs a launch and a pass over the memory, "
	       "and adding to zeros costs another read. "
	       "If only one call contributes, that call can write its result instead.",
	.advice = "Remove this zeroing: the call after it writes all of this memory.",
	.rewrite = "memset-elision",
	.rewrite_note = "of memsets, only when named",
	.detect = detect,
};
