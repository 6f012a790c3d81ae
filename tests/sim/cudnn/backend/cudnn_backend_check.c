/* SPDX-License-Identifier: MIT */
#include <limits.h>

#include "tests/sim/cudnn/backend/cudnn_backend.h"
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

struct tfs_view tfs_tensor_view(const struct tfs_backend *desc)
{
	struct tfs_view view = {0};
	const struct tfs_value *dim, *stride;

	if (!desc)
		return view;
	dim = tfs_backend_value(desc, CUDNN_ATTR_TENSOR_DIMENSIONS);
	stride = tfs_backend_value(desc, CUDNN_ATTR_TENSOR_STRIDES);
	view.nd = (int)dim->count;
	for (int i = 0; i < view.nd; i++) {
		view.dim[i] = (int)((const int64_t *)dim->data)[i];
		view.stride[i] = (int)((const int64_t *)stride->data)[i];
	}
	return view;
}

cudnnStatus_t tfs_tensor_check(const struct tfs_backend *desc)
{
	const struct tfs_value *dim = tfs_backend_value(desc, CUDNN_ATTR_TENSOR_DIMENSIONS);
	const struct tfs_value *stride = tfs_backend_value(desc, CUDNN_ATTR_TENSOR_STRIDES);
	int64_t last = 0;

	if (dim->count != stride->count)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "as many strides as dimensions");
	for (int64_t i = 0; i < dim->count; i++) {
		int64_t d = ((const int64_t *)dim->data)[i];
		int64_t s = ((const int64_t *)stride->data)[i];

		if (d < 1 || s < 0)
			return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "dimensions and strides");
		if (d > INT_MAX || s > INT_MAX)
			return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
				"the simulated device counts elements in 31 bits");
		last += (d - 1) * s;
	}
	if (last >= INT_MAX)
		return tfs_dnn_fail(CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
			"the simulated device counts elements in 31 bits");
	if (tfs_backend_int(desc, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) &&
		tfs_backend_int(desc, CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "virtual and by value");
	return CUDNN_STATUS_SUCCESS;
}

/* What was not set is no. */
static cudnnStatus_t finalize_tensor(struct tfs_backend *desc)
{
	static const cudnnBackendAttributeName_t names[] = {
		CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_ATTR_TENSOR_IS_BY_VALUE};
	const bool no = false;

	for (int i = 0; i < 2; i++)
		if (!tfs_backend_value(desc, names[i]) &&
			tfs_backend_put(desc, names[i], CUDNN_TYPE_BOOLEAN, 1, &no))
			return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	return tfs_tensor_check(desc);
}

static cudnnStatus_t check_convolution(const struct tfs_backend *desc)
{
	static const cudnnBackendAttributeName_t names[] = {CUDNN_ATTR_CONVOLUTION_DILATIONS,
		CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
		CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS};
	int64_t dims = tfs_backend_int(desc, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);

	for (int i = 0; i < 4; i++) {
		const struct tfs_value *v = tfs_backend_value(desc, names[i]);

		if (v->count != dims)
			return tfs_dnn_fail(
				CUDNN_STATUS_BAD_PARAM, "one element per spatial dimension");
		for (int64_t k = 0; k < dims; k++)
			if (((const int64_t *)v->data)[k] < (i < 2 ? 1 : 0))
				return tfs_dnn_fail(
					CUDNN_STATUS_BAD_PARAM, "dilation, stride or padding");
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_pack_check(const struct tfs_backend *desc)
{
	const struct tfs_value *ids = tfs_backend_value(desc, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
	const struct tfs_value *pointers =
		tfs_backend_value(desc, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
	const int64_t *id = ids ? ids->data : NULL;

	if ((ids ? ids->count : 0) != (pointers ? pointers->count : 0))
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "as many pointers as unique ids");
	for (int64_t i = 0; ids && i < ids->count; i++)
		for (int64_t k = 0; k < i; k++)
			if (id[i] == id[k])
				return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
					"a unique id twice");
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t tfs_backend_check(struct tfs_backend *desc)
{
	const struct tfs_backend_op *op = tfs_backend_op_find(desc->type);

	if (op)
		return op->check(desc);
	switch ((int)desc->type) {
	case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
		return finalize_tensor(desc);
	case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
		return check_convolution(desc);
	case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
		return tfs_pack_check(desc);
	case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
		return tfs_opgraph_finalize(desc);
	case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
		return tfs_engine_finalize(desc);
	case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
		return tfs_heuristics_finalize(desc);
	case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
		return tfs_config_finalize(desc);
	case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
		return tfs_plan_finalize(desc);
	default:
		return CUDNN_STATUS_SUCCESS;
	}
}
