/* SPDX-License-Identifier: MIT */
/* The interval of a price: what widens it, and by how much. */
#include <math.h>

#include "rules/whatif/whatif_private.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define US UINT64_C(1000)
#define WORK (100 * US)
#define OWN (50 * US)
#define CALL 1000.0 /* of doubt about each changed call of a step, */
#define MODEL 0.05  /* and about the model */

static struct scene *scene;
static struct tfs_steady steady;
static struct tfs_whatif *whatif;

/* A kernel, a wait and own code; without the wait that would be beside the next kernel. */
static void begin(uint64_t varies_ns)
{
	const uint64_t memory = UINT64_C(0x7e0000000000);

	scene = scene_create(false);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, WORK, 1024, 1, &memory);
		scene_device_sync(scene, 11);
		scene_host(scene, i % 2 ? OWN + varies_ns : OWN - varies_ns);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	whatif = tfs_whatif_create(&steady);
	TEST_NEED(whatif && !whatif->doubt);
	steady.whatif = whatif;
	whatif->error = whatif->inflation = whatif->load_ns = 0;
	whatif->own = whatif->own_most = 1;
}

static void end(void)
{
	tfs_whatif_destroy(whatif);
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* With this edit at each call of a family. */
static void edit(enum tfs_family family, struct tfs_edit edit)
{
	for (uint32_t i = 0; i < steady.call_count; i++) {
		const struct tfs_hit hit = {.call = steady.calls[i], .edit = edit};

		if (tfs_steady_call(&steady, i)->family == family)
			tfs_whatif_add(whatif, &hit, 1);
	}
}

static struct tfs_cost price(void)
{
	struct tfs_cost cost;

	TEST_EQ(tfs_whatif_price(whatif, &cost), 0);
	return cost;
}

static struct tfs_cost without_waits(void)
{
	edit(TFS_FAMILY_device_sync, (struct tfs_edit){.no_wait = true});
	return price();
}

#define IS(got, want) TEST_IN(got, (want)-60, (want) + 60)

static void by_parameters(void)
{
	struct tfs_cost cost, more;

	begin(0);
	cost = without_waits();
	TEST_IN(cost.ns, 40000, 56000);
	IS(cost.ns - cost.low_ns, MODEL * cost.ns + CALL);
	IS(cost.high_ns - cost.ns, MODEL * cost.ns + CALL);
	/* As far as the replay was off, and recording is in the steps. */
	whatif->error = 0.1;
	whatif->inflation = 0.05;
	more = without_waits();
	IS(more.ns, cost.ns);
	IS(cost.low_ns - more.low_ns, 0.15 * cost.ns);
	whatif->error = whatif->inflation = 0;
	/* What took the host's time may be in it. */
	whatif->load_ns = 3000;
	IS(without_waits().low_ns, cost.low_ns - 3000);
	whatif->load_ns = 1e6;
	more = without_waits();
	IS(more.low_ns, 0);
	/* No step is shorter than the device's work. */
	IS(more.high_ns, (whatif->base_ns - (double)WORK) * (1 + MODEL));
	whatif->own = 0.9;
	whatif->own_most = 0.95;
	IS(without_waits().high_ns, (0.95 * whatif->base_ns - (double)WORK) * (1 + MODEL));
	end();
}

/* All that recording adds may be in what is saved, or none of it. */
static void by_recording(void)
{
	struct tfs_cost cost, more;

	begin(0);
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.75f});
	cost = price();
	whatif->own = 0.9;
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.75f});
	more = price();
	IS(more.ns, 0.9 * cost.ns);
	IS(more.ns - more.low_ns,
		0.9 * cost.ns * (1 + MODEL) - (cost.ns - 0.1 * whatif->base_ns) + CALL);
	IS(more.high_ns - more.ns, 0.9 * cost.ns * MODEL + 0.1 * cost.ns + CALL);
	end();
}

/* By what is changed: several things at one call are one, and what saves nothing has no doubt. */
static void by_edits(void)
{
	struct tfs_cost cost;

	begin(0);
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.5f});
	cost = price();
	IS(cost.ns, (double)WORK / 2);
	IS(cost.ns - cost.low_ns, MODEL * cost.ns + CALL);
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 1.0f});
	cost = price();
	IS(cost.ns, 0);
	IS(cost.high_ns, 0);
	edit(TFS_FAMILY_device_sync, (struct tfs_edit){.gone = true});
	cost = price();
	IS(cost.ns - cost.low_ns, MODEL * cost.ns + CALL);
	edit(TFS_FAMILY_device_sync, (struct tfs_edit){.no_wait = true});
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.9f});
	cost = price();
	IS(cost.ns - cost.low_ns, MODEL * cost.ns + sqrt(2) * CALL);
	edit(TFS_FAMILY_launch, (struct tfs_edit){.cuts_ns = 20000});
	cost = price();
	/* But for the last step, behind which no launch is known. */
	IS(cost.ns, 20000.0 * (STEPS - 2) / (STEPS - 1));
	TEST_TRUE(cost.ns - cost.low_ns > MODEL * cost.ns + CALL);
	end();
}

