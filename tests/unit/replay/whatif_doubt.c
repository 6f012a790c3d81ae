/* SPDX-License-Identifier: MIT */
/* When the replay is no ground for a cost, none is told. */
#include "rules/whatif/doubt.h"
#include "tests/test.h"
#include "tests/unit/replay/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define BATCHES 8u

enum loader { NO_THREAD, BESIDE, WHENEVER, IN_TURN };

/* A loader prepares batches while the other thread trains: who waits for whom is nowhere recorded.
 * Unless that is the same in every step, it may be neither. */
static void load(struct modelled *modelled, unsigned stream, enum loader loader)
{
	if (loader == BESIDE)
		modelled_thread_beside(modelled, 1);
	else if (loader != NO_THREAD)
		modelled_thread(modelled, 1, 10 * US);
	modelled_launch(modelled, 10, stream, 5 * US, 4);
	if (loader == BESIDE)
		modelled_host(modelled, 60 * US);
	if (loader == BESIDE)
		modelled_thread_beside(modelled, 0);
	else if (loader != NO_THREAD)
		modelled_thread(modelled, 0, 10 * US);
}

static void step(struct modelled *modelled, unsigned index, unsigned stream, enum loader loader)
{
	modelled_step(modelled);
	modelled_host(modelled, (40 + index * 7 % 11) * US);
	for (unsigned i = 0; i < BATCHES; i++) {
		if (loader == BESIDE || i == (loader == WHENEVER ? index * 3 % BATCHES : 2))
			load(modelled, stream, loader);
		modelled_launch(modelled, 11, 0, 50 * US, 432);
		modelled_host(modelled, 60 * US);
	}
	modelled_device_sync(modelled, 12);
}

static void check(enum loader loader, bool priced)
{
	struct modelled *modelled = modelled_create();
	struct scene *scene = modelled_scene(modelled);
	const unsigned stream = modelled_stream(modelled);
	const struct tfs_judgement *judgement;
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++)
		step(modelled, i, stream, loader);
	modelled_judge(modelled);
	judgement = scene_judgement(scene);
	finding = scene_finding(scene, "TFS201", 12);
	TEST_NEED(finding);
	TEST_EQ(!judgement->steps.unpriced, priced);
	TEST_EQ(finding->cost.method, priced ? TFS_COST_MODELLED : TFS_COST_UNKNOWN);
	TEST_EQ(finding->cost.high_ns > 0, priced);
	TEST_EQ(judgement->joint.method, priced ? TFS_COST_MODELLED : TFS_COST_NONE);
	TEST_EQ(judgement->joint_findings > 0, priced);
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
	check(NO_THREAD, true);
	check(BESIDE, false);
	check(WHENEVER, false);
	check(IN_TURN, true);
	errors_of_the_replay();
	return test_result();
}
