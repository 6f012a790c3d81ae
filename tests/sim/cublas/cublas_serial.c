/* SPDX-License-Identifier: MIT */
#include <cblas.h>

#include "tests/sim/core/core.h"

/*
 * Streams are threads already, and results must not depend on how many cores there are. Part of
 * every library that uses OpenBLAS.
 */
__attribute__((constructor)) static void serial(void)
{
	openblas_set_num_threads(1);
}

/* Runs before OpenBLAS's own, which unmaps its buffers. An exit handler would not do: registered by
 * a constructor, as the runtime's start is, it runs after all destructors. */
__attribute__((destructor)) static void stop(void)
{
	tfsim_stop();
}
