/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PAIRS_TRAINER_H
#define TFS_TESTS_PAIRS_TRAINER_H

/*
 * A trainer whose step is laid out by numbers (layout.h): a net of uneven layers on one stream,
 * batches from pinned memory that are used by turns, an update for each layer, and a host that is
 * no more than two steps ahead. It has at most one bad habit (habits.h), at any place of the step.
 */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/pairs/layout.h"

/* Ends the program when a call fails; of CUDA and its libraries, 0 is success. */
#define NEED(call) trainer_need(__FILE__, __LINE__, #call, (int)(call))

enum { SLOTS = 2, SIDE = 512, MOST_LAYERS = 64 };

struct habit;

struct trainer {
	struct layout layout;
	const struct habit *habit;
	uint64_t sequence;
	unsigned step;
	cublasHandle_t blas;
	cudaStream_t stream; /* that computes */
	cudaStream_t copies; /* the same, or another one */
	cudaEvent_t done[SLOTS], copied[SLOTS];
	void *batch[SLOTS]; /* pinned */
	void *pageable, *seen;
	float *input[SLOTS], *output, *loss;
	float *weight[MOST_LAYERS], *grad[MOST_LAYERS];
	float *all_weights, *all_grads; /* the same in one piece, where that is updated */
	int all;                        /* of them */
	int inner[MOST_LAYERS];         /* inputs of a layer */
	unsigned launched;              /* in this step */
	cudaGraphExec_t graph[SLOTS];
	unsigned acts_at; /* after how many launches the habit has its turn */
};

static inline void trainer_need(const char *file, int line, const char *call, int status)
{
	if (!status)
		return;
	printf("%s:%d: %s gave %d\n", file, line, call, status);
	exit(1);
}

/* The host does something of its own for so long. */
void trainer_host(uint64_t ns);
void *trainer_alloc(size_t bytes);
void *trainer_pinned(size_t bytes);

#endif
