/* SPDX-License-Identifier: MIT */
/* Something like training, whose steps are mostly the upload of a batch from pageable memory:
 *	rewrite_steps STEPS KIB [KIB OF THE SECOND HALF]
 * The weights end as the sum of the batches. */
#include <cublas_v2.h>

#include "tests/promises/sim_gate.h"

static float *batch, *activations, *weights;
static int floats;
static cublasHandle_t handle;

static void upload(const float *host)
{
	OK(cudaMemcpy(batch, host, (size_t)floats * sizeof(float), cudaMemcpyHostToDevice));
}

static void forward(void)
{
	OK(cudaMemcpyAsync(activations, weights, 1024, cudaMemcpyDeviceToDevice, NULL));
}

static void update(void)
{
	const float one = 1;

	TEST_EQ(cublasSaxpy(handle, 1024, &one, batch, 1, weights, 1), CUBLAS_STATUS_SUCCESS);
}

int main(int count, char **words)
{
	const int steps = count >= 3 ? atoi(words[1]) : 40;

	alarm(300);
	floats = (count >= 3 ? atoi(words[2]) : 256) * 256;
	const size_t bytes = (size_t)floats * sizeof(float);
	float *host = calloc(1, bytes);
	float sum = 0;

	OK(cudaMalloc((void **)&batch, bytes));
	OK(cudaMalloc((void **)&activations, bytes));
	OK(cudaMalloc((void **)&weights, bytes));
	OK(cudaMemset(weights, 0, bytes));
	TEST_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < steps; i++) {
		if (count == 4 && i == steps / 2)
			floats = atoi(words[3]) * 256;
		for (int j = 0; j < floats; j += 256)
			host[j] = (float)(i % 7);
		sum += (float)(i % 7);
		upload(host);
		forward();
		update();
		OK(cudaDeviceSynchronize());
	}
	OK(cudaMemcpy(host, weights, bytes, cudaMemcpyDeviceToHost));
	TEST_EQ(host[0] * 1000, sum * 1000);
	TEST_EQ(host[768] * 1000, sum * 1000);
	return test_result();
}
