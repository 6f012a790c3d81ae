/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/json.h"

static void write_state(struct tfs_json *json, const char *key, const struct tfs_model *model,
	const struct tfs_model_time *state)
{
	tfs_json_open(json, key, '{');
	tfs_json_number(json, "ns_per_step", state->ns);
	tfs_json_number(json, "low", state->low_ns);
	tfs_json_number(json, "high", state->high_ns);
	tfs_json_number(json, "factor", state->factor);
	tfs_json_number(json, "factor_low", state->factor_low);
	tfs_json_number(json, "factor_high", state->factor_high);
	tfs_json_bool(json, "modelled", model->simulated);
	tfs_json_string(json, "from", state->from);
	tfs_json_string(json, "not_measurable", state->why);
	tfs_json_close(json, '}');
}

void tfs_json_headline(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_string(json, "headline", model->headline.text);
	write_state(json, "as_written", model, &model->headline.as_written);
	write_state(json, "now", model, &model->headline.now);
	write_state(json, "possible", model, &model->headline.possible);
	tfs_json_string(json, "rewrites_off", model->headline.rewrites);
}

static void write_steps(struct tfs_json *json, const struct tfs_model_steps *steps)
{
	tfs_json_open(json, "steps", '{');
	tfs_json_unsigned(json, "count", steps->count);
	tfs_json_unsigned(json, "warmup", steps->warmup);
	tfs_json_unsigned(json, "judged", steps->judged);
	tfs_json_number(json, "median_ns", steps->median_ns);
	tfs_json_number(json, "p95_ns", steps->p95_ns);
	tfs_json_number(json, "judged_median_ns", steps->judged_ns);
	tfs_json_number(json, "written_ns", steps->written_ns);
	tfs_json_string(json, "source", steps->source);
	tfs_json_number(json, "replay_error", steps->replay_error);
	tfs_json_string(json, "unpriced", steps->unpriced);
	tfs_json_number(json, "host_load", steps->host_load);
	tfs_json_bool(json, "ahead", steps->ahead);
	tfs_json_number(json, "gpu_busy", steps->gpu_busy);
	tfs_json_number(json, "copy_overlap", steps->copy_overlap);
	tfs_json_close(json, '}');
}

static void write_idle(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_open(json, "idle", '{');
	tfs_json_number(json, "ns_per_step", model->idle_ns);
	tfs_json_number(json, "explained", model->idle_ns > 0 ? model->idle_explained : NAN);
	tfs_json_open(json, "rest", '[');
	for (size_t i = 0; i < model->idle_count; i++) {
		const struct tfs_model_idle *item = &model->idles[i];

		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "kind", item->key);
		tfs_json_string(json, "function", item->function);
		tfs_json_string(json, "where", item->where);
		tfs_json_string(json, "samples", item->samples);
		tfs_json_number(json, "ns_per_step", item->ns);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
	tfs_json_close(json, '}');
}

static void write_layers(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_open(json, "layers", '[');
	for (size_t i = 0; i < model->layer_count; i++) {
		const struct tfs_model_layer *layer = &model->layers[i];

		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "name", layer->name);
		tfs_json_string(json, "domain", layer->domain);
		tfs_json_unsigned(json, "depth", layer->depth);
		tfs_json_number(json, "count", layer->count);
		tfs_json_number(json, "calls", layer->calls);
		tfs_json_number(json, "host_ns", layer->host_ns);
		tfs_json_number(json, "gpu_ns", layer->device_ns);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

void tfs_json_times(struct tfs_json *json, const struct tfs_model *model)
{
	write_steps(json, &model->steps);
	write_idle(json, model);
	write_layers(json, model);
}
