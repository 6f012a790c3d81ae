/* SPDX-License-Identifier: MIT */
/*
 * 8 threads with a stream each, then 8 threads on their per-thread default streams; all copy both
 * ways at once and use the source again straight after. Prints how many threads of a rewrite's own
 * there are in the end; those must leave all signals to the program.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>

#include "tests/promises/sim_gate.h"

#define THREADS 8
#define ROUNDS 6
#define BYTES ((size_t)(2 << 20) + 4321)

/* What a program compiled for per-thread default streams calls. */
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync_ptsz(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);

static bool per_thread;

static void copy_once(char *device, char *source, char *back, int value, cudaStream_t stream)
{
	memset(source, value, BYTES);
	if (!per_thread)
		OK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
	else if (value % 2 == 0)
		OK(cudaMemcpy_ptds(device, source, BYTES, cudaMemcpyHostToDevice));
	else
		OK(cudaMemcpyAsync_ptsz(device, source, BYTES, cudaMemcpyHostToDevice, NULL));
	memset(source, 0x55, BYTES);
	if (per_thread) {
		OK(cudaMemcpy_ptds(back, device, BYTES, cudaMemcpyDeviceToHost));
	} else {
		OK(cudaStreamSynchronize(stream));
		OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
	}
	TEST_EQ(wrong_bytes(back, value, BYTES), 0);
}

static void *copy(void *number)
{
	const int first = 10 * (int)(intptr_t)number + 1;
	char *source = malloc(BYTES), *back = malloc(BYTES);
	cudaStream_t stream;
	char *device;

	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < ROUNDS; i++)
		copy_once(device, source, back, first + i, stream);
	OK(cudaFree(device));
	free(source);
	free(back);
	return NULL;
}

static void run(void)
{
	pthread_t threads[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, copy, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Reads "/proc/self/task/ID/FILE". */
static const char *read_task(const char *id, const char *file, char *text, size_t bytes)
{
	char path[300];
	FILE *stream;
	size_t got = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", id, file);
	stream = fopen(path, "r");
	if (stream) {
		got = fread(text, 1, bytes - 1, stream);
		fclose(stream);
	}
	text[got] = '\0';
	return text;
}

static int count_copy_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	char text[4096];
	int count = 0;

	while (tasks && (task = readdir(tasks))) {
		const char *blocked;

		if (strncmp(read_task(task->d_name, "comm", text, sizeof(text)), "tfshim-copy",
			    11) != 0)
			continue;
		count++;
		blocked = strstr(read_task(task->d_name, "status", text, sizeof(text)), "SigBlk:");
		TEST_TRUE(blocked);
		/* All but what libc needs for itself, and what cannot be blocked. */
		const unsigned long long mask = blocked ? strtoull(blocked + 7, NULL, 16) : 0;
		for (int number = 1; number < 32; number++)
			if (number != SIGKILL && number != SIGSTOP)
				TEST_TRUE((mask >> (number - 1) & 1) != 0);
	}
	closedir(tasks);
	return count;
}

int main(void)
{
	alarm(300);
	run();
	per_thread = true;
	run();
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	printf("copy threads: %d\n", count_copy_threads());
	return test_result();
}
