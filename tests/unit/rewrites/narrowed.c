/* SPDX-License-Identifier: MIT */
/* sync-narrowing on a made-up device: what a wait waits for in the place of all, what it leaves
 * behind, when it acts at all, and what it is said to gain. */
#include "shim/resolve/lookup.h"
#include "shim/rewrites/common/evidence.h"
#include "shim/rewrites/rewrite.h"
#include "tests/test.h"
#include "tests/unit/rewrites/made_up_waits.h"

static const struct tfs_rewrite *const self = &tfs_rewrite_sync_narrowing;

/* The program waits: is it carried out in the library's place? What it takes else, and how that
 * ends, is `own_ns` and `own_status`. */
static uint64_t own_ns = 100;
static uint32_t own_status;

static bool waits(enum tfs_sync what, void *handle)
{
	struct tfs_op op = {.kind = TFS_OP_WAIT, .site = SITE, .may_act = true, .status = 99};

	op.wait.what = what;
	op.wait.handle = handle;
	*said = '\0';
	refused = 0;
	differs = 0;
	memset(finished, 0, sizeof(finished));
	all_finished = 0;
	submitted++;
	const enum tfs_answer answer = self->before(&op);
	if (answer == TFS_DONE) {
		TEST_EQ(op.status, 0);
		return true;
	}
	if (answer == TFS_MINDS) {
		now_ns += own_ns;
		op.status = own_status;
		TEST_TRUE(!self->after(&op));
	}
	return false;
}

static bool waits_for_all(void)
{
	return waits(TFS_SYNC_DEVICE, NULL);
}

static void asks(void)
{
	waits(TFS_SYNC_ASKS, NULL);
}

/* Two streams with work that the host might see, one without. */
static void submit(void)
{
	work = (struct tfs_work){.visible = 2, .streams = {3, 7}, .quiet = 1};
}

static void try_out(void)
{
	for (unsigned i = 0; i < TFS_EVIDENCE_TRIES; i++) {
		TEST_TRUE(!waits_for_all());
		TEST_EQ(refused, TFS_CHECK_shadow_evidence);
	}
}

/* The first wait shows the device; then it is tried out beside the program's own. */
static void check_tries(void)
{
	submit();
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "");
	TEST_EQ(all_finished, submitted);
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "c r3 c r7 w3 w7 a ");
	own_ns = 70;
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "r3 r7 w3 w7 ");
	own_ns = 100;
	for (unsigned i = 2; i < TFS_EVIDENCE_TRIES; i++)
		TEST_TRUE(!waits_for_all());
	TEST_EQ(acted + predictions, 0);
}

/* Waits for those streams, puts a fence behind all, and that is what is finished then. */
static void check_acts(void)
{
	TEST_TRUE(waits_for_all());
	TEST_STR(said, "r3 r7 w3 w7 f ");
	TEST_EQ(finished[3], submitted);
	TEST_EQ(finished[7], submitted);
	TEST_EQ(all_finished, 0);
	TEST_EQ(acted, 1);
	TEST_EQ(predictions, 0);
	/* The least that the tries took, but no more than the host did something else. */
	now_ns += 30;
	TEST_TRUE(waits_for_all());
	TEST_EQ(predictions, 1);
	TEST_EQ(predicted, 30);
	now_ns += 5000;
	waits(TFS_SYNC_EVENT, &handles[3]);
	TEST_EQ(predictions, 2);
	TEST_EQ(predicted, 70);
	now_ns += 5000;
	waits(TFS_SYNC_EVENT, &handles[3]);
	TEST_EQ(predictions, 2);
}

/* Who asks how far the device is, is told what the wait promised. */
static void check_debt(void)
{
	TEST_TRUE(waits_for_all());
	asks();
	TEST_STR(said, "d ");
	asks();
	TEST_STR(said, "");
	TEST_TRUE(waits_for_all());
	mode = TFS_MODE_OFF;
	asks();
	TEST_STR(said, "d ");
	mode = TFS_MODE_APPLY;
	/* By the program's own wait it is paid, by one that fails it is not. */
	TEST_TRUE(waits_for_all());
	tfs_captures_open = 1;
	own_status = 1;
	TEST_TRUE(!waits_for_all());
	asks();
	TEST_STR(said, "d ");
	tfs_captures_open = 0;
	TEST_TRUE(waits_for_all());
	tfs_captures_open = 1;
	own_status = 0;
	TEST_TRUE(!waits_for_all());
	tfs_captures_open = 0;
	asks();
	TEST_STR(said, "");
	/* An error of ours is forgotten, one of the program's is not. */
	TEST_TRUE(waits_for_all());
	drain_fails = FAILS;
	forgotten = 0;
	asks();
	TEST_EQ(forgotten, 1);
	TEST_TRUE(waits_for_all());
	waiting = 3;
	asks();
	TEST_STR(said, "d ");
	TEST_EQ(forgotten, 1);
	drain_fails = waiting = 0;
	/* A stream that keeps to no order, and a call by which others may look, pay as well. */
	TEST_TRUE(waits_for_all());
	*said = '\0';
	self->event(&(struct tfs_op){.kind = TFS_OP_STREAM});
	TEST_STR(said, "d ");
}

