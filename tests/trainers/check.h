/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_CHECK_H
#define TFS_TESTS_TRAINERS_CHECK_H

/*
 * What the trainers do about a failing call: say which call, where and why, and end with 1. The
 * macros add nothing but the place; none of the checks waits for the device or clears its error.
 */

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA(call) check_cuda((call), #call, __FILE__, __LINE__)
#define CUDNN(call) check_cudnn((int)(call), #call, __FILE__, __LINE__)
#define CUBLAS(call) check_cublas((int)(call), #call, __FILE__, __LINE__)

/* Returns if status is success; else prints and exits. */
void check_cuda(cudaError_t status, const char *call, const char *file, int line);

/* The same for a cudnnStatus_t; int, so that a program without cuDNN can link this file. */
void check_cudnn(int status, const char *call, const char *file, int line);

/* The same for a cublasStatus_t. */
void check_cublas(int status, const char *call, const char *file, int line);

/* Ends the program with 1 and a message, for everything that is no library call. */
void fail(const char *what) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
