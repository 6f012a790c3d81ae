/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDNN_H
#define TFS_SHIM_HOOKS_CUDNN_H

/* What the hooks on cuDNN share: putting tensors and scalars into a call's details. */

#include <string.h>

#include "shim/record/hook.h"
#include "shim/rewrites/fills.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/operations.h"
#include "shim/state/streams.h"
#include "shim/state/tensors.h"

static inline uint64_t tfs_double_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static inline void tfs_cudnn_details(struct tfs_details *details, cudnnHandle_t handle)
{
	tfs_details_init(details, tfs_stream_id(tfs_cudnn_stream(handle), 0));
}

/* The type of the tensor, for the scalars. */
static inline int tfs_put_tensor(struct tfs_details *details, cudnnTensorDescriptor_t descriptor,
	const void *address, uint32_t role)
{
	struct tfs_tensor tensor;

	tfs_tensor_read(descriptor, &tensor);
	tfs_put_operand(details, address, tensor.bytes, role | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
	return tensor.type;
}

static inline void tfs_put_filter(struct tfs_details *details, cudnnFilterDescriptor_t descriptor,
	const void *address, uint32_t role)
{
	struct tfs_tensor filter;

	tfs_filter_read(descriptor, &filter);
	tfs_put_operand(details, address, filter.bytes, role | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
}

/* alpha, beta; the role of an output that beta applies to. */
static inline uint32_t tfs_put_scalars(
	struct tfs_details *details, const void *alpha, const void *beta, int type)
{
	const double factor = tfs_cudnn_scalar(beta, type);

	tfs_put_attribute(
		details, TFS_ATTRIBUTE_alpha, tfs_double_bits(tfs_cudnn_scalar(alpha, type)));
	tfs_put_attribute(details, TFS_ATTRIBUTE_beta, tfs_double_bits(factor));
	return factor != 0 ? TFS_ROLE_READ | TFS_ROLE_WRITE : TFS_ROLE_WRITE;
}

static inline void tfs_put_workspace(struct tfs_details *details, const void *address, size_t bytes)
{
	if (bytes > 0)
		tfs_put_operand(details, address, bytes,
			TFS_ROLE_SCRATCH | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE));
	tfs_put_attribute(details, TFS_ATTRIBUTE_workspace, bytes);
}

/* A call on the handle's stream, see fills.h. */
static inline void tfs_cudnn_use(
	struct tfs_use_call *call, cudnnHandle_t handle, const void *alpha, const void *beta)
{
	call->stream = tfs_cudnn_stream(handle);
	call->scaled = alpha && beta;
}

static inline void tfs_use_tensor_shape(struct tfs_use_call *call, const struct tfs_tensor *tensor)
{
	for (int i = 0; i < tensor->rank; i++)
		tfs_use_shape(call,
			(uint64_t)(uint32_t)tensor->dims[i] << 32 | (uint32_t)tensor->strides[i]);
	tfs_use_shape(call, (uint64_t)tensor->type);
}

/* The operation, if its descriptor could be `read`. */
static inline void tfs_use_operation(
	struct tfs_use_call *call, bool read, const struct tfs_operation *operation)
{
	call->unknown |= !read;
	for (uint32_t i = 0; read && i < operation->count; i++)
		tfs_use_shape(call, operation->parts[i]);
}

static inline void tfs_use_output(struct tfs_use_call *call, const struct tfs_tensor *tensor,
	void *address, bool dense, const void *alpha, const void *beta)
{
	call->output = address;
	call->output_bytes = tensor->bytes;
	call->dense = dense;
	call->element_bytes = tfs_tensor_element_bytes(tensor);
	if (call->scaled) {
		call->alpha = tfs_cudnn_scalar(alpha, tensor->type);
		call->beta = tfs_cudnn_scalar(beta, tensor->type);
	}
	tfs_use_tensor_shape(call, tensor);
}

static inline void tfs_use_input(
	struct tfs_use_call *call, const struct tfs_tensor *tensor, const void *address)
{
	tfs_use_reads(call, address, tensor->bytes);
	tfs_use_tensor_shape(call, tensor);
}

#endif
