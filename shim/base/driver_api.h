/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_DRIVER_API_H
#define TFS_SHIM_BASE_DRIVER_API_H

/*
 * NVIDIA's <cuda.h> as everything in the traced process sees it: no ABI of a function hides behind
 * another's name. This takes effect only where <cuda.h> is read for the first time, so nothing in
 * the process includes that file, nor one of NVIDIA's that does, before this one. <cupti.h> cannot
 * be included beside it at all: it declares the oldest structs again, as empty ones.
 */

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#endif
