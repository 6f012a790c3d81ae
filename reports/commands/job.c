/* SPDX-License-Identifier: MIT */
#include "reports/commands/job.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/commands/job_proof.h"
#include "reports/formats/text.h"
#include "reports/model/words.h"
#include "reports/support/must.h"
#include "reports/support/options.h"
#include "rules/support/figures.h"
#include "shim/rewrites/measure/ranked.h"
#include "shim/rewrites/measure/verdicts_file.h"
#include "shim/trace/trace.h"

#define MOST_RANKS 65536u

static const char *program_of(const struct tfs_trace *trace)
{
	const char *path = tfs_trace_header(trace)->program;
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t ranks_of(const struct tfs_trace *trace)
{
	const struct tfs_fact_record *fact = tfs_trace_fact(trace, TFS_FACT_ranks_plan);
	const uint64_t ranks = fact ? fact->numbers[0] : 0;

	return ranks > 1 && ranks < MOST_RANKS ? (uint32_t)ranks : 0;
}

static bool is_newer(const struct tfs_trace *one, const struct tfs_trace *other)
{
	return tfs_trace_header(one)->start_realtime_ns >
	       tfs_trace_header(other)->start_realtime_ns;
}

/* The latest recording of each rank, in a job of as many ranks as the latest of all had. */
static bool gather(struct tfs_job *job, struct tfs_trace *const *traces, int count)
{
	const struct tfs_trace *latest = NULL;

	for (int i = 0; i < count; i++)
		if (traces[i] && ranks_of(traces[i]) &&
			!strcmp(program_of(traces[i]), job->program) &&
			(!latest || is_newer(traces[i], latest)))
			latest = traces[i];
	job->ranks = latest ? ranks_of(latest) : 0;
	job->traces = calloc(job->ranks + 1u, sizeof(const struct tfs_trace *));
	for (int i = 0; job->traces && i < count; i++) {
		const struct tfs_trace *trace = traces[i];
		uint32_t rank = trace ? tfs_trace_header(trace)->rank : job->ranks;

		if (rank < job->ranks && ranks_of(trace) == job->ranks &&
			!strcmp(program_of(trace), job->program) &&
			(!job->traces[rank] || is_newer(trace, job->traces[rank])))
			job->traces[rank] = trace;
	}
	return job->traces && job->ranks;
}

/* When the last step began that it tells of. */
static uint64_t end_ns(const struct tfs_trace *trace)
{
	const struct tfs_file_header *header = tfs_trace_header(trace);
	uint64_t last_ns = header->start_ns;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_steps); i++) {
		const struct tfs_steps_record *pack = tfs_trace_at(trace, TFS_RECORD_steps, i);
		uint64_t start_ns = tfs_trace_ns(trace, pack->first_start_ticks);

		last_ns = start_ns > last_ns ? start_ns : last_ns;
	}
	return header->start_realtime_ns + (last_ns - header->start_ns);
}

/* Ranks that wait for each other train at the same time. */
static bool same_run(const struct tfs_job *job)
{
	uint32_t latest = 0;

	for (uint32_t i = 1; i < job->ranks; i++)
		if (is_newer(job->traces[i], job->traces[latest]))
			latest = i;
	for (uint32_t i = 0; i < job->ranks; i++) {
		if (end_ns(job->traces[i]) >=
			tfs_trace_header(job->traces[latest])->start_realtime_ns)
			continue;
		printf("  no verdict: the recording of rank %u is from an earlier run than that of rank %u\n",
			i, latest);
		return false;
	}
	return true;
}

/* False, and says why, when the ranks cannot be held against each other. */
static bool agree(struct tfs_job *job)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < job->ranks; i++) {
		const struct tfs_fact_record *fact =
			job->traces[i] ? tfs_trace_fact(job->traces[i], TFS_FACT_ranks_plan) : NULL;
		const char *plan = fact ? tfs_trace_string(job->traces[i], fact->object) : NULL;

		if (!plan) {
			printf("  no verdict: rank %u has no recording in this folder\n", i);
			return false;
		}
		first = first ? first : plan;
		if (strcmp(plan, first)) {
			printf("  no verdict: rank %u and rank 0 measured different rewrites or steps\n",
				i);
			return false;
		}
	}
	if (!tfs_ranked_read(&job->plan, first)) {
		printf("  no verdict: the recordings do not say what was measured\n");
		return false;
	}
	return true;
}

/* What an earlier run began. */
static void resume(const struct tfs_proof *old, void *context)
{
	struct tfs_job *job = context;

	for (uint32_t i = 0; i < job->count; i++)
		if (old->ranks == job->ranks && old->outcome == TFS_OUTCOME_UNDECIDED &&
			!strcmp(old->name, job->verdicts[i].name))
			job->verdicts[i] = *old;
}

static bool took_part(const struct tfs_job *job, const char *name)
{
	for (uint32_t rank = 0; rank < job->ranks; rank++) {
		const struct tfs_trace *trace = job->traces[rank];

		for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
			const struct tfs_rewrite_record *one =
				tfs_trace_at(trace, TFS_RECORD_rewrite, i);

			if (one->applied && !strcmp(tfs_trace_string(trace, one->name), name))
				return true;
		}
	}
	return false;
}

/* Each was off while the others were asked about: of several that won the best stays, and the next
 * run asks whether the others gain beside it. */
static const struct tfs_proof *best_of(const struct tfs_job *job)
{
	const struct tfs_proof *best = NULL;

	for (uint32_t i = 0; i < job->count; i++) {
		const struct tfs_proof *one = &job->verdicts[i];

		if (one->outcome == TFS_OUTCOME_FASTER &&
			(!best || one->gain.middle > best->gain.middle))
			best = one;
	}
	return best;
}

