/* SPDX-License-Identifier: MIT */
/*
 * May CUPTI be given up whole (cuptiFinalize) between windows of a program that goes on, by a
 * thread of ours, at the end of a call of the driver? rest buffers: when are all buffers back,
 * behind a kernel that is held? rest WORD...: turns of a window and of giving up beside threads
 * that do what the words say: calls, products, graphs, captures. "fact rest WHAT ...". See fact.h.
 */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdatomic.h>

#include "tests/cupti/cupti_client.h"
#include "tests/gpu/facts/fact.h"

enum {
	TURNS = 60,
	WINDOW_NS = 4000000,
	PATIENCE = 400,
	SIDE = 128,
	BYTES = 1 << 16,
	NODES = 10,
	ALONE = 120,
	MOST_WORKS = 8
};

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_MEMORY2};

static CUptiResult (*finalize)(void);
static CUpti_SubscriberHandle subscriber;
static _Atomic bool leaving, left, over;
static _Atomic unsigned long calls;
static cudaKernel_t idle, spin;

static int buffers_out(void)
{
	return (1 << 20) - __atomic_load_n(&buffers_left, __ATOMIC_RELAXED) -
	       __atomic_load_n(&buffers_back, __ATOMIC_RELAXED);
}

static void put_kernel(cudaKernel_t kernel, uint64_t ns, cudaStream_t stream)
{
	const dim3 one = {1, 1, 1};
	void *arguments[] = {&ns};

	OK(cudaLaunchKernel((const void *)kernel, one, one, arguments, 0, stream));
}

static void switch_all(bool on)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		OK((on ? cuptiActivityEnable : cuptiActivityDisable)(kinds[i]));
}

static void CUPTIAPI at_call(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	const CUpti_CallbackData *call = info;

	(void)data;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
		id == CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion &&
		call->callbackSite == CUPTI_API_EXIT && atomic_exchange(&leaving, false)) {
		OK(finalize());
		atomic_store(&left, true);
	}
}

static bool leave(void)
{
	int version;

	OK(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
		CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion));
	atomic_store(&left, false);
	atomic_store(&leaving, true);
	OK(cuDriverGetVersion(&version));
	return TEST_TRUE(atomic_load(&left));
}

static void nap(long ns)
{
	nanosleep(&(struct timespec){0, ns}, NULL);
}

/* How many flushes, a millisecond apart, until all is back; PATIENCE where it never is. */
static int take_back(void)
{
	int flushes = 0;

	while (flushes < PATIENCE && buffers_out() != 0) {
		OK(cuptiActivityFlushAll(0));
		nap(1000000);
		flushes++;
	}
	return flushes;
}

static void ask_buffers(void)
{
	cudaStream_t stream;
	unsigned before;

	OK(cudaStreamCreate(&stream));
	if (!TEST_TRUE(start_client_with(at_call, &subscriber)))
		return;
	switch_all(true);
	for (unsigned i = 0; i < 20; i++)
		put_kernel(idle, 0, stream);
	put_kernel(spin, 300000000, stream);
	switch_all(false);
	fact("rest", "buffers-behind-kernel", "%d out", buffers_out());
	for (unsigned i = 0; i < 5; i++) {
		OK(cuptiActivityFlushAll(0));
		nap(10000000);
	}
	before = count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	fact("rest", "buffers-behind-kernel-flushed", "%d out, %u of 21 kernels, %u calls",
		buffers_out(), before, count_records(CUPTI_ACTIVITY_KIND_RUNTIME));
	OK(cudaStreamSynchronize(stream));
	const int flushes = take_back();
	fact("rest", "buffers-after-kernel", "%d out after %d flushes, %u of 21 kernels",
		buffers_out(), flushes, count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	leave();
	fact("rest", "buffers-finalized", "%d out", buffers_out());
}

struct work {
	cudaStream_t stream;
	void *device, *pinned;
	cublasHandle_t blas;
	cudaGraphExec_t graph;
	const char *what;
};

static cudaGraphExec_t capture(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t made;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (unsigned i = 0; i < NODES; i++)
		put_kernel(idle, 0, stream);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&made, graph, 0));
	OK(cudaGraphDestroy(graph));
	return made;
}

static void do_calls(struct work *work)
{
	void *more;

	put_kernel(idle, 0, work->stream);
	OK(cudaMemcpyAsync(
		work->device, work->pinned, BYTES, cudaMemcpyHostToDevice, work->stream));
	OK(cudaMemsetAsync(work->device, 0, BYTES, work->stream));
	OK(cudaMallocAsync(&more, BYTES, work->stream));
	OK(cudaFreeAsync(more, work->stream));
}

static void do_products(struct work *work)
{
	const float one = 1, zero = 0;
	float *matrix = work->device;

	for (unsigned i = 0; i < 5; i++)
		OK(cublasSgemm(work->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, matrix,
			SIDE, matrix, SIDE, &zero, matrix, SIDE));
}

static void do_captures(struct work *work)
{
	OK(cudaGraphExecDestroy(work->graph));
	work->graph = capture(work->stream);
}

