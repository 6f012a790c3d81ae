/* SPDX-License-Identifier: MIT */
/* When the replay is no ground for a cost, none is told. */
#include "rules/judge/doubt.h"
#include "tests/test.h"
#include "tests/unit/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define BATCHES 8u

/* A loader prepares batches while the other thread trains: who waits for whom is nowhere recorded.
 */
static void step(struct modelled *modelled, unsigned index, unsigned stream, bool beside)
{
	modelled_step(modelled);
	modelled_host(modelled, (40 + index * 7 % 11) * US);
	for (unsigned i = 0; i < BATCHES; i++) {
		if (beside)
			modelled_thread_beside(modelled, 1);
		modelled_launch(modelled, 10, stream, 5 * US, 4);
		modelled_host(modelled, 60 * US);
		if (beside)
			modelled_thread_beside(modelled, 0);
		modelled_launch(modelled, 11, 0, 50 * US, 432);
		modelled_host(modelled, 60 * US);
	}
	modelled_device_sync(modelled, 12);
}

static void check(bool beside)
{
	struct modelled *modelled = modelled_create();
	struct scene *scene = modelled_scene(modelled);
	const unsigned stream = modelled_stream(modelled);
	const struct tfs_judgement *judgement;
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++)
		step(modelled, i, stream, beside);
	modelled_judge(modelled);
	judgement = scene_judgement(scene);
	finding = scene_finding(scene, "TFS201", 12);
	TEST_NEED(finding);
	TEST_EQ(!judgement->steps.unpriced, !beside);
	TEST_EQ(finding->cost.method, beside ? TFS_COST_UNKNOWN : TFS_COST_MODELLED);
	TEST_EQ(finding->cost.high_ns > 0, !beside);
	TEST_EQ(judgement->joint.method, beside ? TFS_COST_NONE : TFS_COST_MODELLED);
	TEST_EQ(judgement->joint_findings > 0, !beside);
	modelled_destroy(modelled);
}

static void errors_of_the_replay(void)
{
	TEST_TRUE(!tfs_replay_doubt(NULL, 0, 0.09));
	TEST_TRUE(tfs_replay_doubt(NULL, 0, 0.11));
}

int main(void)
{
	modelled_prepare();
	check(false);
	check(true);
	errors_of_the_replay();
	return test_result();
}
