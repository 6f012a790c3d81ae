/* SPDX-License-Identifier: MIT */
#include "shim/nvtx/nvtx_names.h"

#include <stdatomic.h>
#include <string.h>

#include "shim/base/heap.h"
#include "shim/nvtx/nvtx_family.h"
#include "shim/record/intern.h"
#include "shim/record/recorder.h"

#define LONGEST 119u

struct name {
	_Atomic uint32_t family; /* 0 until the text is whole */
	_Atomic uint32_t string;
	char text[LONGEST + 1];
};

static struct memory {
	_Atomic uint64_t hashes[TFS_NVTX_NAMES];
	struct name names[TFS_NVTX_NAMES];
} * memory;
static _Atomic uint32_t used;

bool tfs_nvtx_names_init(void)
{
	memory = tfs_heap_alloc(sizeof(*memory));
	return memory != NULL;
}

static uint32_t intern(const char *text, size_t length)
{
	bool fresh;
	size_t family = tfs_nvtx_family_length(text, length);

	if (family < length && atomic_load(&used) > TFS_NVTX_NAMES / 2)
		length = family;
	const uint32_t number = tfs_intern_claim(
		memory->hashes, TFS_NVTX_NAMES, tfs_intern_hash(text, length), &fresh);
	if (number == 0 || !fresh)
		return number;
	struct name *name = &memory->names[number - 1];
	atomic_fetch_add(&used, 1);
	memcpy(name->text, text, length);
	atomic_store(&name->family, family < length ? intern(text, family) : number);
	return number;
}

uint32_t tfs_nvtx_name(const char *text)
{
	return !text || *text == '\0' ? 0 : intern(text, strnlen(text, LONGEST));
}

static size_t put_utf8(char *target, uint32_t letter)
{
	if (letter < 0x80) {
		target[0] = (char)letter;
		return 1;
	}
	const size_t more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
	target[0] = (char)(0xff00u >> (more + 1) | letter >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		target[i] = (char)(0x80u | (letter >> 6 * (more - i) & 0x3fu));
	return more + 1;
}

uint32_t tfs_nvtx_name_wide(const wchar_t *text)
{
	char narrow[LONGEST + 4];
	size_t length = 0;

	while (text && *text != L'\0' && length + 4 <= LONGEST)
		length += put_utf8(narrow + length, (uint32_t)*text++ & 0x1fffffu);
	return length == 0 ? 0 : intern(narrow, length);
}

uint32_t tfs_nvtx_name_family(uint32_t name)
{
	return name == 0 ? 0 : atomic_load(&memory->names[name - 1].family);
}

const char *tfs_nvtx_name_text(uint32_t name)
{
	return tfs_nvtx_name_family(name) == 0 ? "" : memory->names[name - 1].text;
}

uint32_t tfs_nvtx_name_string(uint32_t name)
{
	if (tfs_nvtx_name_family(name) == 0)
		return 0;
	struct name *entry = &memory->names[name - 1];
	uint32_t string = atomic_load_explicit(&entry->string, memory_order_relaxed);
	if (string == 0) {
		string = tfs_recorder_string(entry->text);
		atomic_store(&entry->string, string);
	}
	return string;
}

void tfs_nvtx_handle_set(struct tfs_nvtx_handles *handles, const void *handle, uint32_t value)
{
	const uint64_t key = (uint64_t)(uintptr_t)handle;

	for (uint32_t i = 0; key != 0 && i < TFS_NVTX_NAMES; i++) {
		const uint32_t at =
			(uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15) >> 40) + i) % TFS_NVTX_NAMES;
		uint64_t found = atomic_load(&handles->slots[at].handle);

		if (found == 0)
			atomic_compare_exchange_strong(&handles->slots[at].handle, &found, key);
		if (found == 0 || found == key) {
			atomic_store(&handles->slots[at].value, value);
			return;
		}
	}
}

uint32_t tfs_nvtx_handle_get(struct tfs_nvtx_handles *handles, const void *handle)
{
	const uint64_t key = (uint64_t)(uintptr_t)handle;

	for (uint32_t i = 0; key != 0 && i < TFS_NVTX_NAMES; i++) {
		const uint32_t at =
			(uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15) >> 40) + i) % TFS_NVTX_NAMES;
		const uint64_t found = atomic_load(&handles->slots[at].handle);

		if (found == 0)
			return 0;
		if (found == key)
			return atomic_load(&handles->slots[at].value);
	}
	return 0;
}
