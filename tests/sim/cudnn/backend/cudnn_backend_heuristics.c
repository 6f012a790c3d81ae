/* SPDX-License-Identifier: MIT */
/* What heuristics propose: mode A every engine, B also another tile, FALLBACK the plain one. */
#include "tests/sim/cudnn/backend/cudnn_opgraph.h"

#define MAX_RESULTS 8

static struct tfs_backend *make_engine(struct tfs_backend *graph, int64_t index)
{
	struct tfs_backend *engine = tfs_backend_create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);

	if (!engine)
		return NULL;
	if (tfs_backend_put(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph) ||
		tfs_backend_put(
			engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index) ||
		tfs_engine_finalize(engine)) {
		tfs_backend_unref(engine);
		return NULL;
	}
	engine->finalized = true;
	return engine;
}

static struct tfs_backend *make_choice(int64_t tile)
{
	struct tfs_backend *choice = tfs_backend_create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	const int32_t type = CUDNN_KNOB_TYPE_TILE_SIZE;

	if (!choice)
		return NULL;
	if (tfs_backend_put(
		    choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type) ||
		tfs_backend_put(
			choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &tile)) {
		tfs_backend_unref(choice);
		return NULL;
	}
	choice->finalized = true;
	return choice;
}

static struct tfs_backend *make_config(struct tfs_backend *graph, int64_t index, int64_t tile)
{
	struct tfs_backend *config = tfs_backend_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	struct tfs_backend *engine = make_engine(graph, index);
	struct tfs_backend *choice = make_choice(tile);
	bool made = config && engine && choice &&
		    !tfs_backend_put(config, CUDNN_ATTR_ENGINECFG_ENGINE,
			    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine) &&
		    !tfs_backend_put(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
			    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &choice) &&
		    !tfs_config_finalize(config);

	tfs_backend_unref(engine);
	tfs_backend_unref(choice);
	if (!made) {
		tfs_backend_unref(config);
		return NULL;
	}
	config->finalized = true;
	return config;
}

cudnnStatus_t tfs_heuristics_finalize(struct tfs_backend *desc)
{
	struct tfs_backend *graph = tfs_backend_child(desc, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
	int64_t mode = tfs_backend_int(desc, CUDNN_ATTR_ENGINEHEUR_MODE, 0);
	struct tfs_backend *results[MAX_RESULTS];
	int engines, n = 0;
	bool failed = false;

	if (graph->type != CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "operation graph");
	if (mode < 0 || mode >= CUDNN_HEUR_MODES_COUNT)
		return tfs_dnn_fail(CUDNN_STATUS_BAD_PARAM, "mode of heuristics");
	/* The last of those that do not round. */
	const struct tfs_engine *list = tfs_engines(graph->graph, &engines);
	const int plain = engines > 1 && list[engines - 1].tf32 ? engines - 2 : engines - 1;
	const bool fallback = mode == CUDNN_HEUR_MODE_FALLBACK;

	for (int tile = 0; tile <= (mode == CUDNN_HEUR_MODE_B); tile++)
		for (int i = fallback ? plain : 0; i < (fallback ? plain + 1 : engines); i++) {
			results[n] = make_config(graph, i, tile);
			failed |= !results[n++];
		}
	if (!failed)
		failed = tfs_backend_put(desc, CUDNN_ATTR_ENGINEHEUR_RESULTS,
			CUDNN_TYPE_BACKEND_DESCRIPTOR, n, results);
	for (int i = 0; i < n; i++)
		tfs_backend_unref(results[i]);
	return failed ? CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED : CUDNN_STATUS_SUCCESS;
}
