/* SPDX-License-Identifier: MIT */
#include "cupti/decode.h"

#include "cupti/links.h"

/* CUPTI versions, as cuptiGetVersion counts them. */
#define VERSION_12_2 20u

/* The largest flags we write in a device_op record. */
#define OP_ASYNC 1u
#define OP_IN_GRAPH 2u
#define OP_SHARES 4u

#define COPY_PEER 10u

/*
 * The fields that every version from 11.8 on has at the same place: prefixes of the structs in
 * cupti_activity.h, as far as we read them.
 */
struct kernel_prefix {
	uint32_t kind, before_start[3];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint32_t launch, shared_executed;
	uint64_t graph_node;
};

struct copy_prefix {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
};

struct peer_prefix {
	uint32_t kind;
	uint8_t copy_kind, source_kind, target_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context, correlation;
	void *reserved;
	uint64_t graph_node;
};

struct set_prefix {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
};

struct graph_prefix {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct sync_prefix {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

struct external_prefix {
	uint32_t kind, external_kind;
	uint64_t id;
	uint32_t correlation, reserved;
};

struct api_prefix {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct memory_prefix {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t process, device;
};

struct overhead_prefix {
	uint32_t kind, overhead_kind, object_kind, object[3];
	uint64_t start, end;
};

/* 12.2 and later go on with: */
struct overhead_12_2 {
	struct overhead_prefix common;
	uint32_t correlation, reserved;
};

#define SAME_PLACE(ours, field, theirs, member)                                                    \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, member), #member)
SAME_PLACE(kernel_prefix, start, CUpti_ActivityKernel10, start);
SAME_PLACE(kernel_prefix, stream, CUpti_ActivityKernel10, streamId);
SAME_PLACE(kernel_prefix, block, CUpti_ActivityKernel10, blockX);
SAME_PLACE(kernel_prefix, static_shared, CUpti_ActivityKernel10, staticSharedMemory);
SAME_PLACE(kernel_prefix, correlation, CUpti_ActivityKernel10, correlationId);
SAME_PLACE(kernel_prefix, name, CUpti_ActivityKernel10, name);
SAME_PLACE(kernel_prefix, graph_node, CUpti_ActivityKernel10, graphNodeId);
SAME_PLACE(copy_prefix, correlation, CUpti_ActivityMemcpy6, correlationId);
SAME_PLACE(copy_prefix, graph_node, CUpti_ActivityMemcpy6, graphNodeId);
SAME_PLACE(peer_prefix, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME_PLACE(peer_prefix, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
SAME_PLACE(set_prefix, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME_PLACE(set_prefix, graph_node, CUpti_ActivityMemset4, graphNodeId);
SAME_PLACE(graph_prefix, stream, CUpti_ActivityGraphTrace2, streamId);
SAME_PLACE(sync_prefix, event, CUpti_ActivitySynchronization2, cudaEventId);
SAME_PLACE(external_prefix, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SAME_PLACE(api_prefix, result, CUpti_ActivityAPI, returnValue);
SAME_PLACE(memory_prefix, address, CUpti_ActivityMemory4, address);
SAME_PLACE(memory_prefix, device, CUpti_ActivityMemory4, deviceId);
SAME_PLACE(overhead_prefix, start, CUpti_ActivityOverhead3, start);
SAME_PLACE(overhead_12_2, correlation, CUpti_ActivityOverhead3, correlationId);

static uint64_t time_of(const struct tfs_decoder *decoder, uint64_t ns)
{
	return ns != 0 ? ns + (uint64_t)decoder->offset_ns : 0;
}

static uint16_t flags_of(bool async, uint64_t graph_node)
{
	return (uint16_t)((async ? OP_ASYNC : 0) | (graph_node != 0 ? OP_IN_GRAPH : 0));
}

static void decode_kernel(const struct tfs_decoder *decoder, const void *activity)
{
	const struct kernel_prefix *kernel = activity;
	struct tfs_device_op_record op = {
		.operation = TFS_DEVICE_KERNEL,
		.start_ns = time_of(decoder, kernel->start),
		.end_ns = time_of(decoder, kernel->end),
		.correlation = kernel->correlation,
		.stream = kernel->stream,
		.device = (uint16_t)kernel->device,
		.flags = flags_of(true, kernel->graph_node),
	};

	if (kernel->static_shared != 0 || kernel->dynamic_shared != 0)
		op.flags |= OP_SHARES;
	if (kernel->name)
		op.kernel = decoder->kernel(kernel->name);
	for (int i = 0; i < 3; i++) {
		op.grid[i] = (uint32_t)kernel->grid[i];
		op.block[i] = (uint16_t)kernel->block[i];
	}
	decoder->put(&op, TFS_RECORD_device_op, sizeof(op));
}

static void decode_copy(const struct tfs_decoder *decoder, const void *activity)
{
	const struct copy_prefix *copy = activity;
	const struct tfs_device_op_record op = {
		.operation = TFS_DEVICE_MEMCPY,
		.copy_kind = copy->copy_kind,
		.start_ns = time_of(decoder, copy->start),
		.end_ns = time_of(decoder, copy->end),
		.bytes = copy->bytes,
		.correlation = copy->correlation,
		.stream = copy->stream,
		.device = (uint16_t)copy->device,
		.source_kind = copy->source_kind,
		.target_kind = copy->target_kind,
		.flags = flags_of((copy->flags & 1) != 0, copy->graph_node),
	};

	decoder->put(&op, TFS_RECORD_device_op, sizeof(op));
}

static void decode_peer(const struct tfs_decoder *decoder, const void *activity)
{
	const struct peer_prefix *copy = activity;
	const struct tfs_device_op_record op = {
		.operation = TFS_DEVICE_MEMCPY,
		.copy_kind = COPY_PEER,
		.start_ns = time_of(decoder, copy->start),
		.end_ns = time_of(decoder, copy->end),
		.bytes = copy->bytes,
		.correlation = copy->correlation,
		.stream = copy->stream,
		.device = (uint16_t)copy->device,
		.source_kind = copy->source_kind,
		.target_kind = copy->target_kind,
		.flags = flags_of((copy->flags & 1) != 0, copy->graph_node),
	};

	decoder->put(&op, TFS_RECORD_device_op, sizeof(op));
}

static void decode_set(const struct tfs_decoder *decoder, const void *activity)
{
	const struct set_prefix *set = activity;
	const struct tfs_device_op_record op = {
		.operation = TFS_DEVICE_MEMSET,
		.start_ns = time_of(decoder, set->start),
		.end_ns = time_of(decoder, set->end),
		.bytes = set->bytes,
		.correlation = set->correlation,
		.stream = set->stream,
		.device = (uint16_t)set->device,
		.target_kind = (uint8_t)set->memory_kind,
		.flags = flags_of((set->flags & 1) != 0, set->graph_node),
	};

	decoder->put(&op, TFS_RECORD_device_op, sizeof(op));
}

static void decode_graph(const struct tfs_decoder *decoder, const void *activity)
{
	const struct graph_prefix *graph = activity;
	const struct tfs_device_op_record op = {
		.operation = TFS_DEVICE_GRAPH,
		.start_ns = time_of(decoder, graph->start),
		.end_ns = time_of(decoder, graph->end),
		.correlation = graph->correlation,
		.stream = graph->stream,
		.device = (uint16_t)graph->device,
		.flags = OP_ASYNC,
	};

	decoder->put(&op, TFS_RECORD_device_op, sizeof(op));
}

static void decode_sync(const struct tfs_decoder *decoder, const void *activity)
{
	const struct sync_prefix *sync = activity;
	const struct tfs_device_sync_record record = {
		.type = (uint16_t)sync->type,
		.correlation = sync->correlation,
		.start_ns = time_of(decoder, sync->start),
		.end_ns = time_of(decoder, sync->end),
		.stream = sync->stream,
		.event = sync->event,
	};

	decoder->put(&record, TFS_RECORD_device_sync, sizeof(record));
}

/* Of several kinds of id, ours is the one the collector pushes; 0 says that the call has none. */
static void decode_external(
	const struct tfs_decoder *decoder, const void *activity, struct tfs_links *links)
{
	const struct external_prefix *external = activity;
	const struct tfs_link_record record = {
		.call_unit = external->id, .correlation = external->correlation};

	if (external->external_kind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 || external->id == 0)
		return;
	tfs_links_add(links, &record, decoder);
}

static void decode_api(
	const struct tfs_decoder *decoder, const void *activity, struct tfs_links *links)
{
	const struct api_prefix *api = activity;
	const uint64_t duration = api->end > api->start ? api->end - api->start : 0;
	const struct tfs_device_api_record record = {
		.cbid = (uint16_t)api->cbid,
		.correlation = api->correlation,
		.start_ns = time_of(decoder, api->start),
		.duration_ns = duration < UINT32_MAX ? (uint32_t)duration : UINT32_MAX,
		.tid = api->thread,
		.domain = api->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? TFS_LIBRARY_cudart
								   : TFS_LIBRARY_cuda,
		.status = api->result,
	};

	struct tfs_link_record link;
	const bool linked = tfs_links_take(links, record.correlation, &link);

	if (decoder->keeps && !decoder->keeps(api->cbid, record.domain == TFS_LIBRARY_cuda))
		return;
	if (linked)
		decoder->put(&link, TFS_RECORD_link, sizeof(link));
	decoder->put(&record, TFS_RECORD_device_api, sizeof(record));
}

/* CUPTI has a kind for each thing that is in a module; the first ones are those of its copies. */
static void decode_memory(const struct tfs_decoder *decoder, const void *activity)
{
	const struct memory_prefix *memory = activity;
	const struct tfs_device_memory_record record = {
		.operation = (uint16_t)memory->operation,
		.correlation = memory->correlation,
		.address = memory->address,
		.bytes = memory->bytes,
		.memory = memory->memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED
				  ? TFS_MEMORY_MANAGED
			  : memory->memory_kind <= TFS_MEMORY_DEVICE ? memory->memory_kind
								     : TFS_MEMORY_UNKNOWN,
		.device = memory->device,
	};

	decoder->put(&record, TFS_RECORD_device_memory, sizeof(record));
}

static void decode_overhead(const struct tfs_decoder *decoder, const void *activity)
{
	const struct overhead_prefix *overhead = activity;
	struct tfs_overhead_record record = {
		.kind = (uint16_t)(overhead->overhead_kind >> 16),
		.start_ns = time_of(decoder, overhead->start),
		.end_ns = time_of(decoder, overhead->end),
	};

	if (decoder->version >= VERSION_12_2)
		record.correlation = ((const struct overhead_12_2 *)activity)->correlation;
	decoder->put(&record, TFS_RECORD_overhead, sizeof(record));
}

static const struct {
	size_t bytes; /* that must be there */
	size_t end;   /* where the time of its end is; 0 = it has none that matters */
	void (*decode)(const struct tfs_decoder *decoder, const void *activity);
	void (*decode_linked)(
		const struct tfs_decoder *decoder, const void *activity, struct tfs_links *links);
} kinds[] = {
#define KIND(prefix, field) .bytes = sizeof(struct prefix), .end = offsetof(struct prefix, field)
	[CUPTI_ACTIVITY_KIND_MEMCPY] = {KIND(copy_prefix, end), .decode = decode_copy},
	[CUPTI_ACTIVITY_KIND_MEMSET] = {KIND(set_prefix, end), .decode = decode_set},
	[CUPTI_ACTIVITY_KIND_KERNEL] = {KIND(kernel_prefix, end), .decode = decode_kernel},
	[CUPTI_ACTIVITY_KIND_DRIVER] = {KIND(api_prefix, end), .decode_linked = decode_api},
	[CUPTI_ACTIVITY_KIND_RUNTIME] = {KIND(api_prefix, end), .decode_linked = decode_api},
	[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = {KIND(kernel_prefix, end),
		.decode = decode_kernel},
	[CUPTI_ACTIVITY_KIND_OVERHEAD] = {.bytes = sizeof(struct overhead_prefix),
		.decode = decode_overhead},
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = {KIND(peer_prefix, end), .decode = decode_peer},
	[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = {KIND(sync_prefix, end), .decode = decode_sync},
	[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] = {.bytes = sizeof(struct external_prefix),
		.decode_linked = decode_external},
	[CUPTI_ACTIVITY_KIND_MEMORY2] = {KIND(memory_prefix, timestamp), .decode = decode_memory},
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = {KIND(graph_prefix, end), .decode = decode_graph},
#undef KIND
};

/* An end that was lost may lie anywhere. */
static bool is_early(const struct tfs_decoder *decoder, const CUpti_Activity *activity, size_t end)
{
	uint64_t ns = 0;

	if (end != 0)
		memcpy(&ns, (const uint8_t *)activity + end, sizeof(ns));
	return ns != 0 &&
	       time_of(decoder, ns) < __atomic_load_n(&decoder->from_ns, __ATOMIC_RELAXED);
}

void tfs_cupti_decode(const struct tfs_decoder *decoder, uint8_t *buffer, size_t valid)
{
	CUpti_Activity *activity = NULL;
	struct tfs_links links = {.count = 0};
	CUptiResult status;

	while ((status = decoder->next(buffer, valid, &activity)) == CUPTI_SUCCESS) {
		const uint32_t kind = (uint32_t)activity->kind;
		const size_t left = valid - (size_t)((uint8_t *)activity - buffer);
		const bool known = kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].bytes &&
				   left >= kinds[kind].bytes;

		if (known && is_early(decoder, activity, kinds[kind].end))
			continue;
		if (known && kinds[kind].decode)
			kinds[kind].decode(decoder, activity);
		else if (known)
			kinds[kind].decode_linked(decoder, activity, &links);
		else
			decoder->lost(TFS_LOSS_cupti_unknown, 1);
	}
	/* Of calls that are in another buffer. */
	tfs_links_put(&links, decoder);
	/* It cannot say how many more there were. */
	if (status != CUPTI_ERROR_MAX_LIMIT_REACHED)
		decoder->lost(TFS_LOSS_cupti_unknown, 1);
}