static const char *undecided(const struct tfs_proof *verdict, struct tfs_arena *arena)
{
	struct tfs_trial trial = {.plan = tfs_trial_plan(verdict->period ? verdict->period : 1)};
	uint32_t more;

	tfs_trial_resume(&trial, verdict->gains, verdict->pairs);
	more = tfs_trial_more_steps(&trial);
	return tfs_arena_print(arena, "undecided%s, off; the next run continues the measurement",
		more ? tfs_arena_print(arena, " (needs about %u more steps)", more) : "");
}

static void say(const struct tfs_proof *verdict, const struct tfs_proof *best)
{
	static const char *const outcomes[TFS_OUTCOME_COUNT] = {
		[TFS_OUTCOME_FASTER] = "faster, stays on",
		[TFS_OUTCOME_SLOWER] = "slower, switched off",
		[TFS_OUTCOME_NO_DIFFERENCE] = "no measurable difference, switched off",
	};
	const bool second = verdict->outcome == TFS_OUTCOME_FASTER && verdict != best;
	struct tfs_arena arena = {0};

	tfs_text_line(stdout, "  %s: A/B over %s of blocks of steps: %s%s%s", verdict->name,
		tfs_words_number(&arena, verdict->pairs, "pair", "pairs"),
		isnan(verdict->gain.low)
			? ""
			: tfs_arena_print(&arena,
				  "gain %s (%s to %s) per step of the slowest rank; ",
				  tfs_words_time(&arena, verdict->gain.middle),
				  tfs_words_time(&arena, verdict->gain.low),
				  tfs_words_time(&arena, verdict->gain.high)),
		second ? "faster by itself; the next run measures it together with "
		: verdict->outcome == TFS_OUTCOME_UNDECIDED ? undecided(verdict, &arena)
							    : outcomes[verdict->outcome],
		second ? best->name : "");
	tfs_must_finish(&arena);
}

static void settle(struct tfs_job *job)
{
	const struct tfs_proof *best = best_of(job);

	for (uint32_t i = 0; i < job->count; i++)
		say(&job->verdicts[i], best);
	for (uint32_t i = 0; i < job->count; i++) {
		struct tfs_proof *one = &job->verdicts[i];

		if (one->outcome != TFS_OUTCOME_FASTER || one == best)
			continue;
		one->outcome = TFS_OUTCOME_UNDECIDED;
		one->pairs = 0;
	}
}

static struct tfs_figure ranks(const struct tfs_job *job)
{
	return tfs_figure_number(job->ranks, "rank", "ranks");
}

static int save(const char *path, const struct tfs_job *job)
{
	int err = tfs_verdicts_save(path, job->verdicts, job->count);

	if (err)
		tfs_text_line(stderr, "tfshim: cannot write %s: %s", path,
			err == -EINVAL ? "the existing file is not a tfshim verdicts file"
				       : strerror(-err));
	else
		tfs_text_line(stdout, "  written to %s; the next run of %s uses these results",
			path, ranks(job).text);
	return err ? TFS_EXIT_MISUSE : 0;
}

static int judge(const char *folder, struct tfs_job *job)
{
	static char old[TFS_VERDICTS_BYTES];
	struct tfs_arena arena = {0};
	const char *path = tfs_arena_print(&arena, "%s/%s.verdicts", folder, job->program);
	uint32_t questions[TFS_VERDICTS_MOST];
	int status = 0;

	for (uint32_t i = 0; i < job->plan.count; i++) {
		if (!took_part(job, job->plan.names[i])) {
			tfs_text_line(stdout, "  %s: not applicable, no matching call",
				job->plan.names[i]);
			continue;
		}
		questions[job->count] = i;
		memcpy(job->verdicts[job->count++].name, job->plan.names[i], TFS_VERDICT_NAME);
	}
	if (!tfs_verdicts_load(path, old))
		tfs_verdicts_each(old, resume, job);
	job->period = tfs_job_find_period(job);
	for (uint32_t i = 0; i < job->count; i++)
		tfs_job_find_verdict(job, questions[i], &job->verdicts[i]);
	settle(job);
	if (job->count)
		status = save(path, job);
	tfs_must_finish(&arena);
	return status;
}

static int report_program(
	const char *folder, const char *program, struct tfs_trace *const *traces, int count)
{
	struct tfs_job job = {.program = program};
	int status = 0;

	if (gather(&job, traces, count)) {
		printf("JOB ");
		tfs_text_put(stdout, program);
		printf(", %s: rewrites\n", ranks(&job).text);
		if (agree(&job) && same_run(&job) && tfs_job_find_times(&job))
			status = judge(folder, &job);
	}
	free(job.traces);
	free(job.times);
	return status;
}

int tfs_job_report(const char *folder, char *const *paths, int count)
{
	struct tfs_trace **traces = calloc((size_t)count + 1, sizeof(*traces));
	int status = 0;

	for (int i = 0; traces && i < count; i++)
		if (tfs_trace_open(paths[i], NULL, &traces[i]))
			traces[i] = NULL;
	for (int i = 0; traces && i < count; i++) {
		bool seen = !traces[i];

		for (int j = 0; j < i && !seen; j++)
			seen = traces[j] && !strcmp(program_of(traces[j]), program_of(traces[i]));
		if (!seen && report_program(folder, program_of(traces[i]), traces, count))
			status = TFS_EXIT_MISUSE;
	}
	for (int i = 0; traces && i < count; i++)
		if (traces[i])
			tfs_trace_close(traces[i]);
	free(traces);
	return status;
}
