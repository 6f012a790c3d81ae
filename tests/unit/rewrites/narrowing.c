/* SPDX-License-Identifier: MIT */
/* sync-narrowing's waits for a made-up device: what is tried out before, when a wait is left out or
 * narrowed, what stands against it, and what that is said to gain. */
#include <math.h>
#include <time.h>

#include "shim/record/recorder.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/common/unseen.h"
#include "shim/rewrites/common/work.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/rewrites/sync_narrowing/narrowed_wait.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"
#include "tests/test.h"

#define SITE 5u
#define NARROWED_NS 100u /* that a narrowed wait takes */
#define ENOUGH 2u

extern const struct tfs_rewrite tfs_rewrite_sync_narrowing;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

unsigned tfs_captures_open;
__thread struct tfs_stream_latest tfs_stream_latest;
uint64_t tfs_stream_generation;

static uint64_t now_ns = 1000;
static char context;
static enum tfs_rewrite_mode mode;
/* The program and its device. */
static struct {
	struct tfs_work work; /* unfinished, if any is */
	bool works, others_work, missed_threads, peers, free_streams, reaches_pageable;
	int error, devices, busy; /* what is asked of the library */
	bool no_fence;
} made_up;
static unsigned clean, spoiled, acted, differences, shadowed, finished, owed, forgotten, narrowed;
static uint32_t refused;
static struct tfs_reason difference;
static double predicted;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static int device_count(int *out)
{
	*out = made_up.devices;
	return 0;
}

static int error_waits(void)
{
	return made_up.error;
}

static int forget(void)
{
	forgotten++;
	return 0;
}

static int stream_query(void *stream)
{
	TEST_TRUE(stream == TFS_STREAM_IN_ORDER);
	return made_up.busy;
}

static const struct tfs_memory_functions memory = {.device_count = device_count,
	.error_waits = error_waits,
	.forget_error = forget,
	.stream_query = stream_query};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &memory;
}

bool tfs_memory_reaches_pageable(const struct tfs_memory_functions *use, int device)
{
	TEST_TRUE(use == &memory && device == 0);
	return made_up.reaches_pageable;
}

void *tfs_context_now(void)
{
	return &context;
}

bool tfs_recorder_missed_threads(void)
{
	return made_up.missed_threads;
}

const char *tfs_unseen_work(void)
{
	return NULL;
}

const char *tfs_unseen_users(void)
{
	return NULL;
}

bool tfs_memory_peers(void)
{
	return made_up.peers;
}

bool tfs_memory_signals(void)
{
	return false;
}

void *tfs_stream_handle(uint16_t id)
{
	return id == 3 ? &context : NULL;
}

uint16_t tfs_stream_find(const void *handle, bool per_thread)
{
	(void)handle, (void)per_thread;
	return 3;
}

bool tfs_work_note(const struct tfs_function *function, const struct tfs_details *details)
{
	(void)function, (void)details;
	return false;
}

uint64_t tfs_work_now(void)
{
	return 42;
}

void tfs_work_finished(uint64_t before)
{
	TEST_EQ(before, 42);
}

void tfs_work_finished_on(uint16_t stream, uint64_t before)
{
	TEST_EQ(stream, 3);
	TEST_EQ(before, 42);
	finished++;
}

bool tfs_work_any(void)
{
	return made_up.works;
}

bool tfs_work_on(uint16_t stream)
{
	(void)stream;
	return made_up.works;
}

bool tfs_work_is_own(void)
{
	return !made_up.others_work;
}

void tfs_work_look(struct tfs_work *out)
{
	*out = made_up.work;
}

bool tfs_narrowed_in_order(void)
{
	return !made_up.free_streams;
}

void tfs_narrowed_end_stream(void)
{
}

bool tfs_narrowed_wait(const struct tfs_memory_functions *use, const struct tfs_work *work)
{
	TEST_TRUE(use == &memory && work->visible == 1);
	now_ns += NARROWED_NS;
	narrowed++;
	return true;
}

void tfs_narrowed_get_fence(const struct tfs_memory_functions *use)
{
	TEST_TRUE(use == &memory);
}

bool tfs_narrowed_put_fence(const struct tfs_memory_functions *use)
{
	TEST_TRUE(use == &memory);
	return !made_up.no_fence;
}

