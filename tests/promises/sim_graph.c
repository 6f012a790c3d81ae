/* SPDX-License-Identifier: MIT */
/* Graphs: replay, update, dependencies, graphs built by hand. */
#include "sim_gate.h"

#define SIZE 256
#define LARGE ((size_t)64 << 20)

static cudaStream_t stream;
static unsigned char *device, *pinned, *seen;

static cudaGraph_t capture(int value, size_t size)
{
	cudaGraph_t graph = NULL;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream));
	OK(cudaMemsetAsync(device, value, size, stream));
	OK(cudaMemcpyAsync(seen, device, SIZE, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

/* A node reads its source at each launch, not when it was captured. */
static void check_replay(cudaGraphExec_t exec)
{
	for (int round = 1; round < 4; round++) {
		memset(pinned, round, SIZE);
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		TEST_EQ(wrong_bytes(seen, 9, 16), 0);
		TEST_EQ(wrong_bytes(seen + 16, round, SIZE - 16), 0);
	}
}

/* What is under way keeps what it was launched with. */
static void check_update(cudaGraphExec_t exec)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t same = capture(7, 32), other = NULL;
	struct gate gate;

	gate_close(&gate, stream);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphExecUpdate(exec, same, &info));
	TEST_EQ(info.result, cudaGraphExecUpdateSuccess);
	gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(seen, 9, 16), 0);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(seen, 7, 32), 0);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(device, 1, SIZE, stream));
	OK(cudaStreamEndCapture(stream, &other));
	TEST_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
	TEST_TRUE(info.result != cudaGraphExecUpdateSuccess);
	OK(cudaGraphDestroy(same));
	OK(cudaGraphDestroy(other));
	(void)cudaGetLastError();
}

/* Three fills, each of its own part of the memory; then what is there is read back. */
static cudaGraph_t fills(cudaGraphNode_t *nodes)
{
	struct cudaMemsetParams set = {.elementSize = 1, .width = SIZE / 4, .height = 1};
	cudaGraphNode_t read;
	cudaGraph_t graph;

	OK(cudaGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 3; i++) {
		set.dst = device + i * SIZE / 4;
		set.value = 1 + i;
		OK(cudaGraphAddMemsetNode(&nodes[i], graph, NULL, 0, &set));
	}
	OK(cudaGraphAddMemcpyNode1D(
		&read, graph, nodes, 3, seen, device, SIZE, cudaMemcpyDeviceToHost));
	return graph;
}

static void see(int first, int second, int third)
{
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(seen, first, SIZE / 4), 0);
	TEST_EQ(wrong_bytes(seen + SIZE / 4, second, SIZE / 4), 0);
	TEST_EQ(wrong_bytes(seen + SIZE / 2, third, SIZE / 4), 0);
}

/* What nodes of an executable graph are told holds from the next launch on. */
static void check_changed(void)
{
	struct cudaMemsetParams set = {
		.dst = device, .elementSize = 1, .width = SIZE / 4, .height = 1, .value = 4};
	cudaGraphNode_t nodes[3];
	cudaGraph_t graph = fills(nodes), captured;
	cudaGraphExec_t exec, again;
	unsigned enabled = 2;
	struct gate gate;

	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaMemsetAsync(device, 9, SIZE, stream));
	gate_close(&gate, stream);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphExecMemsetNodeSetParams(exec, nodes[0], &set));
	OK(cudaGraphNodeSetEnabled(exec, nodes[1], 0));
	OK(cudaGraphNodeGetEnabled(exec, nodes[1], &enabled));
	TEST_EQ(enabled, 0);
	gate_open(&gate);
	see(1, 2, 3);
	OK(cudaMemsetAsync(device, 9, SIZE, stream));
	gate_close(&gate, stream);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphNodeSetEnabled(exec, nodes[1], 1));
	gate_open(&gate);
	see(4, 9, 3);
	OK(cudaGraphLaunch(exec, stream));
	see(4, 2, 3);
	/* A launch that is captured is of what is enabled then. */
	OK(cudaGraphNodeSetEnabled(exec, nodes[2], 0));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamEndCapture(stream, &captured));
	OK(cudaGraphInstantiate(&again, captured, 0));
	OK(cudaMemsetAsync(device, 9, SIZE, stream));
	OK(cudaGraphLaunch(again, stream));
	see(4, 2, 9);
	OK(cudaGraphExecDestroy(again));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(captured));
	OK(cudaGraphDestroy(graph));
}

