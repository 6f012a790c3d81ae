/* SPDX-License-Identifier: MIT */
/* Nodes of graphs: edges, parameters, events, and what is told of all that. */
#include "sim_gate.h"

#define SIZE 256

static cudaStream_t stream;
static unsigned char *device, *seen;

/* One of the two nodes, or both. */
static void expect_of(
	size_t count, const cudaGraphNode_t *got, cudaGraphNode_t a, cudaGraphNode_t b)
{
	TEST_TRUE((got[0] == a && (count == 1 || got[1] == b)) ||
		  (got[0] == b && (count == 1 || got[1] == a)));
}

/* Lists take as much as they hold, and what is left of them is NULL. */
static void check_edges(cudaGraph_t graph, const cudaGraphNode_t *nodes)
{
	cudaGraphNode_t from[3] = {nodes[2], nodes[2], nodes[2]};
	cudaGraphNode_t to[3] = {nodes[0], nodes[0], nodes[0]};
	cudaGraphEdgeData data[2];
	size_t count = 0;

	OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
	TEST_EQ(count, 2);
	count = 3;
	OK(cudaGraphGetEdges(graph, from, to, NULL, &count));
	TEST_EQ(count, 2);
	expect_of(2, from, nodes[0], nodes[1]);
	TEST_TRUE(to[0] == nodes[2] && to[1] == nodes[2] && !from[2] && !to[2]);
	memset(data, 0xff, sizeof(data));
	count = 1;
	OK(cudaGraphGetEdges(graph, from, to, data, &count));
	TEST_EQ(count, 1);
	TEST_EQ(wrong_bytes(&data[0], 0, sizeof(data[0])), 0);
	TEST_EQ(wrong_bytes(&data[1], 0xff, sizeof(data[1])), 0);
}

static void check_neighbours(const cudaGraphNode_t *nodes)
{
	cudaGraphNode_t found[3] = {nodes[2], nodes[2], nodes[2]};
	size_t count = 3;

	OK(cudaGraphNodeGetDependencies(nodes[2], found, NULL, &count));
	TEST_EQ(count, 2);
	expect_of(2, found, nodes[0], nodes[1]);
	TEST_TRUE(!found[2]);
	count = 1;
	OK(cudaGraphNodeGetDependencies(nodes[2], found, NULL, &count));
	TEST_EQ(count, 1);
	expect_of(1, found, nodes[0], nodes[1]);
	count = 3;
	OK(cudaGraphNodeGetDependentNodes(nodes[0], found, NULL, &count));
	TEST_EQ(count, 1);
	TEST_TRUE(found[0] == nodes[2] && !found[1]);
	OK(cudaGraphNodeGetDependentNodes(nodes[2], NULL, NULL, &count));
	TEST_EQ(count, 0);
}

/* The third of three nodes depends on the others; no edge is added or removed twice. */
static void check_shape(void)
{
	cudaGraphNode_t nodes[3], found[3];
	cudaGraph_t graph;
	size_t count = 3;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
	OK(cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
	OK(cudaGraphAddEmptyNode(&nodes[2], graph, nodes, 2));
	check_edges(graph, nodes);
	check_neighbours(nodes);
	TEST_EQ(cudaGraphAddDependencies(graph, &nodes[0], &nodes[2], NULL, 1),
		cudaErrorInvalidValue);
	OK(cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[2], NULL, 1));
	TEST_EQ(cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[2], NULL, 1),
		cudaErrorInvalidValue);
	OK(cudaGraphNodeGetDependencies(nodes[2], found, NULL, &count));
	TEST_EQ(count, 1);
	TEST_TRUE(found[0] == nodes[0]);
	OK(cudaGraphDestroyNode(nodes[0]));
	OK(cudaGraphNodeGetDependencies(nodes[2], NULL, NULL, &count));
	TEST_EQ(count, 0);
	count = 1;
	OK(cudaGraphGetNodes(graph, found, &count));
	TEST_EQ(count, 1);
	(void)cudaGetLastError();
	OK(cudaGraphDestroy(graph));
}

static void bump(void *data)
{
	++*(int *)data;
}

static struct cudaMemcpy3DParms some(size_t size)
{
	return (struct cudaMemcpy3DParms){
		.srcPtr = {device, SIZE, SIZE, 1},
		.dstPtr = {seen, SIZE, SIZE, 1},
		.extent = {size, 1, 1},
		.kind = cudaMemcpyDeviceToHost,
	};
}

