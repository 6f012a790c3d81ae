/* SPDX-License-Identifier: MIT */
/*
 * The recording of one of two ranks that measured rewrites:
 *	job FILE RANK SECONDS REWRITE GAIN SPREAD ...
 * SECONDS: when it began. A rewrite gains so much per step, in its last pair SPREAD less; in
 * nanoseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/rewrites/measure/ranked.h"
#include "tests/unit/scenes/builder.h"

#define FIRST 20u
#define STEPS 160u /* of a question: eight pairs */
#define LAST_PAIR 7u
#define STEP_NS 1000000

static float step_ns(const struct tfs_ranked *plan, uint64_t index, char **rewrites)
{
	struct tfs_ranked_place place;

	if (!tfs_ranked_at(plan, index, &place) || !place.on)
		return STEP_NS;
	const int gain = atoi(rewrites[3 * place.question + 1]);
	const int spread = atoi(rewrites[3 * place.question + 2]);
	return (float)(STEP_NS - gain + (place.pair == LAST_PAIR ? spread : 0));
}

static void put_rewrite(struct builder *builder, const char *name)
{
	const struct tfs_rewrite_record record = {
		.state = TFS_REWRITE_APPLY,
		.name = builder_string(builder, name),
		.applied = 100,
		.class = 1,
	};

	builder_record(builder, TFS_RECORD_rewrite, &record, sizeof(record));
}

static void put_steps(struct builder *builder, const struct tfs_ranked *plan, char **rewrites)
{
	struct {
		struct tfs_steps_record head;
		float ticks[FIRST + (TFS_VERDICTS_MOST)*STEPS];
	} steps = {.head = {.first_index = 1, .first_start_ticks = 2000}};
	const uint32_t count = FIRST + (uint32_t)tfs_ranked_steps(plan);

	for (uint32_t i = 0; i < count; i++)
		steps.ticks[i] = step_ns(plan, i + 1, rewrites);
	steps.head.count = (uint16_t)count;
	builder_record(
		builder, TFS_RECORD_steps, &steps, sizeof(steps.head) + count * sizeof(float));
}

int main(int count, char **words)
{
	struct tfs_ranked plan = {.first = FIRST, .steps = STEPS, .period = 1};
	struct builder *builder = builder_create();
	char text[512];
	size_t bytes;

	if (count < 7 || (count - 4) % 3 != 0)
		return 2;
	for (int i = 4; i < count; i += 3)
		tfs_ranked_add(&plan, words[i]);
	tfs_ranked_write(&plan, text, sizeof(text));
	builder_fact(builder, TFS_FACT_ranks_plan, text, 2);
	for (int i = 4; i < count; i += 3)
		put_rewrite(builder, words[i]);
	put_steps(builder, &plan, &words[4]);
	struct tfs_file_header *header = (void *)builder_bytes(builder, &bytes);
	header->rank = (uint32_t)atoi(words[2]);
	header->start_realtime_ns += strtoull(words[3], NULL, 10) * UINT64_C(1000000000);
	const int err = builder_save(builder, words[1]);
	builder_destroy(builder);
	return err != 0;
}
