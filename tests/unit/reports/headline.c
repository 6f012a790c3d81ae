/* SPDX-License-Identifier: MIT */
/* The step as written, now and possible: figures by hand, and of made-up recordings. */
#include <math.h>

#include "reports/model/headline.h"
#include "reports/support/load.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"
#include "tests/unit/scenes/scene_private.h"

#define STEPS 30u
#define BIG (UINT64_C(4) << 20)

static const struct tfs_span nothing;

static void written_is_a_mean_less_what_recording_adds(void)
{
	struct tfs_span span = tfs_headline_written(2e6, 50e3, nothing);

	TEST_EQ(span.ns, 2000000);
	TEST_EQ(span.low_ns, 1950000);
	TEST_EQ(span.high_ns, 2050000);
	/* 0.4 ms longer inside windows, between nothing and 0.75: 2 ms were 1.6, and no more
	 * than 2. */
	span = tfs_headline_written(2e6, 0, (struct tfs_span){0.4e6, 0, 0.75e6});
	TEST_EQ(span.ns, 1600000);
	TEST_EQ(span.low_ns, 1250000);
	TEST_EQ(span.high_ns, 2000000);
	/* Doubts that have nothing to do with each other: 300 and 400 make 500. */
	span = tfs_headline_written(2e6, 300e3, (struct tfs_span){0.4e6, 0, 0.8e6});
	TEST_EQ(span.low_ns, 1100000);
	TEST_EQ(span.high_ns, 2100000);
	span = tfs_headline_written(2e6, 3e6, nothing);
	TEST_EQ(span.low_ns, 0);
	span = tfs_headline_written(2e6, NAN, nothing);
	TEST_TRUE(isnan(span.low_ns) && isnan(span.high_ns));
	TEST_TRUE(isnan(tfs_headline_errors(1)));
	TEST_EQ(100 * tfs_headline_errors(2), 1271);
	TEST_EQ(100 * tfs_headline_errors(30), 213);
	TEST_EQ(100 * tfs_headline_errors(1000), 204);
}

static void states_add_up(void)
{
	const struct tfs_span written = {10e6, 9.7e6, 10.3e6};
	const struct tfs_span one = {2e6, 1.6e6, 2.4e6}, other = {3e6, 2.7e6, 3.3e6};
	const struct tfs_span both = tfs_headline_sum(one, other);
	struct tfs_model_time state = tfs_headline_state(written, nothing);

	TEST_EQ(both.ns, 5000000);
	TEST_EQ(both.low_ns, 4500000);
	TEST_EQ(both.high_ns, 5500000);
	TEST_EQ(state.ns, 10000000);
	TEST_EQ(state.low_ns, 9700000);
	TEST_EQ(state.high_ns, 10300000);
	TEST_TRUE(state.factor == 1 && state.factor_low == 1 && state.factor_high == 1);
	state = tfs_headline_state(written, one);
	TEST_EQ(state.ns, 8000000);
	TEST_EQ(state.low_ns, 7500000);
	TEST_EQ(state.high_ns, 8500000);
	TEST_EQ(1000 * state.factor, 1250);
	/* Of 10 ms, 2 less by 0.4, and a fifth of the 0.3 that the 10 are uncertain by. */
	TEST_IN(1e6 * state.factor_low, 1e6 / (1 - 0.2 + hypot(0.04, 0.006)) - 1,
		1e6 / (1 - 0.2 + hypot(0.04, 0.006)) + 1);
	TEST_IN(1e6 * state.factor_high, 1e6 / (1 - 0.2 - hypot(0.04, 0.006)) - 1,
		1e6 / (1 - 0.2 - hypot(0.04, 0.006)) + 1);
	state = tfs_headline_state(written, both);
	TEST_EQ(state.ns, 5000000);
	TEST_EQ(1000 * state.factor, 2000);
}

