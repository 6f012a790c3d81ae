/* SPDX-License-Identifier: MIT */
#include "rules/support/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/pages.h"

/* One byte's pass; returns the array that holds the result. */
static struct tfs_key *sort_byte(
	struct tfs_key *from, struct tfs_key *to, size_t count, unsigned shift)
{
	size_t places[256] = {0};
	size_t place = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & 255]++;
	for (unsigned byte = 0; byte < 256; byte++) {
		size_t here = places[byte];

		places[byte] = place;
		place += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & 255]++] = from[i];
	return to;
}

int tfs_sort_keys(struct tfs_key *keys, size_t count)
{
	struct tfs_key *scratch, *from = keys, *to;
	uint64_t differ = 0;
	size_t sorted = 1;

	while (sorted < count && keys[sorted - 1].key <= keys[sorted].key)
		sorted++;
	if (sorted >= count)
		return 0;
	scratch = tfs_pages_alloc(count, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++)
		differ |= keys[i].key ^ keys[0].key;
	to = scratch;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 255))
			continue;
		from = sort_byte(from, to, count, shift);
		to = from == scratch ? keys : scratch;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
	free(scratch);
	return 0;
}
