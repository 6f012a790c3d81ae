/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_H
#define TFS_SHIM_NVTX_NVTX_H

/*
 * The program's NVTX ranges, by NVTX's own injection: the header-only NVTX 3 in a program loads the
 * library that NVTX_INJECTION64_PATH names at its first call and lets it fill in the functions.
 * Ranges tell steps (nvtx_search.h) and are recorded in windows as layers. A tool that was named
 * there before us is called as well, and its answers are the program's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/steps/loops/loops.h"

/* Names libtfshim_inject.so, or without one this library, in the environment for NVTX to find; in
 * the constructor. Cheap. */
void tfs_nvtx_announce(void);

/* States in the recording what became of it. Once the recording is open. */
void tfs_nvtx_start(void);

/* Feeds a call of the steps' thread to the search for ranges that are steps; true when they were
 * just found. */
bool tfs_nvtx_feed(uint32_t site, const struct tfs_loops_operand *operands, uint32_t count);

#endif
