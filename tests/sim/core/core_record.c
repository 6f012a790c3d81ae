/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <cupti_runtime_cbid.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/sim/core/core_private.h"

static _Atomic(const struct tfsim_sink *) sink;
static atomic_bool runtime; /* was called */
static atomic_uint next_correlation = 1;
static __thread uint32_t thread_id;

void tfsim_sink_set(const struct tfsim_sink *listener)
{
	atomic_store(&sink, listener);
}

/* What the listener is told at the end of the call, when the thread holds no lock. */
static __thread struct {
	struct tfsim_fact *facts;
	unsigned count;
	bool later;
} untold;

static void tell(const struct tfsim_fact *fact)
{
	const struct tfsim_sink *listener = atomic_load(&sink);

	if (listener && listener->fact)
		listener->fact(fact);
}

static void emit(const struct tfsim_fact *fact)
{
	struct tfsim_fact *grown =
		untold.later && sim_self.api
			? realloc(untold.facts, (untold.count + 1) * sizeof(*grown))
			: NULL;

	if (!grown) {
		tell(fact);
		return;
	}
	untold.facts = grown;
	grown[untold.count++] = *fact;
}

static void tell_rest(void)
{
	for (unsigned i = 0; i < untold.count; i++)
		tell(&untold.facts[i]);
	free(untold.facts);
	untold.facts = NULL;
	untold.count = 0;
}

void sim_emit_later(bool later)
{
	untold.later = later;
}

static bool listening(void)
{
	return atomic_load_explicit(&sink, memory_order_relaxed) != NULL;
}

bool tfsim_runtime_called(void)
{
	return atomic_load(&runtime);
}

void tfsim_api_enter(struct tfsim_api *api, enum tfsim_domain domain, uint32_t cbid,
	const char *name, const void *params)
{
	const struct tfsim_sink *listener;

	if (domain == TFSIM_RUNTIME_API && !atomic_load_explicit(&runtime, memory_order_relaxed))
		atomic_store(&runtime, true);
	sim_inject();
	listener = atomic_load(&sink);
	*api = (struct tfsim_api){.domain = domain, .cbid = cbid, .name = name, .params = params};
	api->outer = sim_self.api;
	api->correlation =
		api->outer ? api->outer->correlation : atomic_fetch_add(&next_correlation, 1);
	sim_self.api = api;
	if (!api->outer)
		sim_call_enter();
	if (!listener)
		return;
	if (thread_id == 0)
		thread_id = (uint32_t)syscall(SYS_gettid);
	api->thread = thread_id;
	api->start_ns = tfsim_now_ns();
	if (listener->api_enter)
		listener->api_enter(api);
}

void tfsim_api_exit(struct tfsim_api *api, int result)
{
	const struct tfsim_sink *listener = atomic_load(&sink);

	if (!api->outer && untold.count)
		tell_rest();
	sim_self.api = api->outer;
	if (!api->outer)
		sim_call_leave();
	api->result = result;
	if (!listener || api->start_ns == 0)
		return;
	api->end_ns = tfsim_now_ns();
	if (listener->api_exit)
		listener->api_exit(api);
}

uint32_t sim_correlation(void)
{
	return sim_self.api ? sim_self.api->correlation : 0;
}

void sim_library_frame(struct tfsim_api *own, const struct tfsim_work *work)
{
	uint32_t cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
	const char *name = "cudaLaunchKernel";

	if (work->kind == TFSIM_MEMCPY) {
		cbid = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
		name = "cudaMemcpyAsync";
	} else if (work->kind == TFSIM_MEMSET) {
		cbid = CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020;
		name = "cudaMemsetAsync";
	} else if (work->kind == TFSIM_HOST) {
		cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchHostFunc_v10000;
		name = "cudaLaunchHostFunc";
	}
	tfsim_api_enter(own, TFSIM_RUNTIME_API, cbid, name, NULL);
}

static void place(struct tfsim_fact *fact, const struct CUstream_st *stream)
{
	fact->device = (uint32_t)stream->device;
	fact->context = fact->device + 1;
	fact->stream = (uint32_t)stream->id;
}

static uint8_t direction(const struct tfsim_work *work)
{
	bool from = work->src == TFSIM_DEVICE || work->src == TFSIM_MANAGED;
	bool to = work->dst == TFSIM_DEVICE || work->dst == TFSIM_MANAGED;

	return from && to ? work->peer ? 10 : 8 : from ? 2 : to ? 1 : 9;
}