/* Nothing is saved that is not there, nor less than nothing. */
static void states_have_limits(void)
{
	const struct tfs_span written = {1e6, 0.9e6, 1.1e6};
	struct tfs_model_time state = tfs_headline_state(written, (struct tfs_span){0.1e6, 0, 3e6});

	TEST_EQ(state.low_ns, 0);
	TEST_TRUE(state.high_ns <= 1.1e6 && state.high_ns >= state.ns);
	TEST_TRUE(state.factor_low >= 1);
	state = tfs_headline_state(written, (struct tfs_span){-0.1e6, -0.2e6, 0.05e6});
	TEST_EQ(state.ns, 1000000);
	TEST_TRUE(state.factor == 1 && state.factor_low == 1);
	state = tfs_headline_state(
		(struct tfs_span){1e6, NAN, NAN}, (struct tfs_span){2e5, 1e5, 3e5});
	TEST_EQ(state.ns, 800000);
	TEST_TRUE(isnan(state.low_ns) && isnan(state.high_ns));
	/* Of one step there is no interval, and of what is saved of it there is. */
	TEST_EQ(1000 * state.factor, 1250);
	TEST_EQ(state.factor_low, 10.0 / 9);
	TEST_EQ(state.factor_high, 10.0 / 7);
	state = tfs_headline_state(
		(struct tfs_span){1e6, NAN, NAN}, (struct tfs_span){2e5, 0, 4e5});
	TEST_TRUE(state.factor_low == 1);
	TEST_EQ(state.factor_high, 5.0 / 3);
	tfs_headline_limit(&state, (struct tfs_span){1e6, NAN, NAN}, 0.8e6);
	TEST_TRUE(isnan(state.low_ns));
	TEST_EQ(1000 * state.factor_high, 1250);
	state = tfs_headline_state(written, (struct tfs_span){0.5e6, 0.4e6, 0.9e6});
	tfs_headline_limit(&state, written, 0.4e6);
	TEST_EQ(state.low_ns, 400000);
	TEST_EQ(1000 * state.factor_high, 2750);
	/* However much is saved of the host's time: the device has its work to do. */
	tfs_headline_limit(&state, written, 0.9e6);
	TEST_EQ(state.ns, 900000);
	TEST_EQ(state.low_ns, 900000);
	TEST_TRUE(state.high_ns >= state.ns && state.factor_low <= state.factor);
	TEST_EQ(state.factor, 10.0 / 9);
	state = tfs_headline_unknown("why");
	TEST_TRUE(isnan(state.ns) && isnan(state.factor));
	TEST_STR(state.why, "why");
}

/* Uploads pageable memory at line 10, computes, and waits at line 14. */
static void train(struct scene *scene, unsigned steps)
{
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);

	for (unsigned i = 0; i < steps; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, BIG,
			700000);
		scene_launch(scene, 11, SCENE_LEGACY, 100000, 1024, 1, &device);
		scene_device_sync(scene, 14);
		scene_host(scene, 200000);
	}
}

static void put_rewrite(struct scene *scene, enum tfs_rewrite_state state,
	enum tfs_rewrite_outcome outcome, uint64_t applied, double gain_ns)
{
	const struct tfs_rewrite_record record = {.state = (uint16_t)state,
		.name = builder_string(scene_builder(scene), "pinned-staging"),
		.applied = applied,
		.predicted_ns = NAN,
		.realised_ns = gain_ns,
		.realised_low_ns = gain_ns - 10000,
		.realised_high_ns = gain_ns + 20000,
		.outcome = (uint16_t)outcome,
		.class = 1};

	builder_record(scene_builder(scene), TFS_RECORD_rewrite, &record, sizeof(record));
}

