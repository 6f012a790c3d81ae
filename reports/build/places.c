/* SPDX-License-Identifier: MIT */
#include "reports/build/places.h"

#include <stdlib.h>
#include <string.h>

#include "reports/symbols/symbols.h"

#define MOST_INLINED 8u

struct tfs_places {
	const struct tfs_trace *trace;
	struct tfs_symbols *symbols;
	struct tfs_arena *arena;
	const char *program; /* base name of its file */
	bool python;         /* it is a Python program */
	uint32_t limit;
	struct tfs_model_place *sites;
	bool *known;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

struct tfs_places *tfs_places_create(const struct tfs_trace *trace, struct tfs_arena *arena)
{
	struct tfs_places *places = tfs_arena_alloc(arena, 1, sizeof(*places));
	const struct tfs_file_header *header = tfs_trace_header(trace);

	if (!places)
		return NULL;
	places->trace = trace;
	places->arena = arena;
	places->program = base_name(
		tfs_arena_print(arena, "%.*s", (int)sizeof(header->program), header->program));
	places->python = tfs_trace_fact(trace, TFS_FACT_python) != NULL;
	places->limit = tfs_trace_limit(trace, TFS_RECORD_site);
	places->sites = tfs_arena_alloc(arena, places->limit, sizeof(*places->sites));
	places->known = tfs_arena_alloc(arena, places->limit, sizeof(*places->known));
	/* Last: all else is the arena's. */
	places->symbols = arena->failed ? NULL : tfs_symbols_create(trace);
	return places->symbols ? places : NULL;
}

/* "libdata.so+0x1f04": what is left to say of an address without names. */
static const char *module_text(struct tfs_places *places, uint64_t address, bool with_offset)
{
	uint64_t offset;
	const char *path = tfs_symbols_module(places->symbols, address, &offset);
	if (!path)
		return tfs_arena_print(places->arena, "0x%llx", (unsigned long long)address);
	if (!with_offset)
		return tfs_arena_string(places->arena, base_name(path));
	return tfs_arena_print(
		places->arena, "%s+0x%llx", base_name(path), (unsigned long long)offset);
}

/* Of a library of Python's, as which PyTorch itself counts. */
static bool library_file(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       !strncmp(file, "torch/", 6) || *file == '<';
}

/* A frame that has names and no address. */
static void resolve_named(struct tfs_places *places, uint64_t frame, struct tfs_model_frame *out)
{
	const char *function = tfs_trace_string(places->trace, TFS_FRAME_FUNCTION(frame));
	const char *place = tfs_trace_string(places->trace, TFS_FRAME_PLACE(frame));
	const char *line = strrchr(place, ':');

	out->function = tfs_arena_string(places->arena, *function ? function : "?");
	if (!line)
		return;
	out->file = tfs_arena_print(places->arena, "%.*s", (int)(line - place), place);
	out->line = (unsigned)strtoul(line + 1, NULL, 10);
	out->foreign = library_file(out->file);
}

/* Writes the frames of one return address; inlined calls make several. Returns how many. */
static size_t resolve(struct tfs_places *places, uint64_t address, struct tfs_model_frame *out)
{
	const struct tfs_symbol *found;

	if (address & TFS_FRAME_NAMED) {
		resolve_named(places, address, out);
		return 1;
	}
	size_t count = tfs_symbols_find(places->symbols, address, &found);

	if (count > MOST_INLINED)
		count = MOST_INLINED;
	for (size_t i = 0; i < count; i++) {
		out[i].function = tfs_arena_string(places->arena, found[i].function);
		out[i].file = tfs_arena_string(places->arena, found[i].file);
		out[i].folder = tfs_arena_string(places->arena, found[i].folder);
		out[i].line = found[i].line;
		out[i].inlined = found[i].inlined;
		out[i].module = module_text(places, address, !found[i].function);
	}
	if (!count) {
		out[0].module = module_text(places, address, true);
		count = 1;
	}
	return count;
}

static uint64_t mix(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);
	return length >= tail && !strcmp(text + length - tail, end);
}

/* What nvcc writes for each kernel; the kernel's own name on the host calls it. */
static bool launch_stub(const struct tfs_model_frame *frame)
{
	return frame->file && ends_with(frame->file, ".stub.c");
}

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Of a CUDA runtime that is linked into the program. It has no debug information. */
static bool runtime(const struct tfs_model_frame *frame)
{
	const char *name = frame->function;

	if (!name || frame->file)
		return false;
	name += begins_with(name, "__cuda") ? 2 : 0;
	return begins_with(name, "libcudart_static_") || begins_with(name, "cudart::") ||
	       (begins_with(name, "cuda") && name[4] >= 'A' && name[4] <= 'Z');
}

/* clang's stubs have the kernel's line, and no other function around them. */
static bool toolkit(const struct tfs_model_frame *frame)
{
	if (frame->function && begins_with(frame->function, "__device_stub__"))
		return true;
	if (runtime(frame))
		return true;
	return frame->file &&
	       (strstr(frame->file, "/crt/") || ends_with(frame->file, "/cuda_runtime.h") ||
		       ends_with(frame->file, "/cuda_runtime_api.h"));
}

/* Whether a stub is this kernel's: it has the kernel's name, as C++ writes it, within its own. */
static bool stub_of(const struct tfs_model_frame *stub, const struct tfs_model_frame *kernel)
{
	const char *start = kernel->function, *end, *scope;

	if (!start || !stub->function)
		return false;
	end = start + strcspn(start, "<");
	while ((scope = strstr(start, "::")) && scope < end)
		start = scope + 2;
	return end > start &&
	       memmem(stub->function, strlen(stub->function), start, (size_t)(end - start));
}

