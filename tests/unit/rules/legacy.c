/* SPDX-License-Identifier: MIT */
/* TFS103, TFS204: copies that hold up kernels, and are held up by them. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(1) << 20)

/* As in tfs_stream_record; what has neither is ordered with the legacy stream. */
enum { BLOCKING = 0, NON_BLOCKING = 4 };

static void check(struct scene *scene, const char *id, enum tfs_state state, const char *text,
	const char *advice)
{
	const struct tfs_finding *finding;
	bool held;

	scene_judge(scene, NULL);
	finding = scene_finding(scene, id, 11);
	held = TEST_EQ(scene_state(scene, id), state);
	held &= TEST_STR(finding ? finding->message : scene_reason(scene, id), text);
	if (finding)
		held &= TEST_EQ(strncmp(finding->advice, advice, strlen(advice)), 0);
	if (!held)
		scene_print(scene);
	scene_destroy(scene);
}

/* A product on a stream of its own. */
static void multiply(
	struct scene *scene, unsigned line, unsigned stream, uint64_t memory, uint64_t ns)
{
	struct builder_call call = scene_call(
		scene, line, stream, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");

	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_WRITE, memory, BYTES);
	scene_make(scene, &call, ns);
}

/* Between two pieces of another stream's work the legacy one copies to the device. */
struct hold {
	uint32_t flags; /* of the other stream */
	bool shares;    /* the copy and that work share memory */
	bool own;       /* it is a kernel of the program */
	bool several;   /* and a third stream works too */
	enum tfs_state state;
	const char *says, *advice;
};

static void held(const struct hold *hold)
{
	struct scene *scene = scene_create(false);
	const unsigned other = scene_stream(scene, hold->flags);
	const unsigned third = scene_stream(scene, hold->flags);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t target = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t more = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		if (hold->own)
			scene_launch(scene, 10, other, 100000, 1024, 1, &memory);
		else
			multiply(scene, 10, other, memory, 100000);
		scene_copy(scene, 11, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED,
			hold->shares ? memory : target, BYTES, 80000);
		multiply(scene, 12, other, memory, 100000);
		if (hold->several)
			multiply(scene, 13, third, more, 1000);
		scene_device_sync(scene, 14);
	}
	check(scene, "TFS204", hold->state, hold->says, hold->advice);
}

/* Two kernels of the program in each step, of so many blocks on a hundred multiprocessors, all on
 * the legacy stream. */
struct chains {
	unsigned blocks;
	bool shares; /* they work on the same memory, */
	bool unseen; /* or what the first works on is not known */
	enum tfs_state state;
	const char *says;
};

static void chained(const struct chains *chains)
{
	struct scene *scene = scene_create_sized(100, 0);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t other = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t *second = chains->shares ? &memory : &other;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, UINT64_C(256) * chains->blocks,
			!chains->unseen, &memory);
		scene_launch(
			scene, 11, SCENE_LEGACY, 60000, UINT64_C(256) * chains->blocks, 1, second);
		/* The shortest kernel fills the device. */
		scene_launch(scene, 12, SCENE_LEGACY, 2000, 256 * 1000, 1, &memory);
	}
	check(scene, "TFS204", chains->state, chains->says, "If the kernels of the chains work on");
}

/* Uploads in front of a product, of which one is read back so many bytes. */
static void exposed(unsigned stream_flags, uint64_t back, enum tfs_state state, const char *says,
	const char *advice)
{
	struct scene *scene = scene_create(false);
	const unsigned beside = scene_stream(scene, stream_flags);
	const unsigned stream = stream_flags == NON_BLOCKING ? beside : SCENE_LEGACY;
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 11, stream, true, true, TFS_MEMORY_PINNED, memory, BYTES, 100000);
		multiply(scene, 12, SCENE_LEGACY, memory, 150000);
		if (back)
			scene_copy(scene, 13, SCENE_LEGACY, true, false, TFS_MEMORY_PINNED, memory,
				back, 2000);
	}
	check(scene, "TFS103", state, says, advice);
}

