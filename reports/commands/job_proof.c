/* SPDX-License-Identifier: MIT */
#include "reports/commands/job_proof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shim/rewrites/measure/period.h"
#include "shim/rewrites/measure/sign_flip.h"
#include "shim/rewrites/measure/trial.h"

/* A recording's packed step times: the job waits for its slowest rank. */
static void take_times(struct tfs_job *job, const struct tfs_trace *trace, double *own)
{
	for (size_t i = 0; i < job->steps; i++)
		own[i] = NAN;
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_steps); i++) {
		const struct tfs_steps_record *pack = tfs_trace_at(trace, TFS_RECORD_steps, i);
		size_t room = (pack->record.units * TFS_UNIT - sizeof(*pack)) / sizeof(float);
		uint64_t start = tfs_trace_ns(trace, pack->first_start_ticks);

		for (size_t n = 0; n < pack->count && n < room; n++) {
			uint64_t at = pack->first_index + n - job->plan.first;
			float ticks;

			memcpy(&ticks, (const char *)(pack + 1) + n * sizeof(ticks), sizeof(ticks));
			if (pack->first_index + n >= job->plan.first && at < job->steps &&
				ticks > 0 && ticks < 1e18f)
				own[at] = (double)(tfs_trace_ns(trace, pack->first_start_ticks +
									       (uint64_t)ticks) -
						   start);
		}
	}
	for (size_t i = 0; i < job->steps; i++)
		job->times[i] =
			isnan(own[i]) || isnan(job->times[i]) ? NAN : fmax(job->times[i], own[i]);
}

bool tfs_job_find_times(struct tfs_job *job)
{
	double *own;

	job->steps = (size_t)tfs_ranked_steps(&job->plan);
	job->times = calloc(job->steps + 1, sizeof(*job->times));
	own = malloc((job->steps + 1) * sizeof(*own));
	for (uint32_t i = 0; job->times && own && i < job->ranks; i++)
		take_times(job, job->traces[i], own);
	bool done = job->times && own;
	free(own);
	return done;
}

uint32_t tfs_job_find_period(const struct tfs_job *job)
{
	size_t row = 0;

	for (size_t i = 0; i < job->steps && row < TFS_PERIOD_STEPS; i++) {
		row = isnan(job->times[i]) ? 0 : row + 1;
		if (row == TFS_PERIOD_STEPS)
			return tfs_period_find(job->times + i + 1 - row);
	}
	return job->plan.period;
}

/* Gives the trial the question's pairs. Those with a step that some rank did not tell, as it lay in
 * a window, are left out. */
static void run_trial(const struct tfs_job *job, uint32_t question, struct tfs_trial *trial)
{
	static struct tfs_sign_flip room;
	const struct tfs_blocks_plan blocks = trial->plan;
	double times[TFS_PERIOD_MOST], sums[2];
	uint32_t pair = UINT32_MAX, ended = 0;
	struct tfs_ranked_place place;
	bool whole = true;

	for (size_t i = 0; i < job->steps; i++) {
		if (!tfs_ranked_at(&job->plan, job->plan.first + i, &place) ||
			place.question != question)
			continue;
		if (place.pair != pair) {
			pair = place.pair;
			ended = 0;
			whole = true;
		}
		whole = whole && !isnan(job->times[i]);
		if (place.step >= blocks.left_out)
			times[place.step - blocks.left_out] = job->times[i];
		if (place.step + 1 < blocks.left_out + blocks.counted || !whole)
			continue;
		sums[place.on] = tfs_trial_sum(times, blocks.counted);
		if (++ended == 2)
			tfs_trial_pair(trial, (sums[0] - sums[1]) / blocks.counted, &room);
	}
}

void tfs_job_find_verdict(const struct tfs_job *job, uint32_t question, struct tfs_proof *verdict)
{
	static struct tfs_sign_flip room;
	struct tfs_trial trial;

	tfs_trial_init(&trial, verdict->name, job->plan.period, TFS_TRIAL_STEPS);
	tfs_trial_resume(&trial, verdict->gains, verdict->pairs);
	run_trial(job, question, &trial);
	verdict->outcome = trial.outcome;
	verdict->gain = tfs_trial_gain(&trial, &room);
	verdict->ranks = job->ranks;
	verdict->period = job->period;
	verdict->pairs = trial.pairs;
	memcpy(verdict->gains, trial.gains, sizeof(verdict->gains));
}
