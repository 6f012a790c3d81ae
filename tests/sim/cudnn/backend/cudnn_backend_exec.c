/* SPDX-License-Identifier: MIT */
/* The steps of a graph, on a stream's thread. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

static bool is_sliced(const struct tfs_exec *x, const struct tfs_slot *s)
{
	return x->graph->slices > 1 && s->view.dim[0] == x->graph->slices;
}

/* The tensor, or what of it belongs to the slice. */
static struct tfs_view slice_view(const struct tfs_exec *x, const struct tfs_slot *s)
{
	struct tfs_view view = s->view;

	if (is_sliced(x, s))
		view.dim[0] = 1;
	return view;
}

static char *slice_memory(const struct tfs_exec *x, int i)
{
	const struct tfs_slot *s = &x->graph->slots[i];
	size_t first = is_sliced(x, s) ? (size_t)x->slice * (size_t)s->view.stride[0] : 0;

	if (s->in_workspace)
		return x->kept + s->offset + first * sizeof(float);
	return (char *)x->pointers[i] + first * tfs_dnn_type_size(s->type);
}

static int slot_of(const struct tfs_exec *x, const struct tfs_step *step, int attribute)
{
	const struct tfs_backend *tensor =
		tfs_backend_child(step->desc, (cudnnBackendAttributeName_t)attribute);

	return tensor ? tfs_opgraph_slot(
				x->graph, tfs_backend_int(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0))
		      : -1;
}

/* Makes slot i an array; its contents are wanted unless it is to be written. */
static int prepare(struct tfs_exec *x, int i, bool contents)
{
	const struct tfs_slot *s = &x->graph->slots[i];
	struct tfs_view view = slice_view(x, s);

	if (x->arrays[i])
		return 0;
	if (s->in_workspace || (!s->is_virtual && !s->by_value && s->type == CUDNN_DATA_FLOAT)) {
		x->arrays[i] = (float *)slice_memory(x, i);
		return 0;
	}
	x->arrays[i] = calloc(tfs_view_span(&view), sizeof(float));
	if (!x->arrays[i])
		return -1;
	x->owned[i] = true;
	if (s->by_value)
		tfs_type_load(s->type, &view, &x->scalars[i], x->arrays[i]);
	else if (contents && !s->is_virtual)
		tfs_type_load(s->type, &view, slice_memory(x, i), x->arrays[i]);
	return 0;
}

static void commit(struct tfs_exec *x, int i)
{
	const struct tfs_slot *s = &x->graph->slots[i];
	struct tfs_view view = slice_view(x, s);

	if (s->is_virtual)
		tfs_type_round(s->type, &view, x->arrays[i]);
	else if (s->type != CUDNN_DATA_FLOAT)
		tfs_type_store(s->type, &view, x->arrays[i], slice_memory(x, i));
}

static void release(struct tfs_exec *x, int step)
{
	for (int i = 0; i < x->graph->slot_count; i++) {
		if (step >= 0 && x->graph->slots[i].last != step)
			continue;
		if (x->owned[i])
			free(x->arrays[i]);
		x->owned[i] = false;
		x->arrays[i] = NULL;
	}
}

static int run_step(struct tfs_exec *x, int number)
{
	const struct tfs_step *step = &x->graph->steps[number];
	bool blends = step->op->blends && step->op->blends(step->desc);

	for (int k = 0; step->op->inputs[k]; k++) {
		int i = slot_of(x, step, step->op->inputs[k]);

		if (i >= 0 && prepare(x, i, true))
			return -1;
	}
	for (int k = 0; step->op->outputs[k]; k++) {
		int i = slot_of(x, step, step->op->outputs[k]);

		if (i >= 0 && prepare(x, i, blends))
			return -1;
	}
	if (step->op->run(x, step))
		return -1;
	for (int k = 0; step->op->outputs[k]; k++) {
		int i = slot_of(x, step, step->op->outputs[k]);

		if (i >= 0)
			commit(x, i);
	}
	release(x, number);
	return 0;
}

int tfs_exec_run(struct tfs_exec *x)
{
	int slots = x->graph->slot_count, err = 0;

	x->arrays = calloc((size_t)slots, sizeof(*x->arrays));
	x->owned = calloc((size_t)slots, sizeof(*x->owned));
	if (!x->arrays || !x->owned)
		err = -1;
	for (x->slice = 0; !err && x->slice < x->graph->slices; x->slice++) {
		for (int i = 0; !err && i < x->graph->step_count; i++)
			err = run_step(x, i);
		release(x, -1);
	}
	free(x->arrays);
	free(x->owned);
	return err;
}

struct tfs_array tfs_exec_array(
	const struct tfs_exec *x, const struct tfs_step *step, int attribute)
{
	int i = slot_of(x, step, attribute);

	if (i < 0)
		return (struct tfs_array){0};
	return (struct tfs_array){x->arrays[i], slice_view(x, &x->graph->slots[i])};
}

int64_t tfs_exec_integer(const struct tfs_exec *x, const struct tfs_step *step, int attribute)
{
	int i = slot_of(x, step, attribute);
	const struct tfs_slot *s;
	const void *from;
	int32_t narrow;
	int64_t wide;

	if (i < 0)
		return 0;
	s = &x->graph->slots[i];
	from = s->by_value ? (const void *)&x->scalars[i] : x->pointers[i];
	if (s->type == CUDNN_DATA_INT64) {
		memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return narrow;
}
