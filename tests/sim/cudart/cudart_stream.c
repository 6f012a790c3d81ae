/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	ENTER_TWIN(cudaStreamSynchronize_v3020, cudaStreamSynchronize_ptsz_v7000, stream);
	return LEAVE(tfsim_stream_synchronize(STREAM(stream)));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	ENTER_TWIN(cudaStreamQuery_v3020, cudaStreamQuery_ptsz_v7000, stream);
	return LEAVE(tfsim_stream_query(STREAM(stream)));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	ENTER_TWIN(cudaStreamWaitEvent_v3020, cudaStreamWaitEvent_ptsz_v7000, stream, event, flags);
	return LEAVE(tfsim_stream_wait(STREAM(stream), event, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	ENTER_TWIN(cudaEventRecord_v3020, cudaEventRecord_ptsz_v7000, event, stream);
	return LEAVE(tfsim_event_record(event, STREAM(stream), 0));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	ENTER_TWIN(cudaEventRecordWithFlags_v11010, cudaEventRecordWithFlags_ptsz_v11010, event,
		stream, flags);
	return LEAVE(tfsim_event_record(event, STREAM(stream), flags));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	ENTER_TWIN(cudaStreamGetFlags_v5050, cudaStreamGetFlags_ptsz_v7000, stream, flags);
	return LEAVE(flags ? tfsim_stream_flags(STREAM(stream), flags) : cudaErrorInvalidValue);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	ENTER_TWIN(cudaStreamGetPriority_v5050, cudaStreamGetPriority_ptsz_v7000, stream, priority);
	return LEAVE(
		priority ? tfsim_stream_priority(STREAM(stream), priority) : cudaErrorInvalidValue);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
	ENTER_TWIN(cudaStreamGetId_v12000, cudaStreamGetId_ptsz_v12000, stream, id);
	return LEAVE(id ? tfsim_stream_id(STREAM(stream), id) : cudaErrorInvalidValue);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
	unsigned flags;
	cudaError_t error =
		device ? tfsim_stream_flags(STREAM(stream), &flags) : cudaErrorInvalidValue;
	ENTER_TWIN(cudaStreamGetDevice_v12080, cudaStreamGetDevice_ptsz_v12080, stream, device);

	if (error == cudaSuccess)
		*device = tfsim_stream_device(STREAM(stream));
	return LEAVE(error);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t length, unsigned flags)
{
	struct tfsim_work work = {.kind = TFSIM_EMPTY};
	ENTER_TWIN(cudaStreamAttachMemAsync_v6000, cudaStreamAttachMemAsync_ptsz_v7000, stream, ptr,
		length, flags);

	return LEAVE(tfsim_memory_kind(ptr) == TFSIM_MANAGED ? tfsim_enqueue(STREAM(stream), &work)
							     : cudaErrorInvalidValue);
}

struct callback {
	cudaStreamCallback_t fn;
	cudaStream_t stream;
	void *data;
};

static void run_callback(void *args)
{
	struct callback *c = args;

	c->fn(c->stream, cudaSuccess, c->data);
}

cudaError_t cudaStreamAddCallback(
	cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
	struct callback c = {callback, stream, data};
	struct tfsim_work work = {
		.kind = TFSIM_HOST,
		.run = run_callback,
		.args = &c,
		.args_size = sizeof(c),
	};
	cudaError_t error = cudaErrorInvalidValue;
	ENTER_TWIN(cudaStreamAddCallback_v5000, cudaStreamAddCallback_ptsz_v7000, stream, callback,
		data, flags);

	if (callback && flags == 0)
		error = tfsim_stream_capturing(STREAM(stream))
				? tfsim_stream_synchronize(STREAM(stream))
				: tfsim_enqueue(STREAM(stream), &work);
	return LEAVE(error);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
	ENTER_TWIN(cudaLaunchHostFunc_v10000, cudaLaunchHostFunc_ptsz_v10000, stream, fn, data);
	return LEAVE(tfsim_stream_host(STREAM(stream), fn, data));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	ENTER_TWIN(cudaStreamBeginCapture_v10000, cudaStreamBeginCapture_ptsz_v10000, stream, mode);
	return LEAVE(tfsim_capture_begin(STREAM(stream), mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	ENTER_TWIN(cudaStreamEndCapture_v10000, cudaStreamEndCapture_ptsz_v10000, stream, graph);
	return LEAVE(tfsim_capture_end(STREAM(stream), graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	ENTER_TWIN(cudaStreamIsCapturing_v10000, cudaStreamIsCapturing_ptsz_v10000, stream, status);
	return LEAVE(tfsim_capture_status(STREAM(stream), status, NULL));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
	const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t count,
	enum cudaStreamCaptureMode mode)
{
	ENTER_TWIN(cudaStreamBeginCaptureToGraph_v12030, cudaStreamBeginCaptureToGraph_ptsz_v12030,
		stream, graph, dependencies, edges, count, mode);
	return LEAVE(tfsim_capture_begin_into(
		STREAM(stream), mode, graph, dependencies, (unsigned)count));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
	unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
	const cudaGraphEdgeData **edges, size_t *count)
{
	cudaError_t error;
	ENTER_TWIN(cudaStreamGetCaptureInfo_v12030, cudaStreamGetCaptureInfo_ptsz_v12030, stream,
		status, id, graph, dependencies, edges, count);

	error = tfsim_capture_status(STREAM(stream), status, id);
	if (error == cudaSuccess && *status == cudaStreamCaptureStatusActive)
		tfsim_capture_place(STREAM(stream), graph, dependencies, count);
	if (edges)
		*edges = NULL;
	return LEAVE(error);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
	const cudaGraphEdgeData *edges, size_t count, unsigned flags)
{
	ENTER_TWIN(cudaStreamUpdateCaptureDependencies_v12030,
		cudaStreamUpdateCaptureDependencies_ptsz_v12030, stream, dependencies, edges, count,
		flags);
	return LEAVE(flags > 1 ? cudaErrorInvalidValue
			       : tfsim_capture_depend(STREAM(stream), dependencies, (unsigned)count,
					 flags == 1));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	ENTER_TWIN(cudaGraphLaunch_v10000, cudaGraphLaunch_ptsz_v10000, exec, stream);
	return LEAVE(tfsim_graph_launch(exec, STREAM(stream)));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	struct tfsim_work work = {.kind = TFSIM_EMPTY};
	ENTER_TWIN(cudaGraphUpload_v10000, cudaGraphUpload_ptsz_v10000, exec, stream);

	return LEAVE(tfsim_enqueue(STREAM(stream), &work));
}

cudaError_t cudaGraphInstantiateWithParams(
	cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params)
{
	cudaError_t error = cudaErrorInvalidValue;
	ENTER_TWIN(cudaGraphInstantiateWithParams_v12000,
		cudaGraphInstantiateWithParams_ptsz_v12000, exec, graph, params);

	if (params)
		error = tfsim_graph_instantiate(exec, graph, params->flags);
	if (params)
		params->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess
							  : cudaGraphInstantiateError;
	return LEAVE(error);
}
