/* SPDX-License-Identifier: MIT */
/*
 * Like a program of a stranger: its kernels have no CPU versions, so they compute nothing here, and
 * that it trains shows in their arguments alone. Two layers, a loss, plain pointers.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 256, HIDDEN = 64, OUTPUTS = 16, BATCH = 32, STEPS = 60, THREADS = 128 };

#define CHECK(call) check((call), __LINE__)

static void check(cudaError_t error, int line)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "blind: line %d: %s\n", line, cudaGetErrorString(error));
	exit(1);
}

__global__ void forward(float *out, float *in, float *weight, int rows, int inputs, int outputs)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= rows * outputs)
		return;
	for (int k = 0; k < inputs; k++)
		sum += in[i / outputs * inputs + k] * weight[i % outputs * inputs + k];
	out[i] = sum > 0 ? sum : 0;
}

__global__ void loss_gradient(float *d_out, float *out, float *wanted, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		d_out[i] = 2 * (out[i] - wanted[i]) / count;
}

__global__ void backward_data(
	float *d_in, float *d_out, float *weight, float *in, int rows, int inputs, int outputs)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= rows * inputs)
		return;
	for (int k = 0; k < outputs; k++)
		sum += d_out[i / inputs * outputs + k] * weight[k * inputs + i % inputs];
	d_in[i] = in[i] > 0 ? sum : 0;
}

__global__ void backward_weight(
	float *d_weight, float *d_out, float *in, int rows, int inputs, int outputs)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= inputs * outputs)
		return;
	for (int k = 0; k < rows; k++)
		sum += d_out[k * outputs + i / inputs] * in[k * inputs + i % inputs];
	d_weight[i] = sum;
}

__global__ void update(float *weight, float *d_weight, float rate, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		weight[i] -= rate * d_weight[i];
}

static int blocks(int count)
{
	return (count + THREADS - 1) / THREADS;
}

static float *alloc(int count)
{
	void *memory = NULL;

	CHECK(cudaMalloc(&memory, count * sizeof(float)));
	CHECK(cudaMemset(memory, 0, count * sizeof(float)));
	return (float *)memory;
}

int main(void)
{
	const int batch_floats = BATCH * (INPUTS + OUTPUTS);
	float *weight1 = alloc(INPUTS * HIDDEN), *weight2 = alloc(HIDDEN * OUTPUTS);
	float *d_weight1 = alloc(INPUTS * HIDDEN), *d_weight2 = alloc(HIDDEN * OUTPUTS);
	float *batch = alloc(batch_floats), *wanted = batch + BATCH * INPUTS;
	float *hidden = alloc(BATCH * HIDDEN), *d_hidden = alloc(BATCH * HIDDEN);
	float *out = alloc(BATCH * OUTPUTS), *d_out = alloc(BATCH * OUTPUTS);
	void *host = NULL;

	CHECK(cudaMallocHost(&host, batch_floats * sizeof(float)));
	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < batch_floats; i++)
			((float *)host)[i] = (float)((i * 31 + step * 17) % 100) / 100;
		CHECK(cudaMemcpy(
			batch, host, batch_floats * sizeof(float), cudaMemcpyHostToDevice));
		forward<<<blocks(BATCH * HIDDEN), THREADS>>>(
			hidden, batch, weight1, BATCH, INPUTS, HIDDEN);
		forward<<<blocks(BATCH * OUTPUTS), THREADS>>>(
			out, hidden, weight2, BATCH, HIDDEN, OUTPUTS);
		loss_gradient<<<blocks(BATCH * OUTPUTS), THREADS>>>(
			d_out, out, wanted, BATCH * OUTPUTS);
		backward_weight<<<blocks(HIDDEN * OUTPUTS), THREADS>>>(
			d_weight2, d_out, hidden, BATCH, HIDDEN, OUTPUTS);
		backward_data<<<blocks(BATCH * HIDDEN), THREADS>>>(
			d_hidden, d_out, weight2, hidden, BATCH, HIDDEN, OUTPUTS);
		backward_weight<<<blocks(INPUTS * HIDDEN), THREADS>>>(
			d_weight1, d_hidden, batch, BATCH, INPUTS, HIDDEN);
		update<<<blocks(HIDDEN * OUTPUTS), THREADS>>>(
			weight2, d_weight2, 0.1f, HIDDEN * OUTPUTS);
		update<<<blocks(INPUTS * HIDDEN), THREADS>>>(
			weight1, d_weight1, 0.1f, INPUTS * HIDDEN);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFreeHost(host));
	return 0;
}
