/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/search/search_numbers.h"

#include <string.h>

#define BLOCK_BYTES 4096u

/* Of random bits. */
static uint64_t shape(uint64_t bits, enum tfs_numbers numbers)
{
	switch (numbers) {
	case TFS_NUMBERS_FLOAT:
		return (bits & 0x807fffff) | 125u << 23;
	case TFS_NUMBERS_DOUBLE:
		return (bits & UINT64_C(0x800fffffffffffff)) | UINT64_C(1021) << 52;
	case TFS_NUMBERS_HALF:
		return (bits & 0x83ff) | 13u << 10;
	case TFS_NUMBERS_BFLOAT16:
		return (bits & 0x807f) | 125u << 7;
	default:
		return bits;
	}
}

static uint32_t size_of(enum tfs_numbers numbers)
{
	return numbers == TFS_NUMBERS_DOUBLE                                    ? 8
	       : numbers == TFS_NUMBERS_HALF || numbers == TFS_NUMBERS_BFLOAT16 ? 2
										: 4;
}

/* One block from the host, then twice as much each time. */
void tfs_search_numbers(
	struct tfs_search_device *device, void *memory, uint64_t bytes, enum tfs_numbers numbers)
{
	unsigned char block[BLOCK_BYTES];
	const uint32_t size = size_of(numbers);
	uint64_t seed = bytes;

	for (uint32_t i = 0; i < BLOCK_BYTES; i += size) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const uint64_t number = shape(seed >> (64 - 8 * size), numbers);
		memcpy(&block[i], &number, size);
	}
	uint64_t done = bytes < BLOCK_BYTES ? bytes : BLOCK_BYTES;
	tfs_search_send(device, memory, block, done);
	while (done < bytes) {
		const uint64_t more = bytes - done < done ? bytes - done : done;

		tfs_search_copy((char *)memory + done, memory, more, device->stream);
		done += more;
	}
}
