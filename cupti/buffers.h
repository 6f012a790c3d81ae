/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_BUFFERS_H
#define TFS_CUPTI_BUFFERS_H

/*
 * The buffers that CUPTI fills: a fixed number, from memory of our own, always handed out zeroed
 * so that CUPTI need not clear them in the program's threads. Any thread; no locks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_CUPTI_BUFFER_BYTES (128u << 10)
#define TFS_CUPTI_BUFFERS 64u

/* NULL when all are in use. */
uint8_t *tfs_cupti_buffer_take(void);

/* Is this one of ours? */
bool tfs_cupti_buffer_is_own(const uint8_t *buffer);

/* Gives a buffer back, of which the first `used` bytes were written. */
void tfs_cupti_buffer_return(uint8_t *buffer, size_t used);

#endif
