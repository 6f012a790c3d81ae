/* SPDX-License-Identifier: MIT */
/* A filter gradient summed over two micro-batches, on zeroed memory, with beta 1 both times: a
 * search may not write the live gradient. The algorithm is fixed, so that the search happens at the
 * first of the two calls. */
#include "tests/rewrites/search/rewrite_conv.h"

int main(void)
{
	static float x[2][CONV_X], dy[2][CONV_Y], dw[CONV_W];
	static double want[CONV_W];
	const float one = 1;
	float *device_dw = NULL;
	struct conv conv;

	conv_make(&conv);
	OK(cudaMalloc((void **)&device_dw, sizeof(dw)));
	OK(cudaMemset(device_dw, 0, sizeof(dw)));
	for (int i = 0; i < 2; i++) {
		float *device_x = conv_floats(x[i], CONV_X, 1u + (unsigned)i);
		float *device_dy = conv_floats(dy[i], CONV_Y, 11u + (unsigned)i);

		DNN(cudnnConvolutionBackwardFilter(conv.handle, &one, conv.x, device_x, conv.y,
			device_dy, conv.convolution, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0,
			&one, conv.w, device_dw));
		conv_add_gradient(want, x[i], dy[i]);
	}
	OK(cudaMemcpy(dw, device_dw, sizeof(dw), cudaMemcpyDeviceToHost));
	for (int i = 0; i < CONV_W; i++)
		TEST_TRUE(fabs(dw[i] - want[i]) < 1e-3);
	return test_result();
}
