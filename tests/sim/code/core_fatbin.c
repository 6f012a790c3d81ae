/* SPDX-License-Identifier: MIT */
/* What nvcc and fatbinary wrap around cubins and PTX text, one of each per architecture. */
#include <elf.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/sim/code/core_image.h"

#define FATBIN_MAGIC 0xba55ed50
/* An entry's contents unpacked; what claims to be larger is not believed. */
#define MAX_UNPACKED (256u << 20)

#define FLAG_LZ4 0x2000
#define FLAG_ZSTD 0x8000

struct fatbin_head {
	uint32_t magic;
	uint16_t version, head_bytes;
	uint64_t bytes; /* behind this head */
};

struct fatbin_entry {
	uint16_t kind, version;
	uint32_t head_bytes;
	uint64_t bytes; /* behind this head, padding included */
	uint32_t packed_bytes, options;
	uint16_t minor, major;
	uint32_t architecture, name, name_bytes;
	uint64_t flags, unused;
	uint64_t unpacked_bytes;
};

_Static_assert(sizeof(struct fatbin_head) == 16, "of the format");
_Static_assert(sizeof(struct fatbin_entry) == 64, "of the format");

static bool unpack(const struct fatbin_entry *entry, const char *from, char *to)
{
	const size_t room = entry->unpacked_bytes;

	if (entry->packed_bytes > entry->bytes)
		return false;
	if (entry->flags & FLAG_ZSTD)
		return ZSTD_decompress(to, room, from, entry->packed_bytes) == room;
	return LZ4_decompress_safe(from, to, (int)entry->packed_bytes, (int)room) == (int)room;
}

static bool read_entry(
	struct tfsim_module *module, const struct fatbin_entry *entry, const char *contents)
{
	bool packed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD), read = false;
	size_t size = packed ? entry->unpacked_bytes : entry->bytes;
	char *copy;

	if (size > MAX_UNPACKED || entry->packed_bytes > MAX_UNPACKED)
		return false;
	/* A byte more, for text without an end; eight-byte alignment is no promise of the format.
	 */
	copy = malloc(size + 1);
	if (!copy)
		return false;
	copy[size] = '\0';
	if (!packed)
		memcpy(copy, contents, size);
	if (!packed || unpack(entry, contents, copy))
		read = sim_image_read(module, copy, size);
	free(copy);
	return read;
}

/* All entries are of one source and hold the same kernels: the first that can be read will do. */
bool sim_fatbin_read(struct tfsim_module *module, const void *image, size_t size)
{
	const char *at = image;
	struct fatbin_head head;
	struct fatbin_entry entry;
	uint64_t left;

	if (size < sizeof(head))
		return false;
	memcpy(&head, at, sizeof(head));
	if (head.magic != FATBIN_MAGIC || head.head_bytes < sizeof(head) || head.head_bytes > size)
		return false;
	at += head.head_bytes;
	left = size - head.head_bytes;
	left = head.bytes < left ? head.bytes : left;
	while (left >= sizeof(entry)) {
		memcpy(&entry, at, sizeof(entry));
		if (entry.head_bytes < sizeof(entry) || entry.head_bytes > left ||
			entry.bytes > left - entry.head_bytes)
			return false;
		if (read_entry(module, &entry, at + entry.head_bytes))
			return true;
		at += entry.head_bytes + entry.bytes;
		left -= entry.head_bytes + entry.bytes;
	}
	return false;
}
