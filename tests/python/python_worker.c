/* SPDX-License-Identifier: MIT */
/* Threads and calls of C code's own, for python_shapes.py and python_ends.py. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>

void worker_in_thread(void *(*run)(void *), void *argument);
void worker_fill(void *memory, int count);
void worker_call(void (*callback)(void));
void worker_forever(void);
int worker_began(void);

void worker_in_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument) == 0)
		pthread_join(thread, NULL);
}

struct fill {
	void *memory;
	int count;
};

static void *fill(void *argument)
{
	const struct fill *what = argument;

	for (int i = 0; i < what->count; i++)
		cudaMemsetAsync(what->memory, 0, 64, NULL);
	return NULL;
}

/* No Python code is below these calls. */
void worker_fill(void *memory, int count)
{
	struct fill what = {memory, count};

	worker_in_thread(fill, &what);
}

void worker_call(void (*callback)(void))
{
	callback();
}

static _Atomic int began;

void worker_forever(void)
{
	int device;

	for (unsigned i = 0;; i++) {
		cudaDriverGetVersion(&device);
		if (i == 100)
			atomic_fetch_add(&began, 1);
	}
}

int worker_began(void)
{
	return atomic_load(&began);
}
