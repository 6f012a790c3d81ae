/* SPDX-License-Identifier: MIT */
/*
 * Programs that try what works and take what does: each prints what it was told, and the script
 * holds that against a run without the library.
 */
#include "tests/rewrites/rewrite_case.h"
#include "tests/rewrites/rewrite_job.h"

#define ALGORITHMS 8

/* Each algorithm with no workspace, too little, and enough; then again, all being known. */
static void workspaces(void)
{
	struct job job;
	char *workspace;

	job_make(&job, NULL, 1);
	OK(cudaMalloc((void **)&workspace, 16 << 20));
	for (int i = 0; i < 16; i++) {
		const int algorithm = 7 - i % ALGORITHMS;
		size_t bytes = 0;

		job_problem(&job, i / ALGORITHMS);
		const cudnnStatus_t known = cudnnGetConvolutionForwardWorkspaceSize(job.conv.handle,
			job.conv.x, job.conv.w, job.conv.convolution, job.conv.y,
			(cudnnConvolutionFwdAlgo_t)algorithm, &bytes);
		printf("%d: %d %zu\n", algorithm, (int)known, bytes);
		for (int k = 0; k < 2; k++) {
			printf("%d:", algorithm);
			printf(" %d", (int)job_run(&job, algorithm, NULL, 0));
			printf(" %d", (int)job_run(&job, algorithm, NULL, bytes));
			printf(" %d", (int)job_run(&job, algorithm, workspace,
					      bytes > 0 ? bytes - 1 : 0));
			printf(" %d\n", (int)job_run(&job, algorithm, workspace, bytes));
		}
	}
	OK(cudaDeviceSynchronize());
}

/* Takes the first algorithm that runs without a workspace. */
static void first_that_runs(void)
{
	static const int order[] = {1, 2, 4, 5, 7, 0, 6};
	struct job job;

	job_make(&job, NULL, 1);
	for (int i = 0; i < 40; i++) {
		int at = 0;

		job_problem(&job, i);
		while (job_run(&job, order[at], NULL, 0) != CUDNN_STATUS_SUCCESS)
			at++;
		printf("%d: %d\n", i, order[at]);
		for (int k = 0; k < at; k++)
			TEST_TRUE(job_run(&job, order[k], NULL, 0) != CUDNN_STATUS_SUCCESS);
	}
	OK(cudaDeviceSynchronize());
}

/* What the heads of lists need, by heuristics and by measuring. */
static void heads(void)
{
	cudnnConvolutionFwdAlgoPerf_t list[16];
	struct job job;
	int count;

	job_make(&job, NULL, 1);
	for (int i = 0; i < 40; i++) {
		job_problem(&job, i);
		DNN(cudnnGetConvolutionForwardAlgorithm_v7(job.conv.handle, job.conv.x, job.conv.w,
			job.conv.convolution, job.conv.y, 16, &count, list));
		printf("%zu\n", list[0].memory);
	}
	for (int i = 40; i < 50; i++) {
		job_problem(&job, i);
		DNN(cudnnFindConvolutionForwardAlgorithm(job.conv.handle, job.conv.x, job.conv.w,
			job.conv.convolution, job.conv.y, 16, &count, list));
		printf("%zu\n", list[0].memory);
	}
}

static int find(struct job *job, void *x, void *w, void *y, void *workspace, size_t bytes)
{
	cudnnConvolutionFwdAlgoPerf_t list[16];
	int count = 0;
	const cudnnStatus_t status = cudnnFindConvolutionForwardAlgorithmEx(job->conv.handle,
		job->conv.x, x, job->conv.w, w, job->conv.convolution, job->conv.y, y, 16, &count,
		list, workspace, bytes);

	return (int)status * 100 + count;
}

/* A search that is repeated with memory that is not there. */
static void without_memory(void)
{
	const size_t bytes = 1 << 20;
	struct job job;
	void *workspace;

	job_make(&job, NULL, 1);
	job_problem(&job, 3);
	OK(cudaMalloc(&workspace, bytes));
	for (int i = 0; i < 2; i++)
		printf("%d\n", find(&job, job.x, job.w, job.y, workspace, bytes));
	printf("%d\n", find(&job, NULL, job.w, job.y, workspace, bytes));
	printf("%d\n", find(&job, job.x, NULL, job.y, workspace, bytes));
	printf("%d\n", find(&job, job.x, job.w, NULL, workspace, bytes));
	printf("%d\n", find(&job, job.x, job.w, job.y, NULL, bytes));
	printf("%d\n", find(&job, job.x, job.w, job.y, NULL, 0));
	OK(cudaFree(job.y));
	printf("%d\n", find(&job, job.x, job.w, job.y, workspace, bytes));
	printf("%d\n", (int)cudaGetLastError());
}

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The device is busy at each problem's first execution, and whenever a library takes memory that is
 * held back: all that together takes no longer than patience lasts. */
static void while_busy(void)
{
	static struct gate gate;
	cudnnHandle_t handles[60];
	cudaStream_t other;
	struct job job;

	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	job_make(&job, NULL, 1);
	gate_close(&gate, other);
	const long start = now_us();
	for (int i = 0; i < 60; i++) {
		job_problem(&job, i);
		DNN(job_run(&job, 0, NULL, 0));
		DNN(cudnnCreate(&handles[i]));
	}
	printf("took: %ld us\n", now_us() - start);
	TEST_EQ(atomic_load(&gate.passed), false);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
}

static const struct rewrite_case cases[] = {
	{"workspaces", workspaces},
	{"first-that-runs", first_that_runs},
	{"heads", heads},
	{"without-memory", without_memory},
	{"while-busy", while_busy},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
