/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

#include <stdlib.h>

struct tfs_opgraph *tfs_opgraph_ref(struct tfs_opgraph *graph)
{
	if (graph)
		atomic_fetch_add(&graph->refs, 1);
	return graph;
}

void tfs_opgraph_unref(struct tfs_opgraph *graph)
{
	if (!graph || atomic_fetch_sub(&graph->refs, 1) != 1)
		return;
	for (int i = 0; i < graph->step_count; i++)
		tfs_backend_unref(graph->steps[i].desc);
	free(graph->steps);
	free(graph->slots);
	free(graph);
}

int tfs_opgraph_slot(const struct tfs_opgraph *graph, int64_t uid)
{
	for (int i = 0; i < graph->slot_count; i++)
		if (graph->slots[i].uid == uid)
			return i;
	return -1;
}

const struct tfs_step *tfs_opgraph_step(
	const struct tfs_opgraph *graph, cudnnBackendDescriptorType_t type)
{
	for (int i = 0; i < graph->step_count; i++)
		if (graph->steps[i].desc->type == type)
			return &graph->steps[i];
	return NULL;
}

int tfs_opgraph_count(const struct tfs_opgraph *graph, cudnnBackendDescriptorType_t type)
{
	int n = 0;

	for (int i = 0; i < graph->step_count; i++)
		n += graph->steps[i].desc->type == type;
	return n;
}

static int64_t uid_of(const struct tfs_backend *tensor)
{
	return tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
}

static cudnnStatus_t refuse(const struct tfs_backend *desc, const char *why)
{
	tfsim_not_supported(tfs_backend_name(desc->type));
	return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED, why);
}

static const char *tensor_unsupported(const struct tfs_backend *tensor)
{
	cudnnDataType_t type =
		(cudnnDataType_t)tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, 0);
	struct tfs_view view = tfs_tensor_view(tensor);
	bool by_value = tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0);

	if (!tfs_type_known(type) || (type == CUDNN_DATA_DOUBLE && !by_value))
		return "data type of a tensor";
	if (by_value && tfs_view_count(&view) != 1)
		return "more than one element by value";
	if (tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) != 1)
		return "vectorized tensors";
	if (tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_REORDERING_MODE, 0))
		return "reordered tensors";
	if (tfs_backend_child(tensor, CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC))
		return "ragged tensors";
	return NULL;
}

static cudnnStatus_t add_slot(struct tfs_opgraph *g, const struct tfs_backend *op,
	const struct tfs_backend *tensor, int step, bool written)
{
	int i = tfs_opgraph_slot(g, uid_of(tensor));
	struct tfs_view view = tfs_tensor_view(tensor);
	const char *why = tensor_unsupported(tensor);
	struct tfs_slot *s;

	if (why)
		return refuse(op, why);
	if (i < 0) {
		i = g->slot_count++;
		s = &g->slots[i];
		s->uid = uid_of(tensor);
		s->type = (cudnnDataType_t)tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, 0);
		s->view = view;
		s->is_virtual = tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0);
		s->by_value = tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0);
		s->maker = -1;
	}
	s = &g->slots[i];
	if (!tfs_view_same_dims(&s->view, &view))
		return tfs_dnn_fail(
			CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "one unique id, two tensors");
	if (written && s->maker >= 0)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "a tensor written by two operations");
	if (written)
		s->maker = step;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t add_tensors(struct tfs_opgraph *g, const struct tfs_step *step, int number)
{
	const struct tfs_backend *op = step->desc;

	for (int side = 0; side < 2; side++) {
		const int *names = side ? step->op->outputs : step->op->inputs;

		for (int k = 0; names[k]; k++) {
			const struct tfs_backend *tensor =
				tfs_backend_child(op, (cudnnBackendAttributeName_t)names[k]);
			cudnnStatus_t rc;

			if (!tensor)
				continue;
			rc = add_slot(g, op, tensor, number, side);
			if (rc)
				return rc;
		}
	}
	return CUDNN_STATUS_SUCCESS;
}

/* Whether every tensor that the step reads has been written by one before position `done`. */
static bool ready(const struct tfs_opgraph *g, const struct tfs_step *step, const bool *ran)
{
	for (int k = 0; step->op->inputs[k]; k++) {
		const struct tfs_backend *tensor = tfs_backend_child(
			step->desc, (cudnnBackendAttributeName_t)step->op->inputs[k]);
		int maker;

		if (!tensor)
			continue;
		maker = g->slots[tfs_opgraph_slot(g, uid_of(tensor))].maker;
		if (maker >= 0 && !ran[maker] && &g->steps[maker] != step)
			return false;
	}
	return true;
}

