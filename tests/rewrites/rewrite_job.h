/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_JOB_H
#define TFS_TESTS_PROGRAMS_REWRITE_JOB_H

/* Convolutions of many shapes, of which only the bits matter, for the programs that try what
 * cudnn-search decides. */

#include "tests/rewrites/search/rewrite_conv.h"

#define JOB_MOST_HW 40
#define JOB_MOST_N 8
#define JOB_CHANNELS 2
#define JOB_FILTERS 3
#define JOB_MOST_X (JOB_MOST_N * JOB_CHANNELS * JOB_MOST_HW * JOB_MOST_HW)
#define JOB_MOST_Y (JOB_MOST_N * JOB_FILTERS * JOB_MOST_HW * JOB_MOST_HW)

/* Convolutions of one thread. */
struct job {
	struct conv conv;
	cudaStream_t stream;
	float *x, *w, *y;
	int count; /* of outputs */
};

static inline void job_make(struct job *job, cudaStream_t on, unsigned seed)
{
	static _Thread_local float host[JOB_MOST_X];

	conv_make(&job->conv);
	job->stream = on;
	DNN(cudnnSetStream(job->conv.handle, on));
	job->x = conv_floats(host, JOB_MOST_X, seed);
	job->w = conv_floats(host, JOB_FILTERS * JOB_CHANNELS * 9, seed + 1000);
	OK(cudaMalloc((void **)&job->y, JOB_MOST_Y * sizeof(float)));
	DNN(cudnnSetFilter4dDescriptor(
		job->conv.w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, JOB_FILTERS, JOB_CHANNELS, 3, 3));
	OK(cudaDeviceSynchronize());
}

static inline void job_shape(struct job *job, int n, int hw)
{
	DNN(cudnnSetTensor4dDescriptor(
		job->conv.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, JOB_CHANNELS, hw, hw));
	DNN(cudnnSetTensor4dDescriptor(
		job->conv.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, JOB_FILTERS, hw - 2, hw - 2));
	job->count = n * JOB_FILTERS * (hw - 2) * (hw - 2);
}

/* The number of a problem says which. */
static inline void job_problem(struct job *job, int number)
{
	job_shape(job, 1 + number / 30, 6 + number % 30);
}

static inline cudnnStatus_t job_run(struct job *job, int algorithm, void *workspace, size_t bytes)
{
	const float one = 1, zero = 0;

	return cudnnConvolutionForward(job->conv.handle, &one, job->conv.x, job->x, job->conv.w,
		job->w, job->conv.convolution, (cudnnConvolutionFwdAlgo_t)algorithm, workspace,
		bytes, &zero, job->conv.y, job->y);
}

static inline unsigned long job_bits_now(const struct job *job)
{
	static _Thread_local float y[JOB_MOST_Y];
	unsigned long hash = 14695981039346656037u;
	const size_t bytes = (size_t)job->count * sizeof(float);

	OK(cudaMemcpy(y, job->y, bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ ((const unsigned char *)y)[i]) * 1099511628211u;
	return hash;
}

static inline unsigned long job_bits(struct job *job)
{
	DNN(job_run(job, 0, NULL, 0));
	OK(cudaStreamSynchronize(job->stream));
	return job_bits_now(job);
}

#endif
