/* SPDX-License-Identifier: MIT */
/*
 * Kernels that get their pointers in a structure, passed by value: steps_structures WORLD, one of
 *	lists (the update's has all gradients first, and 512 bytes further on all weights),
 *	threads (the same; another thread, which makes most of the calls, does the backward pass),
 *	beside (it does so little that the other's training, which begins later, is the step),
 *	constants (it has no address at all, and is had twice),
 *	inference (each layer's has what it reads and writes; nothing is updated).
 */
#include <pthread.h>
#include <string.h>

#include "tests/steps/steps_net.h"

#define LISTED 64 /* tensors in a list */
#define LATE 60   /* steps before the other thread trains */

struct lists {
	const void *addresses[2][LISTED];
	uint64_t numbers[512 - 2 * LISTED];
};

struct parts {
	const void *addresses[3];
	uint64_t numbers[2];
};

static const char code[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			   ".visible .entry lists(.param .align 8 .b8 p0[4096], .param .f32 p1)\n"
			   "{\nret;\n}\n"
			   ".visible .entry parts(.param .align 8 .b8 p0[40])\n{\nret;\n}\n";
static cudaKernel_t by_lists, by_parts;
static struct net *second; /* the other thread's */
static bool constants;

/* Backward passes: one is asked for, and done. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, done;

static void launch(cudaKernel_t kernel, void **arguments)
{
	const dim3 one = {1, 1, 1};

	TEST_EQ(cudaLaunchKernel((const void *)kernel, one, one, arguments, 0, stream),
		cudaSuccess);
}

static __attribute__((noinline)) void update_lists(struct net *net)
{
	float rate = -0.01f;
	struct lists lists = {.numbers = {COUNT, COUNT, COUNT, UINT64_C(0x0302010003020100)}};
	void *arguments[] = {&lists, &rate};

	for (uint64_t i = 0; i < LISTED; i++)
		lists.addresses[0][i] = (const void *)(uintptr_t)(i << 32 | COUNT);
	for (int i = 0; i < LAYERS && !constants; i++) {
		lists.addresses[0][i] = net->gradients[i];
		lists.addresses[1][i] = net->weights[0][i];
	}
	launch(by_lists, arguments);
}

static __attribute__((noinline)) void infer(struct net *net)
{
	struct parts parts = {.numbers = {SIDE, SIDE}};
	void *arguments[] = {&parts};

	upload(net);
	for (int i = 0; i < LAYERS; i++) {
		parts.addresses[0] = net->weights[0][i];
		parts.addresses[1] = net->values[i];
		parts.addresses[2] = net->values[i + 1];
		launch(by_parts, arguments);
	}
	read_loss(net);
}

static __attribute__((noinline)) void busy(struct net *net)
{
	for (int i = 0; i < (second ? 100 : 10); i++)
		TEST_EQ(cudaSetDevice(0), cudaSuccess);
	if (!second)
		backward(net, 0);
	else if (asked > LATE)
		train(second);
}

static void *passes(void *argument)
{
	for (int i = 1; i <= STEPS; i++) {
		pthread_mutex_lock(&mutex);
		while (asked < i)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		busy(argument);
		pthread_mutex_lock(&mutex);
		done = i;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static __attribute__((noinline)) void backward_elsewhere(void)
{
	pthread_mutex_lock(&mutex);
	asked++;
	pthread_cond_broadcast(&changed);
	while (done < asked)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void take_step(struct net *net, bool elsewhere)
{
	upload(net);
	if (constants)
		update_lists(net);
	forward(net);
	if (elsewhere)
		backward_elsewhere();
	else
		backward(net, 0);
	update_lists(net);
	read_loss(net);
}

int main(int argc, char **argv)
{
	const char *world = argc > 1 ? argv[1] : "lists";
	const bool beside = !strcmp(world, "beside");
	const bool elsewhere = beside || !strcmp(world, "threads");
	cudaLibrary_t library;
	pthread_t thread;
	struct net net, other;

	net_start(&net);
	TEST_NEED(!cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	TEST_NEED(!cudaLibraryGetKernel(&by_lists, library, "lists"));
	TEST_NEED(!cudaLibraryGetKernel(&by_parts, library, "parts"));
	constants = !strcmp(world, "constants");
	if (beside) {
		make(&other, 0);
		second = &other;
	}
	if (elsewhere)
		TEST_NEED(pthread_create(&thread, NULL, passes, &net) == 0);
	for (int i = 0; i < STEPS; i++) {
		if (!strcmp(world, "inference"))
			infer(&net);
		else
			take_step(&net, elsewhere);
	}
	if (elsewhere)
		TEST_NEED(pthread_join(thread, NULL) == 0);
	return test_result();
}
