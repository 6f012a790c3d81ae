/* SPDX-License-Identifier: MIT */
/*
 * The hash that copy-skip compares memory by: against its definition, word by word; and that it
 * tells changes of a bit, and of places, apart. With the argument "cases" it prints what
 * tests/kernel.py holds the device's kernel against.
 */
#include <stdlib.h>

#include "rules/rewrites/content_hash.h"
#include "rules/rewrites/content_kernel.h"
#include "tests/test.h"

#define MOST ((size_t)3 << 20)

static struct tfs_content_key key;
static struct tfs_content_work work;
static unsigned char *memory;

static uint64_t any(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Low and high half of a word that begins at `at`; bytes behind the end are zero. */
static uint32_t half(const unsigned char *bytes, size_t count, size_t at)
{
	uint32_t value = 0;

	for (size_t i = 0; i < 4; i++)
		value |= at + i < count ? (uint32_t)bytes[at + i] << 8 * i : 0;
	return value;
}

static void define(const unsigned char *bytes, size_t count, uint32_t level, uint64_t *out_sums)
{
	const size_t blocks = (count + 4095) / 4096;
	unsigned char *next = calloc(blocks, 32);

	for (size_t at = 0; at < count; at += 8) {
		const uint64_t *k = &key.words[level][at % 4096 / 8];

		for (size_t t = 0; t < 4; t++) {
			const uint32_t low = half(bytes, count, at) + (uint32_t)k[t];
			const uint32_t high = half(bytes, count, at + 4) + (uint32_t)(k[t] >> 32);
			uint64_t sum;

			memcpy(&sum, next + at / 4096 * 32 + t * 8, 8);
			sum += (uint64_t)low * high;
			memcpy(next + at / 4096 * 32 + t * 8, &sum, 8);
		}
	}
	if (blocks > 1)
		define(next, blocks * 32, level + 1, out_sums);
	else
		memcpy(out_sums, next, 32);
	free(next);
}

static struct tfs_content_hash hash(const void *bytes, size_t count)
{
	struct tfs_content_hash result;

	tfs_content_hash(bytes, count, &key, &work, &result);
	return result;
}

static bool differ(const struct tfs_content_hash *one, const struct tfs_content_hash *other)
{
	return memcmp(one, other, sizeof(*one)) != 0;
}

/* Around the ends of words, blocks and levels; at any address. */
static void test_definition(void)
{
	static const size_t counts[] = {1, 7, 8, 9, 31, 32, 33, 4088, 4095, 4096, 4097, 4100, 8192,
		8193, 128 * 4096 - 1, 128 * 4096, 128 * 4096 + 1, 129 * 4096, 256 * 4096 + 5,
		2097164, 3 * 128 * 4096};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (size_t shift = 0; shift < 3; shift++) {
			struct tfs_content_hash got, want;

			got = hash(memory + shift, counts[i]);
			define(memory + shift, counts[i], 0, want.sums);
			for (int t = 0; t < 4; t++)
				TEST_EQ(got.sums[t], want.sums[t]);
		}
	}
}

static void test_changes(void)
{
	const size_t count = 300001;
	const struct tfs_content_hash was = hash(memory, count);
	struct tfs_content_hash now;

	for (int i = 0; i < 2000; i++) {
		const size_t at = i < 200 ? count - 1 - (size_t)i : any() % count;
		const unsigned char bit = (unsigned char)(1u << any() % 8);

		memory[at] ^= bit;
		now = hash(memory, count);
		TEST_TRUE(differ(&was, &now));
		memory[at] ^= bit;
	}
	for (int i = 0; i < 2000; i++) {
		unsigned char *one = memory + any() % (count / 4) * 4;
		unsigned char *other = memory + any() % (count / 4) * 4;
		unsigned char kept[4];

		if (memcmp(one, other, 4) == 0)
			continue;
		memcpy(kept, one, 4);
		memcpy(one, other, 4);
		memcpy(other, kept, 4);
		now = hash(memory, count);
		TEST_TRUE(differ(&was, &now));
		memcpy(other, one, 4);
		memcpy(one, kept, 4);
	}
	now = hash(memory, count);
	TEST_TRUE(!differ(&was, &now));
}

static void print_words(const char *name, const void *words, size_t bytes)
{
	printf("%s ", name);
	for (size_t i = 0; i < bytes; i++)
		printf("%02x", ((const unsigned char *)words)[i]);
	printf("\n");
}

/* One level each: what lies there, the key, and the sums of its blocks. */
static int print_cases(void)
{
	static const size_t counts[] = {1, 8, 13, 255, 256, 257, 4095, 4096, 4101, 20483};

	printf("%s\n%%%%\n", tfs_content_kernel);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		print_words("data", memory, counts[i]);
		print_words("key", key.words[i % 4], sizeof(key.words[0]));
		printf("sums ");
		for (size_t at = 0; at < counts[i]; at += 4096) {
			struct tfs_content_hash one;

			tfs_content_block(memory + at,
				counts[i] - at < 4096 ? counts[i] - at : 4096, key.words[i % 4],
				&one);
			for (int t = 0; t < 4; t++)
				printf("%llu ", (unsigned long long)one.sums[t]);
		}
		printf("\n");
	}
	return 0;
}

int main(int count, char **words)
{
	for (size_t i = 0; i < sizeof(key) / 8; i++)
		((uint64_t *)&key)[i] = any() * 0x9E3779B97F4A7C15;
	memory = malloc(MOST);
	for (size_t i = 0; i < MOST; i++)
		memory[i] = (unsigned char)(any() >> 20);
	if (count > 1 && strcmp(words[1], "cases") == 0)
		return print_cases();
	test_definition();
	test_changes();
	free(memory);
	return test_result();
}
