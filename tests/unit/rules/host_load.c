/* SPDX-License-Identifier: MIT */
/* Calls that took far longer than others of their call site were interrupted. */
#include "rules/whatif/host_load.h"

#include <math.h>

#include "rules/evidence/steady.h"
#include "rules/whatif/graph.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 31u /* the first one is no evidence */
#define CALLS 4u  /* of a step */
#define US UINT64_C(1000)

enum kind { QUESTION, PINNED, PAGEABLE };

struct program {
	enum kind kind;
	uint64_t usual_ns, long_ns;
	unsigned every; /* one call of such a step takes long */
	bool first;     /* one of the first step, too */
	unsigned calls; /* in all, or 0 */
	uint64_t load_ns;
};

static struct scene *scene;

static void put(enum kind kind, unsigned line, uint64_t ns)
{
	static const struct {
		enum tfs_family family;
		const char *name;
	} calls[] = {{TFS_FAMILY_other, "cudaGetDevice"},
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync"},
		{TFS_FAMILY_copy_async, "cudaMemcpyAsync"}};
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudart,
		calls[kind].family, calls[kind].name);

	if (kind != QUESTION) {
		call.amount = 4096;
		builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
			0x7e0000000000, 4096);
		builder_operand(&call,
			TFS_ROLE_READ | TFS_ROLE_MEMORY(kind == PINNED ? TFS_MEMORY_PINNED
								       : TFS_MEMORY_PAGEABLE),
			0x10000000, 4096);
		builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 1);
	}
	call.start_ns = scene_now(scene);
	call.duration_ns = ns;
	builder_call(scene_builder(scene), &call);
	scene_host(scene, ns + US);
}

static double load(void)
{
	struct tfs_replay *replay;
	struct tfs_steady steady;
	struct tfs_run *runs;
	size_t count;
	double ns;

	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	TEST_EQ(tfs_runs_create(&steady, &runs, &count), 0);
	TEST_NEED(count == 1 && runs[0].steps == STEPS);
	replay = tfs_replay_create(&runs[0].graph);
	TEST_NEED(replay);
	ns = tfs_host_load_ns(&steady, runs, &replay, count);
	tfs_replay_destroy(replay);
	tfs_runs_destroy(runs, count);
	tfs_steady_finish(&steady);
	return ns;
}

static void check(const struct program *program, unsigned nth)
{
	unsigned made = 0;

	scene = scene_create(false);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 5 * US, 1024, 0, NULL);
		for (unsigned j = 0; j < CALLS && (!program->calls || made < program->calls); j++) {
			const bool slow = !j && (i ? i % program->every == 0 : program->first);

			/* No calls in the first step, unless they are what is asked for. */
			if (!i && !program->first)
				break;
			put(program->kind, 12, slow ? program->long_ns : program->usual_ns);
			made++;
		}
		/* Of another call site, where this is usual. */
		for (unsigned j = 0; j < CALLS; j++)
			put(QUESTION, 11, 300 * US);
	}
	if (!TEST_EQ(lround(load()), program->load_ns))
		printf("  of program %u\n", nth);
	scene_destroy(scene);
}

int main(void)
{
	static const struct program programs[] = {
		{QUESTION, 2 * US, 200 * US, 100, false, 0, 0},
		/* A third of thirty steps. */
		{QUESTION, 2 * US, 200 * US, 3, false, 0, 66 * US},
		{QUESTION, 2 * US, 200 * US, 100, true, 0, 0},
		{QUESTION, 2 * US, 38 * US, 3, false, 0, 0},
		{QUESTION, 2 * US, 39 * US, 2, false, 0, 18500},
		{QUESTION, 20 * US, 110 * US, 3, false, 0, 0},
		{QUESTION, 20 * US, 111 * US, 2, false, 0, 45500},
		/* Of seven calls no usual time is known; of eight it is. */
		{QUESTION, 2 * US, 200 * US, 2, false, 7, 0},
		{QUESTION, 2 * US, 200 * US, 2, false, 8, 6600},
		/* These may wait for other work. */
		{PINNED, 2 * US, 200 * US, 3, false, 0, 66 * US},
		{PAGEABLE, 2 * US, 200 * US, 3, false, 0, 0},
	};

	for (unsigned i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		check(&programs[i], i);
	return test_result();
}
