/* SPDX-License-Identifier: MIT */
#include "shim/state/capture.h"

#include <driver_types.h>

unsigned tfs_captures_open;

void tfs_capture_began(uint32_t status)
{
	if (status == cudaSuccess)
		__atomic_fetch_add(&tfs_captures_open, 1, __ATOMIC_RELAXED);
}

/* A capture that was invalidated is over as well; ending one that was never begun is not. */
void tfs_capture_ended(uint32_t status)
{
	unsigned open = __atomic_load_n(&tfs_captures_open, __ATOMIC_RELAXED);
	const bool ended = status == cudaSuccess || status == cudaErrorStreamCaptureInvalidated ||
			   status == cudaErrorStreamCaptureUnjoined;

	while (ended && open > 0 &&
		!__atomic_compare_exchange_n(&tfs_captures_open, &open, open - 1, true,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}
