/* SPDX-License-Identifier: MIT */
/*
 * TFS409: an allocation fails for want of memory, memory is freed, and the same one succeeds: what
 * caching allocators do when they are at the limit. Where nothing is freed, or the next try fails
 * too, TFS910 tells.
 */
#include "rules/evidence/findings.h"
#include "rules/evidence/retries.h"
#include "rules/support/figures.h"

/* What was freed and is allocated again in the same step, which goes to `freed` as well. */
static void add_again(
	const struct tfs_steady *steady, uint32_t from, struct tfs_hits *freed, size_t first)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, from);
	const size_t last = freed->count;

	for (uint32_t i = from + 1; i < steady->call_count && i - from < TFS_RETRY_CALLS; i++) {
		const struct tfs_host_call *later = tfs_steady_call(steady, i);
		size_t k = first;

		if (later->step != call->step)
			break;
		if (!tfs_retry_allocates(later) || later->record->status ||
			later->thread != call->thread)
			continue;
		while (k < last && freed->items[k].bytes != later->record->amount)
			k++;
		if (k == last)
			continue;
		tfs_hits_add(freed, steady->calls[i], 0, (struct tfs_edit){.gone = true});
		first += k == first;
	}
}

static size_t count_frees(const struct tfs_steady *steady, const struct tfs_hits *freed)
{
	size_t count = 0;

	for (size_t i = 0; i < freed->count; i++)
		count += tfs_retry_frees(&steady->timeline->calls[freed->items[i].call]);
	return count;
}

static void add(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place, const struct tfs_hits *freed)
{
	const size_t count = count_frees(steady, freed);

	tfs_findings_add(findings, place, freed,
		"fails to allocate %s for want of memory, %s; %s %s freed, and then it succeeds",
		tfs_figure_bytes((double)place->bytes / (double)place->count).text,
		tfs_place_calls(place, steady).text,
		tfs_figure_number((double)count / (double)steady->step_count, "allocation per step",
			"allocations per step")
			.text,
		count == steady->step_count ? "is" : "are");
}

/* What is freed behind the failures of one place, and allocated again. */
static void collect(
	const struct tfs_steady *steady, const struct tfs_place *place, struct tfs_hits *out_freed)
{
	for (size_t i = 0; i < place->count; i++) {
		const size_t first = out_freed->count;
		const uint32_t tried =
			tfs_retry_find(steady, steady->place[place->items[i].call], out_freed);

		if (tried != TFS_NONE)
			add_again(steady, tried, out_freed, first);
	}
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0}, freed = {0};
	struct tfs_place place = {0};

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		freed.count = 0;
		if (tfs_retry_find(steady, i, &freed) != TFS_NONE)
			tfs_hits_add(&hits, steady->calls[i], call->record->amount,
				(struct tfs_edit){.gone = true});
	}
	while (tfs_hits_next(steady, &hits, &place)) {
		freed.count = 0;
		collect(steady, &place, &freed);
		add(steady, findings, &place, &freed);
	}
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		"no allocation of %s fails and is tried again", tfs_steady_name(steady));
	tfs_hits_finish(&hits);
	tfs_hits_finish(&freed);
}

const struct tfs_rule tfs_rule_tfs409 = {
	.id = "TFS409",
	.slug = "allocator-retry",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_RUNTIME | TFS_NEEDS_OPERANDS,
	.about = TFS_ABOUT_MEMORY,
	.title = "allocations that fail and are tried again",
	.why = "At the limit of the device's memory a caching allocator gives back what it has cached and asks once more. "
	       "Each release waits for the device, and what was given back has to be allocated again: "
	       "a step takes many times as long, and training goes on as if nothing had happened.",
	.advice =
		"Keep some memory free: train with a smaller batch and accumulate gradients, recompute activations, "
		"or free what the step does not need. "
		"Where sizes vary, allocate for the largest before the training loop: blocks of other sizes leave gaps that fit none. "
		"In PyTorch: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against such gaps; "
		"torch.cuda.memory_summary() counts the retries.",
	.detect = detect,
};
