/* SPDX-License-Identifier: MIT */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include "cudart_launch.c"
