/* SPDX-License-Identifier: MIT */
/*
 * What a forward call leaves in a reserve space is what the backward call reads there, every part
 * of dropout's states is used, and a reduction writes to all of its workspace and nothing beyond.
 */
#include "tests/libraries/lib_tensor.h"

static cudnnHandle_t dnn;

/* Two outputs of the same size, bit for bit. */
static bool same(const struct tensor *a, const struct tensor *b)
{
	float *x = lib_values(a->size, 1), *y = lib_values(a->size, 2);
	bool equal;

	lib_download(x, a->device, a->size);
	lib_download(y, b->device, a->size);
	equal = !memcmp(x, y, a->size * sizeof(float));
	free(x);
	free(y);
	return equal;
}

static void check_dropout(void)
{
	struct tensor x = make(4, 8, 32, 32, 3), y = make(4, 8, 32, 32, 0),
		      dx = make(4, 8, 32, 32, 0), again = make(4, 8, 32, 32, 0);
	cudnnDropoutDescriptor_t dropout;
	size_t states_size, reserve_size;
	char *states, *reserve;

	LIB_EQ(cudnnCreateDropoutDescriptor(&dropout), 0);
	LIB_EQ(cudnnDropoutGetStatesSize(dnn, &states_size), 0);
	LIB_EQ(cudnnDropoutGetReserveSpaceSize(x.desc, &reserve_size), 0);
	LIB_EQ(cudaMalloc((void **)&states, states_size), 0);
	LIB_EQ(cudaMalloc((void **)&reserve, reserve_size), 0);
	LIB_EQ(cudnnSetDropoutDescriptor(dropout, dnn, 0.5f, states, states_size, 7), 0);
	LIB_EQ(cudnnDropoutForward(
		       dnn, dropout, x.desc, x.device, y.desc, y.device, reserve, reserve_size - 1),
		CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
	LIB_EQ(cudnnDropoutForward(
		       dnn, dropout, x.desc, x.device, y.desc, y.device, reserve, reserve_size),
		0);
	/* The same operand: what was dropped there is dropped here. */
	LIB_EQ(cudnnDropoutBackward(
		       dnn, dropout, x.desc, x.device, dx.desc, dx.device, reserve, reserve_size),
		0);
	LIB_TRUE(same(&y, &dx));
	LIB_EQ(cudaMemset(reserve + reserve_size - 1, 0x5a, 1), 0);
	LIB_EQ(cudnnDropoutBackward(
		       dnn, dropout, x.desc, x.device, dx.desc, dx.device, reserve, reserve_size),
		0);
	LIB_TRUE(!same(&y, &dx));
	/* From the start again it drops the same; not with a few states gone. */
	LIB_EQ(cudnnSetDropoutDescriptor(dropout, dnn, 0.5f, states, states_size, 7), 0);
	LIB_EQ(cudnnDropoutForward(dnn, dropout, x.desc, x.device, again.desc, again.device,
		       reserve, reserve_size),
		0);
	LIB_TRUE(same(&y, &again));
	LIB_EQ(cudnnSetDropoutDescriptor(dropout, dnn, 0.5f, states, states_size, 7), 0);
	LIB_EQ(cudaMemset(states + states_size - 4096, 0x5a, 4096), 0);
	LIB_EQ(cudnnDropoutForward(dnn, dropout, x.desc, x.device, again.desc, again.device,
		       reserve, reserve_size),
		0);
	LIB_TRUE(!same(&y, &again));
	LIB_EQ(cudnnDestroyDropoutDescriptor(dropout), 0);
	cudaFree(states);
	cudaFree(reserve);
	discard(&x);
	discard(&y);
	discard(&dx);
	discard(&again);
}

/* Of each channel: more sums than the workspace holds at a time. */
static void check_reduction(void)
{
	struct tensor a = make(3, 200, 2, 2, 5), c = make(1, 200, 1, 1, 0);
	const float one = 1, zero = 0;
	unsigned char bytes[4096];
	cudnnReduceTensorDescriptor_t sum;
	size_t size, changed = 0;
	char *work;

	LIB_EQ(cudnnCreateReduceTensorDescriptor(&sum), 0);
	LIB_EQ(cudnnSetReduceTensorDescriptor(sum, CUDNN_REDUCE_TENSOR_ADD, CUDNN_DATA_FLOAT,
		       CUDNN_NOT_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES,
		       CUDNN_32BIT_INDICES),
		0);
	LIB_EQ(cudnnGetReductionWorkspaceSize(dnn, sum, a.desc, c.desc, &size), 0);
	LIB_TRUE(size > 0 && size < sizeof(bytes) - 64);
	LIB_EQ(cudaMalloc((void **)&work, sizeof(bytes)), 0);
	LIB_EQ(cudaMemset(work, 0x11, sizeof(bytes)), 0);
	LIB_EQ(cudnnReduceTensor(dnn, sum, NULL, 0, work, size - 1, &one, a.desc, a.device, &zero,
		       c.desc, c.device),
		CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
	LIB_EQ(cudnnReduceTensor(dnn, sum, NULL, 0, work, size, &one, a.desc, a.device, &zero,
		       c.desc, c.device),
		0);
	for (size_t i = 0; i < a.size; i++)
		c.want[i / 4 % 200] += (double)a.host[i];
	check("sums", &c, 1e-5);
	LIB_EQ(cudaMemcpy(bytes, work, sizeof(bytes), cudaMemcpyDeviceToHost), 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		changed += bytes[i] != 0x11;
	LIB_EQ(changed, size);
	LIB_EQ(cudnnDestroyReduceTensorDescriptor(sum), 0);
	cudaFree(work);
	discard(&a);
	discard(&c);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	check_dropout();
	check_reduction();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