/* A runtime starts itself by pthread_once, and a thread by start_thread: with their debugging
 * information these have lines too. */
static bool libc(const struct tfs_model_frame *frame)
{
	const char *name = frame->module;

	return name && (begins_with(name, "libc.so.") || begins_with(name, "libc-2.") ||
			       begins_with(name, "libpthread"));
}

static void mark_libc(struct tfs_model_frame *frames, size_t count)
{
	bool own = false;

	for (size_t i = 0; i < count; i++)
		own |= !frames[i].foreign && !libc(&frames[i]);
	for (size_t i = 0; own && i < count; i++)
		frames[i].foreign |= libc(&frames[i]);
}

static bool is_named(uint64_t frame)
{
	return (frame & TFS_FRAME_NAMED) != 0;
}

/* C code that Python code called: the call site is the line of Python. */
static void fold_c_frames(const uint64_t *frames, unsigned count, struct tfs_model_place *place,
	struct tfs_model_frame *out)
{
	if (!count || is_named(frames[0]) || !is_named(frames[count - 1]))
		return;
	for (unsigned i = 0; i < count; i++)
		place->folded += !is_named(frames[i]);
	place->folded += place->frame_count - count; /* inlined calls */
	for (size_t i = 0; i < place->folded; i++)
		out[i].foreign = true;
}

/* PyTorch's engine runs the backward pass in threads without Python code. Its name goes before the
 * frames; returns how many there are then. `out` has room. */
static size_t name_backward(struct tfs_model_frame *out, size_t count)
{
	bool engine = false;

	for (size_t i = 0; i < count; i++)
		engine |= out[i].function &&
			  begins_with(out[i].function, "torch::autograd::Engine::");
	if (!engine)
		return count;
	memmove(out + 1, out, count * sizeof(*out));
	out[0] = (struct tfs_model_frame){.function = "backward"};
	return count + 1;
}

/* A launch is the line with <<< >>>, not the frames that the compiler puts behind it. */
static void mark_foreign(struct tfs_model_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tfs_model_frame *inner = i ? &frames[i - 1] : NULL;

		if (toolkit(&frames[i]) || launch_stub(&frames[i]))
			frames[i].foreign = true;
		else if (inner && launch_stub(inner) &&
			 (inner->inlined || stub_of(inner, &frames[i])))
			frames[i].foreign = true;
	}
	mark_libc(frames, count);
}

/* What is around main() is the same in every program and differs between systems. */
static void end_at_main(struct tfs_model_place *place)
{
	for (size_t i = 0; i < place->frame_count; i++) {
		const char *function = place->frames[i].function;
		if (function && !strcmp(function, "main"))
			place->frame_count = i + 1;
	}
}

/* Of an address in the program itself, the offset: the file may be renamed. */
static const char *module_key(const char *module, const char *program)
{
	const size_t length = strlen(program);

	return module && length && begins_with(module, program) && module[length] == '+'
		       ? module + length
		       : module;
}

/* Lines move with every edit and addresses with every build, so neither is part of the key where
 * there are names. */
static uint64_t make_key(const struct tfs_model_place *place, const char *program)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];
		/* nvcc names files of its own anew in each build */
		if (frame->foreign)
			continue;
		key = mix(key,
			frame->function ? frame->function : module_key(frame->module, program));
		key = mix(key, frame->file ? base_name(frame->file) : NULL);
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
	struct tfs_model_frame *frames =
		tfs_arena_alloc(places->arena, (size_t)count * MOST_INLINED + 1, sizeof(*frames));
	if (!frames)
		return *place;
	for (unsigned i = 0; i < count; i++)
		place->frame_count += resolve(places, addresses[i], frames + place->frame_count);
	mark_foreign(frames, place->frame_count);
	fold_c_frames(addresses, count, place, frames);
	if (places->python && !place->folded)
		place->frame_count = name_backward(frames, place->frame_count);
	place->frames = frames;
	end_at_main(place);
	place->key = make_key(place, places->program);
	return *place;
}

struct tfs_model_frame tfs_places_code(struct tfs_places *places, uint64_t address)
{
	struct tfs_model_frame frames[MOST_INLINED] = {0};
	/* Frames are return addresses, behind the code that they are about. */
	const size_t count = resolve(places, address + 1, frames);
	struct tfs_model_frame code = frames[count - 1];
	uint64_t offset;

	if (!code.function)
		code.module = tfs_symbols_module(places->symbols, address, &offset)
				      ? module_text(places, address, false)
				      : NULL;
	return code;
}

/* The file of the outermost frame that is a script's; NULL where this is no stack of one. */
static const char *script_of(struct tfs_places *places, uint32_t site)
{
	const uint64_t *frames;
	const unsigned count = tfs_trace_frames(places->trace, site, &frames);

	for (unsigned i = count; i-- > 0 && is_named(frames[i]);) {
		struct tfs_model_frame frame = {0};

		resolve_named(places, frames[i], &frame);
		if (!strcmp(frame.function, "<module>") && frame.file && !frame.foreign)
			return frame.file;
	}
	return NULL;
}

const char *tfs_places_script(struct tfs_places *places)
{
	const char *script = NULL;

	for (uint32_t site = 1; !script && site < places->limit; site++)
		script = script_of(places, site);
	return script;
}

void tfs_places_destroy(struct tfs_places *places)
{
	if (places)
		tfs_symbols_destroy(places->symbols);
}

unsigned tfs_places_changed(const struct tfs_places *places)
{
	return tfs_symbols_changed(places->symbols);
}
