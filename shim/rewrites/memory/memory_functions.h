/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEMORY_MEMORY_FUNCTIONS_H
#define TFS_SHIM_REWRITES_MEMORY_MEMORY_FUNCTIONS_H

/*
 * What rewrites of device memory call: the runtime's own functions or the driver's, whichever the
 * program used. Never a hook. Results are 0, or the library's error, of which both have the same
 * numbers. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The legacy stream: every blocking stream waits for it, and it for them. */
#define TFS_STREAM_IN_ORDER ((void *)1)

/* Handles of the driver are handles of the runtime. */
struct tfs_memory_functions {
	int (*alloc)(void **out, size_t bytes);
	int (*release)(void *address);
	int (*drain)(void); /* waits for all work of the current device */
	int (*fill)(void *address, int value, size_t bytes, void *stream);
	int (*read)(void *to, const void *from, size_t bytes, int to_host); /* it waits */
	int (*stream_create)(void **out, unsigned flags);
	int (*event_create)(void **out, unsigned flags);
	int (*event_record)(void *event, void *stream);
	int (*event_wait)(void *event); /* the host waits */
	int (*event_query)(void *event);
	int (*stream_query)(void *stream);
	int (*device)(int *out); /* the current one */
	int (*device_count)(int *out);
	int (*info)(size_t *out_free, size_t *out_all);
	int (*attribute)(int *out, int which, int device);
	int (*error_waits)(void);  /* one that the program has not asked for yet; 0 = none */
	int (*forget_error)(void); /* ours; not when one of the program's waited */
	/* What the thread is barred from while a stream is captured: exchanges it. */
	int (*capture_mode)(int *mode);
};

#define TFS_MEMORY_READ 2   /* to_host */
#define TFS_MEMORY_STREAM 1 /* flags of one that no other waits for */
#define TFS_MEMORY_EVENT 2  /* and of one that takes no time */

/* Nothing, and nobody's capture is invalidated. */
#define TFS_CAPTURE_RELAXED 2

/* NULL when functions are missing, or their library may go away. */
const struct tfs_memory_functions *tfs_memory_functions(bool driver);

/* Does the device read and write all memory of the host? */
bool tfs_memory_reaches_pageable(const struct tfs_memory_functions *use, int device);

#endif
