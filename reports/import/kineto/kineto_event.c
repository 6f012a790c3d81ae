/* SPDX-License-Identifier: MIT */
#include "reports/import/kineto/kineto_event.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/collected/collected.h"
#include "reports/import/kineto/processes.h"
#include "shim/trace/format/format.h"

#define STEP "ProfilerStep#"

/* Of ids and sizes; text too, as old traces have threads. */
static double number(const json_t *value, double otherwise)
{
	if (json_is_number(value))
		return json_number_value(value);
	if (!json_is_string(value))
		return otherwise;
	const char *text = json_string_value(value);
	text += strcspn(text, "-0123456789");
	return *text ? strtod(text, NULL) : otherwise;
}

static uint64_t whole(const json_t *value, uint64_t most)
{
	const double given = number(value, 0);

	return given > 0 && given <= (double)most ? (uint64_t)given : 0;
}

static uint32_t id_of(const json_t *value)
{
	const double given = number(value, 0);

	return given >= -2147483648.0 && given <= UINT32_MAX ? (uint32_t)(int64_t)given : 0;
}

/* A name; 0 where there is none, or no memory for it. */
static uint32_t name_of(struct tfs_collected *collected, const json_t *value)
{
	if (!json_is_string(value))
		return 0;
	return tfs_texts_id(&collected->names, json_string_value(value), json_string_length(value));
}

/* A double has room for the microseconds since 1970, and not for nanoseconds. */
static int64_t nanoseconds(double us)
{
	const double whole_us = floor(us);

	return (int64_t)whole_us * 1000 + (int64_t)llround((us - whole_us) * 1000);
}

/* When an event was; false where that is no time. */
static bool times(const json_t *event, int64_t *out_start_ns, int64_t *out_end_ns)
{
	const double start_us = number(json_object_get(event, "ts"), NAN);
	const double us = number(json_object_get(event, "dur"), NAN);

	if (!(start_us >= 0 && start_us < 4e15 && us >= 0 && us < 1e15))
		return false;
	*out_start_ns = nanoseconds(start_us);
	*out_end_ns = *out_start_ns + nanoseconds(us);
	return true;
}

static int64_t process_of(const json_t *event)
{
	return (int64_t)whole(json_object_get(event, "pid"), INT32_MAX);
}

static int take_call(struct tfs_collected *collected, struct tfs_kineto_processes *processes,
	const json_t *event)
{
	const json_t *arguments = json_object_get(event, "args");
	struct tfs_kineto_foreign about = {
		.correlation = id_of(json_object_get(arguments, "correlation"))};
	int64_t end_ns = 0;
	bool own;
	const bool timed = times(event, &about.start_ns, &end_ns);
	int err = tfs_kineto_see_call(processes, process_of(event), &about, &own);
	if (err || !own)
		return err;
	struct tfs_collected_call *call = tfs_collected_more(
		&collected->calls, &collected->call_count, sizeof(*collected->calls));
	if (!call)
		return -ENOMEM;
	call->tid = id_of(json_object_get(event, "tid"));
	call->name = name_of(collected, json_object_get(event, "name"));
	call->correlation = about.correlation;
	call->start_ns = about.start_ns;
	call->end_ns = end_ns;
	if (call->name && timed)
		return 0;
	collected->call_count--;
	collected->not_taken++;
	return 0;
}

static uint8_t memory_of(const char *text)
{
	static const struct {
		const char *name;
		uint8_t memory;
	} rows[] = {{"Pageable", TFS_MEMORY_PAGEABLE}, {"Pinned", TFS_MEMORY_PINNED},
		{"Device", TFS_MEMORY_DEVICE}, {"Array", TFS_MEMORY_DEVICE},
		{"Managed", TFS_MEMORY_MANAGED}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strncmp(text, rows[i].name, strlen(rows[i].name)))
			return rows[i].memory;
	return TFS_MEMORY_UNKNOWN;
}

/* "Memcpy HtoD (Pageable -> Device)". */
static void describe_copy(struct tfs_collected_op *op, const char *name)
{
	/* CUPTI's numbers, from 1 */
	static const char *const kinds[] = {
		"HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
	const char *source = strchr(name, '('), *target = strstr(name, "-> ");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strstr(name, kinds[i]))
			op->copy_kind = (uint8_t)(i + 1);
	op->source_kind = source ? memory_of(source + 1) : TFS_MEMORY_UNKNOWN;
	op->target_kind = target ? memory_of(target + 3) : TFS_MEMORY_UNKNOWN;
}

