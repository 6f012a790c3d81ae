/* SPDX-License-Identifier: MIT */
#include "shim/state/tensors.h"

#include <string.h>

#include "shim/record/intern.h"
#include "shim/record/recorder.h"
#include "shim/resolve/direct.h"

#define PROBLEMS 4096u

static _Atomic uint64_t problems[PROBLEMS];

static uint32_t type_bytes(int type)
{
	switch (type) {
	case CUDNN_DATA_DOUBLE:
	case CUDNN_DATA_INT64:
		return 8;
	case CUDNN_DATA_HALF:
	case CUDNN_DATA_BFLOAT16:
		return 2;
	case CUDNN_DATA_INT8:
	case CUDNN_DATA_UINT8:
	case CUDNN_DATA_BOOLEAN:
	case CUDNN_DATA_FP8_E4M3:
	case CUDNN_DATA_FP8_E5M2:
		return 1;
	default:
		return 4;
	}
}

bool tfs_tensor_read(cudnnTensorDescriptor_t descriptor, struct tfs_tensor *out_tensor)
{
	cudnnDataType_t type;
	uint64_t last = 0;

	memset(out_tensor, 0, sizeof(*out_tensor));
	if (!TFS_DIRECT(cudnnGetTensorNdDescriptor) || !descriptor ||
		TFS_DIRECT(cudnnGetTensorNdDescriptor)(descriptor, 8, &type, &out_tensor->rank,
			out_tensor->dims, out_tensor->strides) != CUDNN_STATUS_SUCCESS ||
		out_tensor->rank < 1 || out_tensor->rank > 8)
		return false;
	for (int i = 0; i < out_tensor->rank; i++)
		last += (uint64_t)(out_tensor->dims[i] - 1) * (uint64_t)out_tensor->strides[i];
	out_tensor->type = (int)type;
	out_tensor->bytes = (last + 1) * type_bytes((int)type);
	return true;
}

bool tfs_filter_dense(const struct tfs_tensor *filter)
{
	return filter->bytes > 0 &&
	       (filter->type == CUDNN_DATA_FLOAT || filter->type == CUDNN_DATA_DOUBLE ||
		       filter->type == CUDNN_DATA_HALF || filter->type == CUDNN_DATA_BFLOAT16);
}

bool tfs_tensor_dense(const struct tfs_tensor *tensor)
{
	bool counted[8] = {false};
	uint64_t expected = 1;

	if (!tfs_filter_dense(tensor))
		return false;
	/* Each stride in its turn is the product of the sizes of all smaller ones. */
	for (int done = 0; done < tensor->rank; done++) {
		int next = -1;

		for (int i = 0; i < tensor->rank; i++)
			if (!counted[i] &&
				(tensor->dims[i] == 1 || (uint64_t)tensor->strides[i] == expected))
				next = i;
		if (next < 0)
			return false;
		counted[next] = true;
		expected *= (uint64_t)tensor->dims[next];
	}
	return true;
}

uint32_t tfs_tensor_element_bytes(const struct tfs_tensor *tensor)
{
	return type_bytes(tensor->type);
}

bool tfs_filter_read(cudnnFilterDescriptor_t descriptor, struct tfs_tensor *out_filter)
{
	cudnnDataType_t type;
	cudnnTensorFormat_t format;
	uint64_t count = 1;

	memset(out_filter, 0, sizeof(*out_filter));
	if (!TFS_DIRECT(cudnnGetFilterNdDescriptor) || !descriptor ||
		TFS_DIRECT(cudnnGetFilterNdDescriptor)(descriptor, 8, &type, &format,
			&out_filter->rank, out_filter->dims) != CUDNN_STATUS_SUCCESS ||
		out_filter->rank < 1 || out_filter->rank > 8)
		return false;
	for (int i = 0; i < out_filter->rank; i++)
		count *= (uint64_t)out_filter->dims[i];
	out_filter->type = (int)type;
	out_filter->strides[0] = (int)format;
	out_filter->bytes = count * type_bytes((int)type);
	return true;
}

