/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

/* Owned by the work: it may run when the program has destroyed its descriptors. */
struct launch {
	struct tfs_opgraph *graph;
	const struct tfs_engine *engine;
	char *workspace;
	size_t workspace_bytes;
	void **pointers;
	uint64_t *scalars;
};

static void run(void *args)
{
	const struct launch *l = args;
	struct tfs_exec x = {.graph = l->graph,
		.engine = l->engine,
		.kept = l->workspace,
		.workspace = l->workspace + l->graph->kept_bytes,
		.pointers = l->pointers,
		.scalars = l->scalars};

	if (l->workspace_bytes)
		tfsim_scribble(l->workspace, l->workspace_bytes);
	if (tfs_exec_run(&x))
		tfsim_skipped(l->engine->name);
}

static void drop(void *args)
{
	struct launch *l = args;

	tfs_opgraph_unref(l->graph);
	free(l->pointers);
	free(l->scalars);
}

static cudnnStatus_t find_pointers(struct launch *l, const struct tfs_backend *pack)
{
	const struct tfs_value *ids = tfs_backend_value(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
	const struct tfs_value *data =
		tfs_backend_value(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);

	for (int64_t i = 0; ids && i < ids->count; i++) {
		int slot = tfs_opgraph_slot(l->graph, ((const int64_t *)ids->data)[i]);

		if (slot >= 0)
			l->pointers[slot] = ((void *const *)data->data)[i];
	}
	for (int i = 0; i < l->graph->slot_count; i++) {
		const struct tfs_slot *s = &l->graph->slots[i];

		if (s->is_virtual)
			continue;
		if (!l->pointers[i])
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
				"the variant pack has no pointer for a tensor of the graph");
		if (s->by_value)
			memcpy(&l->scalars[i], l->pointers[i], tfs_dnn_type_size(s->type));
	}
	return CUDNN_STATUS_SUCCESS;
}

/* The real library cannot know a workspace's size; this one looks where the memory ends. */
static cudnnStatus_t check_workspace(const struct launch *l)
{
	struct tfsim_range range;

	if (!l->workspace_bytes)
		return CUDNN_STATUS_SUCCESS;
	if (!l->workspace)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "workspace is NULL");
	if (tfsim_memory_find(l->workspace, &range) &&
		(size_t)((char *)range.base + range.size - l->workspace) < l->workspace_bytes)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "workspace");
	return CUDNN_STATUS_SUCCESS;
}

/* Modelled time of a plan in final nanoseconds. */
static uint64_t plan_cost(const struct launch *l, const struct tfs_backend *config)
{
	const struct tfs_backend *knob =
		tfs_backend_child(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
	int64_t tile = knob ? tfs_backend_int(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0) : 0;
	double slower = l->engine->slower > 0.0 ? l->engine->slower : 1.0;
	const struct tfs_dnn_work work = {.bytes = l->graph->bytes + 2 * l->workspace_bytes,
		.flops = l->graph->flops,
		/* As the engines' names and notes say. */
		.math = l->graph->half    ? TFSIM_HALF
			: l->engine->tf32 ? TFSIM_TENSOR
					  : TFSIM_SINGLE,
		.slower = slower * (tile ? 1.1 : 1.0)};

	return tfs_dnn_cost(&work);
}

/* Outputs before inputs: a list may end early. */
static void fill_spans(const struct launch *l, struct tfsim_work *w)
{
	int n = 0;

	if (l->workspace_bytes)
		w->spans[n++] = (struct tfsim_span){l->workspace, l->workspace_bytes, true};
	for (int written = 1; written >= 0; written--)
		for (int i = 0; i < l->graph->slot_count && n < TFSIM_SPANS; i++) {
			const struct tfs_slot *s = &l->graph->slots[i];

			if (s->is_virtual || s->by_value || (s->maker >= 0) != written)
				continue;
			w->spans[n++] = (struct tfsim_span){l->pointers[i],
				tfs_view_span(&s->view) * tfs_dnn_type_size(s->type), written};
		}
}

static cudnnStatus_t submit(
	cudnnHandle_t handle, struct launch *l, const struct tfs_backend *config)
{
	struct tfsim_work w = {.kind = TFSIM_KERNEL,
		.name = l->engine->name,
		.run = run,
		.args = l,
		.args_size = sizeof(*l),
		.drop = drop,
		.block = {256, 1, 1},
		.grid = {(unsigned)(l->graph->bytes / 1024 + 1), 1, 1}};

	w.shared_bytes =
		(uint32_t)tfs_backend_int(config, CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, 0);
	w.cost_ns = plan_cost(l, config);
	fill_spans(l, &w);
	if (tfsim_enqueue(handle->stream, &w))
		return tfs_dnn_fail(CUDNN_STATUS_EXECUTION_FAILED, "the device refused the work");
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_descriptors(
	const struct tfs_backend *plan, const struct tfs_backend *pack)
{
	if (!plan || !pack)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "descriptor is NULL");
	if (plan->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
		pack->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a plan and a variant pack");
	if (!plan->finalized || !pack->finalized)
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a descriptor is not finalized");
	return CUDNN_STATUS_SUCCESS;
}

TFS_DNN_API cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
	cudnnBackendDescriptor_t executionPlan, cudnnBackendDescriptor_t variantPack)
{
	const struct tfs_backend *plan = executionPlan, *pack = variantPack, *config, *engine;
	struct launch l = {0};
	const struct tfs_value *workspace;
	cudnnStatus_t rc = check_descriptors(plan, pack);
	int count;

	if (rc)
		return rc;
	if (!handle)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "handle is NULL");
	config = tfs_backend_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	engine = tfs_backend_child(config, CUDNN_ATTR_ENGINECFG_ENGINE);
	l.graph = tfs_opgraph_ref(
		tfs_backend_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH)->graph);
	l.engine = &tfs_engines(
		l.graph, &count)[tfs_backend_int(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0)];
	l.workspace_bytes =
		(size_t)tfs_backend_int(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 0);
	workspace = tfs_backend_value(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
	l.workspace = workspace ? *(char **)workspace->data : NULL;
	l.pointers = calloc((size_t)l.graph->slot_count, sizeof(*l.pointers));
	l.scalars = calloc((size_t)l.graph->slot_count, sizeof(*l.scalars));
	if (!l.pointers || !l.scalars)
		rc = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	if (!rc)
		rc = find_pointers(&l, pack);
	if (!rc)
		rc = check_workspace(&l);
	if (rc) {
		drop(&l);
		return rc;
	}
	return submit(handle, &l, config);
}
