/* SPDX-License-Identifier: MIT */
/* pool-threshold on a made-up device: how much a pool is told to keep and when, what is tried out
 * before, and what an allocation is said to gain. */
#include <math.h>
#include <time.h>

#include "shim/base/env.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/pool_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/memory.h"
#include "shim/state/pools.h"
#include "tests/test.h"

#define MIB (UINT64_C(1) << 20)
#define SITE 5u
#define DEVICE 3u
#define BYTES (2 * MIB) /* of an allocation */
#define LOOK_NS UINT64_C(100000000)

extern const struct tfs_rewrite tfs_rewrite_pool_threshold;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

struct tfs_options tfs_options;
unsigned tfs_captures_open;

static uint64_t now_ns = UINT64_C(1000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* The device, and what its pool holds and is told to keep. */
static struct {
	uint64_t free, all, held, threshold;
	uint64_t meddled; /* somebody else's value, found where one was set */
	int set_fails;    /* the setting that fails, from 1 on */
	int sets, gets_fail;
	bool ignores_settings;
	bool tight;    /* memory was short */
	uint64_t kept; /* by tfs_reserves_keep() */
	bool keeps_none;
	unsigned kept_times, given_back, dropped, forgotten;
} made_up;
static char standard, other;

static int info(size_t *out_free, size_t *out_all)
{
	*out_free = made_up.free;
	*out_all = made_up.all;
	return 0;
}

static int no_error(void)
{
	return 0;
}

static int forget(void)
{
	made_up.forgotten++;
	return 0;
}

static int pool_of(void **out, int device)
{
	TEST_EQ(device, DEVICE);
	*out = &standard;
	return 0;
}

static int get(void *pool, enum tfs_pool_attribute attribute, uint64_t *out)
{
	TEST_TRUE(pool == &standard || pool == &other);
	*out = attribute == TFS_POOL_RESERVED ? made_up.held
	       : made_up.meddled != 0         ? made_up.meddled
					      : made_up.threshold;
	return made_up.gets_fail;
}

static int set(void *pool, enum tfs_pool_attribute attribute, uint64_t *value)
{
	TEST_TRUE(pool == &standard || pool == &other);
	TEST_EQ(attribute, TFS_POOL_THRESHOLD);
	if (++made_up.sets == made_up.set_fails)
		return 1;
	if (!made_up.ignores_settings)
		made_up.threshold = *value;
	return 0;
}

static const struct tfs_memory_functions memory = {
	.info = info, .error_waits = no_error, .forget_error = forget};
static const struct tfs_pool_functions pools = {
	.current = pool_of, .standard = pool_of, .get = get, .set = set};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &memory;
}

const struct tfs_pool_functions *tfs_pool_functions(bool driver)
{
	return driver ? NULL : &pools;
}

bool tfs_memory_any_elsewhere(uint32_t device)
{
	return device != DEVICE;
}

static struct tfs_pool_known known;

bool tfs_pools_find(const void *pool, struct tfs_pool_known *out_known)
{
	(void)pool;
	*out_known = known;
	return known.pool != NULL;
}

bool tfs_pools_full(void)
{
	return false;
}

bool tfs_reserves_keep(bool driver, void *pool, uint32_t device, uint64_t bytes)
{
	(void)driver, (void)pool;
	TEST_EQ(device, DEVICE);
	made_up.kept_times++;
	made_up.kept = made_up.keeps_none ? 0 : bytes;
	return !made_up.keeps_none;
}

uint64_t tfs_reserves_kept(const void *pool)
{
	(void)pool;
	return made_up.kept;
}

bool tfs_reserves_short(uint32_t device)
{
	TEST_EQ(device, DEVICE);
	return made_up.tight;
}

void tfs_reserves_give_back(bool driver, uint32_t device)
{
	(void)driver, (void)device;
	TEST_TRUE(made_up.kept > 0);
	made_up.given_back++;
}

void tfs_reserves_drop(bool driver, uint32_t device)
{
	(void)driver, (void)device;
	made_up.dropped++;
	made_up.kept = 0;
}

/* What the rewrite says of itself. */
static enum tfs_rewrite_mode mode;
static uint32_t refused;
static unsigned acted, differences, shadowed;
static struct tfs_reason difference;
static double predicted;
static unsigned clean, spoiled;

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == &tfs_rewrite_pool_threshold && site == SITE);
	refused = check;
}

bool tfs_rewrite_may_act(const struct tfs_rewrite *rewrite)
{
	(void)rewrite;
	return true;
}

void tfs_rewrite_acted(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	(void)rewrite;
	TEST_EQ(bytes, BYTES);
	acted++;
}

