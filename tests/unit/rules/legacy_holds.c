/* SPDX-License-Identifier: MIT */
/* How long a call of the legacy stream and other streams' work hold each other up, and what of that
 * is not the legacy stream's doing. */
#include <math.h>

#include "rules/device/legacy.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(1) << 20)
#define US UINT64_C(1000)
#define WORK (100 * US)
#define COPY (80 * US)
#define EVENT 0x51u
#define LATER 0x52u

/* As in tfs_stream_record; what has neither is ordered with the legacy stream. */
enum { BLOCKING = 0, NON_BLOCKING = 4 };

struct program {
	struct scene *scene;
	uint64_t memory, target, more;
	unsigned other, third; /* blocking streams */
	unsigned free;         /* one that is not */
	unsigned away;         /* of another device */
};

static void multiply(
	const struct program *p, unsigned line, unsigned stream, uint64_t memory, uint64_t ns)
{
	struct builder_call call = scene_call(
		p->scene, line, stream, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");

	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_WRITE, memory, BYTES);
	scene_make(p->scene, &call, ns);
}

static void copy(const struct program *p, unsigned line, unsigned stream, bool up, uint64_t memory)
{
	scene_copy(p->scene, line, stream, true, up, TFS_MEMORY_PINNED, memory, BYTES, COPY);
}

static void launch(
	const struct program *p, unsigned line, unsigned stream, unsigned blocks, uint64_t memory)
{
	scene_launch(p->scene, line, stream, WORK, blocks * UINT64_C(256), memory != 0, &memory);
}

static void wait_for(const struct program *p, unsigned stream, uint64_t event)
{
	struct builder_call call = scene_call(p->scene, 15, stream, TFS_LIBRARY_cudart,
		TFS_FAMILY_stream_wait, "cudaStreamWaitEvent");

	builder_attribute(&call, TFS_ATTRIBUTE_event, event);
	scene_make(p->scene, &call, 0);
}

static void upload(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->memory, WORK);
}

static void download(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, false, p->target);
	multiply(p, 12, p->other, p->memory, WORK);
}

static void copies_one_way(const struct program *p)
{
	copy(p, 10, p->other, true, p->memory);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	copy(p, 12, p->other, true, p->memory);
}

static void small_kernels(const struct program *p)
{
	launch(p, 10, p->other, 50, p->memory);
	launch(p, 11, SCENE_LEGACY, 50, p->target);
	launch(p, 12, p->other, 50, p->memory);
}

static void one_small_kernel(const struct program *p)
{
	launch(p, 10, p->other, 50, p->memory);
	launch(p, 11, SCENE_LEGACY, 51, p->target);
	launch(p, 12, p->other, 50, p->memory);
}

static void other_small_kernels(const struct program *p)
{
	launch(p, 10, p->other, 51, p->memory);
	launch(p, 11, SCENE_LEGACY, 50, p->target);
	launch(p, 12, p->other, 51, p->memory);
}

static void kernel_of_the_program(const struct program *p)
{
	launch(p, 10, p->other, 1000, p->memory);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->target, WORK);
}

static void kernel_on_the_legacy_stream(const struct program *p)
{
	copy(p, 10, p->other, true, p->memory);
	launch(p, 11, SCENE_LEGACY, 1000, p->target);
	copy(p, 12, p->other, true, p->target);
}

static void hidden_kernel(const struct program *p)
{
	launch(p, 10, p->other, 1000, 0);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->target, WORK);
}

static void needed_before(const struct program *p)
{
	multiply(p, 10, p->other, p->target, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->memory, WORK);
}

static void needed_behind(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->target, WORK);
}

static void needed_both_ways(const struct program *p)
{
	multiply(p, 10, p->other, p->target, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->target, WORK);
}

/* Only what the legacy stream holds is in the way of its work. */
static void needed_by_another(const struct program *p)
{
	multiply(p, 10, p->free, p->target, US);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->free, p->target, US);
}

/* Events keep the order, too: of this event, recorded there, waited for here. */
static void events(const struct program *p, unsigned recorded, unsigned waits, uint64_t event)
{
	multiply(p, 10, p->other, p->memory, WORK);
	scene_event_record(p->scene, 14, p->third, LATER);
	scene_event_record(p->scene, 14, recorded, EVENT);
	wait_for(p, waits, event);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->memory, WORK);
}

