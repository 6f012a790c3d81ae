/* SPDX-License-Identifier: MIT */
/* Something like training, whose steps are mostly the upload of a batch from pageable memory:
 *	rewrite_steps STEPS KIB [KIB OF THE SECOND HALF | same]
 * The weights end as the sum of the batches; with "same" all of these are one. */
#include <cublas_v2.h>
#include <string.h>

#include "tests/programs/sim_gate.h"

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
	const bool same = count == 4 && strcmp(words[3], "same") == 0;

	alarm(100);
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
		const float value = same ? 1 : (float)(i % 7);

		if (count == 4 && !same && i == steps / 2)
			floats = atoi(words[3]) * 256;
		for (int j = 0; j < floats; j += 256)
			host[j] = value;
		sum += value;
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
