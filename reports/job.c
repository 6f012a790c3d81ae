/* SPDX-License-Identifier: MIT */
#include "reports/job.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/options.h"
#include "reports/text.h"
#include "reports/words.h"
#include "rules/rewrites/ranked.h"
#include "shim/trace/trace.h"

#define MOST_RANKS 65536u

/* The latest run of one program. */
struct job {
	const char *program;
	uint32_t ranks;
	const struct tfs_trace **traces; /* by rank; NULL = missing */
	struct tfs_ranked plan;
	size_t steps;  /* that the plan speaks of */
	double *times; /* of the slowest rank; NaN where a rank's is not known */
};

static const char *program_of(const struct tfs_trace *trace)
{
	const char *path = tfs_trace_header(trace)->program;
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint32_t ranks_of(const struct tfs_trace *trace)
{
	const struct tfs_fact_record *fact = tfs_trace_fact(trace, "ranks.plan");

	return fact && fact->number > 1 && fact->number < MOST_RANKS ? (uint32_t)fact->number : 0;
}

static bool is_newer(const struct tfs_trace *one, const struct tfs_trace *other)
{
	return tfs_trace_header(one)->start_realtime_ns >
	       tfs_trace_header(other)->start_realtime_ns;
}

/* The latest recording of each rank, in a job of as many ranks as the latest of all had. */
static bool gather(struct job *job, struct tfs_trace *const *traces, int count)
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
static bool same_run(const struct job *job)
{
	uint32_t latest = 0;

	for (uint32_t i = 1; i < job->ranks; i++)
		if (is_newer(job->traces[i], job->traces[latest]))
			latest = i;
	for (uint32_t i = 0; i < job->ranks; i++) {
		if (end_ns(job->traces[i]) >=
			tfs_trace_header(job->traces[latest])->start_realtime_ns)
			continue;
		printf("  no verdict: rank %u's recording is of an earlier run than rank %u's\n", i,
			latest);
		return false;
	}
	return true;
}

/* False, and says why, when the ranks cannot be held against each other. */
static bool agree(struct job *job)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < job->ranks; i++) {
		const struct tfs_fact_record *fact =
			job->traces[i] ? tfs_trace_fact(job->traces[i], "ranks.plan") : NULL;
		const char *plan = fact ? tfs_trace_string(job->traces[i], fact->text) : NULL;

		if (!plan) {
			printf("  no verdict: the recording of rank %u is not here\n", i);
			return false;
		}
		first = first ? first : plan;
		if (strcmp(plan, first)) {
			printf("  no verdict: rank %u measured otherwise than rank 0 did\n", i);
			return false;
		}
	}
	if (!tfs_ranked_read(&job->plan, first)) {
		printf("  no verdict: the recordings do not say what was measured\n");
		return false;
	}
	return true;
}

/* A recording's packed step times: the job waits for its slowest rank. */
static void take_times(struct job *job, const struct tfs_trace *trace, double *own)
{
	for (size_t i = 0; i < job->steps; i++)
		own[i] = NAN;
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_steps); i++) {
		const struct tfs_steps_record *pack = tfs_trace_at(trace, TFS_RECORD_steps, i);
		size_t room = (pack->record.units * TFS_UNIT - sizeof(*pack)) / sizeof(float);
		uint64_t start = tfs_trace_ns(trace, pack->first_start_ticks);

		for (size_t n = 0; n < pack->record.function && n < room; n++) {
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

static bool find_times(struct job *job)
{
	double *own;

	job->steps = (size_t)tfs_ranked_questions(&job->plan) * job->plan.steps;
	job->times = calloc(job->steps + 1, sizeof(*job->times));
	own = malloc((job->steps + 1) * sizeof(*own));
	for (uint32_t i = 0; job->times && own && i < job->ranks; i++)
		take_times(job, job->traces[i], own);
	bool done = job->times && own;
	free(own);
	return done;
}

/* Blocks with a step that some rank did not tell, as it lay in a window, are left out. */
static bool find_gain(const struct job *job, uint32_t question, struct tfs_ranked_verdict *out)
{
	const double *times = job->times + (size_t)question * job->plan.steps;
	struct tfs_trial trial;

	tfs_ranked_trial(&job->plan, &trial);
	for (uint32_t block = 0; block < trial.blocks; block++) {
		const double *first = times + (size_t)block * trial.block_steps;
		bool whole = true;

		for (uint32_t i = 0; i < trial.block_steps; i++)
			whole = whole && !isnan(first[i]);
		trial.block = block;
		for (uint32_t i = 0; whole && i < trial.block_steps; i++)
			tfs_trial_step(&trial, first[i]);
	}
	out->blocks = trial.counts[0] + trial.counts[1];
	out->ranks = job->ranks;
	if (!tfs_trial_gain(&trial, &out->gain))
		return false;
	out->won = out->gain.low > 0;
	return true;
}

static bool took_part(const struct job *job, const char *name)
{
	for (uint32_t rank = 0; rank < job->ranks; rank++) {
		const struct tfs_trace *trace = job->traces[rank];

		for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
			const struct tfs_rewrite_record *one =
				tfs_trace_at(trace, TFS_RECORD_rewrite, i);

			if (one->applied &&
				!strcmp(tfs_trace_string(trace, one->record.site), name))
				return true;
		}
	}
	return false;
}

static void say(const struct tfs_ranked_verdict *verdict, const char *outcome)
{
	struct tfs_region region = {0};

	printf("  ");
	tfs_text_put(stdout, verdict->name);
	printf(": %s (%s to %s) per step of the slowest rank, by %u blocks of steps: %s\n",
		tfs_words_time(&region, verdict->gain.middle),
		tfs_words_time(&region, verdict->gain.low),
		tfs_words_time(&region, verdict->gain.high), verdict->blocks, outcome);
	tfs_region_finish(&region);
}

/* Of several that win alone and not together, the best stays. */
static void settle(const struct job *job, struct tfs_ranked_verdict *verdicts, uint32_t count)
{
	struct tfs_ranked_verdict all = {.name = "together"};
	uint32_t best = 0, won = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!verdicts[i].won)
			continue;
		if (won++ == 0 || verdicts[i].gain.middle > verdicts[best].gain.middle)
			best = i;
	}
	if (won < 2 || !find_gain(job, job->plan.count, &all))
		return;
	say(&all, all.won ? "they stay on" : "only the best of them stays on");
	for (uint32_t i = 0; !all.won && i < count; i++)
		verdicts[i].won = i == best;
}

