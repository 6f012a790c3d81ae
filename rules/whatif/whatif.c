/* SPDX-License-Identifier: MIT */
#include "rules/whatif/whatif.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/device/searches.h"
#include "rules/timeline/recording_cost.h"
#include "rules/whatif/device_work.h"
#include "rules/whatif/doubt.h"
#include "rules/whatif/graph.h"
#include "rules/whatif/host_load.h"
#include "rules/whatif/whatif_private.h"

/* Recording may slow a step by this much before the interval is widened. */
#define INFLATION 0.03

/* Of a call, recording takes this part at most, which is found to a thousandth. */
#define MOST_EASED 0.8
#define HALVINGS 10u

/* With more streams than this the graph is too large to replay often. */
#define MOST_STREAMS 1024u

/* Host threads that take turns follow each other, however long one takes to go on; or those that
 * go on at once do. */
static const struct tfs_replay_how turns = {.follows_ns = INFINITY};
static const struct tfs_replay_how at_once = {.follows_ns = TFS_FOLLOWS_NS};
static const struct tfs_replay_how usual = {.follows_ns = INFINITY, .usual = true};

static double recording_inflation(const struct tfs_timeline *timeline)
{
	const struct tfs_step_times *inside = &timeline->inside, *outside = &timeline->outside;
	double ratio;

	if (outside->count < 10 || outside->median_ns <= 0 || timeline->judged_rewritten)
		return 0;
	ratio = fmin(inside->median_ns / outside->median_ns,
			inside->trimmed_ns / outside->trimmed_ns) -
		1;
	return ratio > INFLATION ? ratio : 0;
}

int tfs_whatif_replay(const struct tfs_whatif *whatif, const struct tfs_replay_how *how,
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

uint32_t tfs_whatif_first(const struct tfs_run *run)
{
	/* It may find work that was given before. */
	return run->steps > 2;
}

double tfs_whatif_mean(const struct tfs_whatif *whatif, const double *marks)
{
	double sum = 0;

	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];

		sum += marks[run->steps] - marks[tfs_whatif_first(run)];
		marks += run->graph.marks_count;
	}
	return sum / (double)whatif->step_count;
}