void tfs_narrowed_owe(uint64_t number)
{
	TEST_EQ(number, 42);
	owed++;
}

void tfs_narrowed_paid(uint64_t number)
{
	TEST_EQ(number, 42);
}

void tfs_narrowed_pay(const struct tfs_memory_functions *use)
{
	TEST_TRUE(use == &memory);
}

void tfs_narrowed_reset(void)
{
}

bool tfs_evidence_enough(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	(void)evidence, (void)shape;
	TEST_EQ(site, SITE);
	return clean >= ENOUGH;
}

void tfs_evidence_clean(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	(void)evidence, (void)shape;
	TEST_EQ(site, SITE);
	clean++;
}

void tfs_evidence_spoiled(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	(void)evidence, (void)shape;
	TEST_EQ(site, SITE);
	spoiled++;
	clean = 0;
}

/* What the rewrite says of itself. */
void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == &tfs_rewrite_sync_narrowing && site == SITE);
	refused = check;
}

bool tfs_rewrite_check_cause(
	const struct tfs_rewrite *rewrite, uint32_t check, const char *cause, uint32_t site)
{
	return tfs_rewrite_check(rewrite, check, !cause, site);
}

bool tfs_rewrite_may_act(const struct tfs_rewrite *rewrite)
{
	(void)rewrite;
	return true;
}

void tfs_rewrite_acted(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	(void)rewrite;
	TEST_EQ(bytes, 0);
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
	TEST_TRUE(rewrite == &tfs_rewrite_sync_narrowing && site == SITE);
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
	TEST_TRUE(rewrite == &tfs_rewrite_sync_narrowing);
	predicted = ns;
}

/* A wait for the device, so long after the one before. Whether the rewrite has carried it out; else
 * it takes so long, with a status. */
static bool waits_so(uint64_t later_ns, uint64_t takes_ns, uint32_t status)
{
	struct tfs_op op = {.kind = TFS_OP_WAIT, .site = SITE, .may_act = true};
	enum tfs_answer answer;

	now_ns += later_ns;
	refused = TFS_CHECK_none;
	predicted = NAN;
	answer = tfs_rewrite_sync_narrowing.before(&op);
	if (answer == TFS_DONE)
		return TEST_EQ(op.status, 0);
	now_ns += takes_ns;
	op.status = status;
	if (answer == TFS_MINDS)
		TEST_TRUE(!tfs_rewrite_sync_narrowing.after(&op));
	return false;
}

static bool waits(uint64_t takes_ns)
{
	return waits_so(1000, takes_ns, 0);
}

/* A program whose device was looked at, by its first wait; with work, part of which the host cannot
 * see, or none. */
static void begin(bool works)
{
	const struct tfs_op reset = {.kind = TFS_OP_RESET};

	memset(&made_up, 0, sizeof(made_up));
	made_up.devices = 1;
	made_up.works = works;
	made_up.work = (struct tfs_work){.visible = 1, .streams = {3}, .quiet = 1};
	mode = TFS_MODE_APPLY;
	tfs_rewrite_sync_narrowing.event(&reset);
	waits(50000);
	clean = spoiled = acted = differences = shadowed = finished = owed = forgotten = 0;
	narrowed = 0;
}

/* Where nothing is left to wait for, it gains the least that such a wait took. */
static void waited_for_before(void)
{
	begin(false);
	TEST_TRUE(!waits(400));
	TEST_EQ(refused, TFS_CHECK_shadow_evidence);
	TEST_TRUE(!waits(300));
	TEST_EQ(clean, ENOUGH);
	TEST_EQ(acted, 0);
	TEST_TRUE(waits(0));
	TEST_EQ(acted, 1);
	TEST_EQ(predicted, 300);
	/* The device is at something all the same. */
	made_up.busy = 600;
	TEST_TRUE(!waits(900));
	TEST_EQ(refused, TFS_CHECK_carried_out);
	TEST_EQ(forgotten, 1);
	TEST_EQ(acted, 1);
	TEST_EQ(narrowed + owed, 0);
}

/* Where some is, it gains what the whole wait would have taken beyond the narrowed one, if the host
 * has as much to do before it waits again. */