/* False for kinds that have no record. */
static bool fact_kind(enum tfsim_kind kind, enum tfsim_fact_kind *out_kind)
{
	switch (kind) {
	case TFSIM_KERNEL:
		*out_kind = TFSIM_FACT_KERNEL;
		return true;
	case TFSIM_MEMCPY:
		*out_kind = TFSIM_FACT_MEMCPY;
		return true;
	case TFSIM_MEMSET:
		*out_kind = TFSIM_FACT_MEMSET;
		return true;
	case TFSIM_GRAPH:
		*out_kind = TFSIM_FACT_GRAPH;
		return true;
	case TFSIM_RECORD:
		*out_kind = TFSIM_FACT_EVENT;
		return true;
	case TFSIM_WAIT:
		*out_kind = TFSIM_FACT_SYNC;
		return true;
	default:
		return false;
	}
}

void sim_emit_op(const struct sim_op *op, const struct tfsim_work *work, uint64_t start_ns,
	uint64_t end_ns, uint64_t node)
{
	struct tfsim_fact fact = {.correlation = op->correlation};

	if (!listening() || !fact_kind(work->kind, &fact.kind))
		return;
	place(&fact, op->stream);
	fact.start_ns = start_ns;
	fact.end_ns = end_ns;
	fact.modelled_start_ns = op->model_start_ns;
	fact.modelled_end_ns = op->model_end_ns;
	fact.queued_ns = op->submit_ns;
	fact.submitted_ns = op->submit_ns;
	fact.name = work->name;
	fact.grid = work->grid;
	fact.block = work->block;
	fact.shared_bytes = work->shared_bytes;
	fact.static_shared = work->static_shared;
	fact.bytes = work->bytes;
	fact.value = work->value;
	fact.copy_kind = direction(work);
	fact.src = (uint8_t)work->src;
	fact.dst = (uint8_t)work->dst;
	fact.async = !work->synchronous;
	fact.graph = op->graph_id;
	fact.graph_node = node;
	if (work->kind == TFSIM_WAIT)
		fact.sync_type = 2;
	if (work->kind == TFSIM_WAIT || work->kind == TFSIM_RECORD)
		fact.event = work->value;
	emit(&fact);
}

void sim_emit_sync(int type, uint64_t start_ns, int device, const struct CUstream_st *stream,
	uint32_t event, int result)
{
	struct tfsim_fact fact = {
		.kind = TFSIM_FACT_SYNC,
		.correlation = sim_correlation(),
		.start_ns = start_ns,
		.sync_type = (uint8_t)type,
		.event = event,
		.result = result,
		.device = (uint32_t)device,
		.context = (uint32_t)device + 1,
	};

	if (!listening())
		return;
	if (stream)
		place(&fact, stream);
	fact.end_ns = tfsim_now_ns();
	emit(&fact);
}

void sim_emit_memory(int operation, const struct tfsim_range *range)
{
	struct tfsim_fact fact = {
		.kind = TFSIM_FACT_MEMORY,
		.correlation = sim_correlation(),
		.memory_operation = (uint8_t)operation,
		.bytes = range->size,
		.address = (uintptr_t)range->base,
		.dst = (uint8_t)range->kind,
		.async = range->from_pool,
		.device = (uint32_t)range->device,
		.context = (uint32_t)range->device + 1,
	};

	if (!listening())
		return;
	fact.start_ns = tfsim_now_ns();
	fact.end_ns = fact.start_ns;
	emit(&fact);
}

void sim_emit_stream(const struct CUstream_st *stream)
{
	struct tfsim_fact fact = {
		.kind = TFSIM_FACT_STREAM,
		.stream_priority = stream->priority,
		.stream_flag = stream->legacy                          ? 3
			       : stream->flags & cudaStreamNonBlocking ? 2
								       : 1,
	};

	if (!listening())
		return;
	place(&fact, stream);
	emit(&fact);
}

void tfsim_sink_dump(void)
{
	if (sim_enter() == cudaErrorNoDevice || !listening())
		return;
	pthread_mutex_lock(&sim.lock);
	for (int i = 0; i < sim.device_count; i++) {
		struct tfsim_fact fact = {
			.kind = TFSIM_FACT_CONTEXT,
			.device = (uint32_t)i,
			.context = (uint32_t)i + 1,
		};

		if (sim.device[i].begun || sim.device[i].used)
			emit(&fact);
		for (struct CUstream_st *s = sim.device[i].streams; s; s = s->next)
			sim_emit_stream(s);
	}
	pthread_mutex_unlock(&sim.lock);
}