bool tfs_rewrite_shadow(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	(void)rewrite, (void)bytes;
	shadowed++;
	return true;
}

void tfs_rewrite_differs(
	const struct tfs_rewrite *rewrite, uint32_t site, const struct tfs_reason *evidence)
{
	TEST_TRUE(rewrite == &tfs_rewrite_pool_threshold && site == SITE);
	difference = *evidence;
	differences++;
}

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	(void)rewrite;
	return mode;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	(void)rewrite;
	predicted = ns;
}

bool tfs_evidence_enough(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	(void)evidence;
	TEST_EQ(site, SITE);
	TEST_EQ(shape, BYTES);
	return clean >= 2;
}

void tfs_evidence_clean(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	(void)evidence;
	TEST_EQ(site, SITE);
	TEST_EQ(shape, BYTES);
	clean++;
}

void tfs_evidence_spoiled(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	(void)evidence;
	TEST_EQ(site, SITE);
	TEST_EQ(shape, BYTES);
	spoiled++;
	clean = 0;
}

static void begin(void)
{
	const struct tfs_op op = {.kind = TFS_OP_RESET, .device = DEVICE};

	tfs_rewrite_pool_threshold.event(&op);
	memset(&made_up, 0, sizeof(made_up));
	made_up.free = 4096 * MIB;
	made_up.all = 8192 * MIB;
	memset(&known, 0, sizeof(known));
	tfs_options.pool_reserve_bytes = 1024 * MIB;
	mode = TFS_MODE_APPLY;
	acted = differences = shadowed = clean = spoiled = 0;
	now_ns += 2 * LOOK_NS;
}

static bool may_act = true;

/* An allocation after which the pool holds so much, and which takes so long. */
static void allocate(uint64_t holds, uint64_t ns)
{
	struct tfs_op op = {.kind = TFS_OP_ORDERED,
		.site = SITE,
		.may_act = may_act,
		.ordered = {.pool = known.pool ? &other : NULL, .bytes = BYTES, .device = DEVICE}};

	refused = TFS_CHECK_none;
	predicted = NAN;
	if (tfs_rewrite_pool_threshold.before(&op) == TFS_LEAVES) {
		made_up.held = holds;
		return;
	}
	made_up.held = holds;
	now_ns += ns;
	TEST_TRUE(!tfs_rewrite_pool_threshold.after(&op));
}

/* A step of the program's: the pool, which is empty, has to be filled, but for what it keeps. */
static void step(uint64_t holds, uint64_t ns)
{
	made_up.held = made_up.kept;
	allocate(holds, ns);
}

/* It is seen to give back, tried out, and then keeps as much as it was seen to hold. */
static void check_keeps(void)
{
	begin();
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_gives_back);
	TEST_EQ(made_up.sets, 0);
	step(4 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_shadow_evidence);
	TEST_EQ(clean, 1);
	TEST_EQ(made_up.sets, 2);
	TEST_EQ(made_up.threshold, 0);
	step(4 * MIB, 100);
	TEST_EQ(clean, 2);
	TEST_EQ(made_up.kept_times + acted, 0);
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_none);
	TEST_EQ(made_up.kept, 6 * MIB);
	TEST_EQ(acted, 1);
	TEST_EQ(made_up.sets, 4);
	/* It goes on. More is kept when it was seen to hold more, and enough is left: looked at
	 * every so often. */
	step(8 * MIB, 100);
	TEST_EQ(acted, 2);
	TEST_EQ(made_up.kept_times, 1);
	TEST_EQ(made_up.kept, 6 * MIB);
	step(8 * MIB, 100);
	TEST_EQ(made_up.kept, 6 * MIB);
	now_ns += LOOK_NS + 1;
	step(8 * MIB, 100);
	TEST_EQ(made_up.kept, 8 * MIB);
	TEST_EQ(acted, 4);
	/* Switched off, or with too little left, it keeps nothing. */
	made_up.free = 1024 * MIB - 1;
	step(8 * MIB, 100);
	TEST_EQ(made_up.dropped, 0);
	now_ns += LOOK_NS + 1;
	step(8 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_memory_left);
	TEST_EQ(made_up.given_back, 1);
	TEST_EQ(made_up.dropped, 1);
	may_act = false;
	step(8 * MIB, 100);
	may_act = true;
	TEST_EQ(made_up.dropped, 2);
	TEST_EQ(acted, 5);
}

