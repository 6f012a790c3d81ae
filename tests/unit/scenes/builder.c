/* SPDX-License-Identifier: MIT */
#include "tests/unit/scenes/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 64

/* The chunk a thread is writing; 0 = none. */
struct open_chunk {
	size_t offset;
	uint32_t next_sequence;
};

struct builder {
	unsigned char *bytes;
	size_t size;
	size_t room;
	uint32_t chunk_bytes;
	uint32_t thread;
	uint32_t next_id;
	uint16_t next_function;
	uint16_t next_stream;
	struct open_chunk records[MOST_THREADS];
	struct open_chunk aggregates[MOST_THREADS];
};

static void *must(void *memory)
{
	if (!memory) {
		fprintf(stderr, "builder: not enough memory\n");
		exit(1);
	}
	return memory;
}

static unsigned char *grow(struct builder *builder, size_t bytes)
{
	unsigned char *added;

	if (builder->size + bytes > builder->room) {
		builder->room = (builder->size + bytes) * 2;
		builder->bytes = must(realloc(builder->bytes, builder->room));
	}
	added = memset(builder->bytes + builder->size, 0, bytes);
	builder->size += bytes;
	return added;
}

struct builder *builder_create_sized(uint32_t chunk_bytes)
{
	struct builder *builder = must(calloc(1, sizeof(*builder)));
	uint32_t header_bytes = chunk_bytes < TFS_HEADER_BYTES ? 512 : TFS_HEADER_BYTES;
	struct tfs_file_header *header;

	builder->chunk_bytes = chunk_bytes;
	builder->next_id = 1;
	builder->next_function = 1;
	builder->next_stream = 1;
	header = (void *)grow(builder, header_bytes);
	memcpy(header->magic, TFS_MAGIC, sizeof(header->magic));
	header->version = TFS_FORMAT_VERSION;
	header->header_bytes = header_bytes;
	header->chunk_bytes = chunk_bytes;
	header->clock = TFS_CLOCK_MONOTONIC;
	header->pid = 4242;
	header->start_ns = 1000;
	header->start_ticks = 1000;
	header->start_realtime_ns = UINT64_C(1700000000000000000);
	header->finished = 1;
	strcpy(header->program, "/somewhere/trainer");
	strcpy(header->version_text, "test");
	return builder;
}

struct builder *builder_create(void)
{
	return builder_create_sized(TFS_CHUNK_BYTES);
}

void builder_destroy(struct builder *builder)
{
	if (builder)
		free(builder->bytes);
	free(builder);
}

unsigned char *builder_bytes(const struct builder *builder, size_t *out_size)
{
	*out_size = builder->size;
	return builder->bytes;
}

struct tfs_trace *builder_open(const struct builder *builder)
{
	struct tfs_damage damage = {0};
	struct tfs_trace *trace = NULL;

	if (tfs_trace_open_memory(builder->bytes, builder->size, &damage, &trace))
		fprintf(stderr, "builder: at %llu: %s\n", (unsigned long long)damage.offset,
			damage.what);
	return trace;
}

int builder_save(const struct builder *builder, const char *path)
{
	FILE *file = fopen(path, "wb");
	size_t written = file ? fwrite(builder->bytes, 1, builder->size, file) : 0;

	if (!file || fclose(file) || written != builder->size)
		return -1;
	return 0;
}

void builder_thread(struct builder *builder, uint32_t index)
{
	if (index >= MOST_THREADS) {
		fprintf(stderr, "builder: too many threads\n");
		exit(1);
	}
	builder->thread = index;
}

/* Room for `bytes` of payload in the thread's chunk of a kind; counts as committed. */
static unsigned char *reserve(
	struct builder *builder, uint16_t kind, size_t bytes, size_t *out_offset)
{
	struct open_chunk *open = kind == TFS_CHUNK_RECORDS ? &builder->records[builder->thread]
							    : &builder->aggregates[builder->thread];
	struct tfs_chunk *chunk = (void *)(builder->bytes + open->offset);

	if (bytes > builder->chunk_bytes - sizeof(*chunk)) {
		fprintf(stderr, "builder: a record is longer than a chunk\n");
		exit(1);
	}
	if (!open->offset || chunk->committed + bytes > builder->chunk_bytes - sizeof(*chunk)) {
		open->offset = builder->size;
		chunk = (void *)grow(builder, builder->chunk_bytes);
		chunk->magic = TFS_CHUNK_MAGIC;
		chunk->offset = open->offset;
		chunk->bytes = builder->chunk_bytes;
		chunk->kind = kind;
		chunk->thread = builder->thread;
		chunk->sequence = open->next_sequence++;
		((struct tfs_file_header *)builder->bytes)->chunks_taken++;
	}
	*out_offset = open->offset + sizeof(*chunk) + chunk->committed;
	chunk->committed += bytes;
	return builder->bytes + *out_offset;
}

