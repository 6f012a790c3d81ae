/* SPDX-License-Identifier: MIT */
/* Opens the driver, asks it for memory and closes it again, TIMES times: driver_unloaded LIBCUDA
 * TIMES MS [start]. Between the call and the end of each round it waits MS milliseconds, as a
 * program that computes. With `start` it starts the driver first; without, the driver refuses. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int ask(const char *path, const struct timespec *pause, int start)
{
	void *driver = dlopen(path, RTLD_NOW);
	unsigned long long address = 0;
	void *context = NULL;

	if (!driver)
		return -1;
	int (*init)(unsigned) = (int (*)(unsigned))(uintptr_t)dlsym(driver, "cuInit");
	int (*retain)(void **, int) =
		(int (*)(void **, int))(uintptr_t)dlsym(driver, "cuDevicePrimaryCtxRetain");
	int (*set)(void *) = (int (*)(void *))(uintptr_t)dlsym(driver, "cuCtxSetCurrent");
	int (*alloc)(unsigned long long *, size_t) =
		(int (*)(unsigned long long *, size_t))(uintptr_t)dlsym(driver, "cuMemAlloc_v2");

	if (!init || !retain || !set || !alloc)
		return -1;
	if (start && (init(0) != 0 || retain(&context, 0) != 0 || set(context) != 0))
		return -1;
	const int got = alloc(&address, 256);

	nanosleep(pause, NULL);
	return dlclose(driver) == 0 ? got : -1;
}

int main(int count, char **words)
{
	if (count < 4)
		return 2;
	const long ms = atol(words[3]);
	const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	for (int i = 0; i < atoi(words[2]); i++)
		printf("answered %d\n", ask(words[1], &pause, count > 4));
	return 0;
}
