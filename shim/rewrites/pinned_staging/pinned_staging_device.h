/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_DEVICE_H
#define TFS_SHIM_REWRITES_PINNED_STAGING_PINNED_STAGING_DEVICE_H

/*
 * What pinned-staging asks of CUDA, once over the runtime's functions and once over the driver's:
 * a copy is carried out on the layer that it came in on, whose handles, contexts and last error it
 * shares. All are for a hook, in the program's thread; none is a hook itself.
 *
 * Results are cudaError_t or CUresult, whose 0 is success on both.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/rewrites/rewrite.h"

struct tfs_staging_device {
	int (*wait)(void *stream);
	int (*is_capturing)(void *stream, int *out_status);
	int (*pin)(void **out, size_t bytes, unsigned flags);
	int (*unpin)(void *memory);
	int (*alloc)(void **out, size_t bytes);
	int (*release)(void *memory);
	int (*event_create)(void **out, unsigned flags);
	int (*event_destroy)(void *event);
	int (*event_record)(void *event, void *stream);
	int (*event_query)(void *event);
	int (*event_wait)(void *event);
	int (*event_elapsed)(float *out_ms, void *from, void *to);
	int (*call)(void *stream, void (*function)(void *), void *argument);
	int (*device)(int *out); /* the current one */
	int (*attribute)(int *out, int which, int device);
	int (*bus_id)(char *out, int bytes, int device);
	int (*capture_mode)(int *mode); /* exchanges this thread's */
	/* Blocking, and on a stream; the driver's are without `kind`. */
	void *copy;
	void *copy_on;
	void *pointer;
	/* Of the runtime only. */
	int (*peek_error)(void);
	int (*take_error)(void);
	/* Of the driver only. */
	int (*context)(void **out);
	bool driver;
};

/* Where an address points to. */
enum tfs_staging_place {
	TFS_PLACE_PAGEABLE,
	TFS_PLACE_OWN_DEVICE, /* plain memory of the current context's device */
	TFS_PLACE_OTHER
};

/* The context that calls of this thread go to. */
struct tfs_staging_context {
	uint64_t key; /* differs between contexts that are there at the same time */
	int device;
};

/* The functions of the call's layer; NULL when some are missing, or when they are not of the very
 * library that the program called: several versions may be mapped. */
const struct tfs_staging_device *tfs_staging_device_of(const struct tfs_op *op);

bool tfs_staging_context(
	const struct tfs_staging_device *device, struct tfs_staging_context *out_context);

enum tfs_staging_place tfs_staging_place(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, const void *address);

/* Plain host memory, by the registry and by CUDA itself. */
bool tfs_staging_is_pageable(const struct tfs_staging_device *device,
	const struct tfs_staging_context *context, const void *address, size_t bytes);

/* A number that pinned memory has only while this allocation lasts; 0 when it is gone, and
 * TFS_STAMP_UNKNOWN when that cannot be told. */
#define TFS_STAMP_UNKNOWN UINT64_MAX
uint64_t tfs_staging_stamp(const struct tfs_staging_device *device, const void *pinned);

/* `kind` is a cudaMemcpyKind. */
int tfs_staging_copy_on(const struct tfs_staging_device *device, void *target, const void *source,
	size_t bytes, int kind, void *stream);

/* The call's own stream, as an explicit handle. */
void *tfs_staging_stream(const struct tfs_op *op);

/* Does an error wait for the program to ask? One of ours must never cover it. */
bool tfs_staging_has_error(const struct tfs_staging_device *device);

/* After a call of ours that failed where tfs_staging_has_error() said no. */
void tfs_staging_drop_error(const struct tfs_staging_device *device);

/* Is all work before the event done? False also when it cannot be told without a trace. */
bool tfs_staging_is_ready(const struct tfs_staging_device *device, void *event);

/* Does the stream take events of the current context? It may be another device's, and copies may be
 * put on that all the same. */
bool tfs_staging_can_record(const struct tfs_staging_device *device, void *event, void *stream);

#endif