static int take_op(struct tfs_collected *collected, const json_t *event, uint8_t operation)
{
	const json_t *arguments = json_object_get(event, "args");
	const json_t *name = json_object_get(event, "name");
	struct tfs_collected_op *op =
		tfs_collected_more(&collected->ops, &collected->op_count, sizeof(*collected->ops));

	if (!op)
		return -ENOMEM;
	op->operation = operation;
	op->name = operation == TFS_DEVICE_KERNEL ? name_of(collected, name) : 0;
	op->bytes = whole(json_object_get(arguments, "bytes"), UINT64_C(1) << 48);
	op->correlation = id_of(json_object_get(arguments, "correlation"));
	op->stream = id_of(json_object_get(arguments, "stream"));
	op->device = (uint16_t)whole(json_object_get(arguments, "device"), UINT16_MAX);
	for (size_t i = 0; i < 3; i++) {
		const json_t *grid = json_object_get(arguments, "grid");
		const json_t *block = json_object_get(arguments, "block");

		op->grid[i] = (uint32_t)whole(json_array_get(grid, i), UINT32_MAX);
		op->block[i] = (uint16_t)whole(json_array_get(block, i), UINT16_MAX);
	}
	if (operation == TFS_DEVICE_MEMCPY && json_is_string(name))
		describe_copy(op, json_string_value(name));
	if (times(event, &op->start_ns, &op->end_ns))
		return 0;
	collected->op_count--;
	collected->not_taken++;
	return 0;
}

static int take_sync(struct tfs_collected *collected, const json_t *event)
{
	static const char *const kinds[] = {
		"Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
	const json_t *arguments = json_object_get(event, "args");
	const char *name = json_string_value(json_object_get(event, "name"));
	struct tfs_collected_sync *sync = tfs_collected_more(
		&collected->syncs, &collected->sync_count, sizeof(*collected->syncs));

	if (!sync)
		return -ENOMEM;
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(name, kinds[i]))
			sync->type = (uint16_t)(i + 1);
	sync->correlation = id_of(json_object_get(arguments, "correlation"));
	sync->stream = (uint32_t)whole(json_object_get(arguments, "stream"), UINT32_MAX);
	sync->device = (uint16_t)whole(json_object_get(arguments, "device"), UINT16_MAX);
	sync->event =
		(uint32_t)whole(json_object_get(arguments, "wait_on_cuda_event_id"), UINT32_MAX);
	sync->recorded = (uint32_t)whole(
		json_object_get(arguments, "wait_on_cuda_event_record_corr_id"), UINT32_MAX);
	sync->recorded_stream =
		(uint32_t)whole(json_object_get(arguments, "wait_on_stream"), UINT32_MAX);
	if (!sync->type || !times(event, &sync->start_ns, &sync->end_ns))
		collected->sync_count--;
	return 0;
}

static int take_step(struct tfs_collected *collected, const json_t *event, const char *name)
{
	struct tfs_collected_step *step = tfs_collected_more(
		&collected->steps, &collected->step_count, sizeof(*collected->steps));

	if (!step)
		return -ENOMEM;
	step->index = strtoull(name + strlen(STEP), NULL, 10);
	if (!times(event, &step->start_ns, &step->end_ns))
		collected->step_count--;
	return 0;
}

/* Python's frames are "FILE(LINE): FUNCTION". */
static void name_span(
	struct tfs_collected *collected, struct tfs_collected_span *span, const json_t *text)
{
	const char *name = json_string_value(text);
	const char *open = strstr(name, ".py("), *close = open ? strstr(open, "): ") : NULL;
	char place[1024];

	if (!close || (size_t)(close - name) >= sizeof(place)) {
		span->function = name_of(collected, text);
		return;
	}
	memcpy(place, name, (size_t)(close - name));
	place[open + 3 - name] = ':';
	span->place = tfs_texts_id(&collected->names, place, (size_t)(close - name));
	span->function = tfs_texts_id(&collected->names, close + 3, strlen(close + 3));
}

static int take_span(struct tfs_collected *collected, const json_t *event,
	struct tfs_collected_span **spans, size_t *count)
{
	const json_t *name = json_object_get(event, "name");

