/* SPDX-License-Identifier: MIT */
/*
 * One small network, trained in the ways that programs have: steps_worlds WORLD. Prints how many
 * steps it took, a step being an update of the weights:
 *	plain, accumulate (four passes an update), outplace (new weights in other memory, pointers
 *	swapped), graph (a captured step, launched), devices (two, one thread drives both), async (a
 *	thread for each step), recursion (the loop is a recursion), critic (five updates of one net,
 *	then one of another), pair (two nets trained by one function), fifth (evaluation after every
 *	fifth step), rows (128 copies from as many places a step, four passes an update), varying
 *	(batches of three sizes by turns), unrolled (two steps in the loop's body), ahead (never
 *	waits), loader (the first thread uploads, a worker trains)
 */
#include <pthread.h>

#include "tests/steps/steps_net.h"

static __attribute__((noinline)) void upload_rows(struct net *net, int batch)
{
	for (int row = 0; row < ROWS / 2; row++)
		TEST_EQ(cudaMemcpyAsync(net->values[0] + row * SIDE,
				host[(batch * ROWS / 2 + row) % (ROWS * 4)], SIDE * sizeof(float),
				cudaMemcpyHostToDevice, stream),
			cudaSuccess);
}

/* The new weights are elsewhere. */
static __attribute__((noinline)) void update_elsewhere(struct net *net)
{
	for (int i = 0; i < LAYERS; i++)
		multiply(net->weights[net->turn][i], net->gradients[i], net->weights[!net->turn][i],
			SIDE, 0);
	net->turn = !net->turn;
}

static int plain(struct net *net)
{
	for (int i = 0; i < STEPS; i++)
		train(net);
	return STEPS;
}

static int accumulate(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		for (int pass = 0; pass < 4; pass++) {
			upload(net);
			forward(net);
			backward(net, pass != 0);
		}
		update(net);
		read_loss(net);
	}
	return STEPS;
}

static int outplace(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		upload(net);
		forward(net);
		backward(net, 0);
		update_elsewhere(net);
		read_loss(net);
	}
	return STEPS;
}

static int graph(struct net *net)
{
	cudaGraph_t captured;
	cudaGraphExec_t ready;

	TEST_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
	forward(net);
	backward(net, 0);
	update(net);
	TEST_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
	TEST_EQ(cudaGraphInstantiate(&ready, captured, 0), cudaSuccess);
	for (int i = 0; i < STEPS; i++) {
		upload(net);
		TEST_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
		read_loss(net);
	}
	return STEPS;
}

static int devices(struct net *net)
{
	struct net other;
	cublasHandle_t handles[2] = {blas, NULL};
	cudaStream_t streams[2] = {stream, NULL};
	struct net *const nets[2] = {net, &other};

	make(&other, 1);
	TEST_EQ(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking), cudaSuccess);
	TEST_EQ(cublasCreate(&handles[1]), CUBLAS_STATUS_SUCCESS);
	TEST_EQ(cublasSetStream(handles[1], streams[1]), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < STEPS; i++) {
		for (int device = 0; device < 2; device++) {
			TEST_EQ(cudaSetDevice(device), cudaSuccess);
			blas = handles[device];
			stream = streams[device];
			upload(nets[device]);
			forward(nets[device]);
			backward(nets[device], 0);
		}
		for (int device = 0; device < 2; device++) {
			TEST_EQ(cudaSetDevice(device), cudaSuccess);
			blas = handles[device];
			stream = streams[device];
			update(nets[device]);
			read_loss(nets[device]);
		}
	}
	return STEPS;
}

static void *train_once(void *net)
{
	train(net);
	return NULL;
}

static int async(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		pthread_t thread;

		TEST_NEED(!pthread_create(&thread, NULL, train_once, net));
		TEST_EQ(pthread_join(thread, NULL), 0);
	}
	return STEPS;
}

