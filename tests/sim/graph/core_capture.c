/* SPDX-License-Identifier: MIT */
#include "tests/sim/graph/core_graph.h"

#include <stdlib.h>

static uint64_t next_capture_id = 1;

bool sim_capture_active(const struct CUstream_st *stream)
{
	return stream->capture != NULL;
}

void sim_capture_invalidate(struct sim_capture *capture)
{
	capture->invalid = true;
}

struct sim_capture *sim_capture_blocking(const struct CUstream_st *stream)
{
	if (!stream->legacy)
		return NULL;
	for (struct CUstream_st *s = sim.device[stream->device].streams; s; s = s->next)
		if (s->capture && sim_blocking(s))
			return s->capture;
	return NULL;
}

/* A use of the legacy stream would make blocking streams depend on it. */
cudaError_t sim_capture_implicit(const struct CUstream_st *stream)
{
	struct sim_capture *capture = sim_capture_blocking(stream);

	if (!capture)
		return cudaSuccess;
	sim_capture_invalidate(capture);
	return cudaErrorStreamCaptureImplicit;
}

void sim_capture_forget(struct CUstream_st *stream)
{
	if (stream->capture)
		sim_capture_invalidate(stream->capture);
	stream->capture = NULL;
	free(stream->capture_tail);
	stream->capture_tail = NULL;
	stream->capture_tail_count = 0;
}

static enum cudaGraphNodeType node_type(enum tfsim_kind kind)
{
	switch (kind) {
	case TFSIM_KERNEL:
		return cudaGraphNodeTypeKernel;
	case TFSIM_MEMCPY:
		return cudaGraphNodeTypeMemcpy;
	case TFSIM_MEMSET:
		return cudaGraphNodeTypeMemset;
	case TFSIM_HOST:
		return cudaGraphNodeTypeHost;
	case TFSIM_RECORD:
		return cudaGraphNodeTypeEventRecord;
	case TFSIM_WAIT:
		return cudaGraphNodeTypeWaitEvent;
	case TFSIM_ALLOC:
		return cudaGraphNodeTypeMemAlloc;
	case TFSIM_FREE:
		return cudaGraphNodeTypeMemFree;
	case TFSIM_GRAPH:
		return cudaGraphNodeTypeGraph;
	default:
		return cudaGraphNodeTypeEmpty;
	}
}

static cudaError_t set_tail(struct CUstream_st *stream, struct CUgraphNode_st *node)
{
	if (!node || !sim_nodes_set(&stream->capture_tail, &stream->capture_tail_count, &node, 1)) {
		sim_capture_invalidate(stream->capture);
		return cudaErrorMemoryAllocation;
	}
	return cudaSuccess;
}

cudaError_t sim_capture_add(
	struct CUstream_st *stream, struct sim_payload *payload, struct CUgraphNode_st **out_node)
{
	struct CUgraphNode_st *node;
	cudaError_t error;

	if (stream->capture->invalid)
		return cudaErrorStreamCaptureInvalidated;
	node = sim_graph_add(stream->capture->graph, node_type(payload->work.kind), payload,
		stream->capture_tail, stream->capture_tail_count);
	error = set_tail(stream, node);
	if (error == cudaSuccess && out_node)
		*out_node = node;
	return error;
}

cudaError_t sim_capture_graph(struct CUstream_st *stream, struct CUgraphExec_st *exec)
{
	struct CUgraph_st *child;
	struct CUgraphNode_st *node;

	if (stream->capture->invalid)
		return cudaErrorStreamCaptureInvalidated;
	child = sim_plan_graph(exec->plan);
	node = child ? sim_graph_add(stream->capture->graph, cudaGraphNodeTypeGraph, NULL,
			       stream->capture_tail, stream->capture_tail_count)
		     : NULL;
	if (node)
		node->child = child;
	return set_tail(stream, node);
}

cudaError_t sim_capture_record(struct CUstream_st *stream, struct CUevent_st *event)
{
	if (stream->capture->invalid)
		return cudaErrorStreamCaptureInvalidated;
	if (!sim_nodes_set(&event->capture_nodes, &event->capture_node_count, stream->capture_tail,
		    stream->capture_tail_count))
		return cudaErrorMemoryAllocation;
	event->capture = stream->capture;
	return cudaSuccess;
}

static cudaError_t refuse(struct CUstream_st *stream, cudaError_t error)
{
	if (stream->capture)
		sim_capture_invalidate(stream->capture);
	return error;
}

static bool has(
	struct CUgraphNode_st *const *nodes, unsigned count, const struct CUgraphNode_st *node)
{
	for (unsigned i = 0; i < count; i++)
		if (nodes[i] == node)
			return true;
	return false;
}

