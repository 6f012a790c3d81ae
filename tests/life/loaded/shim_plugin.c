/* SPDX-License-Identifier: MIT */
/*
 * Loaded by shim_host. Its constructor waits for a thread that calls CUDA, while the loader's lock
 * is held: whoever asks the loader anything in that thread never returns.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>

#define CALLS 100

int plugin_result(void);
int plugin_call(void);

static int result = -1;

static void *work(void *nothing)
{
	char bytes[32] = "";
	void *device;

	result = (int)cudaMalloc(&device, sizeof(bytes));
	for (int i = 0; i < CALLS; i++)
		result |= (int)cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
	result |= (int)cudaFree(device);
	return nothing;
}

__attribute__((constructor)) static void load(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) == 0)
		pthread_join(thread, NULL);
}

int plugin_result(void)
{
	return result;
}

int plugin_call(void)
{
	work(NULL);
	return result;
}
