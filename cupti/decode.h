/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_DECODE_H
#define TFS_CUPTI_DECODE_H

/*
 * CUPTI's activity records as records of ours. One binary reads every CUPTI from 11.8 on: it steps
 * by what cuptiActivityGetNextRecord says, never by a size of its own, and reads only the fields
 * that all versions have at the same place, others only from a version on that has them.
 */

#include <stddef.h>
#include <stdint.h>

#include "cupti/library.h"
#include "shim/trace/format/format.h"

struct tfs_decoder {
	__typeof__(cuptiActivityGetNextRecord) *next;
	uint32_t version;
	uint64_t from_ns;  /* CLOCK_MONOTONIC: what ended before is left out; read by any thread */
	int64_t offset_ns; /* added to times that are not 0, to make them CLOCK_MONOTONIC */
	void (*put)(const void *record, enum tfs_record_kind kind, size_t bytes);
	bool (*keeps)(uint32_t cbid, bool driver); /* records of this call; NULL: of all */
	uint32_t (*kernel)(const char *name);
	void (*lost)(enum tfs_loss loss, uint64_t count);
};

/* Puts a record for each of the buffer's first `valid` bytes' activities that the recording knows.
 * Any thread. */
void tfs_cupti_decode(const struct tfs_decoder *decoder, uint8_t *buffer, size_t valid);

#endif
