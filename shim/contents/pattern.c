/* SPDX-License-Identifier: MIT */
#include "shim/contents/pattern.h"

#include <stdbool.h>
#include <string.h>

#include "shim/trace/format/call.h"

/* Fewer bytes are alike by chance, or are a number that the host passes on. */
#define LEAST_BYTES 256u

/* In the order in which they are told. */
enum kind { SAME_1, SAME_2, SAME_4, SAME_8, RAMP_INT, RAMP_LONG, KINDS };
#define FITS(kind) (1u << (kind))
#define SAME (FITS(SAME_1) | FITS(SAME_2) | FITS(SAME_4) | FITS(SAME_8))

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

/* Of a word, the half at that place. */
static uint32_t half(uint64_t word, unsigned which)
{
	return (uint32_t)(word >> 32 * which);
}

static bool repeats(uint64_t word, unsigned bits)
{
	return word == (word >> bits | word << (64 - bits));
}

void tfs_pattern_start(struct tfs_pattern *pattern, const void *bytes, size_t count)
{
	*pattern = (struct tfs_pattern){.fits = FITS(SAME_8)};
	memcpy(pattern->words, bytes,
		count < sizeof(pattern->words) ? count : sizeof(pattern->words));
	const uint64_t first = pattern->words[0];

	for (unsigned i = SAME_1; i < SAME_8; i++)
		if (repeats(first, 8u << i))
			pattern->fits |= FITS(i);
	if (half(first, 0) != half(first, 1))
		pattern->fits |= FITS(RAMP_INT);
	if (first != pattern->words[1])
		pattern->fits |= FITS(RAMP_LONG);
}

/* Numbers are compared as integers: sums of floats that may be anything have exceptions, of which a
 * program may have made signals. */
static bool in_ramp(const struct tfs_pattern *pattern, uint64_t index, uint32_t bits)
{
	const uint32_t low = half(pattern->words[0], 0), next = half(pattern->words[0], 1);

	return bits == low + (uint32_t)index * (next - low);
}

/* Of which kinds the word at this place is, counted in words. */
static uint32_t kinds(const struct tfs_pattern *pattern, uint64_t at, uint64_t word)
{
	const uint64_t first = pattern->words[0];
	uint32_t fits = word == first ? SAME : 0;

	if (word == first + at * (pattern->words[1] - first))
		fits |= FITS(RAMP_LONG);
	if (in_ramp(pattern, 2 * at, half(word, 0)) && in_ramp(pattern, 2 * at + 1, half(word, 1)))
		fits |= FITS(RAMP_INT);
	return fits;
}

/* The same for what is left behind the last word. */
static uint32_t kinds_of_rest(
	const struct tfs_pattern *pattern, uint64_t at, const void *bytes, size_t count)
{
	uint32_t bits = 0;

	if (count == sizeof(bits))
		memcpy(&bits, bytes, count);
	return (memcmp(bytes, pattern->words, count) ? 0 : SAME) |
	       (count == sizeof(bits) && in_ramp(pattern, 2 * at, bits) ? FITS(RAMP_INT) : 0);
}

void tfs_pattern_add(struct tfs_pattern *pattern, uint64_t offset, const void *bytes, size_t count)
{
	const unsigned char *rest = bytes;
	uint64_t at = offset / sizeof(uint64_t), word;

	for (; count >= sizeof(word); count -= sizeof(word), rest += sizeof(word), at++) {
		memcpy(&word, rest, sizeof(word));
		pattern->hash = mix(pattern->hash, word);
		if (pattern->fits)
			pattern->fits &= kinds(pattern, at, word);
	}
	if (!count)
		return;
	word = 0;
	memcpy(&word, rest, count);
	pattern->hash = mix(pattern->hash, word);
	pattern->fits &= kinds_of_rest(pattern, at, rest, count);
}

uint32_t tfs_pattern_kind(const struct tfs_pattern *pattern, uint64_t bytes)
{
	static const uint8_t told[KINDS] = {[SAME_1] = 1,
		[SAME_2] = 2,
		[SAME_4] = 4,
		[SAME_8] = 8,
		[RAMP_INT] = TFS_PATTERN_RAMP,
		[RAMP_LONG] = TFS_PATTERN_RAMP};

	if (bytes < LEAST_BYTES || !pattern->fits)
		return 0;
	return told[__builtin_ctz(pattern->fits)];
}
