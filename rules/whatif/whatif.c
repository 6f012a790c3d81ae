/* SPDX-License-Identifier: MIT */
#include "rules/whatif/whatif.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/searches.h"
#include "rules/whatif/device_work.h"
#include "rules/whatif/doubt.h"
#include "rules/whatif/graph.h"
#include "rules/whatif/host_load.h"

/* Doubt about the model itself: what the device would do is taken from what it did. */
#define MODEL_DOUBT 0.05
/* And about what each changed call takes: delays vary by that. */
#define CALL_DOUBT_NS 1000.0
/* Recording may slow a step by this much before the interval is widened. */
#define INFLATION 0.03

/* With more streams than this the graph is too large to replay often. */
#define MOST_STREAMS 1024u

/* Host threads that take turns follow each other, however long one takes to go on; or those that
 * go on at once do. */
static const struct tfs_replay_how turns = {.follows_ns = INFINITY};
static const struct tfs_replay_how at_once = {.follows_ns = TFS_FOLLOWS_NS};
static const struct tfs_replay_how usual = {.follows_ns = INFINITY, .usual = true};

struct tfs_whatif {
	const struct tfs_steady *steady;
	struct tfs_run *runs;
	size_t run_count;
	struct tfs_replay **replays;
	double *base;             /* when each step was over, replayed as it was: all runs' marks */
	double *apart;            /* the same, with host threads that follow at once only */
	double *changed;          /* and with edits */
	double *saved;            /* per step */
	struct tfs_edit *edits;   /* for each call of the evidence */
	bool *assumed;            /* per call: its edit keeps an order that may not be needed */
	struct tfs_edit *written; /* what makes them those of the program as written */
	size_t mark_count;
	size_t step_count;
	double measured_ns;
	double usual_ns; /* replayed with usual delays */
	double error;    /* of the worst step replayed so */
	uint32_t worst;  /* which that is, in the timeline */
	double replayed_ns;
	double written_ns;
	double inflation;
	double load_ns; /* that something else took of the host's time, per step */
	const char *doubt;
	struct tfs_device_work *work;
};

static double recording_inflation(const struct tfs_timeline *timeline)
{
	const struct tfs_step_times *inside = &timeline->inside, *outside = &timeline->outside;
	double ratio;

	if (outside->count < 10 || outside->median_ns <= 0 || timeline->judged_rewritten)
		return 0;
	ratio = inside->median_ns / outside->median_ns - 1;
	return ratio > INFLATION ? ratio : 0;
}

/* Replays all steps; the marks of all runs follow each other. */
static int replay_all(const struct tfs_whatif *whatif, const struct tfs_replay_how *how,
	const struct tfs_edit *edits, double *out_marks)
{
	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];

		if (tfs_replay_run(whatif->replays[i], how, edits ? &edits[run->first_call] : NULL,
			    out_marks))
			return -ENOMEM;
		out_marks += run->graph.marks_count;
	}
	return 0;
}

/* The first step of several is no evidence: it may find work that was given before. */
static uint32_t first_of(const struct tfs_run *run)
{
	return run->steps > 2;
}

static double mean_step(const struct tfs_whatif *whatif, const double *marks)
{
	double sum = 0;

	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];

		sum += marks[run->steps] - marks[first_of(run)];
		marks += run->graph.marks_count;
	}
	return sum / (double)whatif->step_count;
}

/* How far each step replayed with the usual delays is from the measured one. */
static void find_error(struct tfs_whatif *whatif, const double *measured, const double *again)
{
	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];

		for (uint32_t j = first_of(run); j < run->steps; j++) {
			const double step_ns = measured[j + 1] - measured[j];
			const double error = fabs(again[j + 1] - again[j] - step_ns) / step_ns;

			if (step_ns <= 0 || error < whatif->error)
				continue;
			whatif->error = error;
			whatif->worst = whatif->steady->steps[run->first_step + j];
		}
		measured += run->graph.marks_count;
		again += run->graph.marks_count;
	}
}

/* Where a rewrite chose the algorithm, the program's own choice takes longer. */
static void find_written(struct tfs_whatif *whatif)
{
	for (uint32_t i = 0; i < whatif->steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(whatif->steady, i);
		struct tfs_recorded_search search;

		if (tfs_search_family(call->family) &&
			tfs_search_find(whatif->steady->timeline, call, &search) &&
			search.substituted && search.ran_ms > 0)
			whatif->written[i].scale = search.asked_ms / search.ran_ms;
	}
}