uint32_t builder_record(
	struct builder *builder, enum tfs_record_kind kind, const void *record, size_t bytes)
{
	size_t units = (bytes + TFS_UNIT - 1) / TFS_UNIT, offset;
	unsigned char *place = reserve(builder, TFS_CHUNK_RECORDS, units * TFS_UNIT, &offset);

	memcpy(place, record, bytes);
	((struct tfs_record *)place)->kind = (uint8_t)kind;
	((struct tfs_record *)place)->units = (uint8_t)units;
	return (uint32_t)(offset / TFS_UNIT);
}

/* A head with a tail behind it. */
static void put(struct builder *builder, enum tfs_record_kind kind, const void *head,
	size_t head_bytes, const void *tail, size_t tail_bytes)
{
	unsigned char record[255 * TFS_UNIT] = {0};

	memcpy(record, head, head_bytes);
	memcpy(record + head_bytes, tail, tail_bytes);
	builder_record(builder, kind, record, head_bytes + tail_bytes);
}

static uint32_t put_text(struct builder *builder, enum tfs_record_kind kind, const char *text)
{
	struct tfs_text_record head = {.length = (uint16_t)strlen(text), .id = builder->next_id++};

	put(builder, kind, &head, sizeof(head), text, strlen(text) + 1);
	return head.id;
}

uint32_t builder_string(struct builder *builder, const char *text)
{
	return put_text(builder, TFS_RECORD_string, text);
}

uint32_t builder_kernel(struct builder *builder, const char *name)
{
	return put_text(builder, TFS_RECORD_kernel, name);
}

uint16_t builder_function(
	struct builder *builder, enum tfs_library library, enum tfs_family family, const char *name)
{
	struct tfs_function_record head = {.id = builder->next_function++,
		.library = library,
		.family = family,
		.name_bytes = (uint32_t)strlen(name)};

	put(builder, TFS_RECORD_function, &head, sizeof(head), name, strlen(name) + 1);
	return head.id;
}

uint32_t builder_site(struct builder *builder, unsigned frames, const uint64_t *addresses)
{
	struct tfs_site_record head = {.frames = (uint16_t)frames, .id = builder->next_id++};

	put(builder, TFS_RECORD_site, &head, sizeof(head), addresses, frames * sizeof(*addresses));
	return head.id;
}

uint32_t builder_problem(struct builder *builder, const int32_t *fields, unsigned count)
{
	struct tfs_problem_record head = {.fields = (uint16_t)count, .id = builder->next_id++};

	put(builder, TFS_RECORD_problem, &head, sizeof(head), fields, count * sizeof(*fields));
	return head.id;
}

uint16_t builder_stream(struct builder *builder, uint64_t handle, uint32_t cupti_id, uint32_t flags)
{
	struct tfs_stream_record record = {.id = builder->next_stream++,
		.cupti_id = cupti_id,
		.handle = handle,
		.flags = flags};

	builder_record(builder, TFS_RECORD_stream, &record, sizeof(record));
	return record.id;
}

void builder_device_of(
	struct builder *builder, uint16_t index, const char *name, bool simulated, uint32_t compute)
{
	struct tfs_device_record record = {.index = index,
		.simulated = simulated,
		.compute = compute,
		.name = builder_string(builder, name),
		.memory_bytes = UINT64_C(16) << 30,
		.bandwidth = UINT64_C(900000000000)};

	builder_record(builder, TFS_RECORD_device, &record, sizeof(record));
}

void builder_device(struct builder *builder, uint16_t index, const char *name, bool simulated)
{
	/* The simulated device is set up as an A100. */
	builder_device_of(builder, index, name, simulated, simulated ? 8 << 16 : 0);
}

void builder_library(struct builder *builder, enum tfs_library library, const char *path,
	uint32_t version, uint32_t flags)
{
	struct tfs_library_record record = {.library = (uint16_t)library,
		.path = builder_string(builder, path),
		.version = version,
		.flags = flags};

	builder_record(builder, TFS_RECORD_library, &record, sizeof(record));
}