	if (!json_is_string(name))
		return 0;
	if (!strncmp(json_string_value(name), STEP, strlen(STEP)))
		return take_step(collected, event, json_string_value(name));
	struct tfs_collected_span *span = tfs_collected_more(spans, count, sizeof(**spans));
	if (!span)
		return -ENOMEM;
	span->tid = id_of(json_object_get(event, "tid"));
	span->stack =
		name_of(collected, json_object_get(json_object_get(event, "args"), "Call stack"));
	name_span(collected, span, name);
	if (!times(event, &span->start_ns, &span->end_ns))
		--*count;
	return 0;
}

static int take_process(struct tfs_collected *collected, struct tfs_kineto_processes *processes,
	const json_t *event)
{
	const char *kind = json_string_value(json_object_get(event, "name"));

	if (!kind || strcmp(kind, "process_name"))
		return 0;
	const uint32_t name =
		name_of(collected, json_object_get(json_object_get(event, "args"), "name"));
	collected->program = collected->program ? collected->program : name;
	return tfs_kineto_name_process(processes, process_of(event), name);
}

int tfs_kineto_event(struct tfs_collected *collected, struct tfs_kineto_processes *processes,
	const json_t *event)
{
	enum what { NOTHING, CALL, KERNEL, COPY, SET, SYNC, SPAN, RANGE };
	static const struct {
		const char *name;
		enum what what;
	} categories[] = {{"cpu_op", SPAN}, {"kernel", KERNEL}, {"cuda_runtime", CALL},
		{"cuda_driver", CALL}, {"python_function", SPAN}, {"gpu_memcpy", COPY},
		{"gpu_memset", SET}, {"cuda_sync", SYNC}, {"user_annotation", RANGE},
		{"Operator", SPAN}, {"Runtime", CALL}, {"Kernel", KERNEL}, {"Memcpy", COPY},
		{"Memset", SET}};
	const char *category = json_string_value(json_object_get(event, "cat"));
	enum what what = NOTHING;

	for (size_t i = 0; category && i < sizeof(categories) / sizeof(*categories); i++)
		if (!strcmp(category, categories[i].name))
			what = categories[i].what;
	if ((what == SPAN || what == RANGE) && !tfs_kineto_is_own(processes, process_of(event)))
		return 0;
	switch (what) {
	case CALL:
		return take_call(collected, processes, event);
	case KERNEL:
		return take_op(collected, event, TFS_DEVICE_KERNEL);
	case COPY:
		return take_op(collected, event, TFS_DEVICE_MEMCPY);
	case SET:
		return take_op(collected, event, TFS_DEVICE_MEMSET);
	case SYNC:
		return take_sync(collected, event);
	case SPAN:
		return take_span(collected, event, &collected->spans, &collected->span_count);
	case RANGE:
		return take_span(collected, event, &collected->ranges, &collected->range_count);
	case NOTHING:
		break;
	}
	return category ? 0 : take_process(collected, processes, event);
}

static int take_device(struct tfs_collected *collected, const json_t *value)
{
	struct tfs_collected_device *device = tfs_collected_more(
		&collected->devices, &collected->device_count, sizeof(*collected->devices));

	if (!device)
		return -ENOMEM;
	device->index = (uint16_t)whole(json_object_get(value, "id"), UINT16_MAX);
	device->name = name_of(collected, json_object_get(value, "name"));
	device->memory_bytes = whole(json_object_get(value, "totalGlobalMem"), UINT64_C(1) << 50);
	device->compute = (uint32_t)(whole(json_object_get(value, "computeMajor"), 1000) << 16 |
				     whole(json_object_get(value, "computeMinor"), 1000));
	device->multiprocessors = (uint32_t)whole(json_object_get(value, "numSms"), 100000);
	return 0;
}

int tfs_kineto_fact(struct tfs_collected *collected, struct tfs_kineto_processes *processes,
	const char *key, const json_t *value)
{
	int err = 0;

	if (!strcmp(key, "baseTimeNanoseconds"))
		collected->base_ns = whole(value, INT64_MAX);
	if (!strcmp(key, "distributedInfo")) {
		collected->rank = whole(json_object_get(value, "rank"), UINT16_MAX);
		processes->ranked = json_is_number(json_object_get(value, "rank"));
	}
	for (size_t i = 0; i < json_array_size(value) && !err; i++)
		err = take_device(collected, json_array_get(value, i));
	return err;
}
