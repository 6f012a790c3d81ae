/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cudnn/backend/cudnn_backend.h"
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

struct tfs_backend *tfs_backend_create(cudnnBackendDescriptorType_t type)
{
	struct tfs_backend *desc = calloc(1, sizeof(*desc));

	if (!desc)
		return NULL;
	atomic_init(&desc->refs, 1);
	desc->type = type;
	return desc;
}

struct tfs_backend *tfs_backend_ref(struct tfs_backend *desc)
{
	atomic_fetch_add(&desc->refs, 1);
	return desc;
}

static void value_free(struct tfs_value *value)
{
	if (value->type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		for (int64_t i = 0; i < value->count; i++)
			tfs_backend_unref(((struct tfs_backend **)value->data)[i]);
	free(value->data);
	free(value);
}

static void clear(struct tfs_backend *desc)
{
	while (desc->values) {
		struct tfs_value *value = desc->values;

		desc->values = value->next;
		value_free(value);
	}
	tfs_opgraph_unref(desc->graph);
	desc->graph = NULL;
}

void tfs_backend_unref(struct tfs_backend *desc)
{
	if (!desc || atomic_fetch_sub(&desc->refs, 1) != 1)
		return;
	clear(desc);
	free(desc);
}

int tfs_backend_put(struct tfs_backend *desc, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *data)
{
	size_t bytes = (size_t)count * tfs_attr_size(type);
	struct tfs_value *value = calloc(1, sizeof(*value)), **at;

	if (!value)
		return -1;
	value->data = malloc(bytes ? bytes : 1);
	if (!value->data) {
		free(value);
		return -1;
	}
	if (bytes)
		memcpy(value->data, data, bytes);
	value->name = name;
	value->type = type;
	value->count = count;
	if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		for (int64_t i = 0; i < count; i++)
			tfs_backend_ref(((struct tfs_backend **)value->data)[i]);
	for (at = &desc->values; *at; at = &(*at)->next)
		if ((*at)->name == name)
			break;
	if (*at) {
		value->next = (*at)->next;
		value_free(*at);
	}
	*at = value;
	return 0;
}

int tfs_backend_fill(struct tfs_backend *to, const struct tfs_backend *from)
{
	clear(to);
	for (const struct tfs_value *v = from->values; v; v = v->next)
		if (tfs_backend_put(to, v->name, v->type, v->count, v->data))
			return -1;
	to->graph = tfs_opgraph_ref(from->graph);
	to->finalized = from->finalized;
	return 0;
}

const struct tfs_value *tfs_backend_value(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name)
{
	const struct tfs_value *v = desc->values;

	while (v && v->name != name)
		v = v->next;
	return v;
}

int64_t tfs_backend_int(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name, int64_t other)
{
	const struct tfs_value *v = tfs_backend_value(desc, name);

	if (!v || !v->count)
		return other;
	if (v->type == CUDNN_TYPE_INT64)
		return *(const int64_t *)v->data;
	return tfs_attr_size(v->type) == 1 ? *(const uint8_t *)v->data : *(const int32_t *)v->data;
}

double tfs_backend_real(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name, double other)
{
	const struct tfs_value *v = tfs_backend_value(desc, name);

	if (!v || !v->count)
		return other;
	return v->type == CUDNN_TYPE_DOUBLE ? *(const double *)v->data
					    : (double)*(const float *)v->data;
}

struct tfs_backend *tfs_backend_child(
	const struct tfs_backend *desc, cudnnBackendAttributeName_t name)
{
	const struct tfs_value *v = tfs_backend_value(desc, name);

	if (!v || v->type != CUDNN_TYPE_BACKEND_DESCRIPTOR || !v->count)
		return NULL;
	return *(struct tfs_backend **)v->data;
}
