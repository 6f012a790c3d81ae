/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

static __attribute__((noreturn)) void give_up(const char *library, int status, const char *why,
	const char *call, const char *file, int line)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: %s error %d%s%s\n  in %s\n", file, line, library, status,
		why[0] ? ": " : "", why, call);
	exit(1);
}

void check_cuda(cudaError_t status, const char *call, const char *file, int line)
{
	if (status != cudaSuccess)
		give_up("CUDA", (int)status, cudaGetErrorString(status), call, file, line);
}

void check_cudnn(int status, const char *call, const char *file, int line)
{
	if (status)
		give_up("cuDNN", status, "", call, file, line);
}

void check_cublas(int status, const char *call, const char *file, int line)
{
	if (status)
		give_up("cuBLAS", status, "", call, file, line);
}

void fail(const char *what)
{
	fflush(stdout);
	fprintf(stderr, "%s\n", what);
	exit(1);
}
