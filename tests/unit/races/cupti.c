/* SPDX-License-Identifier: MIT */
/*
 * The collector with a device at work: threads of the program submit work under their own numbers
 * while windows open and close, the helper flushes, another tool gets CUPTI and gives it back, and
 * the program ends amidst.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include "cupti/collector.h"
#include "tests/unit/trace/recording.h"

#define WORKERS 3
#define BYTES 4096u
/* At least. */
#define TURNS 60u
#define POLLS 60u
#define LENT 20u
#define COPIES 2000u

static atomic_uint turned, polled, lent, copied;
static atomic_bool over;

static struct {
	__typeof__(cuInit) *init;
	__typeof__(cuCtxSynchronize) *wait;
	__typeof__(cuCtxSetCurrent) *enter;
	__typeof__(cuDevicePrimaryCtxRetain) *retain;
	__typeof__(cuMemAlloc) *alloc;
	__typeof__(cuMemcpyHtoD) *copy;
	__typeof__(cuMemsetD8Async) *set;
} cuda;
static CUcontext context;

/* By hand: not through hooks, which this program may have. */
static void *function(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW);
	TEST_NEED(library);
	void *found = dlsym(library, name);
	TEST_NEED(found);
	return found;
}

static void start_device(void)
{
	*(void **)&cuda.init = function("cuInit");
	*(void **)&cuda.wait = function("cuCtxSynchronize");
	*(void **)&cuda.enter = function("cuCtxSetCurrent");
	*(void **)&cuda.retain = function("cuDevicePrimaryCtxRetain");
	*(void **)&cuda.alloc = function("cuMemAlloc_v2");
	*(void **)&cuda.copy = function("cuMemcpyHtoD_v2");
	*(void **)&cuda.set = function("cuMemsetD8Async");
	TEST_NEED(cuda.init(0) == 0 && cuda.retain(&context, 0) == 0);
}

static bool enough(void)
{
	return turned >= TURNS && polled >= POLLS && lent >= LENT && copied >= COPIES;
}

static void *work(void *nothing)
{
	char *own = calloc(1, BYTES);
	CUdeviceptr memory;

	TEST_NEED(own && cuda.enter(context) == 0 && cuda.alloc(&memory, BYTES) == 0);
	for (uint64_t unit = 1; !atomic_load(&over); unit++) {
		tfs_collector_push(unit);
		TEST_EQ(cuda.copy(memory, own, BYTES), 0);
		TEST_EQ(cuda.set(memory, 1, BYTES, NULL), 0);
		tfs_collector_pop();
		if (unit % 16 == 0)
			TEST_EQ(cuda.wait(), 0);
		atomic_fetch_add(&copied, 1);
	}
	free(own);
	return nothing;
}

static void *turn(void *nothing)
{
	while (!atomic_load(&over)) {
		tfs_collector_window(true);
		usleep(500);
		tfs_collector_window(false);
		atomic_fetch_add(&turned, tfs_collector_ready());
	}
	return nothing;
}

static void *poll_it(void *nothing)
{
	tfs_collector_start();
	while (!atomic_load(&over)) {
		tfs_collector_poll();
		atomic_fetch_add(&polled, tfs_collector_ready());
		usleep(200);
	}
	return nothing;
}

static void *lend(void *nothing)
{
	struct tfs_cupti_refusal refusal;
	bool was_on;

	while (!atomic_load(&over)) {
		tfs_collector_taken("a profiler");
		atomic_fetch_add(&lent, tfs_collector_leave(&was_on));
		tfs_collector_return(&refusal);
		usleep(2000);
	}
	return nothing;
}

int main(void)
{
	static void *(*const others[])(void *) = {work, work, work, turn, poll_it, poll_it, lend};
	enum { OTHERS = sizeof(others) / sizeof(others[0]) };
	pthread_t threads[OTHERS];

	tfs_options.quiet = true;
	tfs_options.limit_bytes = UINT64_C(256) << 20;
	recording_start();
	start_device();
	for (int i = 0; i < OTHERS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, others[i], NULL) == 0);
	while (!enough())
		usleep(1000);
	tfs_collector_finish();
	usleep(5000);
	atomic_store(&over, true);
	for (int i = 0; i < OTHERS; i++)
		pthread_join(threads[i], NULL);
	struct tfs_trace *trace = recording_read();
	const size_t seen = tfs_trace_count(trace, TFS_RECORD_device_op);
	TEST_TRUE(seen > 0);
	TEST_TRUE(tfs_trace_count(trace, TFS_RECORD_link) > 0);
	printf("%u copies and fills of %d threads in %u windows, %zu of them seen; "
	       "CUPTI was lent %u times\n",
		copied, WORKERS, turned, seen, lent);
	recording_end(trace);
	return test_result();
}
