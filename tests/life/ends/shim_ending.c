/* SPDX-License-Identifier: MIT */
/* Some calls, then the way of ending that the first argument names. */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define CALLS 200

static void work(void)
{
	char bytes[64] = "";
	void *device;

	if (cudaMalloc(&device, sizeof(bytes)) != cudaSuccess)
		exit(77);
	for (int i = 0; i < CALLS; i++)
		cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
	cudaFree(device);
	printf("worked, last error %d\n", (int)cudaGetLastError());
	fflush(stdout);
}

static void say_bye(void)
{
	printf("exit handler, status of a copy %d\n",
		(int)cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

/* Of the program, after all exit handlers. */
__attribute__((destructor)) static void say_last(void)
{
	printf("destructor, status of a copy %d\n",
		(int)cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

static void *leave(void *status)
{
	exit((int)(intptr_t)status);
}

/* Calls that need no thread of the device, which would outlive the program's own. */
static void *outlive_main(void *nothing)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	void *device;

	for (int i = 0; i < CALLS; i++)
		if (cudaMalloc(&device, 64) != cudaSuccess || cudaFree(device) != cudaSuccess)
			exit(77);
	nanosleep(&pause, NULL);
	printf("the last thread ends\n");
	return nothing;
}

static void end_by_exec(char **argv)
{
	argv[1] = (char *)"return";
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	int *volatile nowhere = NULL;
	pthread_t thread;

	if (strcmp(way, "pthread_exit") == 0 &&
		pthread_create(&thread, NULL, outlive_main, NULL) == 0)
		pthread_exit(NULL);
	atexit(say_bye);
	work();
	if (strcmp(way, "_exit") == 0)
		_exit(3);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "signal") == 0)
		raise(SIGTERM);
	if (strcmp(way, "segv") == 0)
		*nowhere = 0;
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(4);
	if (strcmp(way, "exec") == 0)
		end_by_exec(argv);
	if (strcmp(way, "thread") == 0 &&
		pthread_create(&thread, NULL, leave, (void *)(intptr_t)5) == 0)
		pthread_join(thread, NULL);
	return strcmp(way, "return") == 0 ? 6 : 99;
}
