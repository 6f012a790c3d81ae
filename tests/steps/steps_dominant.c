/* SPDX-License-Identifier: MIT */
/*
 * Long runs that do not train, or not at first: steps_dominant WORLD ROUNDS. The rounds are of
 *	inference (images from pageable memory, three layers, the result is read: six calls)
 *	prepare (the same, and then 160 steps of training), poll (a query that the device is done)
 */
#include "tests/steps/steps_net.h"

static __attribute__((noinline)) void infer(struct net *net)
{
	upload(net);
	forward(net);
	read_loss(net);
}

static __attribute__((noinline)) void serve(struct net *net, int rounds)
{
	for (int i = 0; i < rounds; i++)
		infer(net);
}

static __attribute__((noinline)) void train_all(struct net *net)
{
	for (int i = 0; i < STEPS; i++)
		train(net);
}

static __attribute__((noinline)) void poll(int rounds)
{
	for (int i = 0; i < rounds; i++)
		TEST_EQ(cudaStreamQuery(stream), cudaSuccess);
}

int main(int argc, char **argv)
{
	struct net net;

	if (argc < 3)
		return 2;
	net_start(&net);
	if (!strcmp(argv[1], "poll"))
		poll(atoi(argv[2]));
	else
		serve(&net, atoi(argv[2]));
	if (!strcmp(argv[1], "prepare"))
		train_all(&net);
	return test_result();
}
