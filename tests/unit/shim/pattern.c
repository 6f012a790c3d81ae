/* SPDX-License-Identifier: MIT */
/* What is told of bytes: which could be computed, and which are the same. */
#include "shim/contents/pattern.h"

#include <fenv.h>

#include "shim/trace/format/call.h"
#include "tests/test.h"

enum { COUNT = 96 };

static struct tfs_pattern of(const void *bytes, size_t count)
{
	struct tfs_pattern pattern;

	tfs_pattern_start(&pattern, bytes, count);
	tfs_pattern_add(&pattern, 0, bytes, count);
	return pattern;
}

static uint32_t kind(const void *bytes, size_t count)
{
	const struct tfs_pattern pattern = of(bytes, count);

	return tfs_pattern_kind(&pattern, count);
}

/* Numbers of every size, of which one may be another. */
static void check_same(void)
{
	static const size_t sizes[] = {1, 2, 4, 8};
	unsigned char bytes[COUNT * 8];

	for (size_t i = 0; i < 4; i++) {
		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (unsigned char)(3 + j % sizes[i]);
		TEST_TRUE(kind(bytes, sizeof(bytes)) == sizes[i]);
		TEST_TRUE(kind(bytes, sizeof(bytes) - 3) == sizes[i]);
		for (size_t at = 0; at < sizeof(bytes); at += 61) {
			bytes[at] ^= 1;
			TEST_TRUE(kind(bytes, sizeof(bytes)) == 0);
			bytes[at] ^= 1;
		}
		bytes[sizeof(bytes) - 4] ^= 1;
		TEST_TRUE(kind(bytes, sizeof(bytes) - 3) == 0);
	}
}

static void check_ramps(void)
{
	int32_t ints[COUNT + 1];
	int64_t longs[COUNT];

	for (int i = 0; i <= COUNT; i++)
		ints[i] = 40 - 3 * i;
	for (int i = 0; i < COUNT; i++)
		longs[i] = 7 + INT64_C(5000000000) * i;
	TEST_TRUE(kind(ints, sizeof(ints)) == TFS_PATTERN_RAMP);
	TEST_TRUE(kind(longs, sizeof(longs)) == TFS_PATTERN_RAMP);
	ints[COUNT]++;
	longs[COUNT / 2]++;
	TEST_TRUE(kind(ints, sizeof(ints)) == 0);
	TEST_TRUE(kind(longs, sizeof(longs)) == 0);
}

/* A program may have made a signal of what its own sums must not do. */
static void check_exceptions(void)
{
	static const uint32_t first[] = {0x7fa00000, 0x7f7fffff, 0xff800000, 0x00000001};
	uint32_t bits[COUNT];

	feclearexcept(FE_ALL_EXCEPT);
	for (int i = 0; i < 4; i++) {
		for (uint32_t j = 0; j < COUNT; j++)
			bits[j] = j ? 0x7f000000 : first[i];
		kind(bits, sizeof(bits));
	}
	TEST_EQ(fetestexcept(FE_ALL_EXCEPT), 0);
}

/* A learning rate, a counter: of one value, and the host's. */
static void check_few(void)
{
	const float few[63] = {0};
	const float enough[64] = {0};

	TEST_TRUE(kind(few, sizeof(few)) == 0);
	TEST_TRUE(kind(few, 4) == 0);
	TEST_TRUE(kind(enough, sizeof(enough)) == 1);
}

/* Pieces of a whole tell the same as the whole, and are told apart by what is in them. */
static void check_pieces(void)
{
	struct tfs_pattern whole, pieces;
	uint32_t numbers[COUNT];

	for (int i = 0; i < COUNT; i++)
		numbers[i] = (uint32_t)i * 2654435761u;
	whole = of(numbers, sizeof(numbers));
	tfs_pattern_start(&pieces, numbers, 128);
	tfs_pattern_add(&pieces, 0, numbers, 128);
	tfs_pattern_add(&pieces, 128, numbers + 32, sizeof(numbers) - 128);
	TEST_TRUE(pieces.hash == whole.hash);
	for (int i = 0; i < COUNT; i++) {
		numbers[i] ^= 1u << i % 32;
		TEST_TRUE(of(numbers, sizeof(numbers)).hash != whole.hash);
		numbers[i] ^= 1u << i % 32;
	}
	TEST_TRUE(of(numbers, sizeof(numbers)).hash == whole.hash);
}

/* Of evenly spaced numbers any place tells whether it is one of them. */
static void check_places(void)
{
	struct tfs_pattern pattern;
	uint32_t numbers[COUNT];

	for (uint32_t i = 0; i < COUNT; i++)
		numbers[i] = i;
	tfs_pattern_start(&pattern, numbers, 64);
	tfs_pattern_add(&pattern, 0, numbers, 64);
	tfs_pattern_add(&pattern, 320, numbers + 80, 64);
	TEST_TRUE(tfs_pattern_kind(&pattern, sizeof(numbers)) == TFS_PATTERN_RAMP);
	tfs_pattern_add(&pattern, 320, numbers + 78, 64);
	TEST_TRUE(tfs_pattern_kind(&pattern, sizeof(numbers)) == 0);
}

int main(void)
{
	check_same();
	check_ramps();
	check_exceptions();
	check_few();
	check_pieces();
	check_places();
	return test_result();
}
