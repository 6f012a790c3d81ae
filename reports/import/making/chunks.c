/* SPDX-License-Identifier: MIT */
#include "reports/import/making/chunks.h"

#include <stdlib.h>
#include <string.h>

/* Zeroed bytes behind what there is; NULL without memory. */
static unsigned char *add(struct tfs_chunks *chunks, size_t bytes)
{
	if (chunks->failed)
		return NULL;
	if (chunks->room - chunks->used < bytes) {
		size_t room = chunks->room + chunks->room / 4 + bytes + TFS_CHUNK_BYTES;
		unsigned char *grown = realloc(chunks->bytes, room);

		chunks->failed = !grown;
		if (!grown)
			return NULL;
		chunks->bytes = grown;
		chunks->room = room;
	}
	unsigned char *place = memset(chunks->bytes + chunks->used, 0, bytes);
	chunks->used += bytes;
	return place;
}

struct tfs_file_header *tfs_chunks_header(struct tfs_chunks *chunks)
{
	return (struct tfs_file_header *)chunks->bytes;
}

static struct tfs_chunk *chunk_of(struct tfs_chunks *chunks)
{
	return (struct tfs_chunk *)(chunks->bytes + chunks->open);
}

void tfs_chunks_init(struct tfs_chunks *chunks)
{
	*chunks = (struct tfs_chunks){0};
	if (!add(chunks, TFS_HEADER_BYTES))
		return;
	struct tfs_file_header *header = tfs_chunks_header(chunks);
	memcpy(header->magic, TFS_MAGIC, sizeof(header->magic));
	header->version = TFS_FORMAT_VERSION;
	header->header_bytes = TFS_HEADER_BYTES;
	header->chunk_bytes = TFS_CHUNK_BYTES;
	header->clock = TFS_CLOCK_MONOTONIC;
	header->finished = 1;
}

static void close_chunk(struct tfs_chunks *chunks)
{
	if (!chunks->open || chunks->failed)
		return;
	add(chunks, (TFS_CHUNK_STEP - chunks->used % TFS_CHUNK_STEP) % TFS_CHUNK_STEP);
	if (!chunks->failed)
		chunk_of(chunks)->bytes = (uint32_t)(chunks->used - chunks->open);
	chunks->open = 0;
}

void tfs_chunks_thread(struct tfs_chunks *chunks, uint32_t thread)
{
	close_chunk(chunks);
	chunks->thread = thread;
	chunks->sequence = 0;
}

/* Room in a chunk of a kind; NULL without memory. */
static unsigned char *reserve(struct tfs_chunks *chunks, uint16_t kind, size_t bytes)
{
	if (chunks->open && (chunk_of(chunks)->kind != kind ||
				    chunks->used - chunks->open + bytes > TFS_CHUNK_BYTES))
		close_chunk(chunks);
	if (!chunks->open) {
		const size_t open = chunks->used;

		if (!add(chunks, sizeof(struct tfs_chunk)))
			return NULL;
		chunks->open = open;
		*chunk_of(chunks) = (struct tfs_chunk){.magic = TFS_CHUNK_MAGIC,
			.kind = kind,
			.thread = chunks->thread,
			.sequence = chunks->sequence++,
			.offset = open};
		tfs_chunks_header(chunks)->chunks_taken++;
	}
	unsigned char *place = add(chunks, bytes);
	if (place)
		chunk_of(chunks)->committed += bytes;
	return place;
}

uint32_t tfs_chunks_put(struct tfs_chunks *chunks, enum tfs_record_kind kind, const void *record,
	size_t bytes, const void *tail, size_t tail_bytes)
{
	const size_t units = (bytes + tail_bytes + TFS_UNIT - 1) / TFS_UNIT;
	unsigned char *place = reserve(chunks, TFS_CHUNK_RECORDS, units * TFS_UNIT);

	if (!place)
		return 0;
	memcpy(place, record, bytes);
	if (tail_bytes)
		memcpy(place + bytes, tail, tail_bytes);
	*(struct tfs_record *)place =
		(struct tfs_record){.kind = (uint8_t)kind, .units = (uint8_t)units};
	return (uint32_t)((size_t)(place - chunks->bytes) / TFS_UNIT);
}

void tfs_chunks_aggregate(struct tfs_chunks *chunks, const struct tfs_aggregate *aggregate)
{
	unsigned char *place = reserve(chunks, TFS_CHUNK_AGGREGATES, sizeof(*aggregate));

	if (place)
		memcpy(place, aggregate, sizeof(*aggregate));
}

void tfs_chunks_end(struct tfs_chunks *chunks)
{
	close_chunk(chunks);
}