static void event_before(const struct program *p)
{
	events(p, p->other, SCENE_LEGACY, EVENT);
}

static void event_of_another(const struct program *p)
{
	events(p, p->third, SCENE_LEGACY, EVENT);
}

static void event_for_another(const struct program *p)
{
	events(p, p->other, p->third, EVENT);
}

static void another_event(const struct program *p)
{
	events(p, p->other, SCENE_LEGACY, LATER);
}

static void event_behind(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	scene_event_record(p->scene, 14, SCENE_LEGACY, EVENT);
	wait_for(p, p->other, EVENT);
	multiply(p, 12, p->other, p->memory, WORK);
}

/* It is given when most of the other's work is done. */
static void given_late(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	scene_host(p->scene, 60 * US);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 12, p->other, p->memory, WORK);
}

/* What waits is given when the copy is done. */
static void given_behind(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	scene_stream_sync(p->scene, 16, SCENE_LEGACY);
	multiply(p, 12, p->other, p->memory, WORK);
}

/* Its own stream's work would have kept it from starting sooner. */
static void own_work_before(const struct program *p)
{
	multiply(p, 9, p->other, p->memory, WORK);
	multiply(p, 8, SCENE_LEGACY, p->more, WORK);
	upload(p);
}

/* The other's work waits for more of the legacy stream's, which it needs, or not. */
static void more_behind(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 13, SCENE_LEGACY, p->more, WORK);
	multiply(p, 12, p->other, p->memory, WORK);
}

static void more_needed_behind(const struct program *p)
{
	multiply(p, 10, p->other, p->memory, WORK);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	multiply(p, 13, SCENE_LEGACY, p->memory, WORK);
	multiply(p, 12, p->other, p->memory, WORK);
}

/* Device work whose call was not recorded: what it is for is not known. */
static void unknown_work(const struct program *p, unsigned stream, uint64_t start_ns, uint64_t ns)
{
	static uint32_t nth;

	builder_device_op(scene_builder(p->scene), TFS_DEVICE_MEMCPY, 8, 7 + stream,
		1000000 + nth++, start_ns, start_ns + ns, BYTES);
}

/* When the copy of the legacy stream begins in upload(). */
static uint64_t copy_starts(const struct program *p)
{
	return scene_now(p->scene) + 5 * US + WORK;
}

static void unknown_before(const struct program *p)
{
	unknown_work(p, p->other, copy_starts(p) - 600, 500);
	upload(p);
}

static void unknown_behind(const struct program *p)
{
	unknown_work(p, SCENE_LEGACY, copy_starts(p) + COPY + 100, 500);
	upload(p);
}

static void unknown_waits(const struct program *p)
{
	unknown_work(p, p->other, copy_starts(p) + COPY + 100, 500);
	upload(p);
}

static void not_ordered(const struct program *p)
{
	multiply(p, 9, p->free, p->memory, WORK - 10 * US);
	upload(p);
}

static void of_another_device(const struct program *p)
{
	scene_device(p->scene, 1);
	multiply(p, 10, p->away, p->memory, WORK);
	scene_device(p->scene, 0);
	copy(p, 11, SCENE_LEGACY, true, p->target);
	scene_device(p->scene, 1);
	multiply(p, 12, p->away, p->memory, WORK);
	scene_device(p->scene, 0);
}

