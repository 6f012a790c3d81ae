/* SPDX-License-Identifier: MIT */
/*
 * TFS701: the GPU is idle in one long stretch of each step while the host makes no CUDA call, as it
 * does where it makes the next batch itself. What the host does there is told by the samples of its
 * thread, if there are enough, and never guessed. Where the host spends its time in waits and would
 * be ahead of the device without them, the batch could be made while the device works, and the
 * waits are to blame.
 */
#include <stdlib.h>

#include "rules/evidence/copies.h"
#include "rules/evidence/findings.h"
#include "rules/evidence/gaps.h"
#include "rules/evidence/meanwhile.h"
#include "rules/support/figures.h"
#include "rules/timeline/recording_cost.h"
#include "rules/whatif/step_thread.h"

#define WARN_SHARE 0.10
#define ERROR_SHARE 0.20
/* Tensors that may be zeroed before the batch. */
#define MOST_FILLS 1024u
/* As CUPTI numbers copies. */
#define COPY_TO_DEVICE 1u
/* Whoever makes batches beside the step takes some of the host's time from it. */
#define BESIDE 0.15
/* A host that is now and then late was interrupted, by other work on the machine as likely as by
 * input. */
#define LEAST_PER_STEP 0.5
/* Of a thread that waits for so much of the time for a processor, more work beside it makes more of
 * that. */
#define MUCH_QUEUED 0.25

/* Whether what the device does next is a copy to it: gradients may be zeroed behind the batch's
 * making and before its copy. What kernels do there is not known, whatever they are called. */
static bool copies_first(const struct tfs_steady *steady, const struct tfs_gap *gap)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const struct tfs_idle *idle = &timeline->idles[gap->idle];
	struct tfs_copy copy;

	if (tfs_copy_describe(timeline, &timeline->calls[gap->launch], &copy) &&
		copy.direction == TFS_COPY_UP)
		return true;
	for (uint32_t i = idle->next_op; i < timeline->op_count && i < idle->next_op + MOST_FILLS;
		i++) {
		const struct tfs_device_op *op = &timeline->ops[i];

		if (op->record->operation == TFS_DEVICE_MEMCPY)
			return op->record->copy_kind == COPY_TO_DEVICE;
		if (op->record->operation != TFS_DEVICE_MEMSET)
			return false;
	}
	return false;
}

/* Whether the work behind the stretch begins with a batch, or the stretch has the beginning of a
 * step in it. */
static bool is_input(const struct tfs_steady *steady, const struct tfs_gap *gap)
{
	const struct tfs_host_call *calls = steady->timeline->calls;

	return calls[gap->before].step != calls[gap->after].step || copies_first(steady, gap);
}

/* `thread` is the one that makes the steps: others, which work for it, do not load. */
static bool starves(const struct tfs_steady *steady, const struct tfs_gap *gap, uint32_t thread)
{
	return tfs_gap_own_code(steady, gap) &&
	       steady->timeline->calls[gap->after].thread == thread &&
	       steady->place[gap->after] != TFS_NONE && is_input(steady, gap);
}

/* The place's stretches, of which one is returned: as far as a GPU was idle in them, and how long
 * it was, per step. */
static const struct tfs_gap *stretches(const struct tfs_steady *steady,
	struct tfs_findings *findings, const struct tfs_gaps *gaps, const struct tfs_place *place,
	uint32_t thread, struct tfs_intervals *out_stretches, double *out_idle_ns)
{
	const struct tfs_gap *found = NULL;

	*out_idle_ns = 0;
	tfs_intervals_clear(out_stretches);
	for (size_t i = 0; i < gaps->count; i++) {
		const struct tfs_gap *gap = &gaps->items[i];
		const struct tfs_host_call *after;

		if (!starves(steady, gap, thread))
			continue;
		after = &steady->timeline->calls[gap->after];
		if (after->record->site != place->site || after->function != place->function)
			continue;
		*out_idle_ns += gap->host_ns / tfs_gaps_steps(steady);
		found = gap;
		if (tfs_intervals_add(out_stretches, after->start_ns - (uint64_t)gap->host_ns,
			    after->start_ns))
			findings->failed = true;
	}
	tfs_intervals_unite(out_stretches);
	return found;
}

/* What it takes now, another thread or process takes for it; several devices may wait for it.
 * Returns how long a GPU is idle, per step. */
