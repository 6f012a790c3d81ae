/* SPDX-License-Identifier: MIT */
#include "rules/timeline_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What one thread's walk carries along. */
struct walk {
	const struct tfs_timeline *timeline;
	const struct tfs_segment *segment;
	uint16_t *families; /* by function id */
	uint32_t family_count;
	uint32_t step; /* the first step that has not ended yet */
	uint32_t operands;
};

static uint16_t *list_families(const struct tfs_trace *trace, uint32_t *out_count)
{
	uint32_t count = tfs_trace_limit(trace, TFS_RECORD_function);
	uint16_t *families = calloc(count + 1u, sizeof(*families));

	for (uint32_t id = 0; families && id < count; id++)
		families[id] = (uint16_t)tfs_trace_family(trace, id);
	*out_count = count;
	return families;
}

static uint32_t count_operands(const struct tfs_call *call)
{
	const struct tfs_item *items;
	unsigned count = tfs_call_items(call, &items);
	uint32_t operands = 0;

	for (unsigned i = 0; i < count; i++)
		operands += (uint32_t)(items[i].tagged >> 63);
	return operands;
}

static uint32_t step_of(struct walk *walk, uint64_t ns)
{
	const struct tfs_timeline *timeline = walk->timeline;

	while (walk->step < timeline->step_count && timeline->steps[walk->step].end_ns <= ns)
		walk->step++;
	if (walk->step == timeline->step_count || timeline->steps[walk->step].start_ns > ns)
		return TFS_NONE;
	return walk->step;
}

static void fill_call(struct walk *walk, const struct tfs_call *record, struct tfs_host_call *out)
{
	if (record->start_ticks < walk->segment->from_ticks ||
		record->start_ticks >= walk->segment->until_ticks)
		walk->segment = tfs_trace_segment(walk->timeline->trace, record->start_ticks);
	out->record = record;
	out->start_ns = tfs_segment_ns(walk->segment, record->start_ticks);
	out->end_ns =
		out->start_ns + tfs_segment_duration(walk->segment, (double)record->duration_ticks);
	out->function = record->record.function;
	out->family = out->function < walk->family_count ? walk->families[out->function]
							 : TFS_FAMILY_other;
	out->first_op = 0;
	out->op_count = 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct tfs_host_call *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->record < b->record ? -1 : a->record > b->record;
}

static void walk_thread(struct walk *walk, uint32_t thread, struct tfs_host_call *calls)
{
	struct tfs_cursor cursor;
	const struct tfs_call *record;
	uint32_t count = 0;
	bool sorted = true;

	tfs_cursor_start(&cursor, walk->timeline->trace, thread);
	while ((record = tfs_cursor_next(&cursor))) {
		fill_call(walk, record, &calls[count]);
		sorted &= !count || calls[count - 1].start_ns <= calls[count].start_ns;
		count++;
	}
	if (!sorted)
		qsort(calls, count, sizeof(*calls), compare_calls);
	walk->step = 0;
	for (uint32_t i = 0; i < count; i++) {
		calls[i].thread = thread;
		calls[i].step = step_of(walk, calls[i].start_ns);
		calls[i].first_operand = walk->operands;
		walk->operands += count_operands(calls[i].record);
	}
}

int tfs_timeline_build_calls(struct tfs_timeline *timeline)
{
	struct tfs_timeline_private *own = timeline->private;
	const struct tfs_trace_thread *threads;
	size_t thread_count = tfs_trace_threads(timeline->trace, &threads);
	uint64_t calls = tfs_trace_summary(timeline->trace)->calls, filled = 0;
	struct walk walk = {.timeline = timeline};

	if (calls >= TFS_NONE || thread_count >= TFS_NONE ||
		tfs_trace_summary(timeline->trace)->operands >= TFS_NONE)
		return -EFBIG;
	own->threads = calloc(thread_count + 1, sizeof(*own->threads));
	own->calls = malloc((calls + 1) * sizeof(*own->calls));
	walk.families = list_families(timeline->trace, &walk.family_count);
	if (!own->threads || !own->calls || !walk.families) {
		free(walk.families);
		return -ENOMEM;
	}
	timeline->threads = own->threads;
	timeline->calls = own->calls;
	timeline->thread_count = (uint32_t)thread_count;
	timeline->call_count = (uint32_t)calls;
	walk.segment = tfs_trace_segment(timeline->trace, 0);
	for (size_t i = 0; i < thread_count; i++) {
		struct tfs_host_thread *thread = &own->threads[i];

		thread->name = threads[i].record ? threads[i].record->name : "";
		thread->tid = threads[i].record ? threads[i].record->tid : 0;
		thread->own = threads[i].record && threads[i].record->record.function & 1;
		thread->first_call = (uint32_t)filled;
		thread->call_count = (uint32_t)threads[i].calls;
		walk_thread(&walk, (uint32_t)i, own->calls + filled);
		filled += threads[i].calls;
	}
	free(walk.families);
	/* one range id per operand; filled by the ranges */
	own->operand_ranges = malloc((walk.operands + 1u) * sizeof(*own->operand_ranges));
	if (!own->operand_ranges)
		return -ENOMEM;
	return 0;
}
