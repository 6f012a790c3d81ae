/* SPDX-License-Identifier: MIT */
#include "reports/import/making/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/making/making.h"

#define FIRST_NS UINT64_C(1000000000) /* of the recording */
#define MOST_LEVELS 64u

uint64_t tfs_making_ns(const struct tfs_making *making, int64_t ns)
{
	return FIRST_NS + (uint64_t)(ns - making->first_ns);
}

static void reach(struct tfs_making *making, int64_t start_ns, int64_t end_ns)
{
	making->first_ns = start_ns < making->first_ns ? start_ns : making->first_ns;
	making->last_ns = end_ns > making->last_ns ? end_ns : making->last_ns;
}

static void find_extent(struct tfs_making *making)
{
	const struct tfs_collected *from = making->collected;

	making->first_ns = INT64_MAX;
	making->last_ns = INT64_MIN;
	for (size_t i = 0; i < from->call_count; i++)
		reach(making, from->calls[i].start_ns, from->calls[i].end_ns);
	for (size_t i = 0; i < from->op_count; i++)
		reach(making, from->ops[i].start_ns, from->ops[i].end_ns);
	for (size_t i = 0; i < from->sync_count; i++)
		reach(making, from->syncs[i].start_ns, from->syncs[i].end_ns);
	for (size_t i = 0; i < from->range_count; i++)
		reach(making, from->ranges[i].start_ns, from->ranges[i].end_ns);
	for (size_t i = 0; i < from->step_count; i++)
		reach(making, from->steps[i].start_ns, from->steps[i].end_ns);
}

static void put(
	struct tfs_making *making, enum tfs_record_kind kind, const void *record, size_t bytes)
{
	tfs_chunks_put(&making->chunks, kind, record, bytes, NULL, 0);
}

static void put_header(struct tfs_making *making)
{
	const struct tfs_collected *from = making->collected;

	if (making->chunks.failed)
		return;
	struct tfs_file_header *header = tfs_chunks_header(&making->chunks);
	header->pid = (uint32_t)from->pid;
	header->rank = (uint32_t)from->rank;
	header->start_ns = header->start_ticks = FIRST_NS;
	header->start_realtime_ns = from->undated ? 0 : from->base_ns + (uint64_t)making->first_ns;
	header->lost[TFS_LOSS_cupti_unknown] = from->not_taken;
	snprintf(header->program, sizeof(header->program), "%s",
		tfs_texts_text(&from->names, from->program));
	snprintf(header->version_text, sizeof(header->version_text), "imported");
}

static void put_text(struct tfs_making *making, enum tfs_record_kind kind, uint32_t name)
{
	const char *text = tfs_texts_text(&making->collected->names, name);
	const struct tfs_text_record record = {.length = (uint16_t)strlen(text), .id = name};

	tfs_chunks_put(&making->chunks, kind, &record, sizeof(record), text, strlen(text) + 1);
}

/* Texts that something names; a kernel's is of another kind. */
static int put_names(struct tfs_making *making)
{
	enum { AS_STRING = 1, AS_KERNEL = 2 };
	const struct tfs_collected *from = making->collected;
	unsigned char *uses = calloc(from->names.count + 1u, 1);

	if (!uses)
		return -ENOMEM;
	for (size_t i = 0; i < from->op_count; i++)
		uses[from->ops[i].name] |= AS_KERNEL;
	for (size_t i = 0; i < from->device_count; i++)
		uses[from->devices[i].name] |= AS_STRING;
	for (size_t i = 0; i < from->range_count; i++)
		uses[from->ranges[i].function] |= AS_STRING;
	for (size_t i = 0; i < making->sites.frames_used; i++) {
		uses[TFS_FRAME_FUNCTION(making->sites.frames[i])] |= AS_STRING;
		uses[TFS_FRAME_PLACE(making->sites.frames[i])] |= AS_STRING;
	}
	for (uint32_t name = 1; name <= from->names.count; name++) {
		if (uses[name] & AS_STRING)
			put_text(making, TFS_RECORD_string, name);
		if (uses[name] & AS_KERNEL)
			put_text(making, TFS_RECORD_kernel, name);
	}
	free(uses);
	return 0;
}

static void put_origin(struct tfs_making *making)
{
	const char *tool = making->collected->tool;
	const struct tfs_text_record text = {
		.length = (uint16_t)strlen(tool), .id = making->collected->names.count + 1};
	const struct tfs_fact_record fact = {.fact = TFS_FACT_imported, .object = text.id};

	tfs_chunks_put(
		&making->chunks, TFS_RECORD_string, &text, sizeof(text), tool, strlen(tool) + 1);
	put(making, TFS_RECORD_fact, &fact, sizeof(fact));
}

static void put_machine(struct tfs_making *making)
{
	const struct tfs_collected *from = making->collected;
	const uint64_t ends[] = {FIRST_NS, tfs_making_ns(making, making->last_ns)};

	for (size_t i = 0; i < from->device_count; i++) {
		const struct tfs_device_record device = {.index = from->devices[i].index,
			.memory_bytes = from->devices[i].memory_bytes,
			.name = from->devices[i].name,
			.compute = from->devices[i].compute,
			.multiprocessors = from->devices[i].multiprocessors};

		put(making, TFS_RECORD_device, &device, sizeof(device));
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct tfs_clock_record clock = {.ticks = ends[i], .monotonic_ns = ends[i]};
		const struct tfs_window_record window = {
			.opens = !i, .number = 1, .ticks = ends[i] + i, .flags = 1 | 2 | 4};

		put(making, TFS_RECORD_clock, &clock, sizeof(clock));
		put(making, TFS_RECORD_window, &window, sizeof(window));
	}
}