void builder_fact(
	struct builder *builder, enum tfs_fact_code fact, const char *object, uint64_t number)
{
	struct tfs_fact_record record = {.fact = (uint16_t)fact,
		.object = object ? builder_string(builder, object) : 0,
		.numbers = {number}};

	builder_record(builder, TFS_RECORD_fact, &record, sizeof(record));
}

static void add_item(struct builder_call *call, uint64_t value, uint64_t tagged)
{
	if (call->item_count < sizeof(call->items) / sizeof(*call->items))
		call->items[call->item_count++] = (struct tfs_item){value, tagged};
}

void builder_operand(struct builder_call *call, uint32_t role, uint64_t address, uint64_t bytes)
{
	add_item(call, address, TFS_ITEM(role, bytes));
}

void builder_attribute(struct builder_call *call, enum tfs_attribute key, uint64_t value)
{
	add_item(call, value, key);
}

uint32_t builder_call(struct builder *builder, const struct builder_call *call)
{
	struct {
		struct tfs_call call;
		struct tfs_item items[32];
	} record = {0};

	record.call = (struct tfs_call){.function = call->function,
		.site = call->site,
		.start_ticks = call->start_ns,
		.duration_ticks = (float)call->duration_ns,
		.stream = call->stream,
		.status = call->status,
		.amount = call->amount};
	memcpy(record.items, call->items, call->item_count * sizeof(*call->items));
	return builder_record(builder, TFS_RECORD_call, &record,
		sizeof(record.call) + call->item_count * sizeof(*call->items));
}

void builder_window(
	struct builder *builder, bool opens, uint32_t number, uint64_t ns, uint32_t flags)
{
	struct tfs_window_record record = {
		.opens = opens, .number = number, .ticks = ns, .flags = flags};

	builder_record(builder, TFS_RECORD_window, &record, sizeof(record));
}

void builder_step(struct builder *builder, uint64_t index, uint64_t start_ns, enum tfs_phase phase,
	uint32_t flags)
{
	struct tfs_step_record record = {.phase = (uint16_t)phase,
		.start_ticks = start_ns,
		.index = index,
		.source = TFS_STEP_LOOPS,
		.flags = flags};

	builder_record(builder, TFS_RECORD_step, &record, sizeof(record));
}

void builder_steps(struct builder *builder, uint64_t first_index, uint64_t start_ns, unsigned count,
	const float *durations_ns, uint32_t flags)
{
	struct tfs_steps_record head = {.count = (uint16_t)count,
		.first_index = first_index,
		.first_start_ticks = start_ns,
		.flags = flags};

	put(builder, TFS_RECORD_steps, &head, sizeof(head), durations_ns,
		count * sizeof(*durations_ns));
}

void builder_link(struct builder *builder, uint32_t call_unit, uint32_t correlation)
{
	struct tfs_link_record record = {.call_unit = call_unit, .correlation = correlation};

	builder_record(builder, TFS_RECORD_link, &record, sizeof(record));
}

void builder_device_op(struct builder *builder, uint16_t kind, uint32_t what, uint32_t stream,
	uint32_t correlation, uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	struct tfs_device_op_record record = {.operation = (uint8_t)kind,
		.copy_kind = kind == TFS_DEVICE_MEMCPY ? (uint8_t)what : 0,
		.kernel = kind == TFS_DEVICE_KERNEL ? what : 0,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.bytes = bytes,
		.correlation = correlation,
		.stream = stream};

	builder_record(builder, TFS_RECORD_device_op, &record, sizeof(record));
}

void builder_api(struct builder *builder, enum tfs_library domain, enum tfs_family family,
	uint16_t cbid, const char *name)
{
	const struct tfs_api_record record = {.cbid = cbid,
		.name = builder_string(builder, name),
		.domain = domain,
		.family = family};

	builder_record(builder, TFS_RECORD_api, &record, sizeof(record));
}

void builder_device_api(struct builder *builder, enum tfs_library domain, uint16_t cbid,
	uint32_t correlation, uint32_t tid, uint64_t start_ns, uint32_t duration_ns)
{
	const struct tfs_device_api_record record = {.cbid = cbid,
		.correlation = correlation,
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.tid = tid,
		.domain = domain};

	builder_record(builder, TFS_RECORD_device_api, &record, sizeof(record));
}

void builder_aggregate(struct builder *builder, const struct tfs_aggregate *aggregate)
{
	size_t offset;

	memcpy(reserve(builder, TFS_CHUNK_AGGREGATES, sizeof(*aggregate), &offset), aggregate,
		sizeof(*aggregate));
}
