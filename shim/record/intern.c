/* SPDX-License-Identifier: MIT */
#include "shim/record/intern.h"

#include <string.h>

#include "shim/record/recorder.h"

#define SLOTS 16384u
#define LONGEST 4000u

static _Atomic uint64_t strings[SLOTS];
static _Atomic uint64_t kernels[SLOTS];

/* FNV-1a, folded: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t tfs_intern_hash(const void *data, size_t bytes)
{
	const unsigned char *next = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ next[i]) * UINT64_C(0x100000001b3);
	hash ^= hash >> 29;
	return hash != 0 ? hash : 1;
}

uint32_t tfs_intern_claim(_Atomic uint64_t *table, uint32_t slots, uint64_t hash, bool *out_fresh)
{
	*out_fresh = false;
	for (uint32_t i = 0; i < slots; i++) {
		const uint32_t at = (uint32_t)((hash + i) % slots);
		uint64_t found = atomic_load_explicit(&table[at], memory_order_acquire);

		if (found == 0 && atomic_compare_exchange_strong(&table[at], &found, hash)) {
			*out_fresh = true;
			return at + 1;
		}
		if (found == hash)
			return at + 1;
	}
	return 0;
}

static uint32_t intern_text(_Atomic uint64_t *table, const char *text, enum tfs_record_kind kind)
{
	struct {
		struct tfs_text_record head;
		char text[LONGEST + 1];
	} buffer;
	size_t length = strlen(text);
	bool fresh;

	if (length > LONGEST) {
		tfs_recorder_lost(TFS_LOSS_strings_cut, 1);
		length = LONGEST;
	}
	const uint32_t id = tfs_intern_claim(table, SLOTS, tfs_intern_hash(text, length), &fresh);
	if (id == 0 || !fresh)
		return id;
	buffer.head = (struct tfs_text_record){.length = (uint16_t)length, .id = id};
	memcpy(buffer.text, text, length);
	buffer.text[length] = '\0';
	tfs_recorder_put(&buffer, kind, sizeof(buffer.head) + length + 1);
	return id;
}

uint32_t tfs_recorder_string(const char *text)
{
	return text ? intern_text(strings, text, TFS_RECORD_string) : 0;
}

uint32_t tfs_recorder_kernel(const char *name)
{
	return name ? intern_text(kernels, name, TFS_RECORD_kernel) : 0;
}

void tfs_recorder_fact(enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other)
{
	const struct tfs_fact_record record = {
		.fact = (uint16_t)fact,
		.object = tfs_recorder_string(object),
		.numbers = {number, other},
	};

	tfs_recorder_put(&record, TFS_RECORD_fact, sizeof(record));
}
