/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_BACKEND_SCALAR_H
#define TFS_TESTS_SIM_CUDNN_BACKEND_SCALAR_H

/* The functions of one element, by cudnnPointwiseMode_t. */

#include "tests/sim/cudnn/backend/cudnn_backend.h"

struct tfs_scalar {
	int mode;
	float low, high, slope; /* of ReLU */
	float elu, softplus, swish;
	float alpha1, alpha2; /* factors of the first two operands */
};

/* From a pointwise descriptor. */
struct tfs_scalar tfs_scalar_init(const struct tfs_backend *desc);
/* Operands of a mode; 0 when there is no such mode. */
int tfs_scalar_operands(int mode);
/* Whether the second operand is the gradient of the result. */
bool tfs_scalar_is_gradient(int mode);
/* Count results; step is the distance of the next element, of out first. */
void tfs_scalar_row(const struct tfs_scalar *s, size_t count, float *out, const float *const in[3],
	const ptrdiff_t step[4]);

#endif
