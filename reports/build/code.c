/* SPDX-License-Identifier: MIT */
#include "reports/build/code.h"

#include <stdlib.h>
#include <string.h>

#include "reports/model/words.h"

/* A share of fewer samples is off by a fifth of all or more, nineteen times out of twenty. */
#define LEAST_SAMPLES 20u
#define MOST_NAMED 3u
#define WORTH_SHARE 0.1

struct function {
	struct tfs_model_frame frame;
	uint32_t samples;
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Its own samples are added to a function that is listed already. */
static size_t add(struct function *functions, size_t count, const struct tfs_model_frame *frame,
	uint32_t samples)
{
	for (size_t i = 0; i < count; i++) {
		if (!same_text(functions[i].frame.function, frame->function) ||
			!same_text(functions[i].frame.module, frame->module))
			continue;
		functions[i].samples += samples;
		return count;
	}
	functions[count] = (struct function){*frame, samples};
	return count + 1;
}

static int by_samples(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return a->samples < b->samples ? 1 : a->samples > b->samples ? -1 : 0;
}

static const char *name(struct tfs_arena *arena, const struct tfs_model_frame *frame)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	const char *file = slash ? slash + 1 : frame->file;

	if (!frame->function)
		return frame->module ? frame->module : "code without a name";
	return tfs_arena_print(arena, "%s of %s", frame->function, file ? file : frame->module);
}

/* NULL: none is worth naming. */
static const char *functions_of(
	struct tfs_places *places, struct tfs_arena *arena, const struct tfs_code_samples *samples)
{
	struct function *functions;
	const char *text = NULL;
	size_t count = 0;

	if (samples->all < LEAST_SAMPLES)
		return NULL;
	functions = tfs_arena_alloc(arena, samples->count, sizeof(*functions));
	for (uint32_t i = 0; functions && i < samples->count; i++) {
		const struct tfs_model_frame frame =
			tfs_places_code(places, samples->items[i].address);

		count = add(functions, count, &frame, samples->items[i].samples);
	}
	qsort(functions, count, sizeof(*functions), by_samples);
	for (size_t i = 0; i < count && i < MOST_NAMED; i++) {
		const double share = (double)functions[i].samples / samples->all;

		if (share < WORTH_SHARE)
			break;
		text = tfs_arena_print(arena, "%s%s%s (%s)", text ? text : "", text ? ", " : "",
			name(arena, &functions[i].frame), tfs_words_share(arena, share));
	}
	return text;
}

const char *tfs_code_added(struct tfs_places *places, struct tfs_arena *arena, const char *text,
	const struct tfs_code_samples *samples)
{
	const char *code = text ? functions_of(places, arena, samples) : NULL;

	return code ? tfs_arena_print(arena, "%s; it ran in %s", text, code)
		    : tfs_arena_string(arena, text);
}