static cudnnStatus_t order(struct tfs_opgraph *g)
{
	struct tfs_step *sorted = calloc((size_t)g->step_count, sizeof(*sorted));
	bool *ran = calloc((size_t)g->step_count, sizeof(*ran));
	int *place = calloc((size_t)g->step_count, sizeof(*place));
	int n = 0, before = -1;

	while (sorted && ran && place && n < g->step_count && n != before) {
		before = n;
		for (int i = 0; i < g->step_count; i++)
			if (!ran[i] && ready(g, &g->steps[i], ran)) {
				ran[i] = true;
				place[i] = n;
				sorted[n++] = g->steps[i];
			}
	}
	if (n == g->step_count) {
		for (int i = 0; i < g->slot_count; i++)
			if (g->slots[i].maker >= 0)
				g->slots[i].maker = place[g->slots[i].maker];
		for (int i = 0; i < n; i++)
			g->steps[i] = sorted[i];
	}
	free(sorted);
	free(ran);
	free(place);
	return n == g->step_count ? CUDNN_STATUS_SUCCESS
				  : tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "the graph has a cycle");
}

static void mark_uses(struct tfs_opgraph *g)
{
	for (int i = 0; i < g->step_count; i++)
		for (int side = 0; side < 2; side++) {
			const struct tfs_step *step = &g->steps[i];
			const int *names = side ? step->op->outputs : step->op->inputs;

			for (int k = 0; names[k]; k++) {
				const struct tfs_backend *tensor = tfs_backend_child(
					step->desc, (cudnnBackendAttributeName_t)names[k]);

				if (tensor)
					g->slots[tfs_opgraph_slot(g, uid_of(tensor))].last = i;
			}
		}
}

/* Attention's scores need not exist for all of the batch at once. */
static int count_slices(const struct tfs_opgraph *g)
{
	int batch = 1, nd = 0;

	for (int i = 0; i < g->slot_count; i++) {
		const struct tfs_view *v = &g->slots[i].view;

		if (v->dim[0] > batch)
			batch = v->dim[0];
		if (v->nd > nd)
			nd = v->nd;
	}
	for (int i = 0; i < g->slot_count; i++) {
		const struct tfs_slot *s = &g->slots[i];

		if (s->view.dim[0] != 1 && (s->view.dim[0] != batch || s->view.nd != nd))
			return 1;
		if (s->maker >= 0 && s->view.dim[0] != batch)
			return 1;
	}
	for (int i = 0; i < g->step_count; i++)
		if (!g->steps[i].op->sliceable || !g->steps[i].op->sliceable(g->steps[i].desc))
			return 1;
	return batch;
}

static cudnnStatus_t measure(struct tfs_opgraph *g)
{
	for (int i = 0; i < g->slot_count; i++) {
		struct tfs_slot *s = &g->slots[i];

		if (s->is_virtual && s->maker < 0)
			return tfs_dnn_fail(
				CUDNN_STATUS_BAD_PARAM, "nothing writes a virtual tensor");
		if (s->is_virtual && g->steps[s->maker].desc->type ==
					     CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
			s->in_workspace = true;
			s->offset = g->kept_bytes;
			g->kept_bytes += (tfs_dnn_bytes(&s->view) + 255) / 256 * 256;
		}
		if (!s->is_virtual && !s->by_value)
			g->bytes += tfs_view_count(&s->view) * tfs_dnn_type_size(s->type);
		g->half |= s->type == CUDNN_DATA_HALF || s->type == CUDNN_DATA_BFLOAT16;
	}
	for (int i = 0; i < g->step_count; i++)
		g->flops += g->steps[i].op->flops(g->steps[i].desc);
	g->slices = count_slices(g);
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t collect(struct tfs_opgraph *g, const struct tfs_value *ops)
{
	for (int i = 0; i < (int)ops->count; i++) {
		struct tfs_backend *op = ((struct tfs_backend **)ops->data)[i];
		const char *why;
		cudnnStatus_t rc;

		g->steps[i].op = tfs_backend_op_of(op);
		if (!g->steps[i].op)
			return refuse(op, tfs_backend_name(op->type));
		g->steps[i].desc = tfs_backend_ref(op);
		g->step_count = i + 1;
		why = g->steps[i].op->unsupported ? g->steps[i].op->unsupported(op) : NULL;
		if (why)
			return refuse(op, why);
		rc = add_tensors(g, &g->steps[i], i);
		if (rc)
			return rc;
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_opgraph_finalize(struct tfs_backend *desc)
{
	const struct tfs_value *ops = tfs_backend_value(desc, CUDNN_ATTR_OPERATIONGRAPH_OPS);
	struct tfs_opgraph *g;
	cudnnStatus_t rc;
	int64_t engines;
	int count;

	if (!ops->count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "a graph without operations");
	g = calloc(1, sizeof(*g));
	if (!g)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	atomic_init(&g->refs, 1);
	desc->graph = g;
	g->steps = calloc((size_t)ops->count, sizeof(*g->steps));
	g->slots = calloc((size_t)ops->count * 2 * TFS_OP_TENSORS, sizeof(*g->slots));
	if (!g->steps || !g->slots)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	rc = collect(g, ops);
	if (!rc)
		rc = order(g);
	if (rc)
		return rc;
	mark_uses(g);
	rc = measure(g);
	if (rc)
		return rc;
	tfs_engines(g, &count);
	engines = count;
	if (tfs_backend_put(desc, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64,
		    1, &engines))
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	return CUDNN_STATUS_SUCCESS;
}