/* Copies at three lines: each is told that has a part worth telling of what all of them take. */
static void exposed_at_three_lines(void)
{
	static const uint64_t takes_ns[] = {70000, 30000, 4000};
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 3; j++)
			scene_copy(scene, 11 + j, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED,
				memory, BYTES, takes_ns[j]);
		multiply(scene, 14, SCENE_LEGACY, memory, 150000);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_findings(scene, "TFS103"), 2);
	TEST_TRUE(!scene_finding(scene, "TFS103", 13));
	finding = scene_finding(scene, "TFS103", 11);
	TEST_NEED(finding);
	TEST_STR(finding->message,
		"copies 1.00 MiB per step to the device in 1 call/step, which takes 70.0 \xc2\xb5s; no kernel runs during 70.0 \xc2\xb5s of that");
	finding = scene_finding(scene, "TFS103", 12);
	TEST_NEED(finding);
	TEST_STR(finding->message,
		"copies 1.00 MiB per step to the device in 1 call/step, which takes 30.0 \xc2\xb5s; no kernel runs during 30.0 \xc2\xb5s of that");
	scene_destroy(scene);
}

/* Where what was seen of the device or of the steps does not tell. */
static void not_looked_at(bool devices, bool coherent, enum tfs_state state, const char *says)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	unsigned other = 0;

	if (devices) {
		scene_device(scene, 1);
		other = scene_stream(scene, NON_BLOCKING);
		scene_device(scene, 0);
	}
	if (coherent)
		builder_fact(scene_builder(scene), TFS_FACT_memory_coherent, NULL, 1);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 11, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory, BYTES,
			100000);
		multiply(scene, 12, SCENE_LEGACY, memory, 150000);
		if (!devices)
			continue;
		scene_device(scene, 1);
		multiply(scene, 13, other, memory, 1000);
		scene_device(scene, 0);
	}
	check(scene, "TFS103", state, says, "");
}

int main(void)
{
	static const char waits[] =
		"1 call/step on the legacy stream: this work waits 100 \xc2\xb5s per step for other streams, and other streams wait 80.0 \xc2\xb5s for it, although they share no memory";
	static const char each_waits[] =
		"1 call/step on the legacy stream: this work waits 100 \xc2\xb5s per step for other streams, and other streams wait 160 \xc2\xb5s for it, although they share no memory";
	static const char alone[] =
		"no other stream is ordered with the legacy stream, and independent work on it would save less than 5 % of the step if it ran in parallel";
	static const char if_named[] = "If no call uses memory that its arguments do not name, ";
	static const struct hold holds[] = {
		{BLOCKING, false, false, false, TFS_STATE_VIOLATED, waits,
			"Give this work a stream of its own"},
		{BLOCKING, false, true, false, TFS_STATE_VIOLATED, waits, if_named},
		{BLOCKING, false, false, true, TFS_STATE_VIOLATED, each_waits, if_named},
		{BLOCKING, true, false, false, TFS_STATE_PASSED,
			"the legacy stream's order delays work that could run in parallel by less than 1 % of the step",
			""},
		{NON_BLOCKING, false, false, false, TFS_STATE_PASSED, alone, ""},
	};
	static const struct chains chains[] = {
		/* With its start, each time. */
		{50, false, false, TFS_STATE_VIOLATED,
			"starts one of several chains of work that share no memory, and run one after the other as all are on the legacy stream; "
			"of their time, kernels that leave half of the device idle take 62.0 \xc2\xb5s per step"},
		{51, false, false, TFS_STATE_PASSED, alone},
		{50, true, false, TFS_STATE_PASSED, alone},
		{50, false, true, TFS_STATE_NOT_MEASURABLE,
			"whether results need the order of the legacy stream was not seen, as it is not known what a call of __cudaLaunchKernel works on"},
	};
	static const char hides[] =
		"copies 1.00 MiB per step to the device in 1 call/step, which takes 100 \xc2\xb5s; no kernel runs during 100 \xc2\xb5s of that";

	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
		held(&holds[i]);
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		chained(&chains[i]);
	exposed(BLOCKING, 0, TFS_STATE_VIOLATED, hides, "Copy the batch of the next step while");
	exposed(BLOCKING, BYTES / 16 - 1, TFS_STATE_VIOLATED, hides,
		"Copy the batch of the next step while");
	exposed(BLOCKING, BYTES / 16, TFS_STATE_VIOLATED, hides,
		"If the host does not make this data of what it reads back in the same step: Copy");
	exposed(NON_BLOCKING, 0, TFS_STATE_PASSED,
		"large asynchronous H2D copies beside which nothing is computed take 0.5 % of the step",
		"");
	exposed_at_three_lines();
	not_looked_at(true, false, TFS_STATE_NOT_MEASURABLE,
		"what runs beside an H2D copy is looked for on one device, and several worked");
	not_looked_at(false, true, TFS_STATE_PASSED, "the device reads the host's memory as it is");
	return test_result();
}
