/* SPDX-License-Identifier: MIT */
/*
 * Mutations that know where records begin: most of a recording's bytes are lengths and times of
 * which chance changes hardly one without spoiling what follows. Recordings have no checksum; what
 * has to stay right is where chunks and records end.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim/trace/format/format.h"

#define MOST_RECORDS 65536u

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two,
	size_t two_size, uint8_t *out, size_t most, unsigned seed);

/* Where records begin, and the last chunk, which may grow. */
static struct {
	uint32_t at[MOST_RECORDS];
	uint32_t count;
	uint32_t last; /* 0 = none */
} found;

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 33) % below);
}

static void find_in_chunk(const uint8_t *data, uint32_t from, uint32_t end)
{
	while (from + TFS_UNIT <= end && found.count < MOST_RECORDS) {
		const uint32_t bytes = data[from + 1] * TFS_UNIT;

		if (!bytes || from + bytes > end)
			return;
		found.at[found.count++] = from;
		from += bytes;
	}
}

static void find_records(const uint8_t *data, size_t size)
{
	struct tfs_chunk chunk;
	struct tfs_file_header header;

	found.count = found.last = 0;
	if (size < sizeof(header) || size > UINT32_MAX)
		return;
	memcpy(&header, data, sizeof(header));
	for (size_t at = header.header_bytes; at + sizeof(chunk) <= size;) {
		memcpy(&chunk, data + at, sizeof(chunk));
		if (chunk.magic != TFS_CHUNK_MAGIC || chunk.bytes < sizeof(chunk)) {
			at += TFS_CHUNK_STEP;
			continue;
		}
		size_t end = at + sizeof(chunk) +
			     (chunk.committed < chunk.bytes ? (size_t)chunk.committed : 0);

		if (end > size)
			end = size;
		if (chunk.kind == TFS_CHUNK_RECORDS) {
			find_in_chunk(data, (uint32_t)(at + sizeof(chunk)), (uint32_t)end);
			found.last = (uint32_t)at;
		}
		at += chunk.bytes;
	}
}

static uint32_t length_of(const uint8_t *data, uint32_t record)
{
	return data[record + 1] * TFS_UNIT;
}

/* A record of the same kind as one, if luck finds it. */
static uint32_t another(const uint8_t *data, uint32_t record)
{
	uint32_t other = record;

	for (unsigned i = 0; i < 32 && (other == record || data[other] != data[record]); i++)
		other = found.at[draw(found.count)];
	return other;
}

/* An aligned field: a number that is often special, or that of another record of this kind. */
static void change_field(uint8_t *data, uint32_t record)
{
	static const uint64_t numbers[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff,
		0xffffffff, UINT64_C(0x7fffffffffffffff), UINT64_MAX, UINT64_C(0x7ff0000000000000),
		0x7f800000, 0x7fc00000, UINT64_C(0x3ff0000000000000)};
	const uint32_t bytes = 1u << draw(4), length = length_of(data, record);
	const uint32_t offset = draw(length / bytes) * bytes;
	const uint32_t other = another(data, record);
	uint64_t number = numbers[draw(sizeof(numbers) / sizeof(numbers[0]))];

	if (offset < sizeof(struct tfs_record))
		return;
	if (draw(2) && data[other] == data[record] && offset + bytes <= length_of(data, other))
		memcpy(&number, data + other + offset, bytes);
	else if (draw(3) == 0) {
		memcpy(&number, data + record + offset, bytes);
		number += draw(2) ? 1 : UINT64_MAX;
	}
	memcpy(data + record + offset, &number, bytes);
}

static void change_bytes(uint8_t *data, uint32_t record)
{
	const uint32_t length = length_of(data, record) - (uint32_t)sizeof(struct tfs_record);
	uint8_t *copy = malloc(length);

	if (!copy)
		return;
	memcpy(copy, data + record + sizeof(struct tfs_record), length);
	const size_t left = LLVMFuzzerMutate(copy, length, length);

	memcpy(data + record + sizeof(struct tfs_record), copy, left);
	free(copy);
}

/* One record in place of another of the same length, or both swapped. */
static void move_record(uint8_t *data, uint32_t record)
{
	uint8_t copy[255 * TFS_UNIT];
	const uint32_t length = length_of(data, record);
	uint32_t other = record;

	for (unsigned i = 0; i < 32 && (other == record || length_of(data, other) != length); i++)
		other = found.at[draw(found.count)];
	if (length_of(data, other) != length)
		return;
	memcpy(copy, data + other, length);
	if (draw(2))
		memcpy(data + other, data + record, length);
	memcpy(data + record, copy, length);
}

/* A copy of a record behind the last one; what follows the last chunk goes. */
static size_t append(uint8_t *data, size_t size, size_t most, uint32_t record)
{
	struct tfs_chunk chunk;
	const uint32_t length = length_of(data, record);

	memcpy(&chunk, data + found.last, sizeof(chunk));
	const size_t end = found.last + sizeof(chunk) + (size_t)chunk.committed;
	const size_t grown = (end + length + TFS_CHUNK_STEP - 1) / TFS_CHUNK_STEP * TFS_CHUNK_STEP;

	if (chunk.committed > size || end > size || grown > most ||
		grown - found.last > TFS_CHUNK_BYTES)
		return size;
	memmove(data + end, data + record, length);
	memset(data + end + length, 0, grown - end - length);
	chunk.committed += length;
	chunk.bytes = (uint32_t)(grown - found.last);
	memcpy(data + found.last, &chunk, sizeof(chunk));
	return grown;
}

static void change_header(uint8_t *data)
{
	const uint32_t from = offsetof(struct tfs_file_header, clock);
	const uint32_t at = from + draw((sizeof(struct tfs_file_header) - from) / 4) * 4;
	const uint32_t value = draw(3) ? draw(256) : UINT32_MAX;

	memcpy(data + at, &value, sizeof(value));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	state = seed;
	find_records(data, size);
	if (!found.count || !draw(8))
		return LLVMFuzzerMutate(data, size, most);
	for (unsigned times = 1 + draw(4); times; times--) {
		const uint32_t record = found.at[draw(found.count)];

		switch (draw(8)) {
		case 0:
			change_bytes(data, record);
			break;
		case 1:
			move_record(data, record);
			break;
		case 2:
			size = append(data, size, most, record);
			find_records(data, size);
			break;
		case 3:
			if (!draw(4))
				change_header(data);
			break;
		default:
			change_field(data, record);
			break;
		}
		if (!found.count)
			break;
	}
	return size;
}

/* A recording and its baseline. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two,
	size_t two_size, uint8_t *out, size_t most, unsigned seed)
{
	const size_t length = sizeof(TFS_MAGIC) - 1;
	const uint8_t *second = one_size > length
					? memmem(one + length, one_size - length, TFS_MAGIC, length)
					: NULL;

	(void)seed;
	if (second)
		one_size = (size_t)(second - one);
	if (one_size > most || two_size > most - one_size)
		return 0;
	memcpy(out, one, one_size);
	memcpy(out + one_size, two, two_size);
	return one_size + two_size;
}