/* Verdicts of earlier runs on other rewrites stay. */
static void keep_others(
	FILE *to, const char *path, const struct tfs_ranked_verdict *verdicts, uint32_t count)
{
	struct tfs_ranked_verdict old;
	FILE *file = fopen(path, "r");
	char line[160];

	while (file && fgets(line, sizeof(line), file)) {
		bool again = !tfs_ranked_read_verdict(&old, line);

		for (uint32_t i = 0; i < count; i++)
			again = again || !strcmp(old.name, verdicts[i].name);
		if (!again)
			fputs(line, to);
	}
	if (file)
		fclose(file);
}

/* Written aside and then put in place: a job may be starting. */
static int write_file(const char *path, const char *aside,
	const struct tfs_ranked_verdict *verdicts, uint32_t count)
{
	FILE *file = fopen(aside, "w");
	char line[160];

	if (!file)
		return -errno;
	fputs(TFS_VERDICTS_HEAD, file);
	for (uint32_t i = 0; i < count; i++) {
		tfs_ranked_write_verdict(&verdicts[i], line, sizeof(line));
		fputs(line, file);
	}
	keep_others(file, path, verdicts, count);
	bool failed = ferror(file);
	failed = fclose(file) || failed || rename(aside, path);
	return failed ? -(errno ? errno : EIO) : 0;
}

static int save(const char *folder, const struct job *job,
	const struct tfs_ranked_verdict *verdicts, uint32_t count)
{
	struct tfs_region region = {0};
	const char *path = tfs_region_print(&region, "%s/%s.verdicts", folder, job->program);
	const char *aside = tfs_region_print(&region, "%s.%d", path, (int)getpid());
	int error = write_file(path, aside, verdicts, count);

	if (error) {
		tfs_text_line(stderr, "tfshim: cannot write %s: %s", path, strerror(-error));
		remove(aside);
	} else {
		tfs_text_line(stdout, "  written to %s; the next run of %u ranks goes by it", path,
			job->ranks);
	}
	tfs_region_finish(&region);
	return error ? TFS_EXIT_MISUSE : 0;
}

static int judge(const char *folder, struct job *job)
{
	struct tfs_ranked_verdict verdicts[TFS_RANKED_MOST] = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < job->plan.count; i++) {
		struct tfs_ranked_verdict *verdict = &verdicts[count];

		memcpy(verdict->name, job->plan.names[i], sizeof(verdict->name));
		if (!took_part(job, verdict->name)) {
			tfs_text_line(stdout, "  %s: took part in nothing", verdict->name);
		} else if (!find_gain(job, i, verdict)) {
			tfs_text_line(stdout,
				"  %s: the run was too short to tell (%u blocks of steps)",
				verdict->name, verdict->blocks);
		} else {
			say(verdict, verdict->won ? "it stays on" : "it is off");
			count++;
		}
	}
	settle(job, verdicts, count);
	return count ? save(folder, job, verdicts, count) : 0;
}

static int report_program(
	const char *folder, const char *program, struct tfs_trace *const *traces, int count)
{
	struct job job = {.program = program};
	int status = 0;

	if (gather(&job, traces, count)) {
		printf("JOB ");
		tfs_text_put(stdout, program);
		printf(", %u ranks: rewrites\n", job.ranks);
		if (agree(&job) && same_run(&job) && find_times(&job))
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
