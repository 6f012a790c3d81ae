/* SPDX-License-Identifier: MIT */
/*
 * TFS107: copies from device memory to memory of the same device, in each step. A copy whose source
 * stays as it is for as long as the copy is read is certainly one too many; of others it is not
 * seen whether the data could have been written where it is used.
 */
#include "rules/device/zeroing.h"
#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "rules/timeline/flow.h"

/* Of the GPU's time in a step, and of the step; or so many copies of a step. */
#define GPU_SHARE 0.03
#define STEP_SHARE 0.002
#define MANY 16
/* A place that has less than this of what all of them take is not told. */
#define PLACE_SHARE 0.05
/* Uses of a copy that are looked at. */
#define MOST_USES 256u
/* As CUPTI numbers copies between devices. */
#define COPY_PEER 10u

static bool between_devices(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	for (uint32_t i = 0; i < call->op_count; i++)
		if (timeline->ops[timeline->call_ops[call->first_op + i]].record->copy_kind ==
			COPY_PEER)
			return true;
	return false;
}

/* Managed memory may be on either side of the link. */
static bool elsewhere(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	while (tfs_operand_next(timeline, call, &cursor, &operand))
		if (operand.memory != TFS_MEMORY_DEVICE && operand.memory != TFS_MEMORY_UNKNOWN)
			return true;
	return false;
}

static bool copies_within(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_copy *copy)
{
	return tfs_copy_describe(timeline, call, copy) && copy->direction == TFS_COPY_DEVICE &&
	       !call->record->status && !between_devices(timeline, call) &&
	       !elsewhere(timeline, call);
}

/* The operand with a role; false = its range is not known. */
static bool side_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	uint32_t role, struct tfs_operand *out)
{
	unsigned cursor = 0;

	while (tfs_operand_next(timeline, call, &cursor, out))
		if (out->role & role && out->range != TFS_NONE)
			return true;
	return false;
}

static const struct tfs_access *next_of(const struct tfs_timeline *timeline, uint32_t call,
	const struct tfs_operand *operand, uint32_t roles)
{
	return tfs_flow_after(timeline, call, operand->range,
		operand->address - timeline->ranges[operand->range].address, operand->bytes, roles);
}

/* Whether a call may change some of it. */
static bool may_change(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	const struct tfs_operand *target)
{
	struct tfs_operand operand;
	unsigned cursor = 0;

	while (tfs_operand_next(timeline, call, &cursor, &operand))
		if (operand.role & (TFS_ROLE_WRITE | TFS_ROLE_MAYBE) &&
			operand.range == target->range &&
			operand.address < target->address + target->bytes &&
			(!operand.bytes || target->address < operand.address + operand.bytes))
			return true;
	return false;
}

enum need { NEEDLESS, NEEDED, NOT_SEEN };

/* Whether everything that reads the copy could read its source; behind the last step that is not
 * seen. */
static enum need need_of(const struct tfs_timeline *timeline, uint32_t index)
{
	const uint32_t changes = TFS_ROLE_WRITE | TFS_ROLE_MAYBE;
	const struct tfs_host_call *call = &timeline->calls[index];
	const struct tfs_access *change, *use;
	struct tfs_operand source, target;
	uint32_t at = index;

	if (!side_of(timeline, call, TFS_ROLE_READ, &source) ||
		!side_of(timeline, call, TFS_ROLE_WRITE, &target))
		return NEEDED;
	/* Rows are apart from each other in one of them alone. */
	if (source.bytes != target.bytes)
		return NEEDED;
	change = next_of(timeline, index, &source, changes);
	for (unsigned i = 0; i < MOST_USES; i++) {
		use = next_of(timeline, at, &target, TFS_ROLE_READ | changes);
		if (!use)
			return NOT_SEEN;
		/* The next copy, or whatever else writes the whole of it, ends its use; what writes
		 * some of it makes other data of it than its source. */
		if (tfs_zeros_replaced(timeline, &timeline->calls[use->call], &target))
			return NEEDLESS;
		if (may_change(timeline, &timeline->calls[use->call], &target) ||
			use->role & changes || (change && use->start_ns >= change->start_ns))
			return NEEDED;
		at = use->call;
	}
	return NEEDED;
}

/* Whether a copy brings back what was changed of its target: nothing writes its source meanwhile.
 */
static bool restores(const struct tfs_timeline *timeline, uint32_t index)
{
	const uint32_t changes = TFS_ROLE_WRITE | TFS_ROLE_MAYBE;
	const struct tfs_host_call *call = &timeline->calls[index];
	struct tfs_operand source, target;
	const struct tfs_access *change;

	if (!side_of(timeline, call, TFS_ROLE_READ, &source) ||
		!side_of(timeline, call, TFS_ROLE_WRITE, &target) ||
		next_of(timeline, index, &source, changes) ||
		tfs_flow_writer(timeline, index, &source))
		return false;
	change = next_of(timeline, index, &target, changes);
	return change && !tfs_zeros_replaced(timeline, &timeline->calls[change->call], &target);
}