/* Held until all of it is enqueued: how fast the host is does not matter. */
static float takes(cudaGraphExec_t exec)
{
	struct gate gate;
	cudaEvent_t start, end;
	float ms = 0;

	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	gate_close(&gate, stream);
	OK(cudaEventRecord(start, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaEventRecord(end, stream));
	gate_open(&gate);
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	OK(cudaEventDestroy(start));
	OK(cudaEventDestroy(end));
	return ms;
}

/* What is not enabled takes no time of the device; an update leaves that as it is. */
static void check_disabled_time(void)
{
	struct cudaMemsetParams set = {.elementSize = 1, .width = LARGE, .height = 1, .value = 1};
	cudaGraphExecUpdateResultInfo info;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	float enabled;

	OK(cudaMalloc(&set.dst, LARGE));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	(void)takes(exec);
	enabled = takes(exec);
	OK(cudaGraphNodeSetEnabled(exec, node, 0));
	TEST_TRUE(takes(exec) * 2 < enabled);
	OK(cudaGraphExecUpdate(exec, graph, &info));
	TEST_TRUE(takes(exec) * 2 < enabled);
	OK(cudaGraphNodeSetEnabled(exec, node, 1));
	TEST_TRUE(takes(exec) * 2 > enabled);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaFree(set.dst));
}

static void count(void *data)
{
	int *calls = data;

	/* The copy in front of this node is over. */
	*calls += seen[0] == 5 ? 1 : 100;
}

static cudaGraph_t build(int *calls)
{
	struct cudaMemsetParams set = {
		.dst = device,
		.elementSize = 1,
		.width = SIZE,
		.height = 1,
		.value = 5,
	};
	struct cudaHostNodeParams host = {.fn = count, .userData = calls};
	cudaGraphNode_t first, second, third;
	cudaGraph_t graph = NULL;

	OK(cudaGraphCreate(&graph, 0));
	/* Added in the opposite order: the dependencies say which runs first. */
	OK(cudaGraphAddHostNode(&third, graph, NULL, 0, &host));
	OK(cudaGraphAddMemcpyNode1D(
		&second, graph, NULL, 0, seen, device, SIZE, cudaMemcpyDeviceToHost));
	OK(cudaGraphAddMemsetNode(&first, graph, NULL, 0, &set));
	OK(cudaGraphAddDependencies(graph, &first, &second, NULL, 1));
	OK(cudaGraphAddDependencies(graph, &second, &third, NULL, 1));
	return graph;
}

/* A clone's node is found by the one that it was made from. */
static void check_clone(void)
{
	cudaGraph_t graph, clone;
	cudaGraphNode_t nodes[3], twins[3], found;
	size_t number = 3, count = 3;
	int calls = 0;

	graph = build(&calls);
	OK(cudaGraphClone(&clone, graph));
	OK(cudaGraphGetNodes(graph, nodes, &number));
	OK(cudaGraphGetNodes(clone, twins, &count));
	TEST_EQ(count, 3);
	for (size_t i = 0; i < number; i++) {
		OK(cudaGraphNodeFindInClone(&found, nodes[i], clone));
		TEST_TRUE(found == twins[i]);
	}
	TEST_EQ(cudaGraphNodeFindInClone(&found, nodes[0], NULL), cudaErrorInvalidValue);
	TEST_EQ(cudaGraphNodeFindInClone(&found, twins[0], clone), cudaErrorInvalidValue);
	(void)cudaGetLastError();
	OK(cudaGraphDestroy(clone));
	OK(cudaGraphDestroy(graph));
}

static void check_built(void)
{
	cudaGraph_t inner, outer;
	cudaGraphNode_t child, again, nodes[8];
	enum cudaGraphNodeType type;
	cudaGraphExec_t exec;
	size_t number = 8, roots = 0;
	int calls = 0;

	inner = build(&calls);
	OK(cudaGraphGetNodes(inner, nodes, &number));
	TEST_EQ(number, 3);
	OK(cudaGraphGetRootNodes(inner, NULL, &roots));
	TEST_EQ(roots, 1);
	OK(cudaGraphNodeGetType(nodes[0], &type));
	TEST_EQ(type, cudaGraphNodeTypeHost);
	OK(cudaGraphCreate(&outer, 0));
	OK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
	OK(cudaGraphAddChildGraphNode(&again, outer, &child, 1, inner));
	/* The child is a copy. */
	OK(cudaGraphDestroy(inner));
	OK(cudaGraphInstantiate(&exec, outer, 0));
	OK(cudaGraphDestroy(outer));
	memset(seen, 0, SIZE);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	/* Launches in flight outlive the executable graph. */
	OK(cudaGraphExecDestroy(exec));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(calls, 4);
}

static void check_empty_nodes(void)
{
	cudaGraphNode_t one, two;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddEmptyNode(&one, graph, NULL, 0));
	OK(cudaGraphAddEmptyNode(&two, graph, &one, 1));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroyNode(two));
	OK(cudaGraphDestroy(graph));
}

int main(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, SIZE));
	OK(cudaMallocHost((void **)&pinned, SIZE));
	OK(cudaMallocHost((void **)&seen, SIZE));
	graph = capture(9, 16);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	check_replay(exec);
	check_update(exec);
	OK(cudaGraphExecDestroy(exec));
	check_changed();
	check_disabled_time();
	check_clone();
	check_built();
	check_empty_nodes();
	return test_result();
}