/* So much that the least which is to be left stays free: a GiB, or a tenth of the device. */
static void check_room(void)
{
	static const struct {
		uint64_t all, free;
		bool good;
	} cases[] = {{8192, 1030, true}, {8192, 1029, false}, {8192, 1000, false},
		{20480, 2054, true}, {20480, 2053, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		clean = 2;
		step(6 * MIB, 100);
		made_up.all = cases[i].all * MIB;
		made_up.free = cases[i].free * MIB;
		step(6 * MIB, 100);
		if (!TEST_EQ(made_up.kept, cases[i].good ? 6 * MIB : 0))
			printf("  in case %zu\n", i);
		TEST_EQ(refused, cases[i].good ? TFS_CHECK_none : TFS_CHECK_memory_left);
	}
	/* What the pool holds already is not asked for once more. */
	for (uint64_t spare = 3; spare <= 4; spare++) {
		begin();
		clean = 2;
		step(6 * MIB, 100);
		made_up.held = 2 * MIB;
		made_up.free = (1024 + spare) * MIB;
		allocate(6 * MIB, 100);
		TEST_EQ(made_up.kept, spare == 4 ? 6 * MIB : 0);
	}
	begin();
	clean = 2;
	step(6 * MIB, 100);
	made_up.tight = true;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_memory_left);
	made_up.tight = false;
	made_up.keeps_none = true;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_threshold_kept);
	TEST_EQ(acted, 0);
	TEST_EQ(made_up.forgotten, 1);
}

/* What is found in the place of what was set. */
static void check_tried(void)
{
	begin();
	step(6 * MIB, 100);
	made_up.meddled = 7;
	step(6 * MIB, 100);
	TEST_EQ(differences, 1);
	TEST_EQ(spoiled, 1);
	TEST_EQ(made_up.sets, 0);
	TEST_EQ(difference.code, TFS_REASON_threshold_strange);
	TEST_EQ(difference.numbers[0], 7);
	made_up.meddled = 0;
	for (made_up.set_fails = 1; made_up.set_fails <= 2; made_up.set_fails++) {
		made_up.threshold = 0;
		made_up.sets = 0;
		step(6 * MIB, 100);
		TEST_EQ(differences, 1 + made_up.set_fails);
	}
	/* A pool that does as it likes. */
	made_up.set_fails = 0;
	made_up.ignores_settings = true;
	made_up.threshold = 0;
	step(6 * MIB, 100);
	TEST_EQ(differences, 4);
	TEST_EQ(clean, 0);
	begin();
	mode = TFS_MODE_SHADOW;
	for (int i = 0; i < 4; i++)
		step(6 * MIB, 100);
	TEST_EQ(shadowed, 3);
	TEST_EQ(clean, 3);
	TEST_EQ(made_up.kept_times + acted, 0);
	begin();
	mode = TFS_MODE_REPORT;
	step(6 * MIB, 100);
	step(6 * MIB, 100);
	TEST_EQ(made_up.sets, 0);
}

/* A pool that the program made: of this device, not shared, and its threshold left alone. */
static void check_made(void)
{
	begin();
	known = (struct tfs_pool_known){
		.pool = &other, .created = true, .device = (int)DEVICE, .number = 1};
	clean = 2;
	step(6 * MIB, 100);
	step(6 * MIB, 100);
	TEST_EQ(made_up.kept, 6 * MIB);
	made_up.kept = 0;
	/* Another one with the same handle has not been seen to hold anything. */
	known.number = 2;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_gives_back);
	step(6 * MIB, 100);
	TEST_EQ(made_up.kept, 6 * MIB);
	known.device = 1;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_known_pool);
	known.created = false;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_known_pool);
	known.created = true;
	known.device = (int)DEVICE;
	known.shareable = true;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_not_shared);
	known.shareable = false;
	known.is_set = true;
	step(6 * MIB, 100);
	TEST_EQ(refused, TFS_CHECK_threshold_unset);
}

/* The least that an allocation took for which the pool had to grow, less what this one took. */
static void check_prediction(void)
{
	begin();
	step(6 * MIB, 5000);
	step(6 * MIB, 3000);
	step(6 * MIB, 4000);
	/* One for which it did not grow counts for nothing. */
	allocate(6 * MIB, 50);
	TEST_TRUE(isnan(predicted));
	step(6 * MIB, 3500);
	TEST_EQ(acted, 1);
	TEST_TRUE(isnan(predicted));
	step(6 * MIB, 200);
	TEST_EQ(predicted, 3000 - 200);
	/* One that had to grow all the same says what it says. */
	step(9 * MIB, 3300);
	TEST_EQ(predicted, 3000 - 3300);
	step(6 * MIB, 100);
	TEST_EQ(predicted, 3000 - 100);
}

int main(void)
{
	check_prediction();
	check_keeps();
	check_room();
	check_tried();
	check_made();
	return test_result();
}
