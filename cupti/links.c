/* SPDX-License-Identifier: MIT */
#include "cupti/links.h"

#include <string.h>

static void put(const struct tfs_link_record *record, const struct tfs_decoder *decoder)
{
	decoder->put(record, TFS_RECORD_link, sizeof(*record));
}

static void take_out(struct tfs_links *links, unsigned at)
{
	links->count--;
	memmove(&links->items[at], &links->items[at + 1],
		(links->count - at) * sizeof(*links->items));
}

void tfs_links_add(struct tfs_links *links, const struct tfs_link_record *record,
	const struct tfs_decoder *decoder)
{
	if (links->count == TFS_LINKS_MOST) {
		put(&links->items[0], decoder);
		take_out(links, 0);
	}
	links->items[links->count++] = *record;
}

bool tfs_links_take(struct tfs_links *links, uint32_t correlation, struct tfs_link_record *out_link)
{
	for (unsigned i = links->count; i--;) {
		if (links->items[i].correlation != correlation)
			continue;
		*out_link = links->items[i];
		take_out(links, i);
		return true;
	}
	return false;
}

void tfs_links_put(const struct tfs_links *links, const struct tfs_decoder *decoder)
{
	for (unsigned i = 0; i < links->count; i++)
		put(&links->items[i], decoder);
}