static const struct scenario {
	const char *name;
	void (*step)(const struct program *p);
	uint64_t before, behind;
	bool beside, own, opaque, chained;
} scenarios[] = {
	{"upload", upload, WORK, COPY, false, false, false, false},
	{"download", download, WORK, COPY, false, false, false, false},
	{"copies one way", copies_one_way, 0, 0, false, false, false, false},
	{"small kernels", small_kernels, 0, 0, true, true, false, false},
	{"one small kernel", one_small_kernel, 0, 0, false, true, false, false},
	{"other small kernels", other_small_kernels, 0, 0, false, true, false, false},
	{"kernel", kernel_of_the_program, WORK, 0, false, true, false, false},
	{"legacy kernel", kernel_on_the_legacy_stream, COPY, 0, false, true, false, false},
	{"hidden kernel", hidden_kernel, 0, 0, false, false, true, false},
	{"needed before", needed_before, 0, COPY, false, false, false, false},
	{"needed behind", needed_behind, WORK, 0, false, false, false, false},
	{"needed both ways", needed_both_ways, 0, 0, false, false, false, true},
	{"needed by another", needed_by_another, 0, 0, false, false, false, false},
	{"event before", event_before, 0, COPY, false, false, false, false},
	{"event of another", event_of_another, WORK, COPY, false, false, false, false},
	{"event for another", event_for_another, WORK, COPY, false, false, false, false},
	{"another event", another_event, WORK, COPY, false, false, false, false},
	{"event behind", event_behind, WORK, 0, false, false, false, false},
	{"given late", given_late, WORK - 55 * US, COPY, false, false, false, false},
	{"given behind", given_behind, WORK, 0, false, false, false, false},
	{"own work before", own_work_before, WORK, COPY, false, false, false, false},
	{"more behind", more_behind, WORK, COPY, false, false, false, false},
	{"more needed behind", more_needed_behind, WORK, 0, false, false, false, false},
	{"unknown before", unknown_before, 0, COPY, false, false, false, false},
	{"unknown behind", unknown_behind, WORK, 0, false, false, false, false},
	{"unknown waits", unknown_waits, WORK, 0, false, false, false, false},
	{"not ordered", not_ordered, WORK, COPY, false, false, false, false},
	{"of another device", of_another_device, 0, 0, false, false, false, false},
};

/* A call gives the device work within microseconds. */
static bool about(double ns, uint64_t want)
{
	return want ? TEST_IN(ns, (double)(want - 15 * US), (double)want) : TEST_EQ(ns, 0);
}

static void check(const struct scenario *scenario)
{
	struct program p = {.scene = scene_create_sized(100, 0)};
	const struct tfs_timeline *timeline;
	struct tfs_steady steady;
	const uint64_t *frames;
	unsigned count = 0;

	p.other = scene_stream(p.scene, BLOCKING);
	p.third = scene_stream(p.scene, BLOCKING);
	p.free = scene_stream(p.scene, NON_BLOCKING);
	if (scenario->step == of_another_device) {
		scene_device(p.scene, 1);
		p.away = scene_stream(p.scene, BLOCKING);
		scene_device(p.scene, 0);
	}
	p.memory = scene_memory(p.scene, TFS_MEMORY_DEVICE, BYTES);
	p.target = scene_memory(p.scene, TFS_MEMORY_DEVICE, BYTES);
	p.more = scene_memory(p.scene, TFS_MEMORY_DEVICE, BYTES);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(p.scene);
		scene_device_sync(p.scene, 20);
		/* The shortest kernel. */
		multiply(&p, 21, p.free, p.more, 4 * US);
		scenario->step(&p);
	}
	timeline = scene_judge(p.scene, NULL)->timeline;
	TEST_EQ(tfs_steady_init(&steady, timeline, 0), 0);
	for (uint32_t i = 0; i < steady.call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(&steady, i);

		TEST_NEED(tfs_trace_frames(timeline->trace, call->record->site, &frames));
		if (frames[0] != 0x401000 + 11 * 16 || ++count != STEPS / 2)
			continue;

		const struct tfs_legacy_hold hold = tfs_legacy_hold_of(&steady, call);
		bool held = about(hold.before_ns, scenario->before);

		held &= about(hold.behind_ns, scenario->behind);
		held &= TEST_EQ(hold.beside, scenario->beside);
		held &= TEST_EQ(hold.own, scenario->own);
		held &= TEST_EQ(hold.opaque, scenario->opaque);
		held &= TEST_EQ(tfs_legacy_chained(&steady, steady.calls[i]), scenario->chained);
		if (!held)
			printf("  %s\n", scenario->name);
	}
	TEST_EQ(count, STEPS);
	tfs_steady_finish(&steady);
	scene_destroy(p.scene);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		check(&scenarios[i]);
	return test_result();
}
