/* SPDX-License-Identifier: MIT */
/*
 * Training steps of which a rewrite leaves out some of the device's work, or a wait for it, where
 * that is worth it or is not:
 *	rewrite_paced STEPS KIB MS CASE
 * "fill": KIB are zeroed, and then added to. "fill-hidden": and the host is at something else
 * meanwhile, for longer, and each time for another time. "wait": KIB are copied about on the
 * device, and something small to the host; the host waits for all. "wait-late": and then for each
 * stream. "free": KIB are copied into a block that is then freed, and at the end of the step
 * something small to the host, which waits for that. "free-late": and does so straight after.
 * MS is how long the host is busy in each step.
 */
#include <cudnn.h>

#include "shim/tfshim.h"
#include "tests/promises/sim_gate.h"

#define DNN(call) TEST_EQ(call, CUDNN_STATUS_SUCCESS)

static size_t bytes;
static char *one, *other, *pinned;
static cudaStream_t work, answer;
static cudnnHandle_t dnn;
static cudnnTensorDescriptor_t whole, number;

static void set_up(void)
{
	OK(cudaMalloc((void **)&one, bytes));
	OK(cudaMalloc((void **)&other, bytes));
	OK(cudaMemset(other, 0, bytes));
	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateTensorDescriptor(&whole));
	DNN(cudnnCreateTensorDescriptor(&number));
	DNN(cudnnSetTensor4dDescriptor(
		whole, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, (int)(bytes / sizeof(float))));
	DNN(cudnnSetTensor4dDescriptor(number, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1));
}

static void fill(bool hidden)
{
	const float factor = 1;

	OK(cudaMemsetAsync(one, 0, bytes, NULL));
	DNN(cudnnAddTensor(dnn, &factor, number, other, &factor, whole, one));
	if (!hidden)
		OK(cudaDeviceSynchronize());
}

static void wait_for_all(bool late)
{
	if (!work) {
		OK(cudaStreamCreate(&work));
		OK(cudaStreamCreate(&answer));
		OK(cudaMallocHost((void **)&pinned, 64));
	}
	OK(cudaMemcpyAsync(one, other, bytes, cudaMemcpyDeviceToDevice, work));
	OK(cudaMemcpyAsync(pinned, other, 64, cudaMemcpyDeviceToHost, answer));
	OK(cudaDeviceSynchronize());
	if (late)
		OK(cudaStreamSynchronize(work));
}

static void read_back(void)
{
	char small[64];

	OK(cudaMemcpy(small, other, sizeof(small), cudaMemcpyDeviceToHost));
}

static void free_block(bool late)
{
	char *block;

	OK(cudaMalloc((void **)&block, bytes));
	OK(cudaMemcpyAsync(block, other, bytes, cudaMemcpyDeviceToDevice, NULL));
	OK(cudaFree(block));
	if (late)
		read_back();
}

int main(int count, char **words)
{
	if (count != 5)
		return 2;
	alarm(300);
	const int steps = atoi(words[1]);
	const long busy_ns = atol(words[3]) * 1000000;
	const bool hidden = strcmp(words[4], "fill-hidden") == 0;
	bytes = (size_t)atoi(words[2]) << 10;
	set_up();
	for (int i = 0; i < steps; i++) {
		TFSHIM_STEP();
		if (hidden || strcmp(words[4], "fill") == 0)
			fill(hidden);
		else if (strncmp(words[4], "free", 4) == 0)
			free_block(strcmp(words[4], "free-late") == 0);
		else
			wait_for_all(strcmp(words[4], "wait-late") == 0);
		/* As long as ever, or longer. */
		const struct timespec busy = {
			.tv_nsec = busy_ns + (hidden ? busy_ns / 16 * (i * 7 % 16) : 0)};
		if (busy_ns > 0)
			nanosleep(&busy, NULL);
		if (strcmp(words[4], "free") == 0)
			read_back();
	}
	TFSHIM_STEP_END();
	return test_result();
}