static __attribute__((noinline)) void recurse(struct net *net, int left)
{
	if (!left)
		return;
	train(net);
	recurse(net, left - 1);
	/* Not the last thing it does. */
	loss[0] += 1;
}

static int recursion(struct net *net)
{
	recurse(net, STEPS);
	return STEPS;
}

static int critic(struct net *net)
{
	struct net other;

	make(&other, 0);
	for (int i = 0; i < STEPS; i++) {
		for (int turn = 0; turn < 5; turn++) {
			upload(net);
			forward(net);
			backward(net, 0);
			update(net);
		}
		upload(&other);
		forward(&other);
		forward(net);
		backward(&other, 0);
		update(&other);
		read_loss(&other);
	}
	return STEPS;
}

static int pair(struct net *net)
{
	struct net other;

	make(&other, 0);
	for (int i = 0; i < STEPS; i++) {
		train(net);
		train(&other);
	}
	return STEPS;
}

static int fifth(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		train(net);
		if (i % 5 == 4)
			for (int batch = 0; batch < 3; batch++) {
				upload(net);
				forward(net);
				read_loss(net);
			}
	}
	return STEPS;
}

static int rows(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		for (int pass = 0; pass < 4; pass++) {
			upload_rows(net, i * 4 + pass);
			forward(net);
			backward(net, pass != 0);
		}
		update(net);
		read_loss(net);
	}
	return STEPS;
}

static int varying(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		net->batch = SIDE - 16 * (i % 3);
		train(net);
	}
	return STEPS;
}

static int unrolled(struct net *net)
{
	for (int i = 0; i < STEPS; i += 2) {
		train(net);
		train(net);
	}
	return STEPS;
}

static int ahead(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		upload(net);
		forward(net);
		backward(net, 0);
		update(net);
	}
	TEST_EQ(cudaStreamSynchronize(stream), cudaSuccess);
	return STEPS;
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int loaded, trained;
} hand = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *worker(void *net)
{
	for (int i = 0; i < STEPS; i++) {
		pthread_mutex_lock(&hand.lock);
		while (hand.loaded <= i)
			pthread_cond_wait(&hand.changed, &hand.lock);
		pthread_mutex_unlock(&hand.lock);
		forward(net);
		backward(net, 0);
		update(net);
		read_loss(net);
		pthread_mutex_lock(&hand.lock);
		hand.trained++;
		pthread_cond_signal(&hand.changed);
		pthread_mutex_unlock(&hand.lock);
	}
	return NULL;
}

static int loader(struct net *net)
{
	pthread_t thread;

	TEST_NEED(!pthread_create(&thread, NULL, worker, net));
	for (int i = 0; i < STEPS; i++) {
		upload(net);
		pthread_mutex_lock(&hand.lock);
		hand.loaded++;
		pthread_cond_signal(&hand.changed);
		while (hand.trained <= i)
			pthread_cond_wait(&hand.changed, &hand.lock);
		pthread_mutex_unlock(&hand.lock);
	}
	TEST_EQ(pthread_join(thread, NULL), 0);
	return STEPS;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct net *net);
	} worlds[] = {{"plain", plain}, {"accumulate", accumulate}, {"outplace", outplace},
		{"graph", graph}, {"devices", devices}, {"async", async}, {"recursion", recursion},
		{"critic", critic}, {"pair", pair}, {"fifth", fifth}, {"rows", rows},
		{"varying", varying}, {"unrolled", unrolled}, {"ahead", ahead}, {"loader", loader}};
	struct net net;

	net_start(&net);
	for (size_t i = 0; i < sizeof(worlds) / sizeof(*worlds); i++)
		if (argc > 1 && !strcmp(argv[1], worlds[i].name)) {
			printf("%d steps\n", worlds[i].run(&net));
			return test_result();
		}
	fprintf(stderr, "no world '%s'\n", argc > 1 ? argv[1] : "");
	return 2;
}