/* A fill, a copy of what it filled and a call: changed in the graph, and in what was made of it. */
static void check_parameters(void)
{
	struct cudaMemsetParams set = {
		.dst = device, .elementSize = 1, .width = SIZE, .height = 1, .value = 1};
	struct cudaMemcpy3DParms copy = some(SIZE);
	static int calls[3];
	struct cudaHostNodeParams host = {.fn = bump, .userData = &calls[0]};
	cudaGraphNode_t nodes[3];
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set));
	OK(cudaGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &copy));
	OK(cudaGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &host));
	set.value = 2;
	OK(cudaGraphMemsetNodeSetParams(nodes[0], &set));
	copy = some(SIZE / 2);
	OK(cudaGraphMemcpyNodeSetParams(nodes[1], &copy));
	host.userData = &calls[1];
	OK(cudaGraphHostNodeSetParams(nodes[2], &host));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	/* What was made of a graph does not follow it. */
	set.value = 3;
	OK(cudaGraphMemsetNodeSetParams(nodes[0], &set));
	memset(seen, 9, SIZE);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(seen, 2, SIZE / 2), 0);
	TEST_EQ(wrong_bytes(seen + SIZE / 2, 9, SIZE / 2), 0);
	TEST_TRUE(calls[0] == 0 && calls[1] == 1);
	copy = some(SIZE / 4);
	OK(cudaGraphExecMemcpyNodeSetParams(exec, nodes[1], &copy));
	host.userData = &calls[2];
	OK(cudaGraphExecHostNodeSetParams(exec, nodes[2], &host));
	memset(seen, 9, SIZE);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(seen, 2, SIZE / 4), 0);
	TEST_EQ(wrong_bytes(seen + SIZE / 4, 9, SIZE / 4 * 3), 0);
	TEST_TRUE(calls[1] == 1 && calls[2] == 1);
	OK(cudaGraphExecMemcpyNodeSetParams1D(
		exec, nodes[1], seen + 8, device, 8, cudaMemcpyDeviceToHost));
	memset(seen, 9, SIZE);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(seen, 9, 8), 0);
	TEST_EQ(wrong_bytes(seen + 8, 2, 8), 0);
	TEST_EQ(wrong_bytes(seen + 16, 9, SIZE - 16), 0);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

/* Events are recorded and waited for where the graph is launched. */
static void check_events(void)
{
	cudaGraphNode_t wait, record;
	cudaEvent_t before, after;
	static struct gate gate;
	cudaGraphExec_t exec;
	cudaStream_t other;
	cudaGraph_t graph;

	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&before, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&after, cudaEventDisableTiming));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, before));
	OK(cudaGraphAddEventRecordNode(&record, graph, &wait, 1, after));
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	gate_close(&gate, other);
	OK(cudaEventRecord(before, other));
	OK(cudaGraphLaunch(exec, stream));
	TEST_EQ(cudaEventQuery(after), cudaErrorNotReady);
	TEST_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
	gate_open(&gate);
	OK(cudaEventSynchronize(after));
	TEST_TRUE(gate.passed);
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaEventDestroy(before));
	OK(cudaEventDestroy(after));
	OK(cudaStreamDestroy(other));
}

/* With what it was made; a child is what it was copied from. */
static void check_made(void)
{
	cudaGraphInstantiateParams params = {.flags = cudaGraphInstantiateFlagUseNodePriority,
		.result_out = cudaGraphInstantiateError};
	cudaGraph_t inner, outer, child = NULL;
	unsigned long long flags = 99;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	size_t count = 0;
	static int calls;
	const struct cudaHostNodeParams host = {.fn = bump, .userData = &calls};

	OK(cudaGraphCreate(&inner, 0));
	OK(cudaGraphAddHostNode(&node, inner, NULL, 0, &host));
	OK(cudaGraphAddHostNode(&node, inner, &node, 1, &host));
	OK(cudaGraphCreate(&outer, 0));
	OK(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, inner));
	OK(cudaGraphChildGraphNodeGetGraph(node, &child));
	TEST_TRUE(child && child != inner);
	OK(cudaGraphGetNodes(child, NULL, &count));
	TEST_EQ(count, 2);
	OK(cudaGraphInstantiateWithParams(&exec, outer, &params));
	TEST_EQ(params.result_out, cudaGraphInstantiateSuccess);
	OK(cudaGraphExecGetFlags(exec, &flags));
	TEST_EQ(flags, cudaGraphInstantiateFlagUseNodePriority);
	OK(cudaGraphUpload(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(calls, 2);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(inner));
	OK(cudaGraphDestroy(outer));
}

int main(void)
{
	if (no_device())
		return test_skip("no device");
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, SIZE));
	OK(cudaMallocHost((void **)&seen, SIZE));
	check_shape();
	check_parameters();
	check_events();
	check_made();
	return test_result();
}
