/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "tests/sim/cupti/cupti_private.h"

void cupti_record_api(const struct tfsim_api *api)
{
	CUpti_ActivityAPI record = {.kind = api->domain == TFSIM_RUNTIME_API
						    ? CUPTI_ACTIVITY_KIND_RUNTIME
						    : CUPTI_ACTIVITY_KIND_DRIVER,
		.cbid = api->cbid,
		.processId = (uint32_t)getpid(),
		.correlationId = api->correlation,
		.returnValue = (uint32_t)api->result};

	if (!cupti_api_enabled(api->domain, api->cbid))
		return;
	cupti_correlation_append(api->correlation);
	record.threadId = cupti_thread(api->thread);
	record.start = cupti_time(api->start_ns);
	record.end = cupti_time(api->end_ns);
	cupti_append(CUPTI_SLOT_THREAD, &record, sizeof(record), 0);
}

static bool submitted_in(CUpti_ActivityKind kind, const struct tfsim_fact *fact)
{
	return cupti_enabled_for(kind, fact->submitted_ns);
}

static void record_kernel(const struct tfsim_fact *fact)
{
	CUpti_ActivityKernel10 record = {
		.kind = submitted_in(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, fact)
				? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
				: CUPTI_ACTIVITY_KIND_KERNEL,
		.registersPerThread = 32,
		.start = cupti_time(fact->start_ns),
		.end = cupti_time(fact->end_ns),
		.deviceId = fact->device,
		.contextId = fact->context,
		.streamId = fact->stream,
		.gridX = (int32_t)fact->grid.x,
		.gridY = (int32_t)fact->grid.y,
		.gridZ = (int32_t)fact->grid.z,
		.blockX = (int32_t)fact->block.x,
		.blockY = (int32_t)fact->block.y,
		.blockZ = (int32_t)fact->block.z,
		.staticSharedMemory = (int32_t)fact->static_shared,
		.dynamicSharedMemory = (int32_t)fact->shared_bytes,
		.correlationId = fact->correlation,
		.gridId = fact->correlation,
		.name = fact->name,
		.graphNodeId = fact->graph_node,
		.graphId = fact->graph,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE};

	if (!submitted_in(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, fact) &&
		!submitted_in(CUPTI_ACTIVITY_KIND_KERNEL, fact))
		return;
	record.completed = record.end;
	cupti_append(CUPTI_SLOT_DEVICE, &record, sizeof(record), fact->end_ns);
}

static void record_peer_copy(const struct tfsim_fact *fact)
{
	CUpti_ActivityMemcpyPtoP4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = fact->copy_kind,
		.srcKind = fact->src,
		.dstKind = fact->dst,
		.flags = fact->async,
		.bytes = fact->bytes,
		.start = cupti_time(fact->start_ns),
		.end = cupti_time(fact->end_ns),
		.deviceId = fact->device,
		.contextId = fact->context,
		.streamId = fact->stream,
		.srcDeviceId = fact->peer_device,
		.srcContextId = fact->peer_device + 1,
		.dstDeviceId = fact->device,
		.dstContextId = fact->context,
		.correlationId = fact->correlation,
		.graphNodeId = fact->graph_node,
		.graphId = fact->graph,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY};

	if (submitted_in(CUPTI_ACTIVITY_KIND_MEMCPY2, fact))
		cupti_append(CUPTI_SLOT_DEVICE, &record, sizeof(record), fact->end_ns);
}

static void record_copy(const struct tfsim_fact *fact)
{
	CUpti_ActivityMemcpy6 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = fact->copy_kind,
		.srcKind = fact->src,
		.dstKind = fact->dst,
		.flags = fact->async,
		.bytes = fact->bytes,
		.start = cupti_time(fact->start_ns),
		.end = cupti_time(fact->end_ns),
		.deviceId = fact->device,
		.contextId = fact->context,
		.streamId = fact->stream,
		.correlationId = fact->correlation,
		.runtimeCorrelationId = fact->correlation,
		.graphNodeId = fact->graph_node,
		.graphId = fact->graph,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		.copyCount = 1};

	if (fact->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
		record_peer_copy(fact);
	else if (submitted_in(CUPTI_ACTIVITY_KIND_MEMCPY, fact))
		cupti_append(CUPTI_SLOT_DEVICE, &record, sizeof(record), fact->end_ns);
}

static void record_set(const struct tfsim_fact *fact)
{
	CUpti_ActivityMemset4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = fact->value,
		.bytes = fact->bytes,
		.start = cupti_time(fact->start_ns),
		.end = cupti_time(fact->end_ns),
		.deviceId = fact->device,
		.contextId = fact->context,
		.streamId = fact->stream,
		.correlationId = fact->correlation,
		.flags = fact->async,
		.memoryKind = fact->dst,
		.graphNodeId = fact->graph_node,
		.graphId = fact->graph,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE};

	if (submitted_in(CUPTI_ACTIVITY_KIND_MEMSET, fact))
		cupti_append(CUPTI_SLOT_DEVICE, &record, sizeof(record), fact->end_ns);
}

