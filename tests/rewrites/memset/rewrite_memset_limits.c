/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they zero memory where several threads, streams or devices work, or
 * where not all can be followed. One case each, which hold with and without tfshim.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/rewrites/memset/rewrite_memset.h"

/* A stream of the program's own, for all of it. */
static void own_stream(void)
{
	OK(cudaStreamCreate(&bench.stream));
	BLAS(cublasSetStream(bench.blas, bench.stream));
	add_rounds();
}

static void free_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	add_rounds();
}

/* The host reads the zeros itself. */
static void managed(void)
{
	float *memory;

	OK(cudaMallocManaged((void **)&memory, bytes, cudaMemAttachGlobal));
	bench.c = memory;
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaDeviceSynchronize());
		TEST_EQ(wrong_bytes(memory, 0, whole), 0);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void elsewhere(void)
{
	void *memory;

	OK(cudaSetDevice(1));
	OK(cudaMalloc(&memory, bytes));
	OK(cudaSetDevice(0));
	add_rounds();
}

static void *work(void *own_stream)
{
	struct bench *s = calloc(1, sizeof(*s));

	make(s);
	if (own_stream) {
		OK(cudaStreamCreate(&s->stream));
		BLAS(cublasSetStream(s->blas, s->stream));
	}
	for (int i = 0; i < ROUNDS; i++) {
		begin(s, i);
		clear(s, whole);
		product(s, 1, 1, M);
		if (s->stream)
			OK(cudaStreamSynchronize(s->stream));
		check(s, M, 1, 0);
	}
	free(s);
	return NULL;
}

static void run_threads(void *own_streams)
{
	pthread_t ids[8];

	for (int i = 0; i < 8; i++)
		TEST_EQ(pthread_create(&ids[i], NULL, work, own_streams), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

static void threads(void)
{
	run_threads(NULL);
}

static void streams(void)
{
	run_threads(&bench);
}

static atomic_int phase; /* odd: c was zeroed, and not soiled since */

/* Whoever knows that the memory was zeroed never sees what was there before. */
static void *look(void *nothing)
{
	static float back[M * N];
	int before;

	while ((before = atomic_load(&phase)) >= 0) {
		OK(cudaMemcpy(back, bench.c, whole, cudaMemcpyDeviceToHost));
		if (before % 2 == 1 && atomic_load(&phase) == before)
			TEST_EQ(wrong_bytes(back, 0x7f, whole) > 0, true);
	}
	return nothing;
}

static void watched(void)
{
	pthread_t thread;

	TEST_EQ(pthread_create(&thread, NULL, look, NULL), 0);
	for (int i = 0; i < 8 * ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaDeviceSynchronize());
		clear(&bench, whole);
		atomic_fetch_add(&phase, 1);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
		atomic_fetch_add(&phase, 1);
	}
	atomic_store(&phase, -1);
	pthread_join(thread, NULL);
}

static void reset(void)
{
	add_rounds();
	clear(&bench, whole);
	OK(cudaDeviceReset());
	make(&bench);
	add_rounds();
}

/* A host that stops with an error of its own waiting is not answered for. */
static void failed(void)
{
	TEST_EQ(cudaMemcpy(bench.c, bench.a, 4, (enum cudaMemcpyKind)99),
		cudaErrorInvalidMemcpyDirection);
	add_rounds();
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
}

static void many(void)
{
	static float *memory[200];
	float back;

	for (int i = 0; i < 200; i++)
		OK(cudaMalloc((void **)&memory[i], 512));
	for (int i = 0; i < 200; i++)
		OK(cudaMemset(memory[i], 0, 512));
	for (int i = 0; i < 200; i++) {
		OK(cudaMemcpy(&back, memory[i], sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ((int)back, 0);
	}
}

static void unseen(void)
{
	if (!dlopen(getenv("PLUGIN"), RTLD_NOW))
		TEST_STR(dlerror(), "");
	add_rounds();
}

/* A library that looks functions up: what the variable names. */
static void finder(void)
{
	void *library = dlopen(getenv("PLUGIN"), RTLD_NOW);
	void *(*find)(const char *) = library ? dlsym(library, "finder_find") : NULL;

	TEST_TRUE(find && find(getenv("NAME")));
	add_rounds();
}

static void crowded(void)
{
	void *memory;
	size_t left, all;

	OK(cudaMemGetInfo(&left, &all));
	for (size_t size = left; size > 64; size = size / 4 * 3)
		if (cudaMalloc(&memory, size) != cudaSuccess)
			cudaGetLastError();
	add_rounds();
}

static const struct rewrite_case cases[] = {
	{"own-stream", own_stream},
	{"free-stream", free_stream},
	{"managed", managed},
	{"elsewhere", elsewhere},
	{"threads", threads},
	{"streams", streams},
	{"watched", watched},
	{"reset", reset},
	{"failed", failed},
	{"many", many},
	{"unseen", unseen},
	{"finder", finder},
	{"crowded", crowded},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	make(&bench);
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
