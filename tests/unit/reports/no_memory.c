/* SPDX-License-Identifier: MIT */
/* A report while the n-th allocation fails, for every n: an error, never a crash or half a report.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reports/formats/format.h"
#include "reports/support/load.h"
#include "reports/support/options.h"
#include "rules/support/arena.h"
#include "tests/test.h"
#include "tests/unit/scenes/failing.h"
#include "tests/unit/scenes/scene.h"

/* An arena has memory for many at once: each of them fails too. */
void *__real_tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size);
void *__real_tfs_arena_grow(struct tfs_arena *arena, void *array, size_t count, size_t size);
void *__wrap_tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size);
void *__wrap_tfs_arena_grow(struct tfs_arena *arena, void *array, size_t count, size_t size);

void *__wrap_tfs_arena_alloc(struct tfs_arena *arena, size_t count, size_t size)
{
	if (!fails())
		return __real_tfs_arena_alloc(arena, count, size);
	arena->failed = true;
	return NULL;
}

void *__wrap_tfs_arena_grow(struct tfs_arena *arena, void *array, size_t count, size_t size)
{
	if (!fails())
		return __real_tfs_arena_grow(arena, array, count, size);
	arena->failed = true;
	return NULL;
}

#define STEPS 24u
#define BYTES (UINT64_C(1) << 20)

/* Copies that block, kernels, memory that comes and goes, and a host that does something else. */
static struct tfs_trace *record(struct scene *scene)
{
	const uint64_t device = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t fresh = UINT64_C(0x7e0000000000);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PAGEABLE, device, BYTES,
			200000);
		scene_malloc(scene, 11, fresh, BYTES);
		scene_launch(scene, 12, SCENE_LEGACY, 100000, 1024, 1, &device);
		scene_free(scene, 13, fresh);
		scene_host(scene, 300000);
	}
	scene_judge(scene, NULL);
	return builder_open(scene_builder(scene));
}

static int load(struct tfs_trace *trace, struct tfs_model *out_model)
{
	const struct tfs_load_options options = {.charts = true};
	char *why = NULL;
	const int err = tfs_load_trace(trace, "made.tfs", &options, out_model, &why);

	TEST_TRUE(!err || (why && strstr(why, strerror(ENOMEM))));
	free(why);
	return err;
}

/* How often it failed before all allocations worked. */
static unsigned load_each(struct tfs_trace *trace)
{
	struct tfs_model model;
	unsigned failed = 0;
	bool all_worked = false;

	for (long n = 0; !all_worked; n++) {
		left = n;
		const int err = load(trace, &model);

		all_worked = left >= 0;
		left = -1;
		TEST_TRUE(!err || err == -ENOMEM);
		failed += err != 0;
		if (!err)
			tfs_model_finish(&model);
	}
	return failed;
}

/* The text of a format; NULL without memory. */
static char *written(const struct tfs_format *format, const struct tfs_model *model)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const int err = format->write(model, out, &tfs_paint_plain);

	fclose(out);
	TEST_TRUE(!err || err == -ENOMEM);
	if (!err)
		return text;
	free(text);
	return NULL;
}

static unsigned write_each(const struct tfs_format *format, const struct tfs_model *model)
{
	char *const whole = written(format, model);
	unsigned failed = 0;
	bool all_worked = false;

	for (long n = 0; !all_worked; n++) {
		left = n;
		char *const text = written(format, model);

		all_worked = left >= 0;
		left = -1;
		failed += !text;
		TEST_TRUE(!text || !strcmp(text, whole));
		free(text);
	}
	free(whole);
	return failed;
}

int main(void)
{
	struct scene *scene = scene_create(false);
	struct tfs_trace *trace = record(scene);
	struct tfs_model model;
	unsigned failed = 0;

	TEST_NEED(trace);
	failed = load_each(trace);
	TEST_TRUE(failed > 100);
	printf("%u loads failed\n", failed);
	TEST_NEED(load(trace, &model) == 0);
	failed = 0;
	for (size_t i = 0; tfs_formats[i]; i++)
		failed += write_each(tfs_formats[i], &model);
	TEST_TRUE(failed > 5);
	printf("%u formats failed\n", failed);
	TEST_EQ(tfs_load_status(-ENOMEM), TFS_EXIT_MISUSE);
	TEST_EQ(tfs_load_status(-ENOENT), TFS_EXIT_NO_DATA);
	tfs_model_finish(&model);
	tfs_trace_close(trace);
	scene_destroy(scene);
	return test_result();
}