static int replay_base(struct tfs_whatif *whatif)
{
	double *at = whatif->base;

	for (size_t i = 0; i < whatif->run_count; i++) {
		whatif->replays[i] = tfs_replay_create(&whatif->runs[i].graph);
		if (!whatif->replays[i])
			return -ENOMEM;
		tfs_replay_measured(whatif->replays[i], at);
		at += whatif->runs[i].graph.marks_count;
	}
	whatif->measured_ns = mean_step(whatif, whatif->base);
	if (replay_all(whatif, &usual, NULL, whatif->changed))
		return -ENOMEM;
	find_error(whatif, whatif->base, whatif->changed);
	whatif->usual_ns = mean_step(whatif, whatif->changed);
	if (replay_all(whatif, &turns, NULL, whatif->base))
		return -ENOMEM;
	whatif->replayed_ns = mean_step(whatif, whatif->base);
	find_written(whatif);
	if (replay_all(whatif, &at_once, whatif->written, whatif->apart) ||
		replay_all(whatif, &turns, whatif->written, whatif->base))
		return -ENOMEM;
	whatif->written_ns = mean_step(whatif, whatif->base);
	return 0;
}

struct tfs_whatif *tfs_whatif_create(const struct tfs_steady *steady)
{
	struct tfs_whatif *whatif;

	if (steady->timeline->stream_count > MOST_STREAMS)
		return NULL;
	if (!steady->activity || !steady->step_count || !steady->call_count)
		return NULL;
	whatif = calloc(1, sizeof(*whatif));
	if (!whatif)
		return NULL;
	whatif->steady = steady;
	if (tfs_runs_create(steady, &whatif->runs, &whatif->run_count))
		goto fail;
	for (size_t i = 0; i < whatif->run_count; i++) {
		whatif->mark_count += whatif->runs[i].graph.marks_count;
		whatif->step_count += whatif->runs[i].steps - first_of(&whatif->runs[i]);
	}
	whatif->replays = calloc(whatif->run_count + 1, sizeof(*whatif->replays));
	whatif->base = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->apart = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->changed = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->saved = calloc(whatif->step_count + 1, sizeof(double));
	whatif->edits = calloc((size_t)steady->call_count + 1, sizeof(*whatif->edits));
	whatif->assumed = calloc((size_t)steady->call_count + 1, sizeof(*whatif->assumed));
	whatif->written = calloc((size_t)steady->call_count + 1, sizeof(*whatif->written));
	whatif->work = tfs_device_work_create(steady);
	whatif->inflation = recording_inflation(steady->timeline);
	if (!whatif->replays || !whatif->base || !whatif->apart || !whatif->changed ||
		!whatif->saved || !whatif->edits || !whatif->assumed || !whatif->written ||
		!whatif->step_count || !whatif->work || replay_base(whatif))
		goto fail;
	whatif->load_ns =
		tfs_host_load_ns(steady, whatif->runs, whatif->replays, whatif->run_count);
	whatif->doubt = tfs_replay_doubt(whatif->replays, whatif->run_count,
		fabs(whatif->usual_ns - whatif->measured_ns) / whatif->measured_ns);
	return whatif;
fail:
	tfs_whatif_destroy(whatif);
	return NULL;
}

void tfs_whatif_destroy(struct tfs_whatif *whatif)
{
	if (!whatif)
		return;
	for (size_t i = 0; whatif->replays && i < whatif->run_count; i++)
		tfs_replay_destroy(whatif->replays[i]);
	tfs_runs_destroy(whatif->runs, whatif->run_count);
	free(whatif->replays);
	free(whatif->base);
	free(whatif->apart);
	free(whatif->changed);
	free(whatif->saved);
	tfs_device_work_destroy(whatif->work);
	free(whatif->edits);
	free(whatif->assumed);
	free(whatif->written);
	free(whatif);
}

double tfs_whatif_replayed_ns(const struct tfs_whatif *whatif)
{
	return whatif->replayed_ns;
}

double tfs_whatif_written_ns(const struct tfs_whatif *whatif)
{
	return whatif->written_ns;
}

double tfs_whatif_error(const struct tfs_whatif *whatif)
{
	return whatif->error;
}

uint32_t tfs_whatif_worst(const struct tfs_whatif *whatif)
{
	return whatif->worst;
}

double tfs_whatif_load(const struct tfs_whatif *whatif)
{
	return whatif->measured_ns > 0 ? whatif->load_ns / whatif->measured_ns : 0;
}

const char *tfs_whatif_doubt(const struct tfs_whatif *whatif)
{
	return whatif->doubt;
}

void tfs_whatif_clear(struct tfs_whatif *whatif)
{
	memset(whatif->edits, 0, whatif->steady->call_count * sizeof(*whatif->edits));
	memset(whatif->assumed, 0, whatif->steady->call_count * sizeof(*whatif->assumed));
}

void tfs_whatif_add(struct tfs_whatif *whatif, const struct tfs_hit *hits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t place = whatif->steady->place[hits[i].call];
		const struct tfs_edit *change = &hits[i].edit;
		struct tfs_edit *edit;

		if (place == TFS_NONE)
			continue;
		edit = &whatif->edits[place];
		edit->gone |= change->gone;
		edit->no_wait |= change->no_wait;
		edit->orders |= change->orders;
		/* Whether other streams need the order that the wait gave is not known. */
		if ((change->gone || change->no_wait) && whatif->steady->waits[place].orders &&
			!edit->orders)
			edit->orders = whatif->assumed[place] = true;
		if (change->scale > 0 && (edit->scale <= 0 || change->scale < edit->scale))
			edit->scale = change->scale;
		edit->adds_ns = fmaxf(edit->adds_ns, change->adds_ns);
	}
}