/* Judges the scene and makes a model of it, which the caller finishes. */
static void report(struct scene *scene, struct tfs_model *out_model)
{
	const struct tfs_load_options options = {0};
	const struct tfs_judgement *judgement = scene_judge(scene, NULL);
	struct tfs_trace *trace = builder_open(scene_builder(scene));
	char *why = NULL;

	TEST_TRUE(judgement->finding_count > 0);
	TEST_NEED(trace && !tfs_load_trace(trace, "made.tfs", &options, out_model, &why));
	tfs_trace_close(trace);
}

static const struct tfs_model_finding *at_line_10(const struct tfs_model *model)
{
	for (size_t i = 0; i < model->finding_count; i++)
		if (!strcmp(model->findings[i].rule->id, "TFS101"))
			return &model->findings[i];
	return NULL;
}

/* Whatever is told, each state is in its own interval and never slower than the one before. */
static void is_sound(const struct tfs_model_headline *headline)
{
	const struct tfs_model_time *states[] = {
		&headline->as_written, &headline->now, &headline->possible};

	for (unsigned i = 0; i < 3; i++) {
		TEST_EQ(isnan(states[i]->ns) != 0, !!states[i]->why);
		if (states[i]->why)
			continue;
		TEST_TRUE(
			states[i]->low_ns <= states[i]->ns && states[i]->ns <= states[i]->high_ns);
		TEST_TRUE(!i || states[i]->ns <= states[i - 1]->ns);
		TEST_TRUE(!i || states[i]->high_ns <= states[i - 1]->high_ns);
		TEST_TRUE(states[i]->factor_low <= states[i]->factor &&
			  states[i]->factor <= states[i]->factor_high);
	}
}

/* Told of, or not at all. */
static void rewrites_off(bool told)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;

	train(scene, STEPS);
	if (told)
		put_rewrite(scene, TFS_REWRITE_OFF, TFS_REWRITE_NOT_MEASURED, 0, NAN);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_EQ(model.headline.as_written.ns, model.steps.written_ns);
	TEST_EQ(model.headline.now.ns, model.headline.as_written.ns);
	TEST_STR(model.headline.now.from, "no rewrite was applied");
	/* One replay of all, which is what fixing them saves beside no rewrite. */
	TEST_TRUE(model.joint.ns > 0);
	TEST_EQ(model.headline.open.ns, model.joint.ns);
	TEST_EQ(model.headline.possible.ns, model.headline.as_written.ns - model.joint.ns);
	TEST_EQ(model.open_cards, model.card_count);
	TEST_TRUE(model.headline.rewrites &&
		  strstr(model.headline.rewrites, "TFSHIM_REWRITE=report") &&
		  strstr(model.headline.rewrites, "a rewrite exists for 2 findings)"));
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* What is proven is gained, and is not to be gained again. */
static void rewrites_on(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;

	train(scene, STEPS);
	put_rewrite(scene, TFS_REWRITE_APPLY, TFS_REWRITE_FASTER, STEPS, 100000);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_EQ(model.headline.now.ns, model.headline.as_written.ns - 100000);
	TEST_IN(model.headline.now.low_ns, model.headline.now.ns - 20001,
		model.headline.now.ns - 20000);
	TEST_IN(model.headline.now.high_ns, model.headline.now.ns + 10000,
		model.headline.now.ns + 10001);
	TEST_STR(model.headline.now.from, "1 rewrite with a proven gain");
	TEST_STR(model.rewrites[0].proof, "A/B test");
	TEST_TRUE(at_line_10(&model)->repaired && at_line_10(&model)->cost.ns > 0);
	TEST_EQ(model.card_count - model.open_cards, 1);
	TEST_TRUE(model.cards[model.card_count - 1].repaired);
	/* The wait is still there, and worth less than both. */
	TEST_TRUE(model.headline.open.ns < model.joint.ns);
	TEST_EQ(model.headline.possible.ns, model.headline.now.ns - model.headline.open.ns);
	TEST_TRUE(!model.headline.rewrites);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* Of several call sites that a rewrite repairs, one is named. */
static void where_a_rewrite_repairs(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	struct tfs_model model;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned line = 10; line < 13; line++)
			scene_copy(scene, line, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE,
				device, BIG, 700000);
		scene_launch(scene, 13, SCENE_LEGACY, 100000, 1024, 1, &device);
	}
	put_rewrite(scene, TFS_REWRITE_APPLY, TFS_REWRITE_FASTER, 3 * STEPS, 100000);
	report(scene, &model);
	is_sound(&model.headline);
	const char *where = model.rewrites[0].where;

	TEST_NEED(where);
	TEST_TRUE(!strncmp(where, "TFS101 at ", strlen("TFS101 at ")));
	TEST_TRUE(strstr(where, " and at 2 more call sites"));
	TEST_STR(model.rewrites[0].off, "TFSHIM_REWRITE=safe,pinned-staging=off");
	TEST_TRUE(model.rewrites[0].acts && !model.rewrites[0].silent);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

