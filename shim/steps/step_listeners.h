/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_STEP_LISTENERS_H
#define TFS_SHIM_STEPS_STEP_LISTENERS_H

/*
 * Who is told of steps and windows, by those, which know none of them. Named in listeners.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/steps/loops/loops.h"

struct tfs_step_listeners {
	/* A training step outside windows ended, whose thread's calls moved so many bytes; its own
	 * thread. */
	void (*ended)(uint64_t ns, uint64_t bytes);
	/* The steps before and after this moment are not of one row. */
	void (*interrupted)(void);
	/* Whether rewrites may act has changed: tfs_windows_rewrites(). */
	void (*offered)(void);
	/* Do any act that findings have to be kept apart from? */
	bool (*rewritten)(void);
	/* A call of the steps' thread, while steps are searched: true when its NVTX ranges were
	 * just found to be the steps. */
	bool (*ranges)(uint32_t site, const struct tfs_loops_operand *operands, uint32_t count);
};

extern const struct tfs_step_listeners tfs_step_listeners;

#endif
