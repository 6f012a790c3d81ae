/* SPDX-License-Identifier: MIT */
/* Changes of one call add up, and are forgotten but for those that are kept. */
#include <math.h>

#include "rules/whatif/whatif_private.h"
#include "tests/test.h"

#define CALLS 3u

static struct tfs_edit edits[CALLS], kept[CALLS];
static bool assumed[CALLS];
static uint32_t place[CALLS + 1] = {0, 1, 2, TFS_NONE};
static struct tfs_waiting waits[CALLS];

static struct tfs_whatif whatif = {.edits = edits, .kept = kept, .assumed = assumed};

static void change(uint32_t call, struct tfs_edit edit)
{
	const struct tfs_hit hit = {.call = call, .edit = edit};

	tfs_whatif_add(&whatif, &hit, 1);
}

/* Two changes of the work of one call; 0 = it is as long as before. */
static void scales(float one, float other, float both)
{
	tfs_whatif_clear(&whatif);
	change(1, (struct tfs_edit){.scale = one});
	change(1, (struct tfs_edit){.scale = other});
	if (!TEST_EQ(lround((double)edits[1].scale * 1000), lround((double)both * 1000)))
		printf("  %g and %g\n", (double)one, (double)other);
	TEST_EQ(edits[0].scale * 1000, 0);
}

static void changes_add_up(void)
{
	tfs_whatif_clear(&whatif);
	change(0, (struct tfs_edit){.no_wait = true, .adds_ns = 3, .cuts_ns = 7});
	change(0, (struct tfs_edit){.aside = true, .adds_ns = 5, .cuts_ns = 2});
	change(0, (struct tfs_edit){.at_once = true, .orders = true});
	change(2, (struct tfs_edit){.gone = true});
	/* Of a call that is no evidence. */
	change(3, (struct tfs_edit){.gone = true});
	TEST_TRUE(edits[0].no_wait && edits[0].aside && edits[0].at_once && edits[0].orders);
	TEST_TRUE(!edits[0].gone && edits[2].gone);
	TEST_EQ(edits[0].adds_ns, 5);
	TEST_EQ(edits[0].cuts_ns, 7);
	TEST_TRUE(!edits[1].gone && !edits[1].no_wait);
}

/* What a wait orders stays ordered without it, which is only assumed; unless that was said. */
static void orders_are_kept(void)
{
	tfs_whatif_clear(&whatif);
	waits[0].orders = waits[1].orders = true;
	change(0, (struct tfs_edit){.no_wait = true});
	change(1, (struct tfs_edit){.gone = true, .orders = true});
	change(2, (struct tfs_edit){.gone = true});
	TEST_TRUE(edits[0].orders && assumed[0]);
	TEST_TRUE(edits[1].orders && !assumed[1]);
	TEST_TRUE(!edits[2].orders && !assumed[2]);
	tfs_whatif_clear(&whatif);
	change(0, (struct tfs_edit){.scale = 0.5f});
	TEST_TRUE(!edits[0].orders && !assumed[0]);
}

static void what_is_kept_stays(void)
{
	kept[1].gone = true;
	tfs_whatif_clear(&whatif);
	TEST_TRUE(edits[1].gone && !edits[0].no_wait && !edits[2].gone);
	kept[1].gone = false;
	tfs_whatif_clear(&whatif);
	TEST_TRUE(!edits[1].gone);
}

int main(void)
{
	const struct tfs_steady steady = {.place = place, .waits = waits, .call_count = CALLS};

	whatif.steady = &steady;
	scales(0.5f, 0, 0.5f);
	scales(0, 0.25f, 0.25f);
	/* What makes it faster counts once, what makes it more work goes with that. */
	scales(0.5f, 0.25f, 0.25f);
	scales(2, 3, 3);
	scales(0.5f, 3, 1.5f);
	scales(3, 0.5f, 1.5f);
	changes_add_up();
	orders_are_kept();
	what_is_kept_stays();
	return test_result();
}
