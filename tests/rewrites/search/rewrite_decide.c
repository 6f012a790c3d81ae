/* SPDX-License-Identifier: MIT */
/*
 * Programs whose results must be the same in each run, and throughout a run, whatever cudnn-search
 * decides. Each prints what it computed as numbers that stand for bits, and the script compares.
 * All convolutions ask for the implicit product of matrices without a workspace, which is
 * deterministic; the inputs are the same in each run.
 */
#include <pthread.h>

#include "tests/rewrites/rewrite_case.h"
#include "tests/rewrites/rewrite_job.h"

/* More problems than may be searched, each run twice. */
static void many(void)
{
	struct job job;

	job_make(&job, NULL, 1);
	for (int i = 0; i < 90; i++) {
		job_problem(&job, i);
		const unsigned long bits = job_bits(&job);
		TEST_EQ(job_bits(&job), bits);
		printf("%d %lx\n", i, bits);
	}
}

/* Half of them while this one waits for its input to end. */
static void pausing(void)
{
	struct job job;

	job_make(&job, NULL, 1);
	for (int i = 0; i < 20; i++) {
		job_problem(&job, i);
		printf("%d %lx\n", i, job_bits(&job));
		fflush(stdout);
		while (i == 9 && getchar() != EOF)
			continue;
	}
}

#define THREADS 8
#define PROBLEMS 24

static pthread_barrier_t barrier;
static unsigned long thread_bits[THREADS][PROBLEMS];

static void *meet_all(void *number)
{
	const int thread = (int)(intptr_t)number;
	cudaStream_t stream;
	struct job job;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	job_make(&job, stream, (unsigned)thread + 1);
	for (int i = 0; i < PROBLEMS; i++) {
		job_problem(&job, i);
		pthread_barrier_wait(&barrier);
		/* Every other one is met by one thread alone, while all others wait. */
		if (i % 2 == 1 && i / 2 % THREADS == thread)
			job_bits(&job);
		if (i % 2 == 1)
			pthread_barrier_wait(&barrier);
		thread_bits[thread][i] = job_bits(&job);
		for (int k = 0; k < 2; k++)
			TEST_EQ(job_bits(&job), thread_bits[thread][i]);
	}
	return NULL;
}

/* All meet every other problem at once, and the rest after one of them has decided. */
static void threads(void)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	rewrite_case_threads(meet_all);
	for (int thread = 0; thread < THREADS; thread++)
		for (int i = 0; i < PROBLEMS; i++)
			printf("%d %d %lx\n", thread, i, thread_bits[thread][i]);
}