static bool refuses(uint32_t check)
{
	const bool act = waits_for_all();

	TEST_STR(said, "");
	return !act && refused == check;
}

static void check_refusals(void)
{
	tfs_captures_open = 1;
	TEST_TRUE(refuses(TFS_CHECK_not_capturing));
	tfs_captures_open = 0;
	waiting = 3;
	TEST_TRUE(refuses(TFS_CHECK_no_error_waiting));
	waiting = 0;
	unseen = "a function";
	TEST_TRUE(refuses(TFS_CHECK_all_calls_seen));
	TEST_STR(refused_for, "a function");
	unseen = NULL;
	missed = true;
	TEST_TRUE(refuses(TFS_CHECK_all_calls_seen));
	missed = false;
	free_streams = true;
	TEST_TRUE(refuses(TFS_CHECK_no_free_streams));
	free_streams = false;
	users = "a library";
	TEST_TRUE(refuses(TFS_CHECK_no_other_users));
	TEST_STR(refused_for, "a library");
	users = NULL;
	peers = true;
	TEST_TRUE(refuses(TFS_CHECK_no_other_users));
	peers = false;
	signals = true;
	TEST_TRUE(refuses(TFS_CHECK_no_other_users));
	signals = false;
	work.unknown = true;
	TEST_TRUE(refuses(TFS_CHECK_streams_in_reach));
	work.unknown = false;
	work.visible = TFS_WORK_STREAMS + 1;
	TEST_TRUE(refuses(TFS_CHECK_streams_in_reach));
	work.visible = 2;
	work.streams[1] = STREAMS - 1;
	TEST_TRUE(refuses(TFS_CHECK_streams_in_reach));
	work.streams[1] = 7;
	work.visible = 0;
	TEST_TRUE(refuses(TFS_CHECK_work_to_wait_for));
	work.visible = 2;
	work.quiet = 0;
	TEST_TRUE(refuses(TFS_CHECK_work_to_leave_out));
	work.quiet = 1;
	/* Another context than the thread's own. */
	TEST_TRUE(!waits(TFS_SYNC_DEVICE, &contexts[1]));
	TEST_EQ(refused, TFS_CHECK_one_device);
	TEST_EQ(all_finished, 0);
	/* A stream with work of its own is waited for by the program itself. */
	TEST_TRUE(!waits(TFS_SYNC_STREAM, &handles[3]));
	TEST_EQ(refused, TFS_CHECK_nothing_submitted_since);
	TEST_EQ(finished[3], submitted);
	TEST_EQ(finished[7] + all_finished, 0);
	TEST_TRUE(waits(TFS_SYNC_DEVICE, &contexts[0]));
}

/* What goes wrong leaves no error behind, and the program waits itself. */
static void check_failures(void)
{
	int *const failing[] = {&record_fails, &wait_fails, &fill_fails};

	for (size_t i = 0; i < 3; i++) {
		*failing[i] = FAILS;
		forgotten = 0;
		TEST_TRUE(!waits_for_all());
		TEST_EQ(refused, TFS_CHECK_carried_out);
		TEST_TRUE(forgotten == 1 && waiting == 0);
		TEST_EQ(finished[3], 0);
		TEST_EQ(all_finished, submitted);
		*failing[i] = 0;
	}
	asks();
	TEST_STR(said, "");
	TEST_TRUE(waits_for_all());
}

/* An error that only the program's own wait has found: the other one would have kept it back. */
static void check_differs(void)
{
	mode = TFS_MODE_SHADOW;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(shadows, 1);
	TEST_STR(said, "r3 r7 w3 w7 ");
	TEST_EQ(differs, TFS_REASON_none);
	own_status = FAILS;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(differs, TFS_REASON_wait_reported_error);
	/* Of one that both found nothing is concluded. */
	wait_fails = FAILS;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(differs, TFS_REASON_none);
	TEST_EQ(waiting, 0);
	wait_fails = 0;
	/* Nor does a try that fails leave an error behind that the program would be told of. */
	own_status = 0;
	record_fails = FAILS;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(waiting, 0);
	TEST_EQ(differs, TFS_REASON_none);
	record_fails = 0;
	mode = TFS_MODE_APPLY;
	/* All that was clean before counts for nothing. */
	try_out();
	TEST_TRUE(waits_for_all());
}