/* All of a place's copies, as far as is seen, and most are seen. */
static bool needless(const struct tfs_steady *steady, const struct tfs_place *place)
{
	size_t seen = 0;

	for (size_t i = 0; i < place->count; i++) {
		const enum need need = need_of(steady->timeline, place->items[i].call);

		if (need == NEEDED)
			return false;
		seen += need == NEEDLESS;
	}
	return seen * 2 > place->count;
}

static double device_ns(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += tfs_steady_device_ns(steady, &steady->timeline->calls[hits[i].call]);
	return ns / (double)steady->step_count;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, bool unseen, size_t sites)
{
	const double ns = device_ns(steady, place->items, place->count);
	const bool busy = steady->busy_ns > 0;
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"copies %s per step within device memory in %s%s%s%s%s%s%s",
		tfs_figure_bytes((double)place->bytes / (double)steady->step_count).text,
		tfs_place_calls(place, steady).text, busy ? ", which takes " : "",
		busy ? tfs_figure_share(ns / steady->busy_ns).text : "",
		busy ? " of the GPU's time" : "", sites ? "; these are of " : "",
		sites ? tfs_figure_number((double)sites, "call site", "call sites").text : "",
		sites ? ", of which this one takes longest" : "");

	if (!draft)
		return;
	if (!unseen && needless(steady, place)) {
		draft->finding.advice =
			"Remove this copy and let what reads it read its source: nothing writes the source before the copy was last read. "
			"In PyTorch: leave out .clone() or .contiguous() there.";
		return;
	}
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
}

/* Where no place has a part of them worth telling, the largest stands for all that are usual. */
static void report_all(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_hits *hits, bool unseen)
{
	struct tfs_hits usual = {0};
	struct tfs_place all;
	const size_t sites = tfs_hits_join(steady, hits, device_ns, &usual, &all);

	if (all.count)
		report(steady, findings, &all, unseen, sites);
	tfs_hits_finish(&usual);
}

static bool matters(const struct tfs_steady *steady, double ns)
{
	return steady->activity && ns >= GPU_SHARE * steady->busy_ns &&
	       ns >= STEP_SHARE * steady->step_ns;
}

static void conclude(const struct tfs_steady *steady, const struct tfs_findings *findings,
	size_t before, const struct tfs_hits *hits, unsigned needed,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_figure also =
		tfs_figure_also(needed, "more copy brings back what was changed",
			"more copies bring back what was changed");
	const bool many = hits->count >= MANY * (size_t)steady->step_count;
	const double ns = device_ns(steady, hits->items, hits->count);

	if (steady->run && hits->count >= MANY)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known how many of %s within device memory a step makes",
			tfs_figure_number((double)hits->count, "copy", "copies").text);
	else if (!hits->count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"nothing is copied within device memory%s",
			needed ? " but what was changed" : "");
	else if (many || matters(steady, ns))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no call site copies within device memory in more than a tenth of the steps");
	else if (!steady->activity)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"copies within device memory are fewer than %d %s; what they take of the GPU's time was not recorded",
			MANY, tfs_steady_each(steady));
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"copies within device memory take %s of the GPU's time and %s of the step's, and are fewer than %d %s%s",
			tfs_figure_share(ns / steady->busy_ns).text,
			tfs_figure_share(ns / steady->step_ns).text, MANY, tfs_steady_each(steady),
			also.text);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	double all_ns;
	const bool unseen = tfs_zeros_any_opaque(steady);
	unsigned needed = 0;
	bool churn;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		struct tfs_copy copy;

		if (!copies_within(steady->timeline, tfs_steady_call(steady, i), &copy))
			continue;
		if (!unseen && restores(steady->timeline, steady->calls[i]))
			needed++;
		else
			tfs_hits_add(&hits, steady->calls[i], copy.bytes,
				(struct tfs_edit){.gone = true});
	}
	all_ns = device_ns(steady, hits.items, hits.count);
	churn = !steady->run &&
		(hits.count >= MANY * (size_t)steady->step_count || matters(steady, all_ns));
	while (churn && tfs_hits_next(steady, &hits, &place))
		if (!place.seldom &&
			device_ns(steady, place.items, place.count) >= PLACE_SHARE * all_ns)
			report(steady, findings, &place, unseen, 0);
	if (churn && findings->count == before)
		report_all(steady, findings, &hits, unseen);
	conclude(steady, findings, before, &hits, needed, out_verdict);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs107 = {
	.id = "TFS107",
	.slug = "device-copy-churn",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME,
	.about = TFS_ABOUT_COPIES,
	.title = "data copied within device memory in each step",
	.why = "A copy within device memory reads and writes every byte, and computes nothing; a small one costs a launch and its start. "
	       "Copies between devices are not meant.",
	.advice =
		"If the source stays as it is while the copy is used, use the source in its place; "
		"if not, let the call that makes the data write it where it is used, or swap the two pointers instead of copying. "
		"In PyTorch: prefer views to .clone(), .contiguous() and torch.cat in the step, and in-place or out= forms. "
		"Whether that can be done here was not seen.",
	.detect = detect,
};
