/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "reports/build/build.h"

#define MOST_DEPTH 12u

void tfs_build_layers(struct tfs_build *build)
{
	const struct tfs_layers *layers = &build->judgement->layers;
	struct tfs_model *model = build->model;
	struct tfs_model_layer *out = tfs_arena_alloc(&model->arena, layers->count, sizeof(*out));
	uint32_t outermost = UINT32_MAX;

	if (!out)
		return;
	for (size_t i = 0; i < layers->count; i++)
		if (layers->items[i].level < outermost)
			outermost = layers->items[i].level;
	for (size_t i = 0; i < layers->count; i++) {
		const struct tfs_layer *layer = &layers->items[i];

		out[i] = (struct tfs_model_layer){
			.name = tfs_arena_string(&model->arena, layer->name),
			.domain = tfs_arena_string(&model->arena, layer->domain),
			.depth = layer->level - outermost < MOST_DEPTH ? layer->level - outermost
								       : MOST_DEPTH,
			.count = layer->count,
			.calls = layer->calls,
			.host_ns = layer->host_ns,
			.device_ns = layer->device_ns,
		};
	}
	model->layers = out;
	model->layer_count = layers->count;
	model->layers_more = layers->more;
}
