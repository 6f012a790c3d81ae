/* SPDX-License-Identifier: MIT */
/*
 * A program that counts its children: it has a handler for SIGCHLD, and reaps with waitpid(-1)
 * until there are none, while it works, at its end, and in an exit handler that runs after those
 * of everyone else. It has one child of its own. With "adopt" it also takes other processes'
 * orphans, as the first process of a container does.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

static volatile sig_atomic_t signals;

static void count(int number)
{
	(void)number;
	signals++;
}

static void reap(const char *when)
{
	int status;
	int reaped = 0;
	pid_t child;

	while ((child = waitpid(-1, &status, 0)) > 0 || (child < 0 && errno == EINTR))
		if (child > 0)
			printf("%s: child %d ended with %#x\n", when, ++reaped, status);
	printf("%s: %d children, %d signals, errno %d\n", when, reaped, (int)signals, errno);
	fflush(stdout);
}

static void at_exit(void)
{
	reap("last exit handler");
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = count};
	char bytes[16] = "";
	void *device;
	pid_t child;

	if (argc > 1 && strcmp(argv[1], "adopt") == 0)
		TEST_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	atexit(at_exit);
	sigaction(SIGCHLD, &action, NULL);
	child = fork();
	if (child == 0)
		_exit(9);
	reap("before");
	if (cudaMalloc(&device, 16) != cudaSuccess)
		return test_skip("no device");
	for (int i = 0; i < 1000; i++)
		cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
	reap("working");
	return test_result();
}
