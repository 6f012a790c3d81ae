/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_NEIGHBOUR_H
#define TFS_TESTS_PROGRAMS_NEIGHBOUR_H

/*
 * A second process on the device, the same program again but without what was preloaded, which
 * does as it is told: main() begins with
 *
 *	if (neighbour_is(count, words))
 *		return neighbour_main();
 *
 * and the first process starts it before or after its own first call. On the simulated device both
 * need TFSIM_SHARED.
 */

#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

#define NEIGHBOUR_MOST 64

struct neighbour {
	pid_t process;
	FILE *to, *from;
};

static inline bool neighbour_is(int count, char **words)
{
	return count > 1 && strcmp(words[1], "neighbour") == 0;
}

/* left: how much is; take BYTES: the status; give: all that it took. */
static inline int neighbour_main(void)
{
	static void *taken[NEIGHBOUR_MOST];
	unsigned long long bytes;
	char line[64];
	int count = 0;

	while (fgets(line, sizeof(line), stdin)) {
		size_t answer = 0, all = 0;

		if (sscanf(line, "take %llu", &bytes) == 1) {
			if (count == NEIGHBOUR_MOST)
				return 1;
			answer = (size_t)cudaMalloc(&taken[count], bytes);
			count += answer == 0;
		} else if (strcmp(line, "give\n") == 0) {
			while (count > 0)
				answer |= (size_t)cudaFree(taken[--count]);
		} else if (cudaMemGetInfo(&answer, &all) != cudaSuccess) {
			return 1;
		}
		printf("%zu\n", answer);
		fflush(stdout);
	}
	return 0;
}

static inline void neighbour_start(struct neighbour *neighbour)
{
	int to[2], from[2];

	TEST_NEED(pipe(to) == 0 && pipe(from) == 0);
	neighbour->process = fork();
	TEST_NEED(neighbour->process >= 0);
	if (neighbour->process == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		for (int i = 0; i < 2; i++) {
			close(to[i]);
			close(from[i]);
		}
		unsetenv("LD_PRELOAD");
		unsetenv("TFSIM_HOSTILE"); /* what it takes need not be filled */
		execl("/proc/self/exe", "neighbour", "neighbour", (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	neighbour->to = fdopen(to[1], "w");
	neighbour->from = fdopen(from[0], "r");
	TEST_NEED(neighbour->to && neighbour->from);
}

static inline size_t neighbour_ask(struct neighbour *neighbour, const char *what, size_t bytes)
{
	unsigned long long answer = 0;

	fprintf(neighbour->to, bytes != 0 ? "%s %zu\n" : "%s\n", what, bytes);
	fflush(neighbour->to);
	TEST_NEED(fscanf(neighbour->from, "%llu", &answer) == 1);
	return (size_t)answer;
}

/* Ends as it likes to, with 0, or by the signal. */
static inline void neighbour_end(struct neighbour *neighbour, int by_signal)
{
	int status = 0;

	if (by_signal != 0)
		kill(neighbour->process, by_signal);
	fclose(neighbour->to);
	fclose(neighbour->from);
	TEST_EQ(waitpid(neighbour->process, &status, 0), neighbour->process);
	if (by_signal != 0)
		TEST_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == by_signal);
	else
		TEST_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
