/* SPDX-License-Identifier: MIT */
/*
 * TFS302: the GPU is idle between launches, as the host takes longer for each than the kernel does.
 * That is the host's time in the calls and, between them, that of a framework; time behind a wait,
 * in other calls, and long stretches of the host's own code have other causes. The price is that of
 * one launch of a graph for each series of calls that nothing interrupts.
 */
#include <stdlib.h>

#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/gaps.h"
#include "rules/support/figures.h"
#include "rules/support/sort.h"
#include "rules/timeline/recording_cost.h"

#define IDLE_SHARE 0.10
/* Fewer are no series. */
#define MANY 8
/* Between work that was queued there is no more than this. */
#define QUEUED_NS 2000u
/* Kernels of a graph follow each other as closely as those that were queued, or less so. */
#define GUESS 0.05

/* A call that a graph can take the place of: it gives the device work and waits for nothing. */
static bool launches(const struct tfs_steady *steady, uint32_t nth)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, nth);
	struct tfs_copy copy;

	if (!call->op_count || steady->waits[nth].wait != TFS_WAIT_NONE || call->record->status)
		return false;
	return !tfs_copy_describe(steady->timeline, call, &copy) ||
	       copy.direction == TFS_COPY_DEVICE;
}

/* Whether work that was launched before the device fell idle came too late to follow what it did
 * until then: that had begun already, and a start takes its time. */
static bool late(const struct tfs_steady *steady, const struct tfs_idle *idle, uint32_t launch)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_device_op *op = &timeline->ops[idle->next_op];

	return idle->end_ns - idle->start_ns > QUEUED_NS &&
	       idle->next_op > timeline->streams[op->stream].first_op &&
	       op[-1].end_ns == idle->start_ns && timeline->calls[launch].end_ns > op[-1].start_ns;
}

static bool between_launches(const struct tfs_steady *steady, const struct tfs_gap *gap)
{
	const struct tfs_idle *idle = &steady->timeline->idles[gap->idle];
	const struct tfs_host_call *call;

	if (gap->waited || tfs_gap_own_code(steady, gap) ||
		!launches(steady, steady->place[gap->launch]))
		return false;
	if (idle->why == TFS_IDLE_HOST)
		return true;
	if (idle->why == TFS_IDLE_QUEUED)
		return late(steady, idle, gap->launch);
	if (idle->why != TFS_IDLE_CALL)
		return false;
	call = &steady->timeline->calls[idle->call];
	return steady->place[idle->call] != TFS_NONE &&
	       launches(steady, steady->place[idle->call]) && call->op_count;
}

struct bound {
	struct tfs_hits launches; /* that a graph takes the place of */
	struct tfs_hits others;   /* calls between them, which it does not need */
	double idle_ns;           /* per step, of a device on average */
	double kernels_ns;        /* what the device does for these launches, per step */
};

/* All of a thread's calls from one launch to the last that nothing interrupts; the first launch
 * stands for the graph's. */
static void collect(const struct tfs_steady *steady, uint32_t thread, struct bound *bound)
{
	uint64_t end_ns = 0;
	bool open = false;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);
		const double own_ns =
			call->start_ns > end_ns ? (double)(call->start_ns - end_ns) : 0;
		struct tfs_edit edit = {.at_once = open, .cuts_ns = open ? (float)own_ns : 0};
		const bool launch = launches(steady, i);

		if (call->thread != thread)
			continue;
		if (own_ns >= tfs_gaps_launching_ns(steady) ||
			steady->waits[i].wait != TFS_WAIT_NONE || (call->op_count && !launch))
			open = false;
		end_ns = call->end_ns;
		if (!open)
			edit = (struct tfs_edit){0};
		if (launch) {
			tfs_hits_add(&bound->launches, steady->calls[i], 0, edit);
			bound->kernels_ns +=
				tfs_steady_device_ns(steady, call) / (double)steady->step_count;
			open = true;
		} else if (open) {
			tfs_hits_add(&bound->others, steady->calls[i], 0, edit);
		}
	}
}

/* Which of the gaps are for launches; their threads are marked, their time is summed. */
static void sum_up(const struct tfs_steady *steady, const struct tfs_gaps *gaps, bool *threads,
	struct bound *bound)
{
	for (size_t i = 0; i < gaps->count; i++) {
		if (!between_launches(steady, &gaps->items[i]))
			continue;
		bound->idle_ns += gaps->items[i].idle_ns / tfs_gaps_steps(steady);
		threads[steady->timeline->calls[gaps->items[i].launch].thread] = true;
	}
}

/* The launch before which the GPU is idle for longest, of all its calls; TFS_NONE when there is no
 * memory. */
