/* SPDX-License-Identifier: MIT */
/* When the replay is no ground for a cost, none is told. */
#include <math.h>

#include "rules/whatif/doubt.h"
#include "rules/whatif/whatif_private.h"
#include "tests/test.h"
#include "tests/unit/replay/modelled.h"

#define US UINT64_C(1000)
#define STEPS 24u
#define BATCHES 8u

enum loader { NO_THREAD, BESIDE, WHENEVER, IN_TURN, AT_LAST };

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

static void check(enum loader loader, bool priced, bool parted)
{
	struct modelled *modelled = modelled_create();
	struct scene *scene = modelled_scene(modelled);
	const unsigned stream = modelled_stream(modelled);
	const struct tfs_judgement *judgement;
	const struct tfs_finding *finding;
	double step_ns;

	for (unsigned i = 0; i < STEPS; i++) {
		if (parted && (i == 2 || i == STEPS - 3))
			scene_phase_step(scene, TFS_PHASE_EVALUATION, 0);
		step(modelled, i, stream,
			loader != AT_LAST ? loader
			: i >= STEPS - 3  ? WHENEVER
					  : NO_THREAD);
	}
	step_ns = modelled_judge(modelled);
	judgement = scene_judgement(scene);
	TEST_IN(judgement->steps.recorded_ns, 0.98 * step_ns, 1.02 * step_ns);
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

/* A step as written takes what it was seen to take, however far its replay is off; where a rewrite
 * chose other algorithms, as much longer as it is replayed with the program's. */
static void as_written(void)
{
	struct tfs_whatif whatif = {
		.measured_ns = 31000, .replayed_ns = 36000, .written_ns = 36000};

	TEST_EQ(lround(tfs_whatif_written_ns(&whatif)), 31000);
	whatif.written_ns = 45000;
	TEST_EQ(lround(tfs_whatif_written_ns(&whatif)), 38750);
}

/* Recording adds to the host's steps, and nothing to those of a device that the host is ahead of.
 */
static void without_recording(void)
{
	struct tfs_whatif whatif = {.own = 0.6, .own_most = 0.8};
	const struct tfs_steady steady = {.whatif = &whatif, .step_ns = 1000};

	TEST_EQ(lround(tfs_whatif_step_ns(&steady)), 600);
	tfs_whatif_follow_device(&whatif);
	TEST_EQ(lround(tfs_whatif_step_ns(&steady)), 1000);
	TEST_EQ(lround(100 * whatif.own_most), 100);
}

int main(void)
{
	modelled_prepare();
	check(NO_THREAD, true, false);
	check(BESIDE, false, false);
	check(WHENEVER, false, false);
	check(IN_TURN, true, false);
	/* With two steps before something else, and three behind. */
	check(IN_TURN, true, true);
	check(WHENEVER, false, true);
	/* The steps of one thread alone say nothing of the others. */
	check(AT_LAST, false, true);
	errors_of_the_replay();
	as_written();
	without_recording();
	return test_result();
}
