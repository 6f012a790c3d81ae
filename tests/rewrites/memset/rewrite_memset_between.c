/* SPDX-License-Identifier: MIT */
/*
 * What programs count on between the zeroing of memory and the call that uses it: whatever may see
 * the zeros there finds them. One case each, which hold with and without tfshim.
 */
#include <cuda.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tests/promises/sim_ptx.h"
#include "tests/rewrites/memset/rewrite_memset.h"

/* A call of which it is not known what it writes: it adds one to each element. */
static void opaque(void)
{
	static float ones[M * N];
	float *device;

	for (int i = 0; i < M * N; i++)
		ones[i] = 1;
	OK(cudaMalloc((void **)&device, whole));
	OK(cudaMemcpy(device, ones, whole, cudaMemcpyHostToDevice));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		BLAS(cublasSaxpy(bench.blas, M * N, &one, device, 1, bench.c, 1));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 1);
	}
}

static void kernel(void)
{
	static char words[24];
	float number = 1;
	void *arguments[] = {words, &number};
	cudaLibrary_t library;
	cudaKernel_t unknown;

	OK(cudaLibraryLoadData(&library, sim_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&unknown, library, "unknown"));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaLaunchKernel((const void *)unknown, (dim3){1, 1, 1}, (dim3){32, 1, 1},
			arguments, 0, NULL));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* From the zeros, before they are added to. */
static void copied(void)
{
	float back[M];

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaMemcpyAsync(bench.other, bench.c, whole, cudaMemcpyDeviceToDevice, NULL));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
		OK(cudaMemcpy(back, bench.other, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, 0, sizeof(back)), 0);
	}
}

/* Into some of the zeros. */
static void written(void)
{
	float back = 0;

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaMemcpy(bench.c, &one, sizeof(one), cudaMemcpyHostToDevice));
		product(&bench, 1, 1, M);
		OK(cudaMemcpy(&back, bench.c, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ((int)back, (int)product_of(&bench, 0, 0) + 1);
	}
}

/* Over all of the zeros, after some were left out, by a copy that another rewrite may carry out. */
static void staged(void)
{
	static float own[M * N], back[M * N];

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		if (i < ROUNDS - 2) {
			product(&bench, 1, 1, M);
			check(&bench, M, 1, 0);
			continue;
		}
		memset(own, i + 1, whole);
		OK(cudaMemcpy(bench.c, own, whole, cudaMemcpyHostToDevice));
		OK(cudaMemcpy(back, bench.c, whole, cudaMemcpyDeviceToHost));
		TEST_EQ(memcmp(own, back, whole), 0);
	}
}

/* Copies of other memory, and questions, are no matter. */
static void apart(void)
{
	float back[M];
	size_t left, all;

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaMemcpy(back, bench.other, sizeof(back), cudaMemcpyDeviceToHost));
		OK(cudaGetLastError());
		OK(cudaMemGetInfo(&left, &all));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void event(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaEventRecord(event, NULL));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* One of the context as a whole. */
static void context_event(void)
{
	cudaEvent_t event;
	CUcontext context;

	OK(cudaEventCreate(&event));
	OK((cudaError_t)cuCtxGetCurrent(&context));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK((cudaError_t)cuCtxRecordEvent(context, event));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void wait_between(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaDeviceSynchronize());
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* The product is on another stream, which keeps to the first one's order. */
static void other_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	BLAS(cublasSetStream(bench.blas, stream));
	add_rounds();
}

/* Does nothing to the sum, and comes after the fill. */
static void *beside(void *nothing)
{
	float back[M];

	OK(cudaMemcpy(back, bench.other, sizeof(back), cudaMemcpyDeviceToHost));
	return nothing;
}

static void other_thread(void)
{
	pthread_t thread;

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		TEST_EQ(pthread_create(&thread, NULL, beside, NULL), 0);
		pthread_join(thread, NULL);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void capture(void)
{
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;

	OK(cudaStreamCreate(&stream));
	bench.stream = stream;
	BLAS(cublasSetStream(bench.blas, stream));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaStreamSynchronize(stream));
		OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
		clear(&bench, whole);
		product(&bench, 1, 1, M);
		OK(cudaStreamEndCapture(stream, &graph));
		OK(cudaGraphInstantiate(&exec, graph, 0));
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		check(&bench, M, 1, 0);
		OK(cudaGraphExecDestroy(exec));
		OK(cudaGraphDestroy(graph));
	}
}

/* A child that goes on without exec knows nothing of what its parent holds back. */
static void forked(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		int status = 0;
		pid_t child;

		begin(&bench, i);
		clear(&bench, whole);
		child = fork();
		if (child == 0) {
			cudaGetLastError();
			_exit(0);
		}
		TEST_EQ(waitpid(child, &status, 0), child);
		TEST_EQ(status, 0);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void at_exit(void)
{
	static float back[M * N];

	OK(cudaMemcpy(back, bench.c, whole, cudaMemcpyDeviceToHost));
	if (wrong_bytes(back, 0, whole) != 0)
		_exit(1);
}

static void ending(void)
{
	for (int i = 0; i <= ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		if (i < ROUNDS)
			product(&bench, 1, 1, M);
	}
}

static const struct rewrite_case cases[] = {
	{"opaque", opaque},
	{"kernel", kernel},
	{"copied", copied},
	{"written", written},
	{"staged", staged},
	{"apart", apart},
	{"event", event},
	{"context-event", context_event},
	{"wait", wait_between},
	{"other-stream", other_stream},
	{"other-thread", other_thread},
	{"capture", capture},
	{"forked", forked},
	{"ending", ending},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	/* Before the library's own, so that it runs after it. */
	if (strcmp(words[1], "ending") == 0)
		atexit(at_exit);
	make(&bench);
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