static const struct tfs_model_fact *method_of(const struct tfs_model *model, const char *key)
{
	for (size_t i = 0; i < model->method_count; i++)
		if (!strcmp(model->method[i].key, key))
			return &model->method[i];
	TEST_TRUE(!"there is such a line");
	exit(1);
}

/* Switched off, not measured, refused, only looked at: nothing is gained by that. */
static void nothing_proven(enum tfs_rewrite_state state, enum tfs_rewrite_outcome outcome,
	uint64_t applied, double gain_ns, const char *from)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;

	train(scene, STEPS);
	put_rewrite(scene, state, outcome, applied, gain_ns);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_EQ(model.headline.now.ns, model.headline.as_written.ns);
	TEST_STR(model.headline.now.from, from);
	TEST_TRUE(!at_line_10(&model)->repaired);
	TEST_EQ(model.headline.open.ns, model.joint.ns);
	TEST_EQ(model.open_cards, model.card_count);
	TEST_EQ(!!model.headline.rewrites, state == TFS_REWRITE_REPORT);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* The program was killed: what was written until then is known, and nothing else. */
static void an_unfinished_recording(bool told)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;
	size_t size;

	train(scene, STEPS);
	if (told)
		put_rewrite(scene, TFS_REWRITE_APPLY, TFS_REWRITE_FASTER, STEPS, 100000);
	((struct tfs_file_header *)(void *)builder_bytes(scene_builder(scene), &size))->finished =
		0;
	report(scene, &model);
	is_sound(&model.headline);
	TEST_STR(method_of(&model, "ended")->text,
		"not closed: the program was ended from outside or by _exit");
	TEST_TRUE(method_of(&model, "ended")->limits && !method_of(&model, "windows")->limits);
	TEST_TRUE(!method_of(&model, "replay")->limits);
	TEST_TRUE(!model.headline.as_written.why);
	if (told) {
		TEST_EQ(model.headline.now.ns, model.headline.as_written.ns - 100000);
	} else {
		TEST_STR(model.headline.now.why,
			"the recording is incomplete and does not say what rewrites did");
		TEST_STR(model.headline.possible.why, model.headline.now.why);
		TEST_TRUE(strstr(model.headline.text, "not measurable"));
	}
	TEST_TRUE(!model.headline.rewrites);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

static void a_gain_beyond_the_step(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;

	train(scene, STEPS);
	put_rewrite(scene, TFS_REWRITE_APPLY, TFS_REWRITE_FASTER, STEPS, 1e9);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_STR(model.headline.now.why,
		"rewrites gained more in their tests than a recorded step takes");
	tfs_model_finish(&model);
	scene_destroy(scene);
}

