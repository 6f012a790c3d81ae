/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDNN_BACKEND_H
#define TFS_TESTS_SIM_CUDNN_BACKEND_H

/*
 * Descriptors of cuDNN's backend API: a type and the attributes that were set. Which attributes a
 * type has stands in a table (cudnn_backend_attr.c); a type without rows takes any attribute and
 * keeps none, so that a graph with such an operation is refused as a whole and by name.
 *
 * A descriptor keeps those it refers to alive. A finalized one no longer changes.
 */

#include <stdatomic.h>

#include "tests/sim/cudnn/cudnn_desc.h"

enum {
	TFS_ATTR_NEEDED = 1,    /* finalize fails without it */
	TFS_ATTR_COMPUTED = 2,  /* cannot be set */
	TFS_ATTR_REAL = 4,      /* float or double */
	TFS_ATTR_REFERENCE = 8, /* a value or the descriptor of a tensor that holds it */
};

struct tfs_attr {
	cudnnBackendDescriptorType_t of;
	cudnnBackendAttributeName_t name;
	cudnnBackendAttributeType_t type;
	int max; /* elements */
	unsigned flags;
};

struct tfs_value {
	cudnnBackendAttributeName_t name;
	cudnnBackendAttributeType_t type;
	int64_t count;
	void *data;
	struct tfs_value *next;
};

struct tfs_opgraph;

struct tfs_backend {
	atomic_uint refs;
	cudnnBackendDescriptorType_t type;
	bool finalized;
	struct tfs_value *values;
	struct tfs_opgraph *graph; /* of a finalized operation graph */
};

/* NULL when there is none, or no memory. */
const struct tfs_attr *tfs_attr_find(
	cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t name);
/* Whether the type has any attribute at all. */
bool tfs_attr_any(cudnnBackendDescriptorType_t of);
/* Whether a value of this type fits the attribute. */
bool tfs_attr_fits(const struct tfs_attr *attr, cudnnBackendAttributeType_t type);
/* Bytes of an element. */
size_t tfs_attr_size(cudnnBackendAttributeType_t type);
/* Success when everything needed is there. */
cudnnStatus_t tfs_attr_complete(const struct tfs_backend *desc);
/* Name of a descriptor type; NULL when there is no such type. */
const char *tfs_backend_name(cudnnBackendDescriptorType_t type);

struct tfs_backend *tfs_backend_create(cudnnBackendDescriptorType_t type);
struct tfs_backend *tfs_backend_ref(struct tfs_backend *desc);
void tfs_backend_unref(struct tfs_backend *desc);
/* Sets an attribute without asking whether a program may; -1 without memory. */
int tfs_backend_put(struct tfs_backend *desc, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *data);
/* Makes `to` what `from` is. */
int tfs_backend_fill(struct tfs_backend *to, const struct tfs_backend *from);

const struct tfs_value *tfs_backend_value(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name);
/* The first element as a number, or other when the attribute is not set. */
int64_t tfs_backend_int(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name, int64_t other);
double tfs_backend_real(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name, double other);
/* The first descriptor, or NULL. */
struct tfs_backend *tfs_backend_child(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name);

/* What finalize checks and computes, by type. */
cudnnStatus_t tfs_backend_check(struct tfs_backend *desc);
cudnnStatus_t tfs_tensor_check(const struct tfs_backend *desc);
cudnnStatus_t tfs_opgraph_finalize(struct tfs_backend *desc);
cudnnStatus_t tfs_engine_finalize(struct tfs_backend *desc);
cudnnStatus_t tfs_heuristics_finalize(struct tfs_backend *desc);
cudnnStatus_t tfs_config_finalize(struct tfs_backend *desc);
cudnnStatus_t tfs_plan_finalize(struct tfs_backend *desc);
cudnnStatus_t tfs_pack_check(const struct tfs_backend *desc);

/* A tensor descriptor's dimensions and strides; its rank is 0 without a descriptor. */
struct tfs_view tfs_tensor_view(const struct tfs_backend *desc);
/* The same with dimensions of 1 in front, up to rank nd. */
struct tfs_view tfs_view_widen(const struct tfs_view *view, int nd);

#endif