static uint32_t worst_of(const struct tfs_steady *steady, const struct tfs_gaps *gaps)
{
	struct tfs_key *keys = malloc((gaps->count + 1) * sizeof(*keys));
	double idle_ns = 0, most_ns = 0;
	uint32_t worst = TFS_NONE;
	size_t count = 0;

	for (size_t i = 0; keys && i < gaps->count; i++)
		if (between_launches(steady, &gaps->items[i]))
			keys[count++] = (struct tfs_key){
				steady->timeline->calls[gaps->items[i].launch].record->site,
				(uint32_t)i};
	if (keys && tfs_sort_keys(keys, count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tfs_gap *gap = &gaps->items[keys[i].value];

		idle_ns = i > 0 && keys[i - 1].key == keys[i].key ? idle_ns + gap->idle_ns
								  : gap->idle_ns;
		if (idle_ns > most_ns) {
			worst = gap->launch;
			most_ns = idle_ns;
		}
	}
	free(keys);
	return worst;
}

static void report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_gaps *gaps, const struct bound *bound)
{
	const uint32_t worst = worst_of(steady, gaps);
	const double steps = (double)steady->step_count;
	const double count = (double)bound->launches.count / steps;
	struct tfs_place place = {.items = bound->launches.items,
		.count = bound->launches.count,
		.steps = steady->step_count,
		.spread = true};
	struct tfs_draft *draft;

	if (worst == TFS_NONE) {
		findings->failed = true;
		return;
	}
	place.site = steady->timeline->calls[worst].record->site;
	place.function = steady->timeline->calls[worst].function;
	for (size_t i = 0; i < place.count; i++) {
		const struct tfs_host_call *call = &steady->timeline->calls[place.items[i].call];

		place.time_ns += (double)(call->end_ns - call->start_ns);
	}
	draft = tfs_findings_add(findings, &place, &bound->others,
		"the GPU is idle for %s per step (%s of the step) until the host launches the next of %s kernels, which take %s each; "
		"more of that time is before this call than before any other",
		tfs_figure_time(bound->idle_ns).text,
		tfs_figure_share(bound->idle_ns / steady->step_ns).text,
		tfs_figure_count(count).text, tfs_figure_time(bound->kernels_ns / count).text);
	if (!draft)
		return;
	draft->apart = true;
	draft->less_ns = draft->more_ns = GUESS * bound->idle_ns;
	for (size_t i = 0; i < gaps->count; i++)
		if (between_launches(steady, &gaps->items[i]))
			tfs_findings_own(findings, draft, gaps->items[i].idle);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const uint32_t thread_count = steady->timeline->thread_count;
	const size_t before = findings->count;
	struct bound bound = {0};
	struct tfs_gaps gaps;
	bool *threads;

	if (steady->run) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: what part of a step the GPU waits for launches is not known");
		return;
	}
	threads = calloc(thread_count + 1u, sizeof(*threads));
	if (!threads || tfs_gaps_find(steady, &gaps)) {
		free(threads);
		findings->failed = true;
		return;
	}
	sum_up(steady, &gaps, threads, &bound);
	for (uint32_t i = 0; i < thread_count; i++)
		if (threads[i])
			collect(steady, i, &bound);
	if (tfs_recording_apart_ns(steady->timeline, bound.idle_ns) >=
			IDLE_SHARE * steady->step_ns &&
		bound.launches.count >= MANY * (size_t)steady->step_count)
		report(steady, findings, &gaps, &bound);
	tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
		bound.idle_ns > 0 ? "the GPU waits for launches for %s of the step"
				  : "the GPU waits for no launch",
		tfs_figure_share(steady->step_ns > 0 ? bound.idle_ns / steady->step_ns : 0).text);
	tfs_hits_finish(&bound.launches);
	tfs_hits_finish(&bound.others);
	tfs_gaps_finish(&gaps);
	free(threads);
}

const struct tfs_rule tfs_rule_tfs302 = {
	.id = "TFS302",
	.slug = "launch-bound",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE,
	.title = "the GPU waits for launches",
	.why = "A launch takes the host a few microseconds, and a framework's work for it several times as much. "
	       "Where kernels are shorter than that, the GPU is done with each before the next is there, and a faster GPU changes nothing. "
	       "A CUDA graph launches the whole step with one call; fused kernels and larger batches need fewer launches for the same work.",
	.advice =
		"Give the GPU more work with each launch: a larger batch, fused kernels, or a CUDA graph of the step "
		"(cudaStreamBeginCapture, cudaStreamEndCapture, cudaGraphInstantiate once; cudaGraphLaunch in each step). "
		"A graph repeats the values and addresses that it captured: a learning rate or another number that the host passes and changes "
		"must be in device memory that each step writes before the launch (for cuBLAS, CUBLAS_POINTER_MODE_DEVICE), and input must be copied into the same buffer each time; "
		"captured blindly, such a step trains wrongly. "
		"In PyTorch: torch.compile(mode=\"reduce-overhead\") or torch.cuda.graphs.make_graphed_callables, "
		"with capturable=True and the learning rate as a tensor in the optimizer.",
	.detect = detect,
};
