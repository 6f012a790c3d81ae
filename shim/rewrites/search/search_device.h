/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_SEARCH_SEARCH_DEVICE_H
#define TFS_SHIM_REWRITES_SEARCH_SEARCH_DEVICE_H

/*
 * What searches own on each device: a non-blocking stream and a memory pool. Memory is allocated
 * and freed in stream order, and no stream's memory is made to wait for another stream, so that
 * nothing here ever waits for a stream of the program's: what such a stream waits for may be the
 * calling thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/base/driver_api.h"

#define TFS_SEARCH_DEVICES 16

struct tfs_search_device {
	CUstream stream;
	CUmemoryPool pool;
	CUevent event;   /* NULL where the driver cannot record one behind a whole context */
	CUevent reached; /* by a stream of the program's, see tfs_search_mark() */
	CUstreamCaptureMode mode; /* of the thread that has taken it */
	_Atomic int number;
	_Atomic bool poor; /* there was no memory to lend */
	_Atomic int state;
};

/* The current device's; NULL when there is none. Any thread. */
struct tfs_search_device *tfs_search_device(void);

/* Makes the current device's equipment unless it is there; where that fails there is no search. */
void tfs_search_device_make(void);

/* Is the equipment there, in use or not? That of the device with that number, NULL when not. */
bool tfs_search_device_made(struct tfs_search_device *device);
struct tfs_search_device *tfs_search_device_at(uint32_t number);

/* Is the stream being captured, or any that the hooks saw? Any thread. */
bool tfs_search_capturing(CUstream stream);

/* Is the stream itself? Then with the number of its capture, which no other has; else that is 0.
 * False when it cannot be told, as of a stream that another's capture bars from being used. */
bool tfs_search_captured(CUstream stream, uint64_t *out_capture);

/* Has `ended` called once the graph that the stream is captured into is no more, nor any that was
 * made of it, nor a launch of one: in whatever thread, where no call of CUDA's may be made. False:
 * it will not be called. */
bool tfs_search_tell_end(CUstream stream, CUhostFn ended, void *data);

/* The thread's calls disturb no capture from here on; returns what to set back. */
CUstreamCaptureMode tfs_search_relax(void);
void tfs_search_unrelax(CUstreamCaptureMode mode);

/* For one search at a time: false, and at once, while it is in use or not there. The thread's calls
 * do not disturb captures until it leaves. */
bool tfs_search_device_take(struct tfs_search_device *device);
void tfs_search_device_leave(struct tfs_search_device *device);

/* Waits a little, in all of the run, for the program's work on the device to end: that of the
 * stream and the legacy one, and of all others where the driver can tell. False where it does not,
 * and at once when a capture begins. The equipment is taken. */
bool tfs_search_device_idle(struct tfs_search_device *device, CUstream stream);

/* The same, but waits for so long at most, each time: an idle device needs some microseconds to say
 * that it is. */
bool tfs_search_device_idle_within(
	struct tfs_search_device *device, CUstream stream, uint64_t most_ns);

/* What the program's own measuring would have waited for: the stream's work, or `all` of the
 * device's. False on an error. */
bool tfs_search_device_wait(CUstream stream, bool all);

/* How much memory the current device has; 0: not known. Has it, with so many bytes less, a margin
 * left? */
uint64_t tfs_search_device_free(void);
bool tfs_search_device_spares(uint64_t bytes);

/* How much the pool has of the device. */
uint64_t tfs_search_device_reserved(struct tfs_search_device *device);

/* Memory in the order of `stream`, which must be the only one to use it; from the device's pool.
 * NULL when the device would be left with less than a margin. */
void *tfs_search_allocate(struct tfs_search_device *device, uint64_t bytes, CUstream stream);

/* The same without waiting for what the device says of its memory, unless the pool has to grow.
 * Once that has failed there is none for the rest of the run: what falls back stays so. */
void *tfs_search_borrow(struct tfs_search_device *device, uint64_t bytes, CUstream stream);

/* Memory for good, there at once for all streams. */
void *tfs_search_take(struct tfs_search_device *device, uint64_t bytes);

/* Is it device memory that the driver knows? */
bool tfs_search_is_memory(const void *address);

/* Gives memory back once the work before it on `stream` is done. */
void tfs_search_free(void *memory, CUstream stream);

/* Within the device, in the order of `stream`. */
bool tfs_search_copy(void *target, const void *source, uint64_t bytes, CUstream stream);

/* In the order of the device's own stream: from the host, one value for all bytes; and to the host,
 * which waits. */
void tfs_search_send(
	struct tfs_search_device *device, void *target, const void *host, uint64_t bytes);
void tfs_search_set(
	struct tfs_search_device *device, void *target, unsigned char value, uint64_t bytes);
bool tfs_search_fetch(
	struct tfs_search_device *device, void *host, const void *source, uint64_t bytes);

/* Marks where the stream is now, and tells whether it has got there. */
bool tfs_search_mark(struct tfs_search_device *device, CUstream stream);
bool tfs_search_reached(struct tfs_search_device *device);

/* Waits for the device's own stream and gives what was freed back to the driver. */
void tfs_search_device_settle(struct tfs_search_device *device);

/* A device was reset: the equipment is gone. */
void tfs_search_device_forget(uint32_t device);

#endif
