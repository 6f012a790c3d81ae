/* SPDX-License-Identifier: MIT */
/*
 * What the library adds to a lookup: bench-dlsym LIBRARY. Programs with and without it take turns;
 * printed are medians, in nanoseconds. A lookup of any name may cost 10 ns more.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 400000
#define ROUNDS 15
#define ROWS 4

static const char *const rows[ROWS] = {"any name, a handle", "any name, the next library",
	"a driver's name, a handle", "a library that is open already"};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(void *handle, const char *name, unsigned calls)
{
	const double start = now_ns();

	for (unsigned i = 0; i < calls; i++)
		if (!dlsym(handle, name) && i == calls)
			return 0;
	return (now_ns() - start) / calls;
}

static double measure_open(unsigned calls)
{
	const double start = now_ns();

	for (unsigned i = 0; i < calls; i++)
		if (!dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD))
			return 0;
	return (now_ns() - start) / calls;
}

static void child(double *out)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);

	measure(libc, "strlen", CALLS / 10);
	out[0] = measure(libc, "strlen", CALLS);
	out[1] = measure(RTLD_NEXT, "strlen", CALLS);
	out[2] = measure(libc, "cuInit", CALLS / 10);
	out[3] = measure_open(CALLS / 10);
}

static int run(const char *self, const char *library, double *out)
{
	int ends[2], status = 1;

	if (pipe(ends) != 0)
		return 1;
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], 3);
		if (library)
			setenv("LD_PRELOAD", library, 1);
		execl(self, self, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	const ssize_t got = read(ends[0], out, ROWS * sizeof(*out));
	close(ends[0]);
	waitpid(pid, &status, 0);
	return status != 0 || got != ROWS * (ssize_t)sizeof(*out);
}

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double values[ROUNDS][ROWS], unsigned row)
{
	double sorted[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		sorted[i] = values[i][row];
	qsort(sorted, ROUNDS, sizeof(*sorted), compare);
	return sorted[ROUNDS / 2];
}

int main(int count, char **words)
{
	static double alone[ROUNDS][ROWS], with[ROUNDS][ROWS];
	double times[ROWS];

	if (count == 1) {
		child(times);
		return write(3, times, sizeof(times)) != sizeof(times);
	}
	for (unsigned i = 0; i < ROUNDS; i++)
		if (run(words[0], NULL, alone[i]) || run(words[0], words[1], with[i]))
			return 1;
	printf("%-32s %8s %8s %8s\n", "", "alone", "with", "added");
	for (unsigned i = 0; i < ROWS; i++) {
		const double before = median(alone, i), after = median(with, i);

		printf("%-32s %8.1f %8.1f %8.1f\n", rows[i], before, after, after - before);
	}
	return 0;
}
