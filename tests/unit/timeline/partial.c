/* SPDX-License-Identifier: MIT */
/* Where records were lost, steps without all of their calls or of the device's work are not judged.
 */
#include "rules/timeline/timeline.h"

#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define STEPS 30u
#define CALLS 10u
#define STEP_NS 1000000u
#define FIRST_NS 10000000u

static struct builder *builder;
static struct tfs_trace *trace;
static struct tfs_timeline *timeline;

/* Each step launches; its first `calls_of` steps have their calls, the first `work_of` their
 * kernels, and every call of the first `free_of` that is one in five puts nothing on the device. */
struct scene {
	unsigned calls_of, work_of, idle_calls;
	enum tfs_loss loss;
	bool unfinished;
};

static void put_step(const struct scene *scene, unsigned step, uint16_t function, uint32_t kernel)
{
	for (unsigned i = 0; i < CALLS && step < scene->calls_of; i++) {
		const uint64_t ns = FIRST_NS + step * (uint64_t)STEP_NS + 10000 + i * 50000u;
		const struct builder_call call = {.function = function,
			.stream = TFS_NO_STREAM,
			.start_ns = ns,
			.duration_ns = 5000};
		const uint32_t unit = builder_call(builder, &call);
		const uint32_t correlation = step * CALLS + i + 1;

		if (step >= scene->work_of || i < scene->idle_calls)
			continue;
		builder_link(builder, unit, correlation);
		builder_device_op(builder, TFS_DEVICE_KERNEL, kernel, 7, correlation, ns + 6000,
			ns + 26000, 0);
	}
}

static void open_scene(const struct scene *scene)
{
	const struct tfs_thread_record thread = {.index = 0, .tid = 77, .name = "main"};
	const struct tfs_clock_record clock = {.ticks = 2000, .monotonic_ns = 2000};
	struct tfs_file_header *header;
	size_t bytes;

	builder = builder_create();
	builder_record(builder, TFS_RECORD_thread, &thread, sizeof(thread));
	builder_record(builder, TFS_RECORD_clock, &clock, sizeof(clock));
	builder_device(builder, 0, "Sample device", false);
	const uint16_t launch = builder_function(
		builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel");
	const uint32_t kernel = builder_kernel(builder, "scale");

	builder_window(builder, true, 1, FIRST_NS - 1000, 3);
	for (unsigned step = 0; step < STEPS; step++) {
		builder_step(builder, step + 5, FIRST_NS + step * (uint64_t)STEP_NS,
			TFS_PHASE_TRAINING, 0);
		put_step(scene, step, launch, kernel);
	}
	builder_step(
		builder, STEPS + 5, FIRST_NS + STEPS * (uint64_t)STEP_NS, TFS_PHASE_TRAINING, 0);
	builder_window(builder, false, 1, FIRST_NS + STEPS * (uint64_t)STEP_NS + 10, 0);
	header = (struct tfs_file_header *)(void *)builder_bytes(builder, &bytes);
	header->lost[scene->loss] = scene->unfinished ? 0 : 7;
	header->finished = !scene->unfinished;
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_NEED(tfs_timeline_create(trace, &timeline) == 0);
}

static void close_scene(void)
{
	tfs_timeline_destroy(timeline);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void check(const struct scene *scene, uint32_t judged, bool work_lost)
{
	open_scene(scene);
	TEST_EQ(timeline->step_count, STEPS);
	TEST_EQ(timeline->judged_count, judged);
	TEST_EQ(timeline->partial_steps, STEPS - judged);
	TEST_EQ(timeline->inside.count, judged);
	TEST_EQ(timeline->work_lost, work_lost);
	if (work_lost) {
		TEST_EQ(timeline->op_count, 0);
		TEST_EQ(timeline->calls[0].op_count, 0);
		TEST_EQ(timeline->evidence & TFS_NEEDS_DEVICE, 0);
	}
	close_scene();
}

int main(void)
{
	/* what is missing without a loss is no loss */
	check(&(struct scene){STEPS, 10, 0, TFS_LOSS_strings_cut, false}, STEPS, false);
	check(&(struct scene){10, 10, 0, TFS_LOSS_lines_dropped, false}, STEPS, false);
	/* whole steps stand for the others */
	check(&(struct scene){STEPS, 10, 0, TFS_LOSS_records_dropped, false}, 10, false);
	check(&(struct scene){STEPS, 3, 0, TFS_LOSS_records_dropped, false}, 3, false);
	check(&(struct scene){STEPS, 10, 0, TFS_LOSS_cupti_dropped, false}, 10, false);
	check(&(struct scene){STEPS, 29, 0, TFS_LOSS_strings_cut, true}, 29, false);
	/* too few of them do not */
	check(&(struct scene){STEPS, 2, 0, TFS_LOSS_records_dropped, false}, STEPS, true);
	check(&(struct scene){3, 2, 0, TFS_LOSS_records_dropped, false}, 2, false);
	/* steps without calls are none */
	check(&(struct scene){12, 12, 0, TFS_LOSS_records_dropped, false}, 12, false);
	check(&(struct scene){12, 1, 0, TFS_LOSS_records_dropped, false}, 12, true);
	check(&(struct scene){0, 0, 0, TFS_LOSS_records_dropped, false}, 0, false);
	/* a call in ten that gives the device nothing to do is no loss, half of them are */
	check(&(struct scene){STEPS, STEPS, 1, TFS_LOSS_records_dropped, false}, STEPS, false);
	check(&(struct scene){STEPS, STEPS, 5, TFS_LOSS_records_dropped, false}, STEPS, true);
	return test_result();
}
