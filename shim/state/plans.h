/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_PLANS_H
#define TFS_SHIM_STATE_PLANS_H

/*
 * What plans of cuDNN's graph API compute, by the calls that build them: each descriptor has what
 * those have that it refers to, from tensors and operations to engines and plans. cuDNN is asked
 * nothing. Of a plan that was not built so (from text, or when there are too many descriptors)
 * nothing is known; nor in a process that is not recorded, or in a child of one. After the real
 * function, inside a hook. Any thread.
 */

#include <cudnn.h>
#include <stdint.h>

/* A descriptor was created, or is destroyed. */
void tfs_plan_created(cudnnBackendDescriptor_t descriptor, cudnnBackendDescriptorType_t type);
void tfs_plan_destroyed(cudnnBackendDescriptor_t descriptor);

/* `count` elements were set in the descriptor, */
void tfs_plan_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *elements);

/* or got from it: engines and their configurations are of the graph that it is of. */
void tfs_plan_got(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeType_t type,
	int64_t count, const void *elements);

/* As TFS_ATTRIBUTE_operations has it; 0 = nothing is known. */
uint64_t tfs_plan_operations(cudnnBackendDescriptor_t descriptor);

#endif
