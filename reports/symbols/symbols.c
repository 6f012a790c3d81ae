/* SPDX-License-Identifier: MIT */
#include "reports/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "reports/symbols/demangle.h"
#include "reports/symbols/symbols_file.h"

#define MOST_FRAMES 32

/* What is known about one return address. */
struct entry {
	uint64_t address; /* 0 = an empty slot */
	struct tfs_symbol *found;
	size_t count;
};

/* All segments of one mapped file. */
struct module {
	uint32_t path;
	uint64_t load_bias;
	bool opened;
	struct tfs_symbols_file *file; /* NULL = cannot be used */
};

struct tfs_symbols {
	const struct tfs_trace *trace;
	struct entry *entries; /* open addressing */
	size_t mask;
	size_t used;
	struct module *modules;
	size_t module_count;
	unsigned changed;
	char **texts; /* every distinct text once, open addressing */
	size_t text_mask;
	size_t text_used;
};

static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static bool grow_texts(struct tfs_symbols *symbols)
{
	size_t mask = symbols->text_mask * 2 + 1;
	char **grown = calloc(mask + 1, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; i <= symbols->text_mask; i++) {
		size_t slot;

		if (!symbols->texts[i])
			continue;
		slot = hash_text(symbols->texts[i]) & mask;
		while (grown[slot])
			slot = (slot + 1) & mask;
		grown[slot] = symbols->texts[i];
	}
	free(symbols->texts);
	symbols->texts = grown;
	symbols->text_mask = mask;
	return true;
}

/* The kept copy of a text; NULL for NULL, or when out of memory. */
static const char *keep(struct tfs_symbols *symbols, const char *text)
{
	size_t slot;

	if (!text || (symbols->text_used * 2 > symbols->text_mask && !grow_texts(symbols)))
		return NULL;
	slot = hash_text(text) & symbols->text_mask;
	while (symbols->texts[slot] && strcmp(symbols->texts[slot], text) != 0)
		slot = (slot + 1) & symbols->text_mask;
	if (!symbols->texts[slot]) {
		symbols->texts[slot] = strdup(text);
		symbols->text_used += symbols->texts[slot] != NULL;
	}
	return symbols->texts[slot];
}

static const char *keep_name(struct tfs_symbols *symbols, const char *name)
{
	char *readable = name ? tfs_demangle(name, false) : NULL;
	const char *kept = keep(symbols, readable ? readable : name);

	free(readable);
	return kept;
}

static struct module *module_at(
	struct tfs_symbols *symbols, uint64_t address, const struct tfs_module_record **out_record)
{
	const struct tfs_module_record *record = tfs_trace_module(symbols->trace, address);

	*out_record = record;
	for (size_t i = 0; record && i < symbols->module_count; i++)
		if (symbols->modules[i].path == record->path &&
			symbols->modules[i].load_bias == record->load_bias)
			return &symbols->modules[i];
	return NULL;
}

static void open_module(
	struct tfs_symbols *symbols, struct module *module, const struct tfs_module_record *record)
{
	bool changed = false;

	module->opened = true;
	module->file = tfs_symbols_file_open(
		tfs_trace_string(symbols->trace, module->path), record, &changed);
	symbols->changed += changed;
}

static void list_modules(struct tfs_symbols *symbols)
{
	size_t count = tfs_trace_count(symbols->trace, TFS_RECORD_module);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_module_record *record =
			tfs_trace_at(symbols->trace, TFS_RECORD_module, i);
		size_t nth = 0;

		while (nth < symbols->module_count &&
			(symbols->modules[nth].path != record->path ||
				symbols->modules[nth].load_bias != record->load_bias))
			nth++;
		if (nth == symbols->module_count)
			symbols->modules[symbols->module_count++] = (struct module){
				.path = record->path, .load_bias = record->load_bias};
	}
}

