/* SPDX-License-Identifier: MIT */
/*
 * Nothing begins before what it depends on has ended, also where nothing is computed and the end of
 * most work is known beforehand: behind host functions, and behind streams that are gone.
 */
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "tests/profiles/profile_case.h"

static pthread_mutex_t facts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tfsim_fact kernels[64];
static struct tfsim_fact copy;
static unsigned kernel_count;

static struct {
	bool wanted;
	sem_t asked, answered;
} call;

/* A client of CUPTI may have to wait for a thread of its own that is about to make a call. */
static void want_call(void)
{
	struct timespec limit;

	if (!call.wanted)
		return;
	call.wanted = false;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 10;
	sem_post(&call.asked);
	TEST_EQ(sem_timedwait(&call.answered, &limit), 0);
}

static void *make_call(void *stream)
{
	sem_wait(&call.asked);
	cudaStreamQuery(stream);
	sem_post(&call.answered);
	return NULL;
}

static void keep(const struct tfsim_fact *fact)
{
	want_call();
	pthread_mutex_lock(&facts_lock);
	if (fact->kind == TFSIM_FACT_KERNEL && kernel_count < 64)
		kernels[kernel_count++] = *fact;
	if (fact->kind == TFSIM_FACT_MEMCPY)
		copy = *fact;
	pthread_mutex_unlock(&facts_lock);
}

/* The newest kernel of so many that have a record. */
static struct tfsim_fact kernel_fact(unsigned count)
{
	struct tfsim_fact fact = {0};

	pthread_mutex_lock(&facts_lock);
	if (TEST_EQ(kernel_count, count) && count)
		fact = kernels[count - 1];
	kernel_count = 0;
	pthread_mutex_unlock(&facts_lock);
	return fact;
}

static struct door {
	sem_t entered, open;
	uint64_t left_ns;
} door;

static void hold(void *data)
{
	(void)data;
	sem_post(&door.entered);
	sem_wait(&door.open);
	door.left_ns = tfsim_now_ns();
}

/* The function runs already when the kernels are launched, one behind it and one behind an event.
 */
static void check_host_function(cudaStream_t first, cudaStream_t second)
{
	cudaEvent_t event;

	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(cudaLaunchHostFunc(first, hold, NULL));
	sem_wait(&door.entered);
	OK(cudaEventRecord(event, first));
	OK(cudaStreamWaitEvent(second, event, 0));
	launch(second, 1000, 1);
	TEST_EQ(cudaEventQuery(event), cudaErrorNotReady);
	TEST_EQ(cudaStreamQuery(second), cudaErrorNotReady);
	sem_post(&door.open);
	OK(cudaStreamSynchronize(second));
	TEST_TRUE(kernel_fact(1).start_ns >= door.left_ns);

	OK(cudaLaunchHostFunc(first, hold, NULL));
	sem_wait(&door.entered);
	launch(first, 1000, 1);
	sem_post(&door.open);
	OK(cudaStreamSynchronize(first));
	TEST_TRUE(kernel_fact(1).start_ns >= door.left_ns);
	OK(cudaEventDestroy(event));
}

/* The handle is gone, the work is not: a wait for the device is a wait for it too. */
static void check_destroyed(void)
{
	struct tfsim_fact fact;
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	launch(stream, 20000000, 4000);
	launch(stream, 20000000, 4000);
	OK(cudaStreamDestroy(stream));
	OK(cudaDeviceSynchronize());
	fact = kernel_fact(2);
	TEST_TRUE(tfsim_host_modelled_ns() >= fact.modelled_end_ns);
	TEST_TRUE(tfsim_now_ns() >= fact.end_ns);
}

/* The legacy stream waits for blocking streams, and so for what one held that is gone. */
static void check_legacy(void)
{
	struct tfsim_fact fact;
	cudaStream_t stream;
	uint64_t end_ns, modelled_end_ns;

	OK(cudaStreamCreate(&stream));
	launch(stream, 20000000, 1);
	OK(cudaStreamDestroy(stream));
	fact = kernel_fact(1);
	end_ns = fact.end_ns;
	modelled_end_ns = fact.modelled_end_ns;
	launch(cudaStreamLegacy, 1000, 1);
	fact = kernel_fact(1);
	TEST_TRUE(fact.start_ns >= end_ns);
	TEST_TRUE(fact.modelled_start_ns >= modelled_end_ns);
	OK(cudaDeviceSynchronize());
}

/* What a call does first puts off what it gives the device, on the host's own clock too. */
static void check_call(void)
{
	static char source[4096];
	char *device;
	double before_ns;
	uint64_t now_ns;

	OK(cudaMalloc((void **)&device, sizeof(source)));
	OK(cudaDeviceSynchronize());
	before_ns = host_ns();
	now_ns = tfsim_now_ns();
	OK(cudaMemcpy(device, source, sizeof(source), cudaMemcpyHostToDevice));
	TEST_TRUE(copy.start_ns >= now_ns + (uint64_t)((double)copy.modelled_start_ns - before_ns));
	OK(cudaFree(device));
}

static void check_listener(cudaStream_t stream)
{
	pthread_t thread;

	sem_init(&call.asked, 0, 0);
	sem_init(&call.answered, 0, 0);
	TEST_EQ(pthread_create(&thread, NULL, make_call, stream), 0);
	call.wanted = true;
	launch(stream, 1000, 1);
	pthread_join(thread, NULL);
	kernel_fact(1);
}

int main(void)
{
	static const struct tfsim_sink sink = {.fact = keep};
	cudaStream_t first, second;

	sem_init(&door.entered, 0, 0);
	sem_init(&door.open, 0, 0);
	OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	tfsim_sink_set(&sink);
	check_host_function(first, second);
	check_destroyed();
	check_legacy();
	check_call();
	check_listener(first);
	return test_result();
}
