/* SPDX-License-Identifier: MIT */
/*
 * A training whose step is the launch of a graph, in the ways that graphs are made: steps_graphs
 * WORLD. Prints how many steps it took.
 *	thread (another thread captures and instantiates it), halves (another thread's backward
 *	pass goes into this one's capture), child (the captured graph is a node of another, of which
 *	a copy is launched), nodes (built node by node, all of them from one line), into (a
 *	capture behind nodes), fused (one node updates all weights, by more pointers than are
 *	looked at)
 * Those that train nothing print 0:
 *	forward (another thread captures a forward pass), reads (nodes that update nothing), again
 *	(the handle was a training's graph before)
 */
#include <pthread.h>

#include "tests/rules/rule_kernels.h"
#include "tests/steps/steps_net.h"

static cudaGraph_t graph;
static cudaGraphNode_t last; /* of those that are being added */
static cudaGraphExec_t ready;

static void instantiate(cudaGraph_t from)
{
	TEST_EQ(cudaGraphInstantiate(&ready, from, 0), cudaSuccess);
}

static int launch(struct net *net)
{
	for (int i = 0; i < STEPS; i++) {
		upload(net);
		TEST_EQ(cudaGraphLaunch(ready, stream), cudaSuccess);
		read_loss(net);
	}
	return STEPS;
}

static void in_a_thread(void *(*run)(void *net), struct net *net)
{
	pthread_t thread;

	TEST_NEED(!pthread_create(&thread, NULL, run, net));
	TEST_EQ(pthread_join(thread, NULL), 0);
}

static void begin_capture(void)
{
	TEST_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
}

static void end_capture(void)
{
	TEST_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
}

static void *capture(void *net)
{
	begin_capture();
	forward(net);
	backward(net, 0);
	update(net);
	end_capture();
	instantiate(graph);
	return NULL;
}

static int thread(struct net *net)
{
	in_a_thread(capture, net);
	return launch(net);
}

static void *run_backward(void *net)
{
	backward(net, 0);
	update(net);
	return NULL;
}

static int halves(struct net *net)
{
	begin_capture();
	forward(net);
	in_a_thread(run_backward, net);
	end_capture();
	instantiate(graph);
	return launch(net);
}

static int child(struct net *net)
{
	cudaGraph_t whole, copy;
	cudaGraphNode_t node;

	capture(net);
	TEST_EQ(cudaGraphCreate(&whole, 0), cudaSuccess);
	TEST_EQ(cudaGraphAddChildGraphNode(&node, whole, NULL, 0, graph), cudaSuccess);
	TEST_EQ(cudaGraphClone(&copy, whole), cudaSuccess);
	instantiate(copy);
	return launch(net);
}

/* Everything behind the node before it, and from here. */
static __attribute__((noinline)) void add_node(float *updated, const float *from, float *to)
{
	float rate = 0.01f;
	int n = COUNT;
	void *arguments[] = {&updated, &rate, &n};
	const struct cudaKernelNodeParams with = {.func = (void *)rule_kernel("decay"),
		.gridDim = {(COUNT + 255) / 256, 1, 1},
		.blockDim = {256, 1, 1},
		.kernelParams = arguments};
	const cudaGraphNode_t *before = last ? &last : NULL;
	cudaGraphNode_t node;

	if (updated)
		TEST_EQ(cudaGraphAddKernelNode(&node, graph, before, before != NULL, &with),
			cudaSuccess);
	else
		TEST_EQ(cudaGraphAddMemcpyNode1D(&node, graph, before, before != NULL, to, from,
				BYTES, cudaMemcpyDeviceToDevice),
			cudaSuccess);
	last = node;
}

static void build(struct net *net, bool updates)
{
	TEST_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
	last = NULL;
	for (int i = 0; i < LAYERS; i++)
		add_node(NULL, net->weights[0][i], net->gradients[i]);
	for (int i = 0; updates && i < LAYERS; i++)
		add_node(net->weights[0][i], NULL, NULL);
}

static int nodes(struct net *net)
{
	build(net, true);
	instantiate(graph);
	return launch(net);
}

static void run_nothing(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared, (void)args;
}

/* A kernel that is given a structure of pointers; what it does is of no matter here. */
static cudaKernel_t fused_kernel(void)
{
	static const char image[] =
		".version 7.0\n.target sm_75\n.address_size 64\n"
		".visible .entry fused(.param .align 8 .b8 p0[256])\n{\nret;\n}\n";
	static const struct tfsim_kernel known = {"fused", run_nothing, {256}, 1, 0, 0};
	cudaLibrary_t library;
	cudaKernel_t kernel;

	tfsim_register_kernel(&known);
	TEST_NEED(!cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	TEST_NEED(!cudaLibraryGetKernel(&kernel, library, "fused"));
	return kernel;
}

static int fused(struct net *net)
{
	struct {
		float *all[32];
	} pointers;
	void *arguments[] = {&pointers};
	const struct cudaKernelNodeParams with = {.func = (void *)fused_kernel(),
		.gridDim = {1, 1, 1},
		.blockDim = {256, 1, 1},
		.kernelParams = arguments};
	cudaGraphNode_t node;

	build(net, false);
	for (int i = 0; i < 32; i++)
		pointers.all[i] = net->weights[0][i % LAYERS];
	TEST_EQ(cudaGraphAddKernelNode(&node, graph, &last, 1, &with), cudaSuccess);
	instantiate(graph);
	return launch(net);
}

static int into(struct net *net)
{
	build(net, false);
	TEST_EQ(cudaStreamBeginCaptureToGraph(
			stream, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed),
		cudaSuccess);
	update(net);
	end_capture();
	instantiate(graph);
	return launch(net);
}

static void *capture_forward(void *net)
{
	begin_capture();
	forward(net);
	end_capture();
	instantiate(graph);
	return NULL;
}

static int forward_only(struct net *net)
{
	in_a_thread(capture_forward, net);
	return launch(net) - STEPS;
}

static int reads(struct net *net)
{
	build(net, false);
	instantiate(graph);
	return launch(net) - STEPS;
}

/* Graphs of a training come and go until one has a handle again. */
static int again(struct net *net)
{
	enum { MOST = 64 };
	cudaGraph_t trained[MOST];
	int count = 0;

	for (; count < MOST; count++) {
		build(net, true);
		trained[count] = graph;
	}
	for (int i = 0; i < MOST; i++)
		TEST_EQ(cudaGraphDestroy(trained[i]), cudaSuccess);
	build(net, false);
	for (int i = 0; i < MOST; i++)
		count -= trained[i] == graph;
	if (count == MOST)
		printf("no handle came again\n");
	instantiate(graph);
	return launch(net) - STEPS;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct net *net);
	} worlds[] = {{"thread", thread}, {"halves", halves}, {"child", child}, {"nodes", nodes},
		{"into", into}, {"fused", fused}, {"forward", forward_only}, {"reads", reads},
		{"again", again}};
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
