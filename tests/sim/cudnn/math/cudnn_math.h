/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_MATH_H
#define TFS_TESTS_SIM_CUDNN_MATH_H

/*
 * The arithmetic of the simulated cuDNN: plain functions on float arrays with strides. Nothing
 * here knows handles, streams or descriptors, and every function runs to its end in the calling
 * thread. All of them follow the rule out = alpha * result + beta * out and do not read the output
 * when beta is 0. They return 0, or -1 when scratch memory could not be had.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFS_MATH_DIMS 8

/* A strided array; dim[0] is the batch and dim[1] the channel, as everywhere in cuDNN. */
struct tfs_view {
	int nd;
	int dim[TFS_MATH_DIMS];
	int stride[TFS_MATH_DIMS];
};

struct tfs_blend {
	float alpha;
	float beta;
};

/* The number of elements of a view. */
size_t tfs_view_count(const struct tfs_view *v);

/* One more than the largest element offset of a view. */
size_t tfs_view_span(const struct tfs_view *v);

/* Fills in the strides of a fully packed view, last dimension fastest. */
void tfs_view_pack(struct tfs_view *v);

/* Whether two views have the same dimensions. */
bool tfs_view_same_dims(const struct tfs_view *a, const struct tfs_view *b);

/* Whether a can be broadcast to b: equal ranks, each dimension equal or 1. */
bool tfs_view_broadcasts(const struct tfs_view *a, const struct tfs_view *b);

/*
 * One row of an element-wise operation: count elements, p[i] the first element of operand i and
 * step[i] its distance; operand 0 is the output.
 */
typedef void (*tfs_row_fn)(size_t count, float *const *p, const ptrdiff_t *step, const void *arg);

struct tfs_operand {
	float *data;
	const struct tfs_view *view;
};

/* Walks operand 0 in rows as long as possible, broadcasting the others; n is at most 4. */
void tfs_map(const struct tfs_operand *op, int n, tfs_row_fn row, const void *arg);

/* y = alpha * x + beta * y with x broadcast; the transform and the bias addition are this. */
void tfs_math_add(struct tfs_blend s, const struct tfs_view *xv, const float *x,
	const struct tfs_view *yv, float *y);

/* The sum of all elements. */
float tfs_math_sum(const struct tfs_view *xv, const float *x);

/* y = value, everywhere. */
void tfs_math_fill(const struct tfs_view *yv, float *y, float value);

enum tfs_op2 { TFS_OP_ADD, TFS_OP_MUL, TFS_OP_MIN, TFS_OP_MAX, TFS_OP_SQRT, TFS_OP_NOT };

/* c = op(alpha1 * a, alpha2 * b) + beta * c with b broadcast; SQRT and NOT ignore b. */
void tfs_math_op(enum tfs_op2 op, float alpha1, const struct tfs_view *av, const float *a,
	float alpha2, const struct tfs_view *bv, const float *b, float beta,
	const struct tfs_view *cv, float *c);

/* Values as in cudnnActivationMode_t. */
struct tfs_act {
	int mode;
	bool propagate_nan;
	float coef;
	float swish_beta;
};

/* The activation of one value. */
float tfs_act_apply(const struct tfs_act *a, float x);

/* y = alpha * act(x) + beta * y. */
void tfs_math_act(const struct tfs_act *a, struct tfs_blend s, const struct tfs_view *xv,
	const float *x, const struct tfs_view *yv, float *y);

/* dx = alpha * dy * act'(x) + beta * dx; all four have dx's dimensions. */
void tfs_math_act_grad(const struct tfs_act *a, struct tfs_blend s, const struct tfs_operand op[4]);

enum tfs_softmax { TFS_SOFTMAX_FAST, TFS_SOFTMAX_ACCURATE, TFS_SOFTMAX_LOG };

/* Softmax over the channels, or over the whole instance when per_instance. */
int tfs_math_softmax(enum tfs_softmax algo, bool per_instance, struct tfs_blend s,
	const struct tfs_view *xv, const float *x, const struct tfs_view *yv, float *y);

/* dx = alpha * d(softmax) + beta * dx, from the forward output y. */
int tfs_math_softmax_grad(enum tfs_softmax algo, bool per_instance, struct tfs_blend s,
	const struct tfs_view *yv, const float *y, const struct tfs_view *dyv, const float *dy,
	const struct tfs_view *dxv, float *dx);

#endif