cudaError_t sim_capture_join(struct CUstream_st *stream, const struct CUevent_st *event)
{
	for (unsigned i = 0; i < event->capture_node_count; i++) {
		struct CUgraphNode_st *node = event->capture_nodes[i], **grown;

		if (has(stream->capture_tail, stream->capture_tail_count, node))
			continue;
		grown = realloc(
			stream->capture_tail, (stream->capture_tail_count + 1) * sizeof(*grown));
		if (!grown)
			return cudaErrorMemoryAllocation;
		stream->capture_tail = grown;
		stream->capture_tail[stream->capture_tail_count++] = node;
	}
	return cudaSuccess;
}

/* A stream that waits for an event of a capture becomes part of it. */
cudaError_t sim_capture_wait(struct CUstream_st *stream, struct CUevent_st *event)
{
	if (stream->capture && stream->capture->invalid)
		return cudaErrorStreamCaptureInvalidated;
	if (!event->capture)
		return event->op ? refuse(stream, cudaErrorStreamCaptureIsolation) : cudaSuccess;
	if (event->capture->ended)
		return refuse(stream,
			stream->capture ? cudaErrorStreamCaptureIsolation : cudaErrorCapturedEvent);
	if (stream->legacy) {
		sim_capture_invalidate(event->capture);
		return cudaErrorStreamCaptureImplicit;
	}
	if (stream->capture && stream->capture != event->capture) {
		sim_capture_invalidate(event->capture);
		return refuse(stream, cudaErrorStreamCaptureMerge);
	}
	if (event->capture->invalid)
		return cudaErrorStreamCaptureInvalidated;
	stream->capture = event->capture;
	return sim_capture_join(stream, event);
}

cudaError_t sim_capture_start(
	struct CUstream_st *stream, enum cudaStreamCaptureMode mode, struct CUgraph_st *into)
{
	struct sim_capture *capture;

	if (stream->legacy)
		return cudaErrorStreamCaptureUnsupported;
	if (stream->capture)
		return cudaErrorIllegalState;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return cudaErrorMemoryAllocation;
	capture->graph = into ? into : sim_graph_create();
	if (!capture->graph) {
		free(capture);
		return cudaErrorMemoryAllocation;
	}
	capture->borrowed = into != NULL;
	capture->id = next_capture_id++;
	capture->mode = mode;
	capture->thread = pthread_self();
	capture->origin = stream;
	capture->next = sim.captures;
	sim.captures = capture;
	stream->capture = capture;
	return cudaSuccess;
}

cudaError_t tfsim_capture_begin(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
	struct CUstream_st *stream;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		error = sim_capture_start(stream, mode, NULL);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

static void mark_back(struct CUgraphNode_st *node)
{
	if (node->mark)
		return;
	node->mark = true;
	for (unsigned i = 0; i < node->dep_count; i++)
		mark_back(node->deps[i]);
}

/* Every node must be reachable from the origin's end: else a forked stream was not joined. */
static bool joined(const struct CUstream_st *origin)
{
	struct CUgraph_st *graph = origin->capture->graph;

	for (struct CUgraphNode_st *n = graph->first; n; n = n->next)
		n->mark = false;
	for (unsigned i = 0; i < origin->capture_tail_count; i++)
		mark_back(origin->capture_tail[i]);
	for (int d = 0; d < sim.device_count; d++)
		for (struct CUstream_st *s = sim.device[d].streams; s; s = s->next)
			for (unsigned i = 0;
				s->capture == origin->capture && i < s->capture_tail_count; i++)
				if (!s->capture_tail[i]->mark)
					return false;
	return true;
}

static void close_capture(struct sim_capture *capture)
{
	capture->ended = true;
	for (int d = 0; d < sim.device_count; d++)
		for (struct CUstream_st *s = sim.device[d].streams; s; s = s->next)
			if (s->capture == capture)
				sim_capture_forget(s);
	for (struct sim_capture **link = &sim.captures; *link; link = &(*link)->next)
		if (*link == capture) {
			*link = capture->next;
			break;
		}
}

static cudaError_t end(struct CUstream_st *stream, struct CUgraph_st **out_graph)
{
	struct sim_capture *capture = stream->capture;
	cudaError_t error = cudaSuccess;

	*out_graph = NULL;
	if (!capture)
		return cudaErrorIllegalState;
	if (capture->mode != cudaStreamCaptureModeRelaxed &&
		!pthread_equal(capture->thread, pthread_self()))
		return cudaErrorStreamCaptureWrongThread;
	if (capture->origin != stream) {
		sim_capture_invalidate(capture);
		return cudaErrorStreamCaptureUnmatched;
	}
	if (capture->invalid)
		error = cudaErrorStreamCaptureInvalidated;
	else if (!joined(stream))
		error = cudaErrorStreamCaptureUnjoined;
	close_capture(capture);
	if (error == cudaSuccess)
		*out_graph = capture->graph;
	else if (!capture->borrowed)
		sim_graph_free(capture->graph);
	return error;
}

cudaError_t tfsim_capture_end(cudaStream_t handle, cudaGraph_t *out_graph)
{
	struct CUstream_st *stream;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if (!out_graph)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess)
		error = end(stream, out_graph);
	pthread_mutex_unlock(&sim.lock);
	return error;
}
