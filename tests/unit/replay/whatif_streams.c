/* SPDX-License-Identifier: MIT */
/* What a fix is said to save where a program uses two streams, against the program with that fix:
 * the device is one, and the order that a wait gave is kept. */
#include <math.h>

#include "tests/test.h"
#include "tests/unit/replay/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define KERNELS 20u
#define FILLS 1728u /* blocks that leave no room for another kernel's */
#define PART 27u    /* that leave some */

enum between { NOTHING, WAIT, EVENT };

struct program {
	enum between between; /* what stands between the nets */
	unsigned blocks;      /* of each kernel */
	uint64_t batch;       /* bytes for the second net */
	enum tfs_memory_kind memory;
	bool feeds;   /* the batch is for the first stream, where the second net is then */
	bool mixed;   /* kernels of both nets are launched by turns */
	bool ordered; /* the copy's stream is waited for by the other one */
};

struct outcome {
	struct modelled *modelled;
	double step_ns;
};

static void order(struct modelled *modelled, enum between between, unsigned from, unsigned to)
{
	if (between == WAIT) {
		modelled_device_sync(modelled, 12);
	} else if (between == EVENT) {
		modelled_event_record(modelled, 13, from);
		modelled_stream_wait(modelled, 14, to);
	}
}

/* Two nets, each on a stream of its own. */
static struct outcome run(const struct program *program)
{
	struct outcome outcome = {.modelled = modelled_create()};
	struct modelled *modelled = outcome.modelled;
	const unsigned one = modelled_stream(modelled), two = modelled_stream(modelled);

	for (unsigned i = 0; i < STEPS; i++) {
		modelled_step(modelled);
		modelled_host(modelled, (40 + i * 7 % 11) * US);
		/* Shows what pinned memory gains. */
		if (program->batch)
			modelled_upload(modelled, 18, one, TFS_MEMORY_PINNED, UINT64_C(8) << 20);
		for (unsigned j = 0; j < KERNELS; j++)
			modelled_launch(modelled, 10, program->mixed && j % 2 ? two : one, 60 * US,
				program->blocks);
		order(modelled, program->between, one, two);
		modelled_host(modelled, 150 * US);
		if (program->batch)
			modelled_upload(modelled, 15, two, program->memory, program->batch);
		if (program->ordered)
			order(modelled, EVENT, two, one);
		for (unsigned j = 0; j < KERNELS; j++)
			modelled_launch(modelled, 16,
				program->feeds || (program->mixed && j % 2) ? one : two, 60 * US,
				program->blocks);
		modelled_host(modelled, 30 * US);
		modelled_device_sync(modelled, 17);
	}
	outcome.step_ns = modelled_judge(modelled);
	return outcome;
}

/* The cost is within a fifth of what the twin gains (or hardly anything, where that is), and leaves
 * as much time as the device needs. Where the recording does not show what the twin's streams do
 * beside each other, no more is foretold than the twin gains, and the interval holds it. */
static void check(
	const struct program *program, const struct program *fixed, const char *id, unsigned line)
{
	struct outcome written = run(program), twin = run(fixed);
	const struct tfs_finding *finding =
		scene_finding(modelled_scene(written.modelled), id, line);
	const double gain = written.step_ns - twin.step_ns;
	const bool shown = !program->batch || program->mixed || program->blocks == FILLS;
	const double least = shown ? gain : 0.5 * gain;
	const double doubt = fmax(0.2 * fabs(gain), 0.01 * written.step_ns);

	TEST_NEED(finding);
	TEST_EQ(finding->cost.method, TFS_COST_MODELLED);
	const bool near = TEST_IN(finding->cost.ns, least - doubt, gain + doubt);
	const bool inside = TEST_IN(gain, finding->cost.low_ns - 0.01 * written.step_ns,
		finding->cost.high_ns + 0.01 * written.step_ns);

	if (!near || !inside)
		printf("%s, %u blocks: %.0f [%.0f, %.0f] of %.0f ns\n", id, program->blocks,
			finding->cost.ns, finding->cost.low_ns, finding->cost.high_ns,
			written.step_ns);
	if (program->blocks == FILLS)
		TEST_IN(finding->cost.ns, 0, written.step_ns - (double)(2 * KERNELS * 60 * US));
	modelled_destroy(written.modelled);
	modelled_destroy(twin.modelled);
}

static void wait_between_nets(void)
{
	struct program program = {.between = WAIT, .blocks = FILLS}, fixed = program;

	fixed.between = EVENT;
	check(&program, &fixed, "TFS201", 12);
	program.blocks = fixed.blocks = PART;
	check(&program, &fixed, "TFS201", 12);
}

/* The host waits for the copy while the first net runs; without that the second one's kernels are
 * launched earlier, and run no earlier. */
static void copy_beside_a_net(void)
{
	struct program program = {.blocks = FILLS,
			       .batch = UINT64_C(24) << 20,
			       .memory = TFS_MEMORY_PAGEABLE},
		       fixed = program;

	fixed.memory = TFS_MEMORY_PINNED;
	check(&program, &fixed, "TFS101", 15);
	/* The kernels of the other stream may use what was copied: the host's wait is all that has
	 * them come after it, and the twin has an event for that. */
	program.mixed = fixed.mixed = fixed.ordered = true;
	check(&program, &fixed, "TFS101", 15);
	program.blocks = fixed.blocks = PART;
	check(&program, &fixed, "TFS101", 15);
	program.mixed = fixed.mixed = fixed.ordered = false;
	check(&program, &fixed, "TFS101", 15);
}

/* A copy stream fills what the other stream's kernels then use. */
static void copy_for_another_stream(void)
{
	struct program program = {.feeds = true,
			       .blocks = FILLS,
			       .batch = UINT64_C(60) << 20,
			       .memory = TFS_MEMORY_PAGEABLE},
		       fixed = program;

	fixed.memory = TFS_MEMORY_PINNED;
	fixed.ordered = true;
	check(&program, &fixed, "TFS101", 15);
}

int main(void)
{
	modelled_prepare();
	wait_between_nets();
	copy_beside_a_net();
	copy_for_another_stream();
	return test_result();
}
