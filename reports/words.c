/* SPDX-License-Identifier: MIT */
#include "reports/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Three significant digits, which is more than any of these figures is worth. */
static const char *three(struct tfs_arena *arena, double value, const char *unit)
{
	double size = fabs(value);
	int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
	return tfs_arena_print(arena, "%.*f%s%s", digits, value, *unit ? " " : "", unit);
}

const char *tfs_words_time(struct tfs_arena *arena, double ns)
{
	double size = fabs(ns);
	if (isnan(ns))
		return "?";
	if (size == 0)
		return "0";
	if (size < 1e3)
		return tfs_arena_print(arena, "%.0f ns", ns);
	if (size < 999.5e3)
		return three(arena, ns / 1e3, "us");
	if (size < 999.5e6)
		return three(arena, ns / 1e6, "ms");
	if (size < 120e9)
		return three(arena, ns / 1e9, "s");
	return three(arena, ns / 60e9, "min");
}

const char *tfs_words_bytes(struct tfs_arena *arena, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned unit = 0;
	if (isnan(bytes))
		return "?";
	if (fabs(bytes) < 1024)
		return tfs_arena_print(arena, "%.0f B", bytes);
	while (fabs(bytes) >= 1023.5 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	return three(arena, bytes, units[unit]);
}

static const char *grouped(struct tfs_arena *arena, double count)
{
	char plain[32];
	int length = snprintf(plain, sizeof(plain), "%.0f", count);
	char *text = tfs_arena_alloc(arena, (size_t)length * 2, 1);
	char *next = text;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*next++ = ',';
		*next++ = plain[i];
	}
	return text;
}

const char *tfs_words_count(struct tfs_arena *arena, double count)
{
	if (isnan(count))
		return "?";
	if (count >= 0 && (count >= 99.5 || fabs(count - round(count)) < 0.005) && count < 1e18)
		return grouped(arena, round(count));
	return tfs_arena_print(arena, count < 9.95 ? "%.2f" : "%.1f", count);
}

const char *tfs_words_share(struct tfs_arena *arena, double share)
{
	if (isnan(share))
		return "?";
	return tfs_arena_print(arena, fabs(share) < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
}

const char *tfs_words_cost(struct tfs_arena *arena, const struct tfs_cost *cost)
{
	if (isnan(cost->ns))
		return "not measured";
	if (cost->ns == 0 && cost->high_ns == 0)
		return "none";
	return tfs_arena_print(arena, "%s (%s to %s)", tfs_words_time(arena, cost->ns),
		tfs_words_time(arena, cost->low_ns), tfs_words_time(arena, cost->high_ns));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *tfs_words_place(struct tfs_arena *arena, const struct tfs_model_place *place)
{
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];
		if (frame->file && frame->line)
			return tfs_arena_print(arena, "%s:%u", base_name(frame->file), frame->line);
	}
	for (size_t i = 0; i < place->frame_count; i++) {
		if (place->frames[i].function)
			return place->frames[i].function;
	}
	if (place->frame_count && place->frames[0].module)
		return place->frames[0].module;
	return "the whole program";
}

const char *tfs_words_frame(struct tfs_arena *arena, const struct tfs_model_frame *frame)
{
	const char *function = frame->function ? frame->function : "?";
	if (frame->file && frame->line)
		return tfs_arena_print(arena, "%s:%u (%s)", frame->file, frame->line, function);
	if (frame->module)
		return tfs_arena_print(arena, "%s (%s)", frame->module, function);
	return function;
}

const char *tfs_words_level(enum tfs_level level)
{
	static const char *const names[] = { "note", "warn", "error" };
	return (unsigned)level < 3 ? names[level] : "note";
}

const char *tfs_words_state(enum tfs_state state)
{
	static const char *const names[] = { "passed", "violated", "not_measurable", "waived" };
	return (unsigned)state < 4 ? names[state] : "not_measurable";
}

const char *tfs_words_sign(enum tfs_level level)
{
	static const char *const signs[] = { "i", "!", "x" };
	return (unsigned)level < 3 ? signs[level] : "i";
}
