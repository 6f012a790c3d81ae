/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_DESC_H
#define TFS_TESTS_SIM_CUDNN_DESC_H

/*
 * What the handles of the simulated cuDNN point at, and the checks that its calls share. To add a
 * call: define it with NVIDIA's prototype in the file of its family, copy what the work needs out
 * of the descriptors (the program may change or destroy them at once), and give it to
 * tfs_dnn_submit().
 */

#include <cudnn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/core/core.h"
#include "tests/sim/cudnn/math/cudnn_math.h"

/* Marks a public function of the library. */
#define TFS_DNN_API __attribute__((visibility("default")))

struct cudnnContext {
	cudaStream_t stream;
	int device;
	bool used;
	struct tfsim_block memory,
		more; /* what the handle takes when created and when first used */
};

struct cudnnTensorStruct {
	cudnnDataType_t type;
	struct tfs_view v; /* nd is 0 until it is set */
};

struct cudnnFilterStruct {
	cudnnDataType_t type;
	cudnnTensorFormat_t format;
	struct tfs_view v;
};

struct cudnnConvolutionStruct {
	int nd; /* spatial dimensions */
	int pad[TFS_MATH_DIMS], stride[TFS_MATH_DIMS], dil[TFS_MATH_DIMS];
	cudnnConvolutionMode_t mode;
	cudnnDataType_t compute;
	cudnnMathType_t math;
	cudnnReorderType_t reorder;
	int groups;
};

struct cudnnPoolingStruct {
	cudnnPoolingMode_t mode;
	cudnnNanPropagation_t nan;
	int nd;
	int win[TFS_MATH_DIMS], pad[TFS_MATH_DIMS], stride[TFS_MATH_DIMS];
};

struct cudnnActivationStruct {
	cudnnActivationMode_t mode;
	cudnnNanPropagation_t nan;
	double coef;
	double swish_beta;
};

struct cudnnLRNStruct {
	unsigned n;
	double alpha, beta, k;
};

struct cudnnOpTensorStruct {
	cudnnOpTensorOp_t op;
	cudnnDataType_t compute;
	cudnnNanPropagation_t nan;
};

struct cudnnReduceTensorStruct {
	cudnnReduceTensorOp_t op;
	cudnnDataType_t compute;
	cudnnNanPropagation_t nan;
	cudnnReduceTensorIndices_t indices;
	cudnnIndicesType_t width;
};

/* Device work of one call: what tfsim_enqueue() needs, in cuDNN's terms. */
struct tfs_dnn_work {
	const char *name;
	uint64_t bytes, flops;
	enum tfsim_math math;
	double slower; /* multiplies the modelled time; 0 means 1 */
	void (*run)(void *args);
	const void *args;
	size_t args_size;
	const void *reads[5];
	size_t read_bytes[5];
	void *writes[3];
	size_t write_bytes[3];
};

/* Enqueues on the handle's stream; any thread. A failure is an execution error. */
cudnnStatus_t tfs_dnn_submit(cudnnHandle_t handle, const struct tfs_dnn_work *work);

/* Loads the code of a part of the library, for good; the name is a string of the process. */
cudnnStatus_t tfs_dnn_load(const char *part);

/* The modelled time of work in final nanoseconds. */
uint64_t tfs_dnn_cost(const struct tfs_dnn_work *work);

/* Success when all descriptors, n of them, are set and hold floats. */
cudnnStatus_t tfs_dnn_check(const cudnnTensorDescriptor_t *desc, int n);

/* Notes the message for cudnnGetLastErrorString() and returns status. */
cudnnStatus_t tfs_dnn_fail(cudnnStatus_t status, const char *message);

/* Reads host scalars: alpha and beta of a float problem. */
struct tfs_blend tfs_dnn_blend(const void *alpha, const void *beta);

/* Bytes a float view spans. */
size_t tfs_dnn_bytes(const struct tfs_view *v);

/* The activation as the arithmetic wants it. */
struct tfs_act tfs_dnn_act(const struct cudnnActivationStruct *desc);

/* Bytes of one element; 0 for a type without a size of its own. */
size_t tfs_dnn_type_size(cudnnDataType_t type);

#endif
