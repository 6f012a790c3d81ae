/* SPDX-License-Identifier: MIT */
#include "tests/sim/graph/core_graph.h"

/* Questions about captures, what they bar, and programs that steer one by hand. */

cudaError_t tfsim_capture_status(
	cudaStream_t handle, enum cudaStreamCaptureStatus *out_status, unsigned long long *out_id)
{
	struct CUstream_st *stream;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if (!out_status)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess && sim_capture_blocking(stream))
		error = cudaErrorStreamCaptureImplicit;
	if (error == cudaSuccess) {
		*out_status = !stream->capture           ? cudaStreamCaptureStatusNone
			      : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
							 : cudaStreamCaptureStatusActive;
		if (out_id && stream->capture)
			*out_id = stream->capture->id;
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaGraph_t tfsim_capture_graph(cudaStream_t handle)
{
	struct CUstream_st *stream;
	cudaGraph_t graph = NULL;

	pthread_mutex_lock(&sim.lock);
	if (sim_stream_resolve(handle, &stream) == cudaSuccess && stream->capture)
		graph = stream->capture->graph;
	pthread_mutex_unlock(&sim.lock);
	return graph;
}

bool tfsim_stream_capturing(cudaStream_t handle)
{
	struct CUstream_st *stream;
	bool capturing = false;

	if (sim_enter() != cudaSuccess)
		return false;
	pthread_mutex_lock(&sim.lock);
	if (sim_stream_resolve(handle, &stream) == cudaSuccess)
		capturing = stream->capture != NULL;
	pthread_mutex_unlock(&sim.lock);
	return capturing;
}

enum cudaStreamCaptureMode tfsim_capture_mode(enum cudaStreamCaptureMode mode)
{
	enum cudaStreamCaptureMode before = sim_self.capture_mode;

	sim_self.capture_mode = mode;
	return before;
}

/* Global: any Global capture of the process bars; otherwise only the thread's own ones. */
static bool barred(const struct sim_capture *capture)
{
	bool own = pthread_equal(capture->thread, pthread_self());

	if (capture->mode == cudaStreamCaptureModeRelaxed)
		return false;
	return own || (sim_self.capture_mode == cudaStreamCaptureModeGlobal &&
			      capture->mode == cudaStreamCaptureModeGlobal);
}

cudaError_t tfsim_capture_unsafe(void)
{
	cudaError_t error = cudaSuccess;

	if (sim_self.capture_mode == cudaStreamCaptureModeRelaxed ||
		sim_is_naive(SIM_NAIVE_CAPTURE))
		return cudaSuccess;
	pthread_mutex_lock(&sim.lock);
	for (struct sim_capture *c = sim.captures; c; c = c->next)
		if (barred(c)) {
			sim_capture_invalidate(c);
			error = cudaErrorStreamCaptureUnsupported;
		}
	pthread_mutex_unlock(&sim.lock);
	return error;
}

cudaError_t tfsim_capture_begin_into(cudaStream_t handle, enum cudaStreamCaptureMode mode,
	cudaGraph_t graph, const cudaGraphNode_t *deps, unsigned dep_count)
{
	struct CUstream_st *stream;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	error = sim_graph_known(graph) ? sim_stream_resolve(handle, &stream)
				       : cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = sim_capture_start(stream, mode, graph);
	if (error == cudaSuccess &&
		!sim_nodes_set(&stream->capture_tail, &stream->capture_tail_count, deps, dep_count))
		error = cudaErrorMemoryAllocation;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

void tfsim_capture_place(cudaStream_t handle, cudaGraph_t *out_graph,
	const cudaGraphNode_t **out_deps, size_t *out_count)
{
	struct CUstream_st *stream;

	pthread_mutex_lock(&sim.lock);
	if (sim_stream_resolve(handle, &stream) == cudaSuccess && stream->capture) {
		if (out_graph)
			*out_graph = stream->capture->graph;
		if (out_deps)
			*out_deps = stream->capture_tail;
		if (out_count)
			*out_count = stream->capture_tail_count;
	}
	pthread_mutex_unlock(&sim.lock);
}

cudaError_t tfsim_capture_depend(
	cudaStream_t handle, const cudaGraphNode_t *deps, unsigned dep_count, bool replace)
{
	struct CUstream_st *stream;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	error = sim_stream_resolve(handle, &stream);
	if (error == cudaSuccess && !stream->capture)
		error = cudaErrorIllegalState;
	if (error == cudaSuccess && replace) {
		stream->capture_tail_count = 0;
		error = sim_nodes_set(
				&stream->capture_tail, &stream->capture_tail_count, deps, dep_count)
				? cudaSuccess
				: cudaErrorMemoryAllocation;
	} else if (error == cudaSuccess) {
		struct CUevent_st event = {
			.capture_nodes = (struct CUgraphNode_st **)(uintptr_t)deps,
			.capture_node_count = dep_count,
		};

		error = sim_capture_join(stream, &event);
	}
	pthread_mutex_unlock(&sim.lock);
	return error;
}
