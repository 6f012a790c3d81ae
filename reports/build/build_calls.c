/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/build/places.h"
#include "rules/evidence/steady.h"

static int by_key(const void *a, const void *b)
{
	const struct tfs_model_call *one = a;
	const struct tfs_model_call *two = b;
	if (one->place.key != two->place.key)
		return one->place.key < two->place.key ? -1 : 1;
	return strcmp(one->function, two->function);
}

/* Sites that differ only in addresses or lines become one. */
static size_t join(struct tfs_model_call *calls, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_key(&calls[kept - 1], &calls[i])) {
			calls[kept - 1].count += calls[i].count;
			calls[kept - 1].amount += calls[i].amount;
			calls[kept - 1].per_step += calls[i].per_step;
			calls[kept - 1].bytes_per_step += calls[i].bytes_per_step;
			for (unsigned j = 0; j < TFS_MODEL_SIZES; j++)
				calls[kept - 1].sizes[j] += calls[i].sizes[j];
			continue;
		}
		calls[kept++] = calls[i];
	}
	return kept;
}

/* Calls of the judged steps by call site and function. */
struct step_call {
	uint32_t site;
	uint32_t function;
	double count;
	double bytes;
	double sizes[TFS_MODEL_SIZES];
};

static double low_times_high(uint64_t pair)
{
	return (double)(uint32_t)pair * (double)(pair >> 32);
}

static double images(const struct tfs_trace *trace, uint64_t problem)
{
	const struct tfs_problem_record *record =
		problem <= UINT32_MAX ? tfs_trace_find(trace, TFS_RECORD_problem, (uint32_t)problem)
				      : NULL;
	int32_t count = 0;

	if (record && record->fields > TFS_PROBLEM_n)
		memcpy(&count, (const int32_t *)(const void *)(record + 1) + TFS_PROBLEM_n,
			sizeof(count));
	return count > 0 ? count : 0;
}

static void set_sizes(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call, double *sizes)
{
	const struct tfs_item *items;
	const unsigned count = tfs_call_items(call->record, &items);
	unsigned operands = 0;
	uint64_t kernel;
	/* How much of a range a kernel works on is not known. */
	const bool launches = tfs_call_attribute(call->record, TFS_ATTRIBUTE_kernel, &kernel) ||
			      tfs_call_attribute(call->record, TFS_ATTRIBUTE_launch, &kernel);

	for (unsigned i = 0; i < count; i++) {
		const uint64_t value = items[i].value;

		if (TFS_ITEM_ROLE(&items[i])) {
			if (!launches && operands < TFS_MODEL_OPERANDS)
				sizes[TFS_MODEL_SIZE_OPERANDS + operands++] =
					(double)TFS_ITEM_LOW(&items[i]);
			continue;
		}
		switch (TFS_ITEM_LOW(&items[i])) {
		case TFS_ATTRIBUTE_shape_m:
			sizes[TFS_MODEL_SIZE_M] = (double)value;
			break;
		case TFS_ATTRIBUTE_shape_n:
			sizes[TFS_MODEL_SIZE_N] = (double)value;
			break;
		case TFS_ATTRIBUTE_shape_k:
			sizes[TFS_MODEL_SIZE_K] = (double)value;
			break;
		case TFS_ATTRIBUTE_problem:
			sizes[TFS_MODEL_SIZE_IMAGES] = images(timeline->trace, value);
			break;
		case TFS_ATTRIBUTE_grid:
			sizes[TFS_MODEL_SIZE_BLOCKS] = low_times_high(value);
			break;
		case TFS_ATTRIBUTE_launch:
			sizes[TFS_MODEL_SIZE_BLOCKS] = (double)(uint32_t)(value >> 16);
			break;
		default:
			break;
		}
	}
}

static int by_site(const void *a, const void *b)
{
	const struct step_call *one = a;
	const struct step_call *two = b;
	if (one->site != two->site)
		return one->site < two->site ? -1 : 1;
	return one->function < two->function ? -1 : one->function > two->function;
}

