/* SPDX-License-Identifier: MIT */
#include "reports/places.h"

#include <stdlib.h>
#include <string.h>

#include "reports/symbols.h"

struct tfs_places {
	const struct tfs_trace *trace;
	struct tfs_region *region;
	struct tfs_symbols *symbols; /* NULL = no names, for want of memory */
	uint32_t limit;
	struct tfs_model_place *sites;
	bool *known;
};

struct tfs_places *tfs_places_create(const struct tfs_trace *trace, struct tfs_region *region)
{
	struct tfs_places *places = tfs_region_alloc(region, 1, sizeof(*places));
	places->trace = trace;
	places->region = region;
	places->symbols = tfs_symbols_create(trace);
	places->limit = tfs_trace_limit(trace, TFS_RECORD_site);
	places->sites = tfs_region_alloc(region, places->limit, sizeof(*places->sites));
	places->known = tfs_region_alloc(region, places->limit, sizeof(*places->known));
	return places;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static const char *module_name(struct tfs_places *places, uint64_t address, bool offset)
{
	const struct tfs_module_record *module = tfs_trace_module(places->trace, address);
	const char *name;
	if (!module)
		return tfs_region_print(places->region, "0x%llx", (unsigned long long)address);
	name = base_name(tfs_trace_string(places->trace, module->record.site));
	if (!offset)
		return tfs_region_print(places->region, "%s", name);
	return tfs_region_print(places->region, "%s+0x%llx", name,
		(unsigned long long)(address - module->start + module->file_offset));
}

/* One return address is several frames where calls were inlined; `out` NULL only counts them. */
static size_t resolve(struct tfs_places *places, uint64_t address, struct tfs_model_frame *out)
{
	const struct tfs_symbol *found = NULL;
	size_t count = places->symbols ? tfs_symbols_find(places->symbols, address, &found) : 0;
	if (!out)
		return count ? count : 1;
	for (size_t i = 0; i < count; i++)
		out[i] = (struct tfs_model_frame){
			.function = found[i].function ? tfs_region_print(places->region, "%s",
								found[i].function)
						      : NULL,
			.file = found[i].file
					? tfs_region_print(places->region, "%s", found[i].file)
					: NULL,
			.line = found[i].line,
			.module = module_name(places, address, !found[i].function),
			.inlined = found[i].inlined};
	if (!count)
		*out = (struct tfs_model_frame){.module = module_name(places, address, true)};
	return count ? count : 1;
}

static uint64_t mix(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

/* Lines move with every edit and addresses with every build, so neither is part of the key where
 * there are names; frames around main() differ between systems. */
static uint64_t make_key(const struct tfs_model_place *place)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];
		key = mix(key, frame->function ? frame->function : frame->module);
		key = mix(key, frame->file ? base_name(frame->file) : NULL);
		if (frame->function && !strcmp(frame->function, "main"))
			break;
	}
	return key;
}

struct tfs_model_place tfs_places_find(struct tfs_places *places, uint32_t site)
{
	const uint64_t *addresses;
	if (!site || site >= places->limit)
		return (struct tfs_model_place){0};
	struct tfs_model_place *place = &places->sites[site];
	if (places->known[site])
		return *place;
	places->known[site] = true;
	unsigned count = tfs_trace_frames(places->trace, site, &addresses);
	size_t total = 0;
	for (unsigned i = 0; i < count; i++)
		total += resolve(places, addresses[i], NULL);
	struct tfs_model_frame *frames = tfs_region_alloc(places->region, total, sizeof(*frames));
	for (unsigned i = 0; i < count; i++)
		place->frame_count += resolve(places, addresses[i], frames + place->frame_count);
	place->frames = frames;
	place->key = make_key(place);
	return *place;
}

void tfs_places_destroy(struct tfs_places *places)
{
	if (places)
		tfs_symbols_destroy(places->symbols);
}