/* How far each step replayed with the usual delays is from the measured one. */
static void find_error(struct tfs_whatif *whatif, const double *measured, const double *again)
{
	for (size_t i = 0; i < whatif->run_count; i++) {
		const struct tfs_run *run = &whatif->runs[i];

		for (uint32_t j = tfs_whatif_first(run); j < run->steps; j++) {
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

/* The base, with recording taken out of the host's calls by such a part of them. */
static int ease(struct tfs_whatif *whatif, double part)
{
	whatif->turns.eases = whatif->at_once.eases = part;
	if (tfs_whatif_replay(whatif, &whatif->turns, whatif->written, whatif->base))
		return -ENOMEM;
	whatif->base_ns = tfs_whatif_mean(whatif, whatif->base);
	return 0;
}

/* Steps as they are outside windows: recording lengthens the calls that give the device work, each
 * by a part that is found by halving. Where that makes steps not as much shorter as they are
 * outside, its cost lies elsewhere, in no known place: then each cost has its share of it. */
static int take_out_recording(struct tfs_whatif *whatif)
{
	double least = 0, most = MOST_EASED, low_ns, high_ns;
	const double added_ns = tfs_recording_added_ns(whatif->steady->timeline, &low_ns, &high_ns);
	const double aim_ns = whatif->written_ns - added_ns;
	int err = ease(whatif, most);

	if (!err && whatif->base_ns > aim_ns) {
		whatif->own = fmax(aim_ns, 0) / whatif->written_ns;
		whatif->own_most = fmax(whatif->written_ns - low_ns, 0) / whatif->written_ns;
		return ease(whatif, 0);
	}
	for (unsigned i = 0; !err && i < HALVINGS; i++) {
		const double part = (least + most) / 2;

		err = ease(whatif, part);
		if (whatif->base_ns > aim_ns)
			least = part;
		else
			most = part;
	}
	return err;
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
	whatif->measured_ns = tfs_whatif_mean(whatif, whatif->base);
	if (tfs_whatif_replay(whatif, &usual, NULL, whatif->changed))
		return -ENOMEM;
	find_error(whatif, whatif->base, whatif->changed);
	whatif->usual_ns = tfs_whatif_mean(whatif, whatif->changed);
	if (tfs_whatif_replay(whatif, &whatif->turns, NULL, whatif->base))
		return -ENOMEM;
	whatif->replayed_ns = tfs_whatif_mean(whatif, whatif->base);
	find_written(whatif);
	if (tfs_whatif_replay(whatif, &whatif->turns, whatif->written, whatif->base))
		return -ENOMEM;
	whatif->written_ns = whatif->base_ns = tfs_whatif_mean(whatif, whatif->base);
	if (whatif->inflation > 0 && take_out_recording(whatif))
		return -ENOMEM;
	whatif->unkept_ns = whatif->base_ns;
	return tfs_whatif_replay(whatif, &whatif->at_once, whatif->written, whatif->apart);
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
	whatif->turns = turns;
	whatif->at_once = at_once;
	if (tfs_runs_create(steady, &whatif->runs, &whatif->run_count))
		goto fail;
	for (size_t i = 0; i < whatif->run_count; i++) {
		whatif->mark_count += whatif->runs[i].graph.marks_count;
		whatif->step_count += whatif->runs[i].steps - tfs_whatif_first(&whatif->runs[i]);
	}
	whatif->replays = calloc(whatif->run_count + 1, sizeof(*whatif->replays));
	whatif->base = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->apart = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->changed = calloc(whatif->mark_count + 1, sizeof(double));
	whatif->saved = calloc(whatif->step_count + 1, sizeof(double));
	whatif->edits = calloc((size_t)steady->call_count + 1, sizeof(*whatif->edits));
	whatif->kept = calloc((size_t)steady->call_count + 1, sizeof(*whatif->kept));
	whatif->assumed = calloc((size_t)steady->call_count + 1, sizeof(*whatif->assumed));
	whatif->written = calloc((size_t)steady->call_count + 1, sizeof(*whatif->written));
	whatif->work = tfs_device_work_create(steady);
	whatif->inflation = recording_inflation(steady->timeline);
	whatif->own = whatif->own_most = 1;
	if (!whatif->replays || !whatif->base || !whatif->apart || !whatif->changed ||
		!whatif->saved || !whatif->edits || !whatif->kept || !whatif->assumed ||
		!whatif->written || !whatif->step_count || !whatif->work || replay_base(whatif))
		goto fail;
	whatif->load_ns =
		tfs_host_load_ns(steady, whatif->runs, whatif->replays, whatif->run_count);
	whatif->doubt = tfs_replay_doubt(whatif->replays, whatif->run_count,
		fmax(fabs(whatif->usual_ns - whatif->measured_ns),
			fabs(whatif->replayed_ns - whatif->measured_ns)) /
			whatif->measured_ns);
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
	free(whatif->kept);
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
	/* What the steps took is known better than what a replay of them takes. */
	return whatif->measured_ns * (whatif->written_ns / whatif->replayed_ns);
}

void tfs_whatif_follow_device(struct tfs_whatif *whatif)
{
	whatif->own = whatif->own_most = 1;
}

double tfs_whatif_step_ns(const struct tfs_steady *steady)
{
	const struct tfs_whatif *whatif = steady->whatif;

	if (!whatif)
		return steady->step_ns;
	return whatif->turns.eases > 0 ? steady->step_ns - (whatif->written_ns - whatif->unkept_ns)
				       : steady->step_ns * whatif->own;
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
	memcpy(whatif->edits, whatif->kept, whatif->steady->call_count * sizeof(*whatif->edits));
	memset(whatif->assumed, 0, whatif->steady->call_count * sizeof(*whatif->assumed));
}

/* Two changes of one call's work. What makes it faster is counted once, as the better one has it;
 * what makes it more work, such as that of others too, goes with what makes all of it faster. */
static float scale_of(float one, float other)
{
	if (one <= 0 || other <= 0)
		return one > 0 ? one : fmaxf(other, 0);
	if (one > 1 && other > 1)
		return fmaxf(one, other);
	return one > 1 || other > 1 ? one * other : fminf(one, other);
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
		edit->scale = scale_of(edit->scale, change->scale);
		edit->adds_ns = fmaxf(edit->adds_ns, change->adds_ns);
		edit->aside |= change->aside;
		edit->at_once |= change->at_once;
		edit->cuts_ns = fmaxf(edit->cuts_ns, change->cuts_ns);
	}
}