struct tfs_symbols *tfs_symbols_create(const struct tfs_trace *trace)
{
	struct tfs_symbols *symbols = calloc(1, sizeof(*symbols));
	size_t modules = tfs_trace_count(trace, TFS_RECORD_module);

	if (!symbols)
		return NULL;
	symbols->trace = trace;
	symbols->mask = 255;
	symbols->text_mask = 255;
	symbols->entries = calloc(symbols->mask + 1, sizeof(*symbols->entries));
	symbols->texts = calloc(symbols->text_mask + 1, sizeof(*symbols->texts));
	symbols->modules = calloc(modules + 1, sizeof(*symbols->modules));
	if (!symbols->entries || !symbols->texts || !symbols->modules) {
		tfs_symbols_destroy(symbols);
		return NULL;
	}
	list_modules(symbols);
	return symbols;
}

void tfs_symbols_destroy(struct tfs_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; symbols->entries && i <= symbols->mask; i++)
		free(symbols->entries[i].found);
	for (size_t i = 0; symbols->texts && i <= symbols->text_mask; i++)
		free(symbols->texts[i]);
	for (size_t i = 0; i < symbols->module_count; i++)
		tfs_symbols_file_close(symbols->modules[i].file);
	free(symbols->entries);
	free(symbols->texts);
	free(symbols->modules);
	free(symbols);
}

static struct entry *slot_of(struct entry *entries, size_t mask, uint64_t address)
{
	size_t slot = (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

	while (entries[slot].address && entries[slot].address != address)
		slot = (slot + 1) & mask;
	return &entries[slot];
}

static bool grow_entries(struct tfs_symbols *symbols)
{
	size_t mask = symbols->mask * 2 + 1;
	struct entry *grown = calloc(mask + 1, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; i <= symbols->mask; i++)
		if (symbols->entries[i].address)
			*slot_of(grown, mask, symbols->entries[i].address) = symbols->entries[i];
	free(symbols->entries);
	symbols->entries = grown;
	symbols->mask = mask;
	return true;
}

static void look_up(struct tfs_symbols *symbols, struct entry *entry)
{
	const struct tfs_module_record *record;
	/* the call is before the address it returns to */
	struct module *module = module_at(symbols, entry->address - 1, &record);
	struct tfs_symbol found[MOST_FRAMES];
	size_t count;

	if (!module)
		return;
	if (!module->opened)
		open_module(symbols, module, record);
	if (!module->file)
		return;
	count = tfs_symbols_file_find(module->file, entry->address - 1, found, MOST_FRAMES);
	entry->found = calloc(count ? count : 1, sizeof(*entry->found));
	for (size_t i = 0; entry->found && i < count; i++) {
		entry->found[i] = found[i];
		entry->found[i].function = keep_name(symbols, found[i].function);
		entry->found[i].file = keep(symbols, found[i].file);
		entry->found[i].folder = keep(symbols, found[i].folder);
		entry->count++;
	}
}

size_t tfs_symbols_find(
	struct tfs_symbols *symbols, uint64_t return_address, const struct tfs_symbol **out_found)
{
	struct entry *entry;

	if (!return_address || (symbols->used * 2 > symbols->mask && !grow_entries(symbols)))
		return 0;
	entry = slot_of(symbols->entries, symbols->mask, return_address);
	if (!entry->address) {
		entry->address = return_address;
		symbols->used++;
		look_up(symbols, entry);
	}
	*out_found = entry->found;
	return entry->count;
}

const char *tfs_symbols_module(
	const struct tfs_symbols *symbols, uint64_t address, uint64_t *out_offset)
{
	const struct tfs_module_record *record = tfs_trace_module(symbols->trace, address);

	if (!record)
		return NULL;
	*out_offset = address - record->start + record->file_offset;
	return tfs_trace_string(symbols->trace, record->path);
}

unsigned tfs_symbols_changed(const struct tfs_symbols *symbols)
{
	return symbols->changed;
}