/* A wait that has a stream's copy come after another's kernel. Without it that may be beside the
 * kernel, if nobody needs the order: that is in the interval, and no more than that. */
static void by_orders(void)
{
	unsigned kernels, copies;
	struct tfs_cost cost;

	scene = scene_create(false);
	kernels = scene_stream(scene, 4);
	copies = scene_stream(scene, 4);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, kernels, WORK, 1024, 0, NULL);
		scene_stream_sync(scene, 11, kernels);
		scene_copy(scene, 12, copies, true, true, TFS_MEMORY_PINNED,
			UINT64_C(0x7e0000000000), 1 << 20, 60 * US);
		scene_device_sync(scene, 13);
		scene_host(scene, OWN);
	}
	TEST_EQ(tfs_steady_init(&steady, scene_judge(scene, NULL)->timeline, 0), 0);
	whatif = tfs_whatif_create(&steady);
	TEST_NEED(whatif && !whatif->doubt);
	steady.whatif = whatif;
	whatif->error = whatif->load_ns = 0;
	edit(TFS_FAMILY_stream_sync, (struct tfs_edit){.no_wait = true});
	cost = price();
	TEST_IN(cost.ns, 0, 10000);
	TEST_IN(cost.high_ns, 55000, 75000);
	/* It is needed for certain. */
	edit(TFS_FAMILY_stream_sync, (struct tfs_edit){.no_wait = true, .orders = true});
	cost = price();
	TEST_IN(cost.high_ns, 0, 15000);
	end();
}

static void by_variation(void)
{
	struct tfs_cost cost;

	begin(30 * US);
	cost = without_waits();
	TEST_TRUE(cost.ns - cost.low_ns > MODEL * cost.ns + CALL + 2000);
	end();
}

/* What is kept is part of the steps from then on. */
static void kept(void)
{
	struct tfs_cost cost, both;

	begin(0);
	edit(TFS_FAMILY_device_sync, (struct tfs_edit){.no_wait = true});
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.75f});
	both = price();
	cost = without_waits();
	edit(TFS_FAMILY_device_sync, (struct tfs_edit){.no_wait = true});
	TEST_EQ(tfs_whatif_keep(whatif), 0);
	IS(without_waits().high_ns, 0);
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.75f});
	const struct tfs_cost rest = price();

	IS(rest.ns, both.ns - cost.ns);
	IS(rest.high_ns, rest.ns * (1 + MODEL) + CALL);
	end();
}

/* Where a rewrite had kernels replaced, what is kept is of those that the program asked for: these
 * take twice as long. */
static void kept_as_written(void)
{
	double replayed_ns;

	begin(0);
	replayed_ns = whatif->base_ns;
	for (uint32_t i = 0; i < steady.call_count; i++)
		if (tfs_steady_call(&steady, i)->family == TFS_FAMILY_launch)
			whatif->written[i].scale = 2;
	TEST_EQ(tfs_whatif_keep(whatif), 0);
	IS(whatif->base_ns, replayed_ns + (double)WORK);
	edit(TFS_FAMILY_launch, (struct tfs_edit){.scale = 0.75f});
	IS(price().ns, 0.25 * 2 * (double)WORK);
	end();
}

/* Algorithms that a search found save as much less as the replay was longer than the step. */
static void searched(void)
{
	struct tfs_whatif found = {.written_ns = 45000,
		.replayed_ns = 36000,
		.measured_ns = 32000,
		.error = 0.1,
		.inflation = 0.05};
	struct tfs_cost cost = tfs_whatif_searched(&found);

	TEST_EQ(cost.method, TFS_COST_SEARCHED);
	IS(cost.ns, 8000);
	IS(cost.low_ns, 8000 * 0.8);
	IS(cost.high_ns, 8000 * 1.2);
	found.doubt = "why";
	cost = tfs_whatif_searched(&found);
	TEST_EQ(cost.method, TFS_COST_UNKNOWN);
	IS(cost.ns, 0);
}

int main(void)
{
	by_parameters();
	by_recording();
	by_edits();
	by_orders();
	by_variation();
	kept();
	kept_as_written();
	searched();
	return test_result();
}