static bool read_convolution(cudnnConvolutionDescriptor_t convolution, int32_t *fields)
{
	int rank;
	int pads[2];
	int strides[2];
	int dilations[2];
	int groups = 1;
	cudnnConvolutionMode_t mode;
	cudnnDataType_t compute;
	cudnnMathType_t math = CUDNN_DEFAULT_MATH;

	if (!TFS_DIRECT(cudnnGetConvolutionNdDescriptor) || !convolution ||
		TFS_DIRECT(cudnnGetConvolutionNdDescriptor)(convolution, 2, &rank, pads, strides,
			dilations, &mode, &compute) != CUDNN_STATUS_SUCCESS ||
		rank != 2)
		return false;
	if (TFS_DIRECT(cudnnGetConvolutionGroupCount))
		TFS_DIRECT(cudnnGetConvolutionGroupCount)(convolution, &groups);
	if (TFS_DIRECT(cudnnGetConvolutionMathType))
		TFS_DIRECT(cudnnGetConvolutionMathType)(convolution, &math);
	fields[TFS_PROBLEM_pad_h] = pads[0];
	fields[TFS_PROBLEM_pad_w] = pads[1];
	fields[TFS_PROBLEM_stride_h] = strides[0];
	fields[TFS_PROBLEM_stride_w] = strides[1];
	fields[TFS_PROBLEM_dilation_h] = dilations[0];
	fields[TFS_PROBLEM_dilation_w] = dilations[1];
	fields[TFS_PROBLEM_mode] = (int32_t)mode;
	fields[TFS_PROBLEM_compute_type] = (int32_t)compute;
	fields[TFS_PROBLEM_groups] = groups;
	fields[TFS_PROBLEM_math] = (int32_t)math;
	return true;
}

bool tfs_problem_read(enum tfs_family family, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
	cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
	struct tfs_problem *out_problem)
{
	struct tfs_tensor in;
	struct tfs_tensor out;
	struct tfs_tensor filter;
	int32_t *fields = out_problem->fields;

	memset(out_problem, 0, sizeof(*out_problem));
	if (!tfs_tensor_read(x, &in) || !tfs_tensor_read(y, &out) || !tfs_filter_read(w, &filter) ||
		in.rank != 4 || out.rank != 4 || filter.rank != 4 ||
		!read_convolution(convolution, fields))
		return false;
	fields[TFS_PROBLEM_family] = (int32_t)family;
	fields[TFS_PROBLEM_data_type] = in.type;
	for (int i = 0; i < 4; i++) {
		fields[TFS_PROBLEM_n + i] = in.dims[i];
		fields[TFS_PROBLEM_k + i] = filter.dims[i];
		fields[TFS_PROBLEM_x_stride_n + i] = in.strides[i];
		fields[TFS_PROBLEM_y_stride_n + i] = out.strides[i];
	}
	fields[TFS_PROBLEM_out_h] = out.dims[2];
	fields[TFS_PROBLEM_out_w] = out.dims[3];
	fields[TFS_PROBLEM_filter_format] = filter.strides[0];
	return true;
}

uint32_t tfs_problem_id(const struct tfs_problem *problem)
{
	struct {
		struct tfs_problem_record head;
		struct tfs_problem problem;
	} definition;
	bool fresh;
	const uint32_t id = tfs_intern_claim(
		problems, PROBLEMS, tfs_intern_hash(problem, sizeof(*problem)), &fresh);

	if (id != 0 && fresh) {
		definition.head =
			(struct tfs_problem_record){.fields = TFS_PROBLEM_FIELD_COUNT, .id = id};
		definition.problem = *problem;
		tfs_recorder_put(&definition, TFS_RECORD_problem, sizeof(definition));
	}
	return id;
}

cudaStream_t tfs_cudnn_stream(cudnnHandle_t handle)
{
	cudaStream_t stream = NULL;

	if (!TFS_DIRECT(cudnnGetStream) ||
		TFS_DIRECT(cudnnGetStream)(handle, &stream) != CUDNN_STATUS_SUCCESS)
		return NULL;
	return stream;
}

double tfs_cudnn_scalar(const void *scalar, int type)
{
	if (!scalar)
		return 0;
	return type == CUDNN_DATA_DOUBLE ? *(const double *)scalar : *(const float *)scalar;
}
