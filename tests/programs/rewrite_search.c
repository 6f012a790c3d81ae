/* SPDX-License-Identifier: MIT */
/*
 * cudnn-search among threads, streams and devices: nobody waits for a search, a search waits for
 * nobody, and every result is right. On the simulated device a search can be held up in its middle
 * (tfsim_on_search); elsewhere it just ends sooner. The script reads the ledger afterwards.
 */
#include <pthread.h>

#include "tests/programs/rewrite_conv.h"

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

void tfsim_on_search(void);

void tfsim_on_search(void)
{
	static atomic_bool dawdled;

	if (atomic_load(&slow))
		mark_dawdle(&dawdled);
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

	alarm(15);
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

/* Each algorithm takes 20 ms to measure: more than the time there is. */
static void too_slow(void)
{
	struct gradient one;

	gradient_make(&one, NULL, 1);
	atomic_store(&slow, true);
	gradient_add(&one);
	gradient_add(&one);
	gradient_check(&one, 2);
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

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"held", while_held},
	{"gate", beside_gate},
	{"devices", on_devices},
	{"slow", too_slow},
};

int main(int count, char **words)
{
	alarm(60);
	for (size_t i = 0; count == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, words[1]) != 0)
			continue;
		cases[i].run();
		TEST_EQ(cudaGetLastError(), cudaSuccess);
		return test_result();
	}
	fprintf(stderr, "usage: rewrite_search CASE\n");
	return 2;
}
