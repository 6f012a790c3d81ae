/* SPDX-License-Identifier: MIT */
/*
 * cudnn-search among threads, streams and devices: nobody waits for a search, a search waits for
 * nobody, and every result is right. On the simulated device a search can be held up in its middle
 * (tfsim_on_search); elsewhere it just ends sooner. The script reads the ledger afterwards.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/rewrites/rewrite_case.h"
#include "tests/rewrites/search/rewrite_conv.h"
#include "tests/tools/unseen_symbol.h"

/* Filter gradients by the slowest algorithm, each on operands of its own. */
struct gradient {
	struct conv conv;
	cudaStream_t stream;
	float *x, *dy, *dw;
	double want[CONV_W];
	double most; /* of the sums, for the tolerance */
};

static void gradient_make(struct gradient *one, cudaStream_t stream, unsigned seed)
{
	static _Thread_local float x[CONV_X], dy[CONV_Y];

	memset(one, 0, sizeof(*one));
	conv_make(&one->conv);
	one->stream = stream;
	DNN(cudnnSetStream(one->conv.handle, stream));
	one->x = conv_floats(x, CONV_X, seed);
	one->dy = conv_floats(dy, CONV_Y, seed + 100);
	OK(cudaMalloc((void **)&one->dw, CONV_W * sizeof(float)));
	OK(cudaMemset(one->dw, 0, CONV_W * sizeof(float)));
	OK(cudaDeviceSynchronize());
	conv_add_gradient(one->want, x, dy);
}

/* Adds the same gradient once more. */
static void gradient_add(struct gradient *one)
{
	const float add = 1;

	DNN(cudnnConvolutionBackwardFilter(one->conv.handle, &add, one->conv.x, one->x, one->conv.y,
		one->dy, one->conv.convolution, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0, &add,
		one->conv.w, one->dw));
}

static void gradient_check(struct gradient *one, int times)
{
	float dw[CONV_W];

	OK(cudaStreamSynchronize(one->stream));
	OK(cudaMemcpy(dw, one->dw, sizeof(dw), cudaMemcpyDeviceToHost));
	for (int i = 0; i < CONV_W; i++)
		TEST_TRUE(fabs(dw[i] - times * one->want[i]) < 1e-3 * times);
}

static sem_t begun, go_on;
static atomic_bool hold, over, slow;
static atomic_llong ahead_s; /* of the kernel's monotonic clock is the program's */

/* Everybody's in the program, for a search that takes hours. */
int clock_gettime(clockid_t clock, struct timespec *out_now)
{
	const int result = (int)syscall(SYS_clock_gettime, clock, out_now);

	if (result == 0 && clock == CLOCK_MONOTONIC)
		out_now->tv_sec += atomic_load(&ahead_s);
	return result;
}

void tfsim_on_search(void);

void tfsim_on_search(void)
{
	if (atomic_load(&slow))
		atomic_fetch_add(&ahead_s, 3600);
	if (!atomic_exchange(&hold, false))
		return;
	sem_post(&begun);
	sem_wait(&go_on);
}

static void *search(void *gradient)
{
	gradient_add(gradient);
	atomic_store(&over, true);
	sem_post(&begun);
	return NULL;
}

/* While one thread searches, another one runs the same problem and a new one. */
static void while_held(void)
{
	struct gradient one, same, other;
	cudaStream_t streams[3];
	pthread_t thread;

	alarm(300);
	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	for (int i = 0; i < 3; i++)
		OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	gradient_make(&one, streams[0], 1);
	gradient_make(&same, streams[1], 2);
	gradient_make(&other, streams[2], 3);
	atomic_store(&hold, true);
	TEST_EQ(pthread_create(&thread, NULL, search, &one), 0);
	sem_wait(&begun);
	const bool held = !atomic_load(&over);
	gradient_add(&same);
	gradient_check(&same, 1);
	conv_resize(&other.conv, CONV_N / 2);
	gradient_add(&other);
	OK(cudaStreamSynchronize(other.stream));
	TEST_EQ(atomic_load(&over), !held);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	gradient_add(&one);
	gradient_add(&same);
	gradient_check(&one, 2);
	gradient_check(&same, 2);
}

/* A stream that the search knows nothing of waits for what this thread does afterwards. */
static void beside_gate(void)
{
	static struct gate gate;
	struct gradient one;
	cudaStream_t third, stream;

	OK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	gradient_make(&one, stream, 1);
	gate_close(&gate, third);
	gradient_add(&one);
	gradient_check(&one, 1);
	TEST_EQ(atomic_load(&gate.passed), false);
	gate_open(&gate);
	OK(cudaDeviceSynchronize());
}

/* Each algorithm takes an hour to measure: more than the time there is. */
static void too_slow(void)
{
	struct gradient one;

	gradient_make(&one, NULL, 1);
	atomic_store(&slow, true);
	gradient_add(&one);
	gradient_add(&one);
	gradient_check(&one, 2);
}

#define THREADS 8
#define TIMES 20

static pthread_barrier_t barrier;

struct worker {
	unsigned number;
	bool per_thread; /* on the thread's default stream, else on one of its own */
	pthread_t thread;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	cudaStream_t stream = cudaStreamPerThread;
	struct gradient one;

