/* SPDX-License-Identifier: MIT */
/* Forks once CUDA is in use: one child calls on and ends, one execs; afterwards the parent copies
 * on, and its exit handlers use and free device memory. Nothing crashes or hangs, and the
 * children's calls of cudaPeekAtLastError are not in the parent's recording: the script looks. */
#include <sys/wait.h>

#include "tests/promises/sim_gate.h"

#define BYTES ((3 << 20) + 11) /* so much that a rewrite has threads copy it */

static char *device;

static void free_late(void)
{
	static char source[BYTES];

	/* The recording is closed by now; calls go through all the same. */
	if (cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice) != cudaSuccess ||
		cudaFree(device) != cudaSuccess)
		_exit(9);
}

static void reap(pid_t child)
{
	int status = 0;

	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(status, 0);
}

int main(void)
{
	static char source[BYTES], back[BYTES];
	pid_t child;

	alarm(300);
	atexit(free_late);
	OK(cudaMalloc((void **)&device, BYTES));
	for (int i = 1; i <= 4; i++) {
		memset(source, i, BYTES);
		OK(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
		child = fork();
		if (child == 0 && i % 2 == 0)
			execl("/bin/true", "true", (char *)NULL);
		for (int k = 0; child == 0 && k < 100; k++)
			cudaPeekAtLastError();
		if (child == 0)
			_exit(0);
		reap(child);
		OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, i, BYTES), 0);
	}
	return test_result();
}