static double between(double ns, double most_ns)
{
	return fmax(0, fmin(ns, most_ns));
}

/* What the edits save in each step, between two replays; returns the mean. */
static double find_saved(const struct tfs_whatif *whatif, const double *was, const double *is)
{
	double sum = 0;
	size_t step = 0;

	for (size_t i = 0; i < whatif->run_count; i++) {
		for (uint32_t j = first_of(&whatif->runs[i]); j < whatif->runs[i].steps; j++) {
			whatif->saved[step] = (was[j + 1] - was[j]) - (is[j + 1] - is[j]);
			sum += whatif->saved[step++];
		}
		was += whatif->runs[i].graph.marks_count;
		is += whatif->runs[i].graph.marks_count;
	}
	return sum / (double)whatif->step_count;
}

/* What is saved by other accounts. */
struct others {
	double apart_ns; /* host threads only follow each other where they go on at once */
	double free_ns;  /* streams do not keep an order that they may not need */
};

/* Per step. */
static double changed_calls(const struct tfs_whatif *whatif)
{
	size_t count = 0;

	for (uint32_t i = 0; i < whatif->steady->call_count; i++)
		count += whatif->edits[i].gone || whatif->edits[i].no_wait ||
			 whatif->edits[i].scale > 0;
	return (double)count / (double)whatif->step_count;
}

static void price(const struct tfs_whatif *whatif, double mean, struct others others,
	struct tfs_cost *out_cost)
{
	const double count = (double)whatif->step_count;
	const struct tfs_work_left left = tfs_device_work_left(whatif->work, whatif->edits);
	const double most = whatif->written_ns - left.least_ns;
	double squares = 0, half, low = fmin(mean, whatif->written_ns - left.all_ns);

	for (size_t i = 0; i < whatif->step_count; i++)
		squares += (whatif->saved[i] - mean) * (whatif->saved[i] - mean);
	half = count > 1 ? 2 * sqrt(squares / (count - 1) / count) : fabs(mean);
	/* One has nothing to do with the other. */
	half = hypot(half, mean * (MODEL_DOUBT + whatif->error + whatif->inflation));
	half += whatif->load_ns + fmin(fabs(mean), changed_calls(whatif) * CALL_DOUBT_NS);
	out_cost->ns = between(mean, most);
	out_cost->low_ns = between(fmin(low, others.apart_ns) - half, most);
	out_cost->high_ns = between(
		fmax(mean, fmax(others.apart_ns, others.free_ns)) + half, most * (1 + MODEL_DOUBT));
	out_cost->method = whatif->steady->simulated ? TFS_COST_MODELLED : TFS_COST_REPLAY;
}

/* Of the program as written, where a rewrite had algorithms replaced. */
static void edit_written(struct tfs_whatif *whatif)
{
	for (uint32_t i = 0; i < whatif->steady->call_count; i++)
		if (whatif->written[i].scale > 0)
			whatif->edits[i].scale =
				whatif->written[i].scale *
				(whatif->edits[i].scale > 0 ? whatif->edits[i].scale : 1);
}

static bool any_assumed(const struct tfs_whatif *whatif)
{
	return memchr(whatif->assumed, true, whatif->steady->call_count);
}

/* Orders that may not be needed are left out, or are back. */
static void flip_assumed(struct tfs_whatif *whatif)
{
	for (uint32_t i = 0; i < whatif->steady->call_count; i++)
		whatif->edits[i].orders ^= whatif->assumed[i];
}

int tfs_whatif_price(struct tfs_whatif *whatif, struct tfs_cost *out_cost)
{
	struct others others = {0};
	double mean;

	if (whatif->doubt) {
		*out_cost = (struct tfs_cost){.method = TFS_COST_UNKNOWN};
		tfs_whatif_clear(whatif);
		return 0;
	}
	edit_written(whatif);
	if (replay_all(whatif, &at_once, whatif->edits, whatif->changed))
		return -ENOMEM;
	others.apart_ns = find_saved(whatif, whatif->apart, whatif->changed);
	if (any_assumed(whatif)) {
		flip_assumed(whatif);
		if (replay_all(whatif, &turns, whatif->edits, whatif->changed))
			return -ENOMEM;
		others.free_ns = find_saved(whatif, whatif->base, whatif->changed);
		flip_assumed(whatif);
	}
	if (replay_all(whatif, &turns, whatif->edits, whatif->changed))
		return -ENOMEM;
	mean = find_saved(whatif, whatif->base, whatif->changed);
	price(whatif, mean, others, out_cost);
	tfs_whatif_clear(whatif);
	return 0;
}