/* Where nothing is left to do the device is asked, and the wait is gone. */
static void check_waited_for(void)
{
	work = (struct tfs_work){.visible = 0};
	for (unsigned i = 0; i < TFS_EVIDENCE_TRIES; i++) {
		own_ns = 40 + i;
		TEST_TRUE(!waits_for_all());
		TEST_STR(said, "q ");
		TEST_TRUE(queried == (void *)1);
	}
	predictions = 0;
	TEST_TRUE(waits_for_all());
	TEST_EQ(predictions, 1);
	TEST_EQ(predicted, 40);
	/* Asked each time: what says no is waited for. */
	query_says = NOT_READY;
	forgotten = 0;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(refused, TFS_CHECK_carried_out);
	TEST_TRUE(forgotten == 1 && waiting == 0);
	query_says = 0;
	TEST_TRUE(waits_for_all());
	/* Each kind of wait has its own evidence, and its own question. */
	TEST_TRUE(!waits(TFS_SYNC_STREAM, &handles[4]));
	TEST_TRUE(queried == &handles[4]);
	TEST_TRUE(!waits(TFS_SYNC_STREAM, NULL));
	TEST_TRUE(queried == (void *)1);
	TEST_TRUE(!waits(TFS_SYNC_EVENT, &handles[9]));
	TEST_TRUE(queried == &handles[9]);
	/* Of a stream only its own work counts. */
	submit();
	TEST_TRUE(!waits(TFS_SYNC_STREAM, &handles[4]));
	TEST_STR(said, "q ");
	work = (struct tfs_work){.visible = 0};
	/* At work though it was waited for: by the program's own thread that is a mistake. */
	mode = TFS_MODE_SHADOW;
	query_says = NOT_READY;
	others_work = true;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(differs, TFS_REASON_none);
	others_work = false;
	TEST_TRUE(!waits_for_all());
	TEST_EQ(differs, TFS_REASON_at_work);
	TEST_EQ(waiting, 0);
	query_says = 0;
	mode = TFS_MODE_APPLY;
}

/* With a device's reset all handles of ours are gone. */
static void check_reset(void)
{
	submit();
	TEST_EQ(created, 2);
	submitted++;
	self->event(&(struct tfs_op){.kind = TFS_OP_RESET});
	TEST_EQ(all_finished, submitted);
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "");
	/* There is no fence as yet. */
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "c r3 c r7 w3 w7 ");
	TEST_EQ(refused, TFS_CHECK_carried_out);
	mode = TFS_MODE_SHADOW;
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "r3 r7 w3 w7 a ");
	mode = TFS_MODE_APPLY;
	TEST_TRUE(waits_for_all());
	TEST_STR(said, "r3 r7 w3 w7 f ");
	/* The next one may be another. */
	reaches_pageable = true;
	self->event(&(struct tfs_op){.kind = TFS_OP_RESET});
	waits_for_all();
	TEST_TRUE(refuses(TFS_CHECK_no_pageable_access));
	reaches_pageable = false;
	self->event(&(struct tfs_op){.kind = TFS_OP_RESET});
	waits_for_all();
	mode = TFS_MODE_SHADOW;
	waits_for_all();
	mode = TFS_MODE_APPLY;
}

static void check_report(void)
{
	const unsigned before = acted;

	mode = TFS_MODE_REPORT;
	TEST_TRUE(!waits_for_all());
	TEST_STR(said, "");
	TEST_EQ(acted, before);
	mode = TFS_MODE_APPLY;
}

/* For good: what a wait on a second context, a stream that was destroyed, or a call by which others
 * may look at the device's memory leaves behind. */
static void check_for_good(void)
{
	const struct tfs_function function = {.name = "a call", .library = TFS_LIBRARY_cudart};

	TEST_TRUE(waits_for_all());
	shared = true;
	*said = '\0';
	self->event(&(struct tfs_op){.kind = TFS_OP_MADE, .function = &function});
	TEST_STR(said, "d ");
	TEST_TRUE(refuses(TFS_CHECK_no_other_users));
	TEST_STR(refused_for, "a call");
	waits(TFS_SYNC_ENDS_STREAM, &handles[3]);
	TEST_TRUE(refuses(TFS_CHECK_no_free_streams));
	context = &contexts[1];
	TEST_TRUE(refuses(TFS_CHECK_one_device));
	TEST_EQ(all_finished, 0);
	context = &contexts[0];
	TEST_TRUE(refuses(TFS_CHECK_one_device));
}

int main(void)
{
	check_tries();
	check_acts();
	check_debt();
	check_refusals();
	check_failures();
	check_differs();
	check_waited_for();
	check_reset();
	check_report();
	check_for_good();
	return test_result();
}
