/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_LIBRARIES_LIB_REDUCE_H
#define TFS_TESTS_LIBRARIES_LIB_REDUCE_H

/* What each of cuDNN's reductions does with one value more, on the host. */

#include <cudnn.h>
#include <math.h>

static inline double lib_reduce_start(cudnnReduceTensorOp_t what)
{
	return what == CUDNN_REDUCE_TENSOR_MIN   ? (double)INFINITY
	       : what == CUDNN_REDUCE_TENSOR_MAX ? -(double)INFINITY
	       : what == CUDNN_REDUCE_TENSOR_MUL || what == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS ? 1
											     : 0;
}

static inline double lib_reduce_join(cudnnReduceTensorOp_t what, double sum, double v)
{
	switch (what) {
	case CUDNN_REDUCE_TENSOR_MUL:
		return sum * v;
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return v == 0 ? sum : sum * v;
	case CUDNN_REDUCE_TENSOR_MIN:
		return fmin(sum, v);
	case CUDNN_REDUCE_TENSOR_MAX:
		return fmax(sum, v);
	case CUDNN_REDUCE_TENSOR_AMAX:
		return fmax(sum, fabs(v));
	case CUDNN_REDUCE_TENSOR_NORM1:
		return sum + fabs(v);
	case CUDNN_REDUCE_TENSOR_NORM2:
		return sum + v * v;
	default: /* ADD, AVG */
		return sum + v;
	}
}

#endif