static double look(const struct tfs_steady *steady, const struct tfs_gaps *gaps, uint32_t thread,
	bool *seen, struct tfs_hits *hits)
{
	double ns = 0;

	for (size_t i = 0; i < gaps->count; i++) {
		const struct tfs_gap *gap = &gaps->items[i];

		if (!starves(steady, gap, thread))
			continue;
		ns += gap->host_ns / tfs_gaps_steps(steady);
		if (!seen[gap->after])
			tfs_hits_add(hits, gap->after, 0,
				(struct tfs_edit){.cuts_ns = (float)gap->stretch_ns});
		seen[gap->after] = true;
	}
	return ns;
}

#define WITH_BUFFERS                                                                               \
	"two or more pinned buffers in turn (each again only when the event recorded after its copy has passed)"
#define IN_PYTORCH                                                                                 \
	"In PyTorch: DataLoader(num_workers=..., pin_memory=True, persistent_workers=True) and .to(device, non_blocking=True)."

/* What is to be done where the host does this while the device waits for a batch. */
#define ADVICE_BY_CODE                                                                                \
	"Make batches beside the step: let one or more other threads or processes fill " WITH_BUFFERS \
	", so that the step's thread finds the next batch ready and only copies it. "                 \
	"If that is done already, it is too slow: use more workers, or give them less to do. " IN_PYTORCH
static const char *const advice_by_file =
	"Read beside the step: let other threads or processes read the next batches into " WITH_BUFFERS
	". "
	"If the data fit, keep them in memory; few large files are read faster than many small ones. " IN_PYTORCH;
static const char *const advice_by_wait =
	"The thread waits for other threads or processes. Where these make the next batch, they are too slow: use more of them, "
	"give them less to do, or let them begin two or more batches ahead. "
	"In PyTorch: a larger num_workers or prefetch_factor, persistent_workers=True.";
static const char *const advice_by_queue =
	"Free processors first: the thread is ready to run and waits for one. Start fewer workers and threads than there are processors, "
	"or give the program more of them (affinity, the container's quota); then measure again. "
	"In PyTorch: a smaller num_workers; DataLoader workers run torch with one thread already, "
	"so limit the threads of other libraries in them (OMP_NUM_THREADS=1, cv2.setNumThreads(0)).";

static const char *advice_of(const struct tfs_meanwhile *meanwhile)
{
	if (tfs_meanwhile_waits(meanwhile))
		return advice_by_wait;
	if (tfs_meanwhile_share(meanwhile, TFS_HOST_file) > 0.5)
		return advice_by_file;
	if (tfs_meanwhile_share(meanwhile, TFS_HOST_code) > 0.5 && meanwhile->queued >= MUCH_QUEUED)
		return advice_by_queue;
	return ADVICE_BY_CODE;
}

static struct tfs_draft *report(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_gap *gap, const struct tfs_place *place, double ns,
	const struct tfs_meanwhile *meanwhile)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct tfs_draft *draft;
	char samples[1024];

	tfs_meanwhile_text(meanwhile, steady->step_count, samples, sizeof(samples));
	draft = tfs_findings_add(findings, place, NULL,
		"the GPU is idle for %s per step (%s of the step) while the host makes no CUDA call, after %s and before this call; %s",
		tfs_figure_time(ns).text, tfs_figure_share(ns / steady->step_ns).text,
		tfs_trace_function(timeline->trace, timeline->calls[gap->before].function),
		*samples ? samples : "what the host did then was not seen");
	if (!draft)
		return NULL;
	draft->finding.advice = advice_of(meanwhile);
	draft->finding.code = meanwhile->code;
	draft->apart = true;
	draft->most = ns >= ERROR_SHARE * steady->step_ns ? TFS_LEVEL_ERROR : TFS_LEVEL_WARN;
	draft->less_ns = BESIDE * ns;
	return draft;
}

/* With what the thread did meanwhile. */
static struct tfs_draft *report_sampled(const struct tfs_steady *steady,
	struct tfs_findings *findings, const struct tfs_gap *gap, const struct tfs_place *place,
	const struct tfs_intervals *where, double ns)
{
	const uint32_t thread = steady->timeline->calls[gap->after].thread;
	struct tfs_meanwhile meanwhile;

	if (!tfs_meanwhile_find(steady->timeline, thread, where, findings->arena, &meanwhile))
		return report(steady, findings, gap, place, ns, &meanwhile);
	findings->failed = true;
	return NULL;
}

static void own(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_draft *draft, const struct tfs_gaps *gaps, const struct tfs_place *place,
	uint32_t thread)
{
	for (size_t i = 0; draft && i < gaps->count; i++) {
		const struct tfs_gap *gap = &gaps->items[i];

		if (starves(steady, gap, thread) &&
			steady->timeline->calls[gap->after].record->site == place->site)
			tfs_findings_own(findings, draft, gap->idle);
	}
}

