/* SPDX-License-Identifier: MIT */
#include "mlp_cpu.h"

#include <math.h>

#include "mnist.h"
#include "tests/sim/tfsim.h"

/* What a kernel is called in this build. */
#define SPELL(name) #name
#define NAME(kernel) SPELL(kernel)

/* The value of the i-th argument, which has the given type. */
#define ARG(type, i) (*(type *)args[i])

static void bias_add_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *x = ARG(float *, 0);
	const float *bias = ARG(const float *, 1);
	int width = ARG(int, 2), count = ARG(int, 3);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		x[i] += bias[i % width];
}

static void relu_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *x = ARG(float *, 0);
	int count = ARG(int, 1);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

static void clip_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *x = ARG(float *, 0);
	float largest = ARG(float, 1);
	int count = ARG(int, 2);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		x[i] = x[i] < largest ? x[i] : largest;
}

static void scale_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *x = ARG(float *, 0);
	float factor = ARG(float, 1);
	int count = ARG(int, 2);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		x[i] *= factor;
}

static void hidden_back_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *d = ARG(float *, 0);
	const float *y = ARG(const float *, 1);
	float factor = ARG(float, 2), largest = ARG(float, 3);
	int count = ARG(int, 4);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		d[i] = y[i] > 0 && y[i] < largest ? d[i] * factor : 0;
}

static void softmax_loss_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *logits = ARG(float *, 0);
	const float *bias = ARG(const float *, 1), *onehot = ARG(const float *, 2);
	float *d_logits = ARG(float *, 3), *loss = ARG(float *, 4);
	int rows = ARG(int, 5);

	(void)grid, (void)block, (void)shared_bytes;
	for (int row = 0; row < rows; row++) {
		float *x = logits + row * MNIST_CLASSES, largest = -INFINITY, sum = 0;
		int at = row * MNIST_CLASSES;

		for (int i = 0; i < MNIST_CLASSES; i++) {
			x[i] += bias[i];
			largest = x[i] > largest ? x[i] : largest;
		}
		for (int i = 0; i < MNIST_CLASSES; i++)
			sum += expf(x[i] - largest);
		loss[row] = 0;
		for (int i = 0; i < MNIST_CLASSES; i++) {
			float log_prob = x[i] - largest - logf(sum);

			loss[row] -= onehot[at + i] * log_prob / (float)rows;
			d_logits[at + i] = (expf(log_prob) - onehot[at + i]) / (float)rows;
		}
	}
}

static void fill_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *x = ARG(float *, 0);
	float value = ARG(float, 1);
	int count = ARG(int, 2);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		x[i] = value;
}

static void sgd_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	float *weight = ARG(float *, 0);
	const float *grad = ARG(const float *, 1);
	float rate = ARG(float, 2);
	int count = ARG(int, 3);

	(void)grid, (void)block, (void)shared_bytes;
	for (int i = 0; i < count; i++)
		weight[i] -= rate * grad[i];
}

#define POINTER sizeof(float *)

static const struct tfsim_kernel kernels[] = {
	{NAME(bias_add), bias_add_cpu, {POINTER, POINTER, 4, 4}, 4, 8, 1},
	{NAME(relu), relu_cpu, {POINTER, 4}, 2, 8, 1},
	{NAME(clip), clip_cpu, {POINTER, 4, 4}, 3, 8, 1},
	{NAME(scale), scale_cpu, {POINTER, 4, 4}, 3, 8, 1},
	{NAME(hidden_back), hidden_back_cpu, {POINTER, POINTER, 4, 4, 4}, 5, 12, 1},
	{NAME(softmax_loss), softmax_loss_cpu, {POINTER, POINTER, POINTER, POINTER, POINTER, 4}, 6,
		164, 200},
	{NAME(fill), fill_cpu, {POINTER, 4, 4}, 3, 4, 0},
	{NAME(sgd), sgd_cpu, {POINTER, POINTER, 4, 4}, 4, 12, 2},
};

void mlp_cpu_register(void)
{
	for (unsigned i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		tfsim_register_kernel(&kernels[i]);
}