static void another_tool_recorded_it(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;

	train(scene, STEPS);
	builder_fact(scene_builder(scene), TFS_FACT_imported, "another tool", 0);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_EQ(model.headline.now.ns, model.headline.as_written.ns);
	TEST_STR(model.headline.now.from, "another tool recorded the program: no rewrite was on");
	TEST_STR(method_of(&model, "ended")->text, "not known: another tool recorded the program");
	TEST_TRUE(!model.headline.rewrites);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* A model, and never a speed. */
static void on_the_simulated_device(void)
{
	struct scene *scene = scene_create(true);
	struct tfs_model model;

	train(scene, STEPS);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_TRUE(!strncmp(model.headline.text, "modelled: ", 10));
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* One of several ranks has a step time of its own. */
static void one_of_several_ranks(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;

	train(scene, STEPS);
	builder_fact(scene_builder(scene), TFS_FACT_processes, NULL, 4);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_EQ(model.processes, 4);
	TEST_EQ(model.headline.as_written.ns, model.steps.written_ns);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* Steps outside of windows take a tenth less: recording adds that, and no step of the program's is
 * as slow as a recorded one. */
static void recording_is_taken_out(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_model model;
	float outside[20];
	double step_ns;

	train(scene, STEPS);
	report(scene, &model);
	step_ns = model.steps.written_ns;
	tfs_model_finish(&model);
	scene_destroy(scene);
	scene = scene_create(false);
	for (unsigned i = 0; i < 20; i++)
		outside[i] = (float)(step_ns * 0.9);
	builder_steps(scene_builder(scene), 1000, scene_now(scene), 20, outside, 0);
	scene_host(scene, (uint64_t)(20 * step_ns));
	train(scene, STEPS);
	report(scene, &model);
	is_sound(&model.headline);
	TEST_IN(model.headline.as_written.ns, step_ns * 0.899, step_ns * 0.901);
	TEST_TRUE(
		strstr(model.headline.as_written.from, ", less 101 \xc2\xb5s that recording adds"));
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* Without steps there is no step time, and without a GPU's activity nothing is possible. */
static void what_cannot_be_known(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	const struct tfs_load_options options = {0};
	struct tfs_model model;
	char *why = NULL;

	for (unsigned i = 0; i < 3; i++)
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, BIG,
			700000);
	scene_judge(scene, NULL);
	struct tfs_trace *trace = builder_open(scene_builder(scene));

	TEST_NEED(trace && !tfs_load_trace(trace, "made.tfs", &options, &model, &why));
	is_sound(&model.headline);
	TEST_STR(model.headline.as_written.why, "no training steps were found");
	TEST_STR(model.headline.possible.why, "no training steps were found");
	TEST_TRUE(!model.headline.text);
	tfs_model_finish(&model);
	tfs_trace_close(trace);
	scene_destroy(scene);
}

/* An allocation that is made while the device computes costs nothing as long as the release waits
 * for it, and does once that is gone: together they save more than each. */
static void findings_of_no_cost_count(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	double most = 0, least = 1e9;
	struct tfs_model model;

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_step(scene);
		scene_launch(scene, 20, SCENE_LEGACY, 400000, 1024, 1, &device);
		scene_host(scene, 50000);
		call = scene_call(scene, 21, 0, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "cudaMalloc");
		call.amount = BIG;
		call.stream = TFS_NO_STREAM;
		builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), 0x7f5500000000, BIG);
		scene_put_call(scene, &call, scene_now(scene) + 250000);
		scene_free(scene, 22, 0x7f5500000000);
		scene_host(scene, 300000);
	}
	report(scene, &model);
	is_sound(&model.headline);
	for (size_t i = 0; i < model.finding_count; i++) {
		most = fmax(most, model.findings[i].cost.ns);
		least = fmin(least, model.findings[i].cost.ns);
	}
	TEST_TRUE(least < 1);
	TEST_TRUE(model.joint.ns > most + 100000);
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* What is listed first may not be fixable; what shares its cost is. */
static void a_cause_behind_a_possible_one(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	struct tfs_model model;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 20; j++) {
			scene_launch(scene, 20, SCENE_LEGACY, 4000000, 1024, 1, &device);
			scene_copy(scene, 21, SCENE_LEGACY, false, false, TFS_MEMORY_PINNED, device,
				4, 2000);
		}
	}
	report(scene, &model);
	is_sound(&model.headline);
	TEST_NEED(model.finding_count > 1);
	TEST_STR(model.findings[0].rule->id, "TFS104");
	TEST_EQ(model.findings[0].group, model.findings[1].group);
	TEST_EQ(model.headline.causes, 1);
	TEST_TRUE(model.headline.open.ns > 0);
	TEST_STR(model.headline.possible.from, "the fix of 1 cause, replayed together");
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* All that is found may not be fixable, and has a cost all the same. */
static void nothing_certain(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	struct tfs_model model;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 20; j++) {
			scene_launch(scene, 20, SCENE_LEGACY, 40000, 1024, 1, &device);
			scene_copy(scene, 21, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, device,
				4, 2000);
		}
		scene_host(scene, 20000);
	}
	report(scene, &model);
	is_sound(&model.headline);
	TEST_EQ(model.finding_count, 1);
	TEST_TRUE(model.findings[0].cost.ns > 0);
	TEST_EQ(model.headline.causes, 0);
	TEST_STR(model.headline.possible.from, "what is found may not be fixable");
	tfs_model_finish(&model);
	scene_destroy(scene);
}