	if (!worker->per_thread)
		OK(cudaStreamCreateWithFlags(&stream, worker->number % 2));
	gradient_make(&one, stream, worker->number + 1);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < TIMES; i++)
		gradient_add(&one);
	gradient_check(&one, TIMES);
	return NULL;
}

static void run_workers(bool per_thread)
{
	struct worker workers[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.number = i, .per_thread = per_thread};
		TEST_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* All meet the problem at once. */
static void in_a_race(void)
{
	run_workers(false);
}

/* The problem was decided before. */
static void on_streams(void)
{
	struct gradient one;

	gradient_make(&one, NULL, 1);
	gradient_add(&one);
	gradient_check(&one, 1);
	run_workers(false);
	run_workers(true);
}

/* A reset takes all that the search had: handle, stream, pool and workspaces. */
static void through_reset(void)
{
	struct gradient one;

	for (int i = 0; i < 3; i++) {
		gradient_make(&one, NULL, 1u + (unsigned)i);
		conv_resize(&one.conv, CONV_N);
		gradient_add(&one);
		gradient_add(&one);
		gradient_check(&one, 2);
		/* A new problem each time, to be searched anew. */
		conv_resize(&one.conv, i + 1);
		gradient_add(&one);
		OK(cudaDeviceReset());
	}
}

static void reap(pid_t child)
{
	int status = -1;

	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(status, 0);
}

/* Before, while and after another thread searches. The children call nothing of cuDNN's: what they
 * inherit is not theirs. */
static void through_forks(void)
{
	struct gradient one, other;
	pthread_t thread;

	sem_init(&begun, 0, 0);
	sem_init(&go_on, 0, 0);
	gradient_make(&one, NULL, 1);
	gradient_make(&other, NULL, 2);
	conv_resize(&other.conv, CONV_N / 2);
	atomic_store(&hold, true);
	TEST_EQ(pthread_create(&thread, NULL, search, &one), 0);
	sem_wait(&begun);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	reap(child);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	child = fork();
	if (child == 0)
		execl("/bin/true", "true", (char *)NULL);
	reap(child);
	gradient_add(&one);
	gradient_check(&one, 2);
	gradient_add(&other);
	child = fork();
	if (child == 0)
		exit(0);
	reap(child);
	OK(cudaDeviceSynchronize());
}

/* The same problem on two devices: each has its own workspace. */
static void on_devices(void)
{
	struct gradient ones[2];
	size_t before[2], after[2], all;

	for (int i = 0; i < 2; i++) {
		OK(cudaSetDevice(i));
		gradient_make(&ones[i], NULL, 1u + (unsigned)i);
		OK(cudaMemGetInfo(&before[i], &all));
	}
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 2; i++) {
			OK(cudaSetDevice(i));
			gradient_add(&ones[i]);
		}
	for (int i = 0; i < 2; i++) {
		OK(cudaSetDevice(i));
		gradient_check(&ones[i], 3);
		OK(cudaMemGetInfo(&after[i], &all));
		printf("device %d holds %zu more\n", i, before[i] - after[i]);
	}
}

/* The stream itself is captured, by a way that nothing between the program and the runtime sees. */
static void in_hidden_capture(void)
{
	cudaError_t (*begin)(cudaStream_t, enum cudaStreamCaptureMode);
	cudaError_t (*end)(cudaStream_t, cudaGraph_t *);
	cudaGraphExec_t executable;
	cudaGraph_t graph = NULL;
	cudaStream_t stream;
	struct gradient one;

	begin = (__typeof__(begin))unseen_symbol("libcudart.so.13", "cudaStreamBeginCapture");
	end = (__typeof__(end))unseen_symbol("libcudart.so.13", "cudaStreamEndCapture");
	TEST_NEED(begin && end);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	gradient_make(&one, stream, 1);
	OK(begin(stream, cudaStreamCaptureModeGlobal));
	gradient_add(&one);
	OK(end(stream, &graph));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(executable, stream));
	gradient_check(&one, 3);
}

/* Only says what it is about to build: the simulated device has no such interface. */
static void by_backend(void)
{
	cudnnBackendDescriptor_t descriptor;

	for (int i = 0; i < 3; i++)
		cudnnBackendCreateDescriptor(
			CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, &descriptor);
	cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &descriptor);
}

/* Sums that go on, looked at after each. */
static void one_by_one(void)
{
	struct gradient one;

	gradient_make(&one, NULL, 1);
	for (int i = 1; i <= 20; i++) {
		gradient_add(&one);
		gradient_check(&one, i);
	}
}

/* All behind a gate that this thread opens when it has enqueued everything. */
static void behind_gate(void)
{
	struct gradient one;
	struct gate gate;

	gradient_make(&one, NULL, 1);
	gate_close(&gate, cudaStreamLegacy);
	for (int i = 0; i < 5; i++)
		gradient_add(&one);
	gate_open(&gate);
	gradient_check(&one, 5);
}

static const struct rewrite_case cases[] = {
	{"held", while_held},
	{"gate", beside_gate},
	{"devices", on_devices},
	{"slow", too_slow},
	{"race", in_a_race},
	{"streams", on_streams},
	{"reset", through_reset},
	{"forks", through_forks},
	{"backend", by_backend},
	{"capture", in_hidden_capture},
	{"one-by-one", one_by_one},
	{"behind-gate", behind_gate},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return result != 0 ? result : test_result();
}
