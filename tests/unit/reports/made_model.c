/* SPDX-License-Identifier: MIT */
#include "tests/unit/reports/made_model.h"

#include <string.h>

#include "reports/build/places.h"
#include "tests/test.h"

void made_model_open(struct made_model *made, struct builder *builder)
{
	memset(made, 0, sizeof(*made));
	made->builder = builder;
	made->trace = builder_open(builder);
	TEST_NEED(made->trace);
	TEST_NEED(!tfs_timeline_create(made->trace, &made->timeline));
	strcpy(made->judgement.verdict, "no steps were found");
	made->build = (struct tfs_build){.trace = made->trace,
		.timeline = made->timeline,
		.judgement = &made->judgement,
		.places = tfs_places_create(made->trace, &made->model.arena),
		.model = &made->model};
	TEST_NEED(made->build.places);
}

void made_model_close(struct made_model *made)
{
	tfs_places_destroy(made->build.places);
	tfs_arena_finish(&made->model.arena);
	tfs_timeline_destroy(made->timeline);
	tfs_trace_close(made->trace);
	builder_destroy(made->builder);
}
