/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_WRITER_SLOTS_H
#define TFS_SHIM_TRACE_WRITER_SLOTS_H

/* What giving out chunks and writing them share: a chunk's memory, by its slot. */

#include "shim/trace/writer.h"

/* Of a slot: nobody's memory, memory without content, on the way from one to another, in use, and
 * full, to be written and emptied. */
enum { UNTOUCHED, FREE, CLAIMED, LIVE, FULL };

static inline struct tfs_chunk *tfs_writer_slot_chunk(
	const struct tfs_writer *writer, const struct tfs_slot *slot)
{
	return tfs_area_slot(writer->area, (uint32_t)(slot - writer->slots));
}

/* Its counters change at any time. */
struct tfs_file_header tfs_writer_copy_header(const struct tfs_file_header *header);

#endif
