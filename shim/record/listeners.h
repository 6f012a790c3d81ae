/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_LISTENERS_H
#define TFS_SHIM_RECORD_LISTENERS_H

/*
 * Who is told of a call besides the recording, by the recording, which knows none of them. All are
 * named in one place, listeners.c; a program that has only parts of the library names its own.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_cache_entry;
struct tfs_details;
struct tfs_frame;
struct tfs_function;
struct tfs_thread;

struct tfs_listeners {
	/* The life of the process, see shim.h. */
	bool (*running)(void);
	bool (*forget_parents)(void);
	void (*first_call_done)(void);
	/* A call of this function, NULL: of one not known, is about to be made: with
	 * TFS_WANT_FILLS, and with TFS_WANT_HELD. */
	void (*fills)(const struct tfs_function *function);
	void (*held)(const struct tfs_function *function);
	/* A call at a place with TFS_SITE_STEP is about to be made; which of those flags a new
	 * place has. */
	void (*mark)(struct tfs_thread *thread, const struct tfs_cache_entry *entry);
	uint16_t (*site_flags)(uint32_t site);
	/* With TFS_WANT_DEVICE: around a call, whose record will be this unit. */
	void (*enter_device)(uint64_t unit);
	void (*leave_device)(void);
	/* After a call: with TFS_WANT_STEPS, and with TFS_WANT_WORK. */
	void (*steps)(const struct tfs_frame *frame, const struct tfs_details *details);
	void (*work)(const struct tfs_function *function, const struct tfs_details *details);
};

extern const struct tfs_listeners tfs_listeners;

#endif
