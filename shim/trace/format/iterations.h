/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_ITERATIONS_H
#define TFS_SHIM_TRACE_FORMAT_ITERATIONS_H

/* Beside the values of enum tfs_step_source: what is marked are no steps, but iterations of the
 * loop with most calls, in which no weights are updated as far as can be seen. */
#define TFS_STEP_ITERATIONS 4u

#endif