/* The headline says what the lines under it do: a step that has no interval. */
static void one_step(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BIG);
	struct tfs_model model;

	for (unsigned i = 0; i < 1; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, BIG,
			700000);
		scene_launch(scene, 11, SCENE_LEGACY, 100000, 1024, 1, &device);
		scene_host(scene, 200000);
	}
	report(scene, &model);
	TEST_EQ(model.steps.judged, 1);
	TEST_TRUE(isnan(model.headline.possible.low_ns));
	TEST_TRUE(model.headline.possible.factor_low <= model.headline.possible.factor);
	TEST_TRUE(strstr(model.headline.text, "\303\227; no interval: one step) per step"));
	TEST_TRUE(!strstr(model.headline.text, "95 %"));
	tfs_model_finish(&model);
	scene_destroy(scene);
}

int main(void)
{
	one_step();
	a_cause_behind_a_possible_one();
	nothing_certain();
	written_is_a_mean_less_what_recording_adds();
	states_add_up();
	states_have_limits();
	rewrites_off(false);
	rewrites_off(true);
	rewrites_on();
	where_a_rewrite_repairs();
	nothing_proven(TFS_REWRITE_LOST, TFS_REWRITE_SLOWER, STEPS, -50000,
		"no rewrite that was tried is on");
	nothing_proven(TFS_REWRITE_OFF, TFS_REWRITE_UNDECIDED, STEPS, 50000,
		"no rewrite that was tried is on");
	nothing_proven(TFS_REWRITE_APPLY, TFS_REWRITE_NOT_MEASURED, STEPS, NAN,
		"1 rewrite was applied, with a gain that is not proven");
	nothing_proven(
		TFS_REWRITE_APPLY, TFS_REWRITE_NOT_MEASURED, 0, NAN, "no rewrite was applied");
	nothing_proven(
		TFS_REWRITE_REPORT, TFS_REWRITE_NOT_MEASURED, 0, NAN, "no rewrite was applied");
	nothing_proven(TFS_REWRITE_OFF, TFS_REWRITE_FASTER, STEPS, 50000,
		"no rewrite that was tried is on");
	nothing_proven(TFS_REWRITE_APPLY, TFS_REWRITE_NO_DIFFERENCE, STEPS, 50000,
		"1 rewrite was applied, with a gain that is not proven");
	an_unfinished_recording(false);
	an_unfinished_recording(true);
	a_gain_beyond_the_step();
	another_tool_recorded_it();
	on_the_simulated_device();
	one_of_several_ranks();
	recording_is_taken_out();
	what_cannot_be_known();
	findings_of_no_cost_count();
	return test_result();
}
