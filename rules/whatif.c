/* SPDX-License-Identifier: MIT */
#include "rules/whatif.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/graph.h"

/* Doubt about the model itself: what the device would do is taken from what it did. */
#define MODEL_DOUBT 0.05
/* Recording may slow a step by this much before the interval is widened. */
#define INFLATION 0.03

struct tfs_whatif {
	const struct tfs_steady *steady;
	struct tfs_run *runs;
	size_t run_count;
	struct tfs_replay **replays;
	double *base;           /* when each step was over, replayed as it was: all runs' marks */
	double *changed;        /* and with edits */
	double *saved;          /* per step */
	struct tfs_edit *edits; /* for each call of the evidence */
	size_t mark_count;
	size_t step_count;
	double measured_ns;
	double replayed_ns;
	double inflation;
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

/* Replays everything without edits. */
static int replay_base(struct tfs_whatif *whatif)
{
	double measured = 0, replayed = 0;
	size_t mark = 0;

	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];
		double *at = &whatif->base[mark];

		whatif->replays[i] = tfs_replay_create(&run->graph);
		if (!whatif->replays[i])
			return -ENOMEM;
		tfs_replay_measured(whatif->replays[i], at);
		measured += at[run->steps] - at[0];
		if (tfs_replay_run(whatif->replays[i], NULL, at))
			return -ENOMEM;
		replayed += at[run->steps] - at[0];
		mark += run->graph.marks_count;
	}
	whatif->measured_ns = measured / (double)whatif->step_count;
	whatif->replayed_ns = replayed / (double)whatif->step_count;
	return 0;
}

struct tfs_whatif *tfs_whatif_create(const struct tfs_steady *steady)
{
	struct tfs_whatif *whatif;

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
		whatif->step_count += whatif->runs[i].steps;
	}
	whatif->replays = calloc(whatif->run_count + 1, sizeof(*whatif->replays));
	whatif->base = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->changed = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->saved = calloc(whatif->step_count + 1, sizeof(double));
	whatif->edits = calloc((size_t)steady->call_count + 1, sizeof(*whatif->edits));
	whatif->inflation = recording_inflation(steady->timeline);
	if (!whatif->replays || !whatif->base || !whatif->changed || !whatif->saved ||
		!whatif->edits || !whatif->step_count || replay_base(whatif))
		goto fail;
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
	free(whatif->changed);
	free(whatif->saved);
	free(whatif->edits);
	free(whatif);
}

double tfs_whatif_measured_ns(const struct tfs_whatif *whatif)
{
	return whatif->measured_ns;
}

double tfs_whatif_replayed_ns(const struct tfs_whatif *whatif)
{
	return whatif->replayed_ns;
}

double tfs_whatif_error(const struct tfs_whatif *whatif)
{
	if (whatif->measured_ns <= 0)
		return 0;
	return fabs(whatif->replayed_ns - whatif->measured_ns) / whatif->measured_ns;
}

void tfs_whatif_clear(struct tfs_whatif *whatif)
{
	memset(whatif->edits, 0, whatif->steady->call_count * sizeof(*whatif->edits));
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
		if (change->scale > 0 && (edit->scale <= 0 || change->scale < edit->scale))
			edit->scale = change->scale;
	}
}

static void price(const struct tfs_whatif *whatif, struct tfs_cost *out_cost)
{
	double count = (double)whatif->step_count, sum = 0, squares = 0, mean, half;

	for (size_t i = 0; i < whatif->step_count; i++)
		sum += whatif->saved[i];
	mean = sum / count;
	for (size_t i = 0; i < whatif->step_count; i++)
		squares += (whatif->saved[i] - mean) * (whatif->saved[i] - mean);
	half = count > 1 ? 2 * sqrt(squares / (count - 1) / count) : fabs(mean);
	half += fabs(whatif->replayed_ns - whatif->measured_ns);
	half += fabs(mean) * (MODEL_DOUBT + whatif->inflation);
	out_cost->ns = mean > 0 ? mean : 0;
	out_cost->low_ns = mean - half > 0 ? mean - half : 0;
	out_cost->high_ns = mean + half > 0 ? mean + half : 0;
	out_cost->method = whatif->steady->simulated ? "modelled" : "replay";
}

int tfs_whatif_price(struct tfs_whatif *whatif, struct tfs_cost *out_cost)
{
	size_t mark = 0, step = 0;

	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];
		const double *was = &whatif->base[mark];
		double *is = &whatif->changed[mark];

		if (tfs_replay_run(whatif->replays[i], &whatif->edits[run->first_call], is))
			return -ENOMEM;
		for (uint32_t j = 0; j < run->steps; j++)
			whatif->saved[step++] = (was[j + 1] - was[j]) - (is[j + 1] - is[j]);
		mark += run->graph.marks_count;
	}
	price(whatif, out_cost);
	return 0;
}
