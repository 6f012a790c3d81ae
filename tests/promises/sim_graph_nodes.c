/* SPDX-License-Identifier: MIT */
/* Nodes of graphs: edges, parameters, events, and what is told of all that. */
#include "sim_gate.h"

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

int main(void)
{
	if (no_device())
		return test_skip("no device");
	check_shape();
	return test_result();
}