/* A stream's wait for an event is a device fact, its record made when the wait was over. */
static void record_sync(const struct tfsim_fact *fact)
{
	CUpti_ActivitySynchronization2 record = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = (CUpti_ActivitySynchronizationType)fact->sync_type,
		.start = cupti_time(fact->start_ns),
		.end = cupti_time(fact->end_ns),
		.correlationId = fact->correlation,
		.contextId = fact->context,
		.streamId = fact->stream ? fact->stream : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.cudaEventId = fact->event ? fact->event : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.cudaEventSyncId = fact->event,
		.returnValue = (uint32_t)fact->result};
	bool on_device = fact->sync_type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;

	if (!cupti_enabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION))
		return;
	if (fact->result == cudaErrorNotReady && !cupti_all_sync_records())
		return;
	cupti_append(on_device ? CUPTI_SLOT_DEVICE : CUPTI_SLOT_THREAD, &record, sizeof(record),
		on_device ? fact->end_ns : 0);
}

static void record_event(const struct tfsim_fact *fact)
{
	CUpti_ActivityCudaEvent2 record = {.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		.correlationId = fact->correlation,
		.contextId = fact->context,
		.streamId = fact->stream,
		.eventId = fact->event,
		.deviceId = fact->device,
		.cudaEventSyncId = fact->event};

	if (submitted_in(CUPTI_ACTIVITY_KIND_CUDA_EVENT, fact))
		cupti_append(CUPTI_SLOT_DEVICE, &record, sizeof(record), fact->end_ns);
}

static void record_memory(const struct tfsim_fact *fact)
{
	CUpti_ActivityMemory4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = (CUpti_ActivityMemoryOperationType)fact->memory_operation,
		.memoryKind = (CUpti_ActivityMemoryKind)fact->dst,
		.correlationId = fact->correlation,
		.address = fact->address,
		.bytes = fact->bytes,
		.timestamp = cupti_time(fact->start_ns),
		.processId = (uint32_t)getpid(),
		.deviceId = fact->device,
		.contextId = fact->context,
		.streamId = fact->stream,
		.isAsync = fact->async};

	if (cupti_enabled(CUPTI_ACTIVITY_KIND_MEMORY2))
		cupti_append(CUPTI_SLOT_THREAD, &record, sizeof(record), 0);
}

static void record_stream(const struct tfsim_fact *fact)
{
	CUpti_ActivityStream record = {.kind = CUPTI_ACTIVITY_KIND_STREAM,
		.contextId = fact->context,
		.streamId = fact->stream,
		.priority = (uint32_t)fact->stream_priority,
		.flag = (CUpti_ActivityStreamFlag)fact->stream_flag,
		.correlationId = fact->correlation};

	if (cupti_enabled(CUPTI_ACTIVITY_KIND_STREAM))
		cupti_append(CUPTI_SLOT_THREAD, &record, sizeof(record), 0);
}

static void record_context(const struct tfsim_fact *fact)
{
	CUpti_ActivityContext3 record = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = fact->context,
		.deviceId = fact->device,
		.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA};

	if (cupti_enabled(CUPTI_ACTIVITY_KIND_CONTEXT))
		cupti_append(CUPTI_SLOT_THREAD, &record, sizeof(record), 0);
}

static void record_graph(const struct tfsim_fact *fact)
{
	CUpti_ActivityGraphTrace2 record = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		.correlationId = fact->correlation,
		.start = cupti_time(fact->start_ns),
		.end = cupti_time(fact->end_ns),
		.deviceId = fact->device,
		.graphId = fact->graph,
		.contextId = fact->context,
		.streamId = fact->stream,
		.endDeviceId = fact->device,
		.endContextId = fact->context};

	if (submitted_in(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, fact))
		cupti_append(CUPTI_SLOT_DEVICE, &record, sizeof(record), fact->end_ns);
}

bool cupti_record_overhead(
	CUpti_ActivityOverheadKind kind, uint64_t start_ns, CUpti_ActivityOverhead3 *out_record)
{
	if (!cupti_enabled(CUPTI_ACTIVITY_KIND_OVERHEAD))
		return false;
	*out_record = (CUpti_ActivityOverhead3){.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.overheadKind = kind,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
		.start = cupti_time(start_ns),
		.end = cupti_time(tfsim_now_ns())};
	out_record->objectId.pt.processId = (uint32_t)getpid();
	out_record->objectId.pt.threadId = cupti_thread((uint32_t)gettid());
	return true;
}

void cupti_record_fact(const struct tfsim_fact *fact)
{
	static void (*const writers[])(const struct tfsim_fact *) = {
		[TFSIM_FACT_KERNEL] = record_kernel,
		[TFSIM_FACT_MEMCPY] = record_copy,
		[TFSIM_FACT_MEMSET] = record_set,
		[TFSIM_FACT_SYNC] = record_sync,
		[TFSIM_FACT_EVENT] = record_event,
		[TFSIM_FACT_MEMORY] = record_memory,
		[TFSIM_FACT_STREAM] = record_stream,
		[TFSIM_FACT_GRAPH] = record_graph,
		[TFSIM_FACT_CONTEXT] = record_context,
	};

	/* Whole graphs instead of their nodes, when the client asked for that. */
	if (fact->graph_node && submitted_in(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, fact))
		return;
	if ((unsigned)fact->kind < sizeof(writers) / sizeof(writers[0]))
		writers[fact->kind](fact);
}
