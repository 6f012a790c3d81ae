/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/content_hash.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

static void add_word(uint64_t word, const uint64_t *key, uint64_t *sums)
{
	for (uint32_t t = 0; t < TFS_CONTENT_SUMS; t++)
		sums[t] += (uint64_t)(uint32_t)((uint32_t)word + (uint32_t)key[t]) *
			   (uint32_t)((uint32_t)(word >> 32) + (uint32_t)(key[t] >> 32));
}

static void add_words(const char *block, size_t count, const uint64_t *key, uint64_t *sums)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, block + 8 * i, sizeof(word));
		/* From here on it is what was read, and is not read again. */
		__asm__("" : "+r"(word));
		add_word(word, key + i, sums);
	}
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2"), always_inline)) static inline

AVX2 __m256i load(const void *address)
{
	return _mm256_loadu_si256(address);
}

AVX2 __m256i product(__m256i words, const uint64_t *key)
{
	const __m256i mixed = _mm256_add_epi32(words, load(key));

	return _mm256_mul_epu32(mixed, _mm256_srli_epi64(mixed, 32));
}

AVX2 uint64_t sum_of(__m256i lanes)
{
	uint64_t parts[4];

	_mm256_storeu_si256((void *)parts, lanes);
	return parts[0] + parts[1] + parts[2] + parts[3];
}

/* Four words at a time; returns how many it has done. */
__attribute__((target("avx2"))) static size_t add_lanes(
	const char *block, size_t count, const uint64_t *key, uint64_t *sums)
{
	__m256i a = {0}, b = {0}, c = {0}, d = {0};
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		__m256i words = load(block + 8 * i);

		__asm__("" : "+x"(words));
		a = _mm256_add_epi64(a, product(words, key + i));
		b = _mm256_add_epi64(b, product(words, key + i + 1));
		c = _mm256_add_epi64(c, product(words, key + i + 2));
		d = _mm256_add_epi64(d, product(words, key + i + 3));
	}
	sums[0] += sum_of(a);
	sums[1] += sum_of(b);
	sums[2] += sum_of(c);
	sums[3] += sum_of(d);
	return i;
}

static size_t add_many(const char *block, size_t count, const uint64_t *key, uint64_t *sums)
{
	return CPU_FEATURE_ACTIVE(AVX2) ? add_lanes(block, count, key, sums) : 0;
}
#else
static size_t add_many(const char *block, size_t count, const uint64_t *key, uint64_t *sums)
{
	(void)block, (void)count, (void)key, (void)sums;
	return 0;
}
#endif

void tfs_content_block(
	const void *block, size_t bytes, const uint64_t *key, struct tfs_content_hash *out_hash)
{
	const char *start = block;
	const size_t count = bytes / 8;
	uint64_t sums[TFS_CONTENT_SUMS] = {0};
	uint64_t rest = 0;

	const size_t done = add_many(start, count, key, sums);
	add_words(start + 8 * done, count - done, key + done, sums);
	if (bytes % 8 != 0) {
		memcpy(&rest, start + 8 * count, bytes % 8);
		add_word(rest, key + count, sums);
	}
	memcpy(out_hash->sums, sums, sizeof(sums));
}

#define FULL (TFS_CONTENT_BLOCK / 8) /* words */

/* The sums that a level has gathered are a block of the next one's. */
static void close_block(const struct tfs_content_key *key, struct tfs_content_work *work,
	uint32_t level, struct tfs_content_hash *out_hash)
{
	tfs_content_block(work->levels[level].words, work->levels[level].count * sizeof(uint64_t),
		key->words[level + 1], out_hash);
	work->levels[level].count = 0;
}

static void gather(const struct tfs_content_key *key, struct tfs_content_work *work, uint32_t level,
	struct tfs_content_hash hash)
{
	for (; level < TFS_CONTENT_LEVELS; level++) {
		memcpy(work->levels[level].words + work->levels[level].count, hash.sums,
			sizeof(hash.sums));
		work->levels[level].count += TFS_CONTENT_SUMS;
		if (work->levels[level].count < FULL)
			return;
		close_block(key, work, level, &hash);
	}
}

void tfs_content_hash(const void *memory, size_t bytes, const struct tfs_content_key *key,
	struct tfs_content_work *work, struct tfs_content_hash *out_hash)
{
	const uint64_t fan = TFS_CONTENT_BLOCK / sizeof(*out_hash);
	struct tfs_content_hash hash;
	uint64_t left = 0;
	uint32_t level = 0;

	for (uint32_t i = 0; i < TFS_CONTENT_LEVELS; i++)
		work->levels[i].count = 0;
	for (size_t at = 0; at < bytes; at += TFS_CONTENT_BLOCK) {
		const size_t rest = bytes - at;

		tfs_content_block((const char *)memory + at,
			rest < TFS_CONTENT_BLOCK ? rest : TFS_CONTENT_BLOCK, key->words[0], &hash);
		gather(key, work, 0, hash);
		left++;
	}
	for (; left > 1; left = (left + fan - 1) / fan) {
		if (work->levels[level].count > 0) {
			close_block(key, work, level, &hash);
			gather(key, work, level + 1, hash);
		}
		level++;
	}
	memcpy(out_hash->sums, work->levels[level].words, sizeof(out_hash->sums));
}
