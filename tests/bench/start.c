/* SPDX-License-Identifier: MIT */
/*
 * What the library adds to the start and end of a process that never calls CUDA: bench-start
 * LIBRARY [PROGRAM ...]. Prints medians of interleaved rounds; without a program, of one that does
 * nothing. Fails when it is more than the design allows.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define ROUNDS 301
#define MOST_NS 1e6

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *one, const void *other)
{
	const double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double measure(char **words, char **environment)
{
	const double start = now_ns();
	int status = 1;
	pid_t child;

	if (posix_spawn(&child, words[0], NULL, NULL, words, environment) != 0 ||
		waitpid(child, &status, 0) != child || status != 0) {
		printf("%s did not run\n", words[0]);
		exit(1);
	}
	return now_ns() - start;
}

int main(int count, char **words)
{
	static double alone[ROUNDS], preloaded[ROUNDS];
	char *nothing[] = {words[0], NULL};
	char *plain[] = {NULL};
	char variable[4096];
	char *with[] = {variable, NULL};

	if (count < 2)
		return 0;
	char **program = count > 2 ? words + 2 : nothing;
	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s", words[1]);
	for (int i = 0; i < ROUNDS; i++) {
		alone[i] = measure(program, plain);
		preloaded[i] = measure(program, with);
	}
	qsort(alone, ROUNDS, sizeof(*alone), ascending);
	qsort(preloaded, ROUNDS, sizeof(*preloaded), ascending);
	const double extra = preloaded[ROUNDS / 2] - alone[ROUNDS / 2];
	printf("alone %.0f us, preloaded %.0f us: %.0f us more (fastest: %.0f us more)\n",
		alone[ROUNDS / 2] / 1e3, preloaded[ROUNDS / 2] / 1e3, extra / 1e3,
		(preloaded[0] - alone[0]) / 1e3);
	return extra > MOST_NS;
}