static void put_sites(struct tfs_making *making)
{
	const struct tfs_sites *sites = &making->sites;

	for (uint32_t id = 1; id <= sites->count; id++) {
		const size_t count = sites->starts[id + 1] - sites->starts[id];
		const struct tfs_site_record site = {.frames = (uint16_t)count, .id = id};

		tfs_chunks_put(&making->chunks, TFS_RECORD_site, &site, sizeof(site),
			&sites->frames[sites->starts[id]], count * sizeof(*sites->frames));
	}
}

static void put_ops(struct tfs_making *making)
{
	for (size_t i = 0; i < making->collected->op_count; i++) {
		const struct tfs_collected_op *op = &making->collected->ops[i];
		const struct tfs_device_op_record record = {.operation = op->operation,
			.copy_kind = op->copy_kind,
			.kernel = op->name,
			.start_ns = tfs_making_ns(making, op->start_ns),
			.end_ns = tfs_making_ns(making, op->end_ns),
			.bytes = op->bytes,
			.correlation = op->correlation,
			.stream = op->stream,
			.device = op->device,
			.source_kind = op->source_kind,
			.target_kind = op->target_kind,
			.block = {op->block[0], op->block[1], op->block[2]},
			.grid = {op->grid[0], op->grid[1], op->grid[2]}};

		put(making, TFS_RECORD_device_op, &record, sizeof(record));
	}
	for (size_t i = 0; i < making->collected->sync_count; i++) {
		const struct tfs_collected_sync *sync = &making->collected->syncs[i];
		const struct tfs_device_sync_record record = {.type = sync->type,
			.correlation = sync->correlation,
			.start_ns = tfs_making_ns(making, sync->start_ns),
			.end_ns = tfs_making_ns(making, sync->end_ns),
			.stream = sync->stream,
			.event = sync->event};

		put(making, TFS_RECORD_device_sync, &record, sizeof(record));
	}
}

static int compare_steps(const void *left, const void *right)
{
	const struct tfs_collected_step *a = left, *b = right;

	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static void mark(struct tfs_making *making, int64_t ns, uint64_t index, enum tfs_phase phase)
{
	const struct tfs_step_record record = {.phase = (uint16_t)phase,
		.start_ticks = tfs_making_ns(making, ns),
		.index = index,
		.source = TFS_STEP_NVTX,
		.flags = 2};

	put(making, TFS_RECORD_step, &record, sizeof(record));
}

/* The device was still at what it was given before the recording began: of several steps the first
 * is no evidence. */
static void put_steps(struct tfs_making *making)
{
	struct tfs_collected_step *steps = making->collected->steps;
	const size_t count = making->collected->step_count;

	if (count)
		qsort(steps, count, sizeof(*steps), compare_steps);
	for (size_t i = 0; i < count; i++) {
		const bool last = i + 1 == count || steps[i + 1].index != steps[i].index + 1;

		mark(making, steps[i].start_ns, steps[i].index,
			!i && count > 2 ? TFS_PHASE_WARMUP : TFS_PHASE_TRAINING);
		if (last)
			mark(making, steps[i].end_ns, steps[i].index, TFS_PHASE_OTHER);
	}
}

static void put_ranges(struct tfs_making *making)
{
	struct tfs_collected_span *ranges = making->collected->ranges;
	int64_t ends[MOST_LEVELS];
	uint16_t level = 0;

	if (making->collected->range_count)
		qsort(ranges, making->collected->range_count, sizeof(*ranges),
			tfs_collected_compare_spans);
	for (size_t i = 0; i < making->collected->range_count; i++) {
		if (i && ranges[i].tid != ranges[i - 1].tid)
			level = 0;
		while (level && ends[level - 1] <= ranges[i].start_ns)
			level--;
		const struct tfs_range_record record = {.range = TFS_RANGE_PUSHED,
			.name = ranges[i].function,
			.start_ticks = tfs_making_ns(making, ranges[i].start_ns),
			.duration_ticks = (float)(ranges[i].end_ns - ranges[i].start_ns),
			.tid = ranges[i].tid,
			.level = level};

		put(making, TFS_RECORD_range, &record, sizeof(record));
		if (level < MOST_LEVELS)
			ends[level++] = ranges[i].end_ns;
	}
}

static int make(struct tfs_making *making)
{
	int err = tfs_sites_find(making->collected, &making->sites);

	if (err)
		return err;
	find_extent(making);
	tfs_chunks_init(&making->chunks);
	put_header(making);
	put_origin(making);
	put_machine(making);
	put_sites(making);
	put_steps(making);
	put_ranges(making);
	err = put_names(making);
	if (!err)
		err = tfs_making_streams(making);
	if (err)
		return err;
	put_ops(making);
	err = tfs_making_calls(making);
	tfs_chunks_end(&making->chunks);
	return making->chunks.failed ? -ENOMEM : err;
}

int tfs_recording_make(struct tfs_collected *collected, void **out_bytes, size_t *out_size)
{
	struct tfs_making making = {.collected = collected};
	int err = make(&making);

	free(making.given);
	free(making.streams);
	free(making.recorded);
	free(making.functions);
	tfs_sites_finish(&making.sites);
	if (err) {
		free(making.chunks.bytes);
		return err;
	}
	*out_bytes = making.chunks.bytes;
	*out_size = making.chunks.used;
	return 0;
}
