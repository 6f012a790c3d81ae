/* SPDX-License-Identifier: MIT */
/* The numbers that searches compute with, on a made-up device: all of the memory, and nothing
 * behind it, holds numbers of the type from a quarter to a half, of both signs. */
#include <math.h>

#include "shim/rewrites/search/search_numbers.h"
#include "tests/test.h"

#define MOST 100000u
#define UNTOUCHED 0x7f

void tfs_search_send(
	struct tfs_search_device *device, void *target, const void *host, uint64_t bytes)
{
	(void)device;
	memcpy(target, host, bytes);
}

bool tfs_search_copy(void *target, const void *source, uint64_t bytes, CUstream stream)
{
	TEST_TRUE(!stream);
	/* What overlaps is no copy that a device makes. */
	TEST_TRUE((const char *)source + bytes <= (const char *)target);
	memcpy(target, source, bytes);
	return true;
}

static unsigned char memory[MOST + 64];

static double number_at(const unsigned char *at, enum tfs_numbers numbers)
{
	uint16_t half;
	uint32_t bits;
	float number;
	double wide;

	if (numbers == TFS_NUMBERS_DOUBLE) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&half, at, sizeof(half));
	if (numbers == TFS_NUMBERS_HALF)
		return ldexp(1 + (half & 0x3ff) / 1024.0, (half >> 10 & 31) - 15) *
		       (half >> 15 ? -1 : 1);
	memcpy(&bits, at, sizeof(bits));
	bits = numbers == TFS_NUMBERS_BFLOAT16 ? (uint32_t)half << 16 : bits;
	memcpy(&number, &bits, sizeof(number));
	return (double)number;
}

static void check(uint32_t bytes, enum tfs_numbers numbers, uint32_t size)
{
	struct tfs_search_device device = {.stream = NULL};
	uint32_t wrong = 0, negative = 0, same = 0;

	memset(memory, UNTOUCHED, sizeof(memory));
	tfs_search_numbers(&device, memory, bytes, numbers);
	for (uint32_t at = 0; at + size <= bytes; at += size) {
		const double number = number_at(memory + at, numbers);

		wrong += !(fabs(number) >= 0.25 && fabs(number) < 0.5);
		negative += number < 0;
		same += at > 0 && memcmp(memory + at, memory + at - size, size) == 0;
	}
	for (uint32_t at = bytes; at < sizeof(memory); at++)
		wrong += memory[at] != UNTOUCHED;
	TEST_EQ(wrong, 0);
	if (bytes >= 4096) {
		TEST_IN(negative, bytes / size * 0.4, bytes / size * 0.6);
		TEST_IN(same, 0, bytes / size / 50);
	}
}

int main(void)
{
	static const uint32_t sizes[] = {0, 8, 4088, 4096, 4104, 8192, 8200, 50000, MOST};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check(sizes[i], TFS_NUMBERS_FLOAT, 4);
		check(sizes[i], TFS_NUMBERS_DOUBLE, 8);
		check(sizes[i], TFS_NUMBERS_HALF, 2);
		check(sizes[i], TFS_NUMBERS_BFLOAT16, 2);
	}
	return test_result();
}