static void of_some_streams(void)
{
	begin(true);
	TEST_TRUE(!waits(800));
	TEST_TRUE(!waits(700));
	TEST_EQ(clean, ENOUGH);
	TEST_EQ(narrowed, 2);
	TEST_EQ(owed + finished, 0);
	TEST_TRUE(waits(0));
	TEST_EQ(acted, 1);
	TEST_EQ(owed, 1);
	TEST_EQ(finished, 1);
	TEST_TRUE(isnan(predicted));
	TEST_TRUE(waits_so(200, 0, 0));
	TEST_EQ(predicted, 200);
	TEST_TRUE(waits_so(5000, 0, 0));
	TEST_EQ(predicted, 700);
	/* Without the order between streams nothing is promised. */
	made_up.no_fence = true;
	TEST_TRUE(!waits(700));
	TEST_EQ(refused, TFS_CHECK_carried_out);
	TEST_EQ(forgotten, 1);
	TEST_EQ(acted, 3);
	TEST_EQ(owed, 3);
}

/* What is tried out, and is not as good as the program's own wait. */
static void is_found_out(void)
{
	begin(false);
	made_up.busy = 600;
	waits(400);
	TEST_EQ(spoiled, 1);
	TEST_EQ(differences, 1);
	TEST_EQ(difference.code, TFS_REASON_at_work);
	/* It may be another thread's. */
	made_up.others_work = true;
	waits(400);
	TEST_EQ(spoiled, 2);
	TEST_EQ(differences, 1);
	begin(true);
	waits_so(1000, 400, 7);
	TEST_EQ(spoiled, 1);
	TEST_EQ(clean, 0);
	TEST_EQ(differences, 1);
	TEST_EQ(difference.code, TFS_REASON_wait_reported_error);
}

static void is_refused(uint32_t check)
{
	TEST_TRUE(!waits(100));
	if (!TEST_EQ(refused, check))
		printf("  in place of check %u\n", check);
	TEST_EQ(narrowed + acted + clean, 0);
	begin(true);
}

/* Each check, where nothing else stands against it. */
static void checks(void)
{
	begin(true);
	tfs_captures_open = 1;
	is_refused(TFS_CHECK_not_capturing);
	tfs_captures_open = 0;
	made_up.error = 1;
	is_refused(TFS_CHECK_no_error_waiting);
	made_up.missed_threads = true;
	is_refused(TFS_CHECK_all_calls_seen);
	made_up.free_streams = true;
	is_refused(TFS_CHECK_no_free_streams);
	made_up.peers = true;
	is_refused(TFS_CHECK_no_other_users);
	made_up.work.unknown = true;
	is_refused(TFS_CHECK_streams_in_reach);
	made_up.work.streams[0] = 4; /* without a handle */
	is_refused(TFS_CHECK_streams_in_reach);
	made_up.work.visible = 0;
	is_refused(TFS_CHECK_work_to_wait_for);
	made_up.work.quiet = 0;
	is_refused(TFS_CHECK_work_to_leave_out);
}

/* What the first wait behind a reset finds. */
static void devices(void)
{
	const struct tfs_op reset = {.kind = TFS_OP_RESET};

	begin(true);
	made_up.devices = 2;
	tfs_rewrite_sync_narrowing.event(&reset);
	waits(100);
	TEST_EQ(refused, TFS_CHECK_none);
	is_refused(TFS_CHECK_one_device);
	made_up.reaches_pageable = true;
	tfs_rewrite_sync_narrowing.event(&reset);
	waits(100);
	is_refused(TFS_CHECK_no_pageable_access);
}

static void modes(void)
{
	begin(true);
	mode = TFS_MODE_SHADOW;
	clean = ENOUGH;
	TEST_TRUE(!waits(100));
	TEST_EQ(shadowed, 1);
	TEST_EQ(narrowed, 1);
	mode = TFS_MODE_REPORT;
	TEST_TRUE(!waits(100));
	mode = TFS_MODE_OFF;
	TEST_TRUE(!waits(100));
	TEST_EQ(narrowed, 1);
	TEST_EQ(acted, 0);
}

int main(void)
{
	waited_for_before();
	of_some_streams();
	is_found_out();
	checks();
	devices();
	modes();
	return test_result();
}
