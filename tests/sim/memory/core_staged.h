/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_STAGED_H
#define TFS_TESTS_SIM_CORE_STAGED_H

/* Copies: what they take, and those from pageable memory, which pass through pinned buffers. */

#include "tests/sim/core/core_private.h"

struct sim_copy {
	char *dst;
	const char *src;
	size_t dst_pitch, src_pitch, width, height;
	char *staging;
};

static inline bool sim_on_device(enum tfsim_memory kind)
{
	return kind == TFSIM_DEVICE || kind == TFSIM_MANAGED;
}

void sim_copy_rows(const struct sim_copy *copy);
/* Fills in the work's times, from its kinds of memory. */
void sim_copy_times(struct tfsim_work *work, const struct sim_copy *copy);
/*
 * From pageable memory: the source is the program's again when the call returns, and no more is
 * under way then than the driver's buffer holds. Without the lock.
 */
cudaError_t sim_copy_staged(
	struct sim_copy *copy, struct tfsim_work *work, cudaStream_t stream, bool async);

#endif