static void do_one(struct work *work, unsigned i)
{
	if (strcmp(work->what, "calls") == 0)
		do_calls(work);
	else if (strcmp(work->what, "products") == 0)
		do_products(work);
	else if (strcmp(work->what, "captures") == 0 && i % 20 == 0)
		do_captures(work);
	if (work->graph)
		OK(cudaGraphLaunch(work->graph, work->stream));
	if (i % 50 == 49)
		OK(cudaStreamSynchronize(work->stream));
	calls += 5;
}

static void *work_on(void *argument)
{
	for (unsigned i = 0; !atomic_load(&over) && !test_failures; i++)
		do_one(argument, i);
	return NULL;
}

static void make_work(struct work *work, const char *what)
{
	work->what = what;
	OK(cudaStreamCreateWithFlags(&work->stream, cudaStreamNonBlocking));
	OK(cudaMalloc(&work->device, SIDE * SIDE * 4));
	OK(cudaMallocHost(&work->pinned, BYTES));
	if (strcmp(what, "products") == 0) {
		OK(cublasCreate(&work->blas));
		OK(cublasSetStream(work->blas, work->stream));
	}
	if (strcmp(what, "graphs") == 0 || strcmp(what, "captures") == 0)
		work->graph = capture(work->stream);
}

struct told {
	double coming_us[TURNS], leaving_us[TURNS];
	unsigned turns, with_kernels, never;
};

/* What a window is for, then giving up: in between whoever calls does so, or `works` are done here.
 */
static bool turn(struct told *told, struct work *works, int count, bool waits)
{
	uint64_t start_ns = fact_now_ns();

	record_count = 0;
	if (!TEST_TRUE(start_client_with(at_call, &subscriber)))
		return false;
	switch_all(true);
	told->coming_us[told->turns] = (double)(fact_now_ns() - start_ns) / 1e3;
	for (unsigned i = 0; count && i < ALONE; i++)
		do_one(&works[i % (unsigned)count], i / (unsigned)count);
	if (!count)
		nap(WINDOW_NS);
	switch_all(false);
	for (unsigned i = 0; count && i < ALONE; i++)
		do_one(&works[i % (unsigned)count], i / (unsigned)count);
	if (waits)
		OK(cudaDeviceSynchronize());
	told->never += take_back() == PATIENCE;
	told->with_kernels += count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != 0;
	start_ns = fact_now_ns();
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	if (!leave())
		return false;
	told->leaving_us[told->turns++] = (double)(fact_now_ns() - start_ns) / 1e3;
	for (unsigned i = 0; count && i < ALONE; i++)
		do_one(&works[i % (unsigned)count], i / (unsigned)count);
	return true;
}

static void tell(struct told *told)
{
	OK(cudaDeviceSynchronize());
	fact("rest", "turns", "%u turns, %lu calls, %u with kernels, %u never all back",
		told->turns, calls, told->with_kernels, told->never);
	if (told->turns)
		fact("rest", "times", "%.0f us to come, %.0f to leave",
			fact_median(told->coming_us, told->turns),
			fact_median(told->leaving_us, told->turns));
}

static void ask_alone(int count, char **words, bool waits)
{
	static struct told told;
	struct work works[MOST_WORKS] = {0};

	for (int i = 0; i < count; i++)
		make_work(&works[i], words[i]);
	while (told.turns < TURNS && !test_failures && turn(&told, works, count, waits))
		;
	tell(&told);
}

static void ask_beside(int count, char **words)
{
	static struct told told;
	struct work works[MOST_WORKS] = {0};
	pthread_t threads[MOST_WORKS];

	for (int i = 0; i < count; i++) {
		make_work(&works[i], words[i]);
		OK(pthread_create(&threads[i], NULL, work_on, &works[i]));
	}
	while (told.turns < TURNS && !test_failures && turn(&told, NULL, 0, false))
		nap(WINDOW_NS);
	atomic_store(&over, true);
	for (int i = 0; i < count; i++)
		OK(pthread_join(threads[i], NULL));
	tell(&told);
}

int main(int count, char **words)
{
	cudaLibrary_t library;

	finalize = (CUptiResult(*)(void))dlsym(RTLD_DEFAULT, "cuptiFinalize");
	if (!fact_device())
		return test_skip("no CUDA device");
	if (!finalize || fact_simulated()) {
		fact("rest", "turns", "not simulated");
		return test_result();
	}
	OK(cudaFree(NULL));
	OK(cudaLibraryLoadData(&library, fact_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&idle, library, "idle"));
	OK(cudaLibraryGetKernel(&spin, library, "spin"));
	const char *how = count > 1 ? words[1] : "";
	const bool quiet = strcmp(how, "quiet") == 0, alone = quiet || strcmp(how, "busy") == 0;

	if (!TEST_TRUE(count - 1 - alone <= MOST_WORKS))
		return test_result();
	if (strcmp(how, "buffers") == 0)
		ask_buffers();
	else if (alone)
		ask_alone(count - 2, words + 2, quiet);
	else
		ask_beside(count - 1, words + 1);
	return test_result();
}