/* Without its waits the thread would be ahead of the devices: these are to blame. */
static bool held_by_waits(const struct tfs_steady *steady, uint32_t thread)
{
	const double devices = tfs_gaps_steps(steady) / (double)steady->step_count;

	return steady->step_ns - tfs_gaps_waits_ns(steady, thread) <= steady->busy_ns / devices;
}

/* What is left where a wait is not to blame: stretches that are short or seldom. */
static double report_places(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_gaps *gaps, struct tfs_hits *hits, uint32_t thread)
{
	struct tfs_intervals where = {0};
	struct tfs_place place = {0};
	double rest_ns = 0, ns;

	while (tfs_hits_next(steady, hits, &place)) {
		const struct tfs_gap *gap =
			stretches(steady, findings, gaps, &place, thread, &where, &ns);

		if (!gap || tfs_place_per_step(&place, steady) < LEAST_PER_STEP ||
			tfs_recording_apart_ns(steady->timeline, ns) < WARN_SHARE * steady->step_ns)
			rest_ns += ns;
		else
			own(steady, findings,
				report_sampled(steady, findings, gap, &place, &where, ns), gaps,
				&place, thread);
	}
	tfs_intervals_finish(&where);
	return rest_ns;
}

static const char *passed(double idle_ns, bool held)
{
	if (!(idle_ns > 0))
		return "the GPU never waits while the host makes the next batch: more workers would not help";
	return held ? "the GPU is idle for %s of the step while the host makes the next batch, but the host's waits come first: "
		      "without them it would make the batch while the GPU works; see TFS201, TFS202 and TFS203"
		    : "the GPU is idle for %s of the step while the host makes the next batch: making batches faster would hardly help";
}

/* How long a GPU is idle, per step, in stretches of the thread's own that no batch comes behind. */
static double other_ns(
	const struct tfs_steady *steady, const struct tfs_gaps *gaps, uint32_t thread)
{
	double ns = 0;

	for (size_t i = 0; i < gaps->count; i++) {
		const struct tfs_gap *gap = &gaps->items[i];

		if (tfs_gap_own_code(steady, gap) &&
			steady->timeline->calls[gap->after].thread == thread &&
			!is_input(steady, gap))
			ns += gap->host_ns / tfs_gaps_steps(steady);
	}
	return tfs_recording_apart_ns(steady->timeline, ns);
}

static void judge(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_gaps *gaps, bool *seen, struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	const uint32_t thread = tfs_step_thread(steady, 0, steady->step_count);
	const bool held = held_by_waits(steady, thread);
	struct tfs_hits hits = {0};
	double idle_ns = look(steady, gaps, thread, seen, &hits);

	if (!held)
		idle_ns = report_places(steady, findings, gaps, &hits, thread);
	if (steady->step_count < 2)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"only one step was judged: what the host does between steps was not seen");
	else if (!held && other_ns(steady, gaps, thread) >= WARN_SHARE * steady->step_ns)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the GPU is idle for %s of the step while the host makes no CUDA call, with no copy of a batch after it: whether the host makes the next batch then is not known",
			tfs_figure_share(other_ns(steady, gaps, thread) / steady->step_ns).text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			passed(idle_ns, held),
			tfs_figure_share(steady->step_ns > 0 ? idle_ns / steady->step_ns : 0).text);
	tfs_hits_finish(&hits);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_gaps gaps;
	bool *seen;

	if (steady->run) {
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: what part of a step the host takes to make a batch is not known");
		return;
	}
	seen = calloc(steady->timeline->call_count + 1u, sizeof(*seen));
	if (!seen || tfs_gaps_find(steady, &gaps)) {
		free(seen);
		findings->failed = true;
		return;
	}
	judge(steady, findings, &gaps, seen, out_verdict);
	tfs_gaps_finish(&gaps);
	free(seen);
}

const struct tfs_rule tfs_rule_tfs701 = {
	.id = "TFS701",
	.slug = "input-starved",
	.level = TFS_LEVEL_ERROR,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_DEVICE,
	.title = "the GPU waits while the host makes the next batch",
	.why = "Where the thread that launches the step's work also reads and decodes the next batch, or waits for it, "
	       "the device runs dry: the batch is made in the time in which the GPU could compute. "
	       "Only the time in which the GPU is idle counts; loading that takes less than the device's work, and goes on beside it, costs nothing. "
	       "In recorded steps that thread is sampled, a thousand times a second at first: whether it runs, reads, or waits for others is told where twenty samples or more fell into that time.",
	.advice = ADVICE_BY_CODE,
	.detect = detect,
};