static size_t step_calls(const struct tfs_timeline *timeline, struct tfs_arena *scratch,
	struct step_call **out_calls)
{
	bool *judged = tfs_arena_alloc(scratch, timeline->step_count, sizeof(*judged));
	struct step_call *calls = tfs_arena_alloc(scratch, timeline->call_count, sizeof(*calls));
	size_t count = 0;
	size_t kept = 0;
	if (!judged || !calls)
		return 0;
	for (uint32_t i = 0; i < timeline->judged_count; i++)
		judged[timeline->judged[i]] = true;
	for (uint32_t i = 0; i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		if (call->step == TFS_NONE || !judged[call->step])
			continue;
		calls[count] = (struct step_call){
			call->record->site, call->function, 1, (double)call->record->amount, {0}};
		set_sizes(timeline, call, calls[count++].sizes);
	}
	if (count)
		qsort(calls, count, sizeof(*calls), by_site);
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_site(&calls[kept - 1], &calls[i])) {
			calls[kept - 1].count += calls[i].count;
			calls[kept - 1].bytes += calls[i].bytes;
			for (unsigned j = 0; j < TFS_MODEL_SIZES; j++)
				calls[kept - 1].sizes[j] += calls[i].sizes[j];
		} else {
			calls[kept++] = calls[i];
		}
	}
	*out_calls = calls;
	return kept;
}

static void set_per_step(const struct tfs_build *build, uint32_t site, uint32_t function,
	const struct step_call *in_steps, size_t step_calls, struct tfs_model_call *call)
{
	double steps = build->timeline->judged_count;
	struct step_call key = {.site = site, .function = function};
	const struct tfs_total *total = tfs_trace_total(build->trace, site, function);
	const bool counted_only = total && tfs_total_is_count(&total->sum);
	call->per_step = call->bytes_per_step = steps > 0 && !counted_only ? 0 : NAN;
	if (!step_calls || !(steps > 0))
		return;
	const struct step_call *found =
		bsearch(&key, in_steps, step_calls, sizeof(*in_steps), by_site);
	if (found) {
		call->per_step = found->count / steps;
		call->bytes_per_step = found->bytes / steps;
		for (unsigned i = 0; i < TFS_MODEL_SIZES; i++)
			call->sizes[i] = found->sizes[i] / steps;
	}
}

/* Whether a call puts work on a device, or a library may do so within it. */
static bool may_work(const struct tfs_trace *trace, uint32_t function)
{
	const enum tfs_family family = tfs_trace_family(trace, function);
	const struct tfs_function_record *record =
		tfs_trace_find(trace, TFS_RECORD_function, function);

	if (tfs_family_submits(family) || family == TFS_FAMILY_capture ||
		family == TFS_FAMILY_capture_end || family == TFS_FAMILY_graph_other ||
		family == TFS_FAMILY_graph_instantiate || family == TFS_FAMILY_graph_update ||
		!record)
		return true;
	return record->library != TFS_LIBRARY_cudart && record->library != TFS_LIBRARY_cuda &&
	       record->library != TFS_LIBRARY_cupti && record->library != TFS_LIBRARY_nvtx;
}

static bool only_moves(const struct tfs_trace *trace, uint32_t function)
{
	const enum tfs_family family = tfs_trace_family(trace, function);

	return family == TFS_FAMILY_copy || family == TFS_FAMILY_copy_async ||
	       family == TFS_FAMILY_set || family == TFS_FAMILY_set_async;
}

static void note_work(const struct tfs_trace *trace, uint32_t function, struct tfs_model *model)
{
	if (!may_work(trace, function))
		return;
	model->works = true;
	model->computes |= !only_moves(trace, function);
}

void tfs_build_calls(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	size_t count = tfs_trace_totals(build->trace, &totals, &shares);
	struct tfs_model_call *calls = tfs_arena_alloc(&model->arena, count, sizeof(*calls));
	struct tfs_arena scratch = {0};
	struct step_call *in_steps = NULL;
	size_t in_step_count = step_calls(build->timeline, &scratch, &in_steps);

	for (size_t i = 0; calls && i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;
		calls[i].function = tfs_arena_string(
			&model->arena, tfs_trace_function(build->trace, sum->function));
		calls[i].place = tfs_places_find(build->places, sum->site);
		calls[i].count = sum->count;
		note_work(build->trace, sum->function, model);
		calls[i].amount = sum->amount;
		set_per_step(build, sum->site, sum->function, in_steps, in_step_count, &calls[i]);
	}
	model->arena.failed |= tfs_arena_finish(&scratch) != 0;
	if (model->arena.failed)
		return;
	if (count)
		qsort(calls, count, sizeof(*calls), by_key);
	model->calls = calls;
	model->call_count = join(calls, count);
}