/* A stream per step, which goes while its work may not have begun. */
static void per_step(void)
{
	unsigned long first = 0;
	struct job job;

	job_make(&job, NULL, 1);
	job_shape(&job, 2, 20);
	for (int step = 0; step < 200; step++) {
		OK(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
		DNN(cudnnSetStream(job.conv.handle, job.stream));
		OK(cudaMemsetAsync(job.y, 0, sizeof(float), job.stream));
		DNN(job_run(&job, 0, NULL, 0));
		OK(cudaStreamDestroy(job.stream));
		OK(cudaDeviceSynchronize());
		const unsigned long bits = job_bits_now(&job);
		if (step == 0)
			printf("%lx\n", first = bits);
		TEST_EQ(bits, first);
	}
}

#define STREAMS 4200
#define TOGETHER 4

/* More streams than anyone counts, the last of them at work at the same time. */
static void streams(void)
{
	static cudaStream_t all[STREAMS];
	unsigned long want[TOGETHER];
	struct job jobs[TOGETHER];

	for (int i = 0; i < STREAMS; i++) {
		OK(cudaStreamCreateWithFlags(&all[i], cudaStreamNonBlocking));
		OK(cudaMemsetAsync(NULL, 0, 0, all[i]));
	}
	for (int k = 0; k < TOGETHER; k++) {
		job_make(&jobs[k], all[k], (unsigned)k + 1);
		job_shape(&jobs[k], JOB_MOST_N, JOB_MOST_HW);
		want[k] = job_bits(&jobs[k]);
		printf("%lx\n", want[k]);
	}
	for (int round = 0; round < 25; round++) {
		for (int k = 0; k < TOGETHER; k++) {
			jobs[k].stream = all[STREAMS - 1 - k - round];
			DNN(cudnnSetStream(jobs[k].conv.handle, jobs[k].stream));
			DNN(job_run(&jobs[k], 0, NULL, 0));
		}
		OK(cudaDeviceSynchronize());
		for (int k = 0; k < TOGETHER; k++)
			TEST_EQ(job_bits_now(&jobs[k]), want[k]);
	}
}

static cudaGraphExec_t capture(struct job *job, int times)
{
	cudaGraphExec_t executable = NULL;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(job->stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < times; i++)
		DNN(job_run(job, 0, NULL, 0));
	OK(cudaStreamEndCapture(job->stream, &graph));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

/* The graph runs on one stream while the problem is computed eagerly on another. */
static void beside_graph(struct job *job, struct job *other, cudaGraphExec_t executable,
	unsigned long want, unsigned long other_want)
{
	for (int i = 0; i < 20; i++) {
		OK(cudaMemsetAsync(job->y, 0, (size_t)job->count * sizeof(float), job->stream));
		OK(cudaGraphLaunch(executable, job->stream));
		TEST_EQ(job_bits(other), other_want);
		OK(cudaStreamSynchronize(job->stream));
		TEST_EQ(job_bits_now(job), want);
	}
}

static void jobs_make(struct job *job, struct job *other)
{
	cudaStream_t stream[2];

	for (int i = 0; i < 2; i++)
		OK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
	job_make(job, stream[0], 1);
	job_make(other, stream[1], 2);
	job_shape(job, JOB_MOST_N, JOB_MOST_HW);
	job_shape(other, JOB_MOST_N, JOB_MOST_HW);
}

/* What is captured computes the same as what ran before. */
static void eager_first(void)
{
	struct job job, other;

	jobs_make(&job, &other);
	const unsigned long want = job_bits(&job), other_want = job_bits(&other);
	beside_graph(&job, &other, capture(&job, 3), want, other_want);
	TEST_EQ(job_bits(&job), want);
	printf("%lx %lx\n", want, other_want);
}

/* And what runs afterwards the same as what was captured; more captures than anyone counts. */
static void captured_first(void)
{
	struct job job, other;

	jobs_make(&job, &other);
	const cudaGraphExec_t executable = capture(&job, 1);
	OK(cudaGraphLaunch(executable, job.stream));
	OK(cudaStreamSynchronize(job.stream));
	const unsigned long want = job_bits_now(&job), other_want = job_bits(&other);
	beside_graph(&job, &other, executable, want, other_want);
	for (int i = 0; i < 80; i++)
		OK(cudaGraphExecDestroy(capture(&job, 1)));
	TEST_EQ(job_bits(&job), want);
	printf("%lx %lx\n", want, other_want);
}

/* Ten problems are asked for with two algorithms. */
static void ask_both(int first, int second)
{
	unsigned long bits[8];
	struct job job;

	job_make(&job, NULL, 1);
	for (int i = 0; i < 10; i++) {
		job_problem(&job, i);
		for (int k = 0; k < 2; k++) {
			const int algorithm = k == 0 ? first : second;

			DNN(job_run(&job, algorithm, NULL, 0));
			OK(cudaStreamSynchronize(job.stream));
			bits[algorithm] = job_bits_now(&job);
		}
		printf("%d %lx %lx\n", i, bits[0], bits[6]);
	}
}

static void ask_0_6(void)
{
	ask_both(0, 6);
}

static void ask_6_0(void)
{
	ask_both(6, 0);
}

static const struct rewrite_case cases[] = {
	{"many", many},
	{"pausing", pausing},
	{"threads", threads},
	{"per-step", per_step},
	{"streams", streams},
	{"eager-first", eager_first},
	{"captured-first", captured_first},
	{"ask-0-6", ask_0_6},
	{"ask-6-0", ask_6_0},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return result != 0 ? result : test_result();
}
