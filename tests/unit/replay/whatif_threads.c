/* SPDX-License-Identifier: MIT */
/* What a fix is said to save where one host thread hands work to another, against the program
 * with that fix. */
#include "tests/test.h"
#include "tests/unit/replay/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define KERNELS 60u
#define BATCH (UINT64_C(8) << 20)

struct program {
	unsigned handed; /* kernels of a step that the second thread launches */
	uint64_t kernel_ns;
	uint64_t batch;              /* bytes that a step copies to the device */
	enum tfs_memory_kind memory; /* that they lie in */
	bool synchronise;            /* whoever launched the kernels waits for them */
};

static void step(struct modelled *modelled, const struct program *program, unsigned index)
{
	unsigned i = 0;

	modelled_step(modelled);
	modelled_host(modelled, (40 + index * 7 % 11) * US);
	if (program->batch)
		modelled_upload(modelled, 10, 0, program->memory, program->batch);
	modelled_host(modelled, 200 * US);
	for (; i < KERNELS - program->handed; i++)
		modelled_launch(modelled, 11, 0, program->kernel_ns, 432);
	if (program->handed)
		modelled_thread(modelled, 1, 15 * US);
	for (; i < KERNELS; i++)
		modelled_launch(modelled, 12, 0, program->kernel_ns, 432);
	if (program->synchronise)
		modelled_device_sync(modelled, 13);
	modelled_host(modelled, 100 * US);
	if (program->handed)
		modelled_thread(modelled, 0, 20 * US);
	modelled_launch(modelled, 14, 0, 300 * US, 432);
	modelled_host(modelled, 60 * US);
	modelled_device_sync(modelled, 15);
}

static struct modelled *run(const struct program *program, double *out_step_ns)
{
	struct modelled *modelled = modelled_create();

	for (unsigned i = 0; i < STEPS; i++)
		step(modelled, program, i);
	*out_step_ns = modelled_judge(modelled);
	return modelled;
}

/* The finding's cost is within 10 % of what the twin gains, which lies in the interval. */
static void check(
	const struct program *program, const struct program *fixed, const char *id, unsigned line)
{
	double before_ns, after_ns, gain;
	struct modelled *written = run(program, &before_ns), *twin = run(fixed, &after_ns);
	const struct tfs_step_summary *steps;
	const struct tfs_finding *finding = scene_finding(modelled_scene(written), id, line);

	steps = &scene_judgement(modelled_scene(written))->steps;
	gain = before_ns - after_ns;
	TEST_NEED(finding);
	TEST_EQ(finding->cost.method, TFS_COST_MODELLED);
	/* The device's delays vary, and no replay with the usual ones gives back each step. */
	TEST_IN(steps->replay_error * 1e6, 100, 30000);
	TEST_IN(steps->worst_step, 2, STEPS);
	const bool near = TEST_IN(finding->cost.ns, gain * 0.9, gain * 1.1);
	const bool inside = TEST_IN(gain, finding->cost.low_ns, finding->cost.high_ns);

	if (!near || !inside)
		printf("%s, %u kernels handed: %.0f [%.0f, %.0f] of %.0f ns\n", id, program->handed,
			finding->cost.ns, finding->cost.low_ns, finding->cost.high_ns, before_ns);
	modelled_destroy(written);
	modelled_destroy(twin);
}

static const unsigned handed[] = {0, 5, 60};

/* The same work, done by one thread or by two. */
static void pageable_copies(void)
{
	struct program program = {.kernel_ns = 5 * US,
			       .batch = BATCH,
			       .memory = TFS_MEMORY_PAGEABLE},
		       fixed = program;

	fixed.memory = TFS_MEMORY_PINNED;
	for (size_t i = 0; i < sizeof(handed) / sizeof(handed[0]); i++) {
		program.handed = fixed.handed = handed[i];
		check(&program, &fixed, "TFS101", 10);
	}
}

static void waits_of_either_thread(void)
{
	struct program program = {.kernel_ns = 20 * US, .synchronise = true}, fixed = program;

	fixed.synchronise = false;
	for (size_t i = 0; i < sizeof(handed) / sizeof(handed[0]); i++) {
		program.handed = fixed.handed = handed[i];
		check(&program, &fixed, "TFS201", 13);
	}
}

int main(void)
{
	modelled_prepare();
	pageable_copies();
	waits_of_either_thread();
	return test_result();
}
