/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "rules/support/pages.h"
#include "rules/timeline/timeline_build.h"

/* What one thread's walk carries along. */
struct walk {
	const struct tfs_timeline *timeline;
	const struct tfs_segment *segment;
	uint16_t *families; /* by function id */
	uint32_t family_count;
	uint32_t step; /* the first step that has not ended yet */
	uint32_t operands;
	uint32_t memory_room;
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
	out->function = record->function;
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

/* Whether a call changes what addresses mean. */
static bool manages_memory(uint16_t family)
{
	const uint64_t families =
		UINT64_C(1) << TFS_FAMILY_alloc | UINT64_C(1) << TFS_FAMILY_free |
		UINT64_C(1) << TFS_FAMILY_host_alloc | UINT64_C(1) << TFS_FAMILY_host_free |
		UINT64_C(1) << TFS_FAMILY_host_register |
		UINT64_C(1) << TFS_FAMILY_host_unregister | UINT64_C(1) << TFS_FAMILY_alloc_async |
		UINT64_C(1) << TFS_FAMILY_free_async | UINT64_C(1) << TFS_FAMILY_reset;

	return family < 64 && families >> family & 1;
}

/* What depends on the calls before. */
static int place_call(struct walk *walk, struct tfs_host_call *call, uint32_t nth)
{
	struct tfs_timeline_private *own = walk->timeline->private;

	call->step = step_of(walk, call->start_ns);
	call->first_operand = walk->operands;
	if (call->record->record.units > 1)
		walk->operands += count_operands(call->record);
	if (!manages_memory(call->family))
		return 0;
	if (own->memory_call_count == walk->memory_room) {
		uint32_t room = walk->memory_room ? walk->memory_room * 2 : 256;
		uint32_t *grown = realloc(own->memory_calls, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		own->memory_calls = grown;
		walk->memory_room = room;
	}
	own->memory_calls[own->memory_call_count++] = nth;
	return 0;
}

/* Calls are recorded in the order they are made; if not so, they are sorted and placed anew. */
static int walk_thread(struct walk *walk, uint32_t thread)
{
	struct tfs_timeline_private *own = walk->timeline->private;
	const uint32_t first = own->threads[thread].first_call, operands = walk->operands;
	const uint32_t memory_calls = own->memory_call_count;
	struct tfs_host_call *call = own->calls + first;
	const struct tfs_call *record;
	struct tfs_cursor cursor;
	bool sorted = true;
	int err = 0;

	walk->step = 0;
	tfs_cursor_start(&cursor, walk->timeline->trace, thread);
	for (; !err && (record = tfs_cursor_next(&cursor)); call++) {
		fill_call(walk, record, call);
		call->thread = thread;
		sorted &= call == own->calls + first || call[-1].start_ns <= call->start_ns;
		err = place_call(walk, call, (uint32_t)(call - own->calls));
	}
	if (sorted || err)
		return err;
	qsort(own->calls + first, (size_t)(call - own->calls) - first, sizeof(*call),
		compare_calls);
	walk->step = 0;
	walk->operands = operands;
	own->memory_call_count = memory_calls;
	for (uint32_t i = first; own->calls + i < call && !err; i++)
		err = place_call(walk, &own->calls[i], i);
	return err;
}

int tfs_timeline_build_calls(struct tfs_timeline *timeline)
{
	struct tfs_timeline_private *own = timeline->private;
	const struct tfs_trace_thread *threads;
	size_t thread_count = tfs_trace_threads(timeline->trace, &threads);
	uint64_t calls = tfs_trace_summary(timeline->trace)->calls, filled = 0;
	struct walk walk = {.timeline = timeline};
	int err = 0;

	if (calls >= TFS_NONE || thread_count >= TFS_NONE ||
		tfs_trace_summary(timeline->trace)->operands >= TFS_NONE)
		return -EFBIG;
	own->threads = calloc(thread_count + 1, sizeof(*own->threads));
	own->calls = tfs_pages_alloc(calls + 1, sizeof(*own->calls));
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
	for (size_t i = 0; i < thread_count && !err; i++) {
		struct tfs_host_thread *thread = &own->threads[i];

		thread->name = threads[i].record ? threads[i].record->name : "";
		thread->tid = threads[i].record ? threads[i].record->tid : 0;
		thread->first_call = (uint32_t)filled;
		thread->call_count = (uint32_t)threads[i].calls;
		err = walk_thread(&walk, (uint32_t)i);
		filled += threads[i].calls;
	}
	free(walk.families);
	/* one range id per operand; filled by the ranges */
	own->operand_count = walk.operands;
	own->operand_ranges = tfs_pages_alloc(walk.operands + 1u, sizeof(*own->operand_ranges));
	return err || own->operand_ranges ? err : -ENOMEM;
}
