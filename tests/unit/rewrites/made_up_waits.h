/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_REWRITES_MADE_UP_WAITS_H
#define TFS_TESTS_UNIT_REWRITES_MADE_UP_WAITS_H

/* What sync-narrowing asks of the device, of what the program has submitted, and of the ledger;
 * with a clock that the test sets. */

#include <time.h>

#include "shim/record/recorder.h"
#include "shim/rewrites/common/unseen.h"
#include "shim/rewrites/common/work.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"
#include "tests/test.h"

#define SITE 5u
#define STREAMS 12u
#define FAILS 7 /* an error of the made-up device's */
#define NOT_READY 600

extern const struct tfs_rewrite tfs_rewrite_sync_narrowing;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

unsigned tfs_captures_open;
__thread struct tfs_stream_latest tfs_stream_latest;
uint64_t tfs_stream_generation = 2;

static uint64_t now_ns = UINT64_C(1000000000);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* What the device was asked for, in order: c(reate), r(ecord) and w(ait) with the stream, a(lloc),
 * f(ill), d(rain), q(uery). */
static char said[200];
static char handles[STREAMS]; /* of streams, by id */
static char *recorded[80];    /* by event: the stream's handle */
static unsigned created;
static int waiting; /* an error that nobody has asked for */
static unsigned forgotten;
static int create_fails, record_fails, wait_fails, fill_fails, drain_fails, query_says;
static void *queried;

static void say(char what, const char *handle)
{
	const size_t used = strlen(said);

	snprintf(said + used, sizeof(said) - used, handle ? "%c%d " : "%c ", what,
		handle ? (int)(handle - handles) : 0);
}

static int ends(int status)
{
	if (status != 0)
		waiting = status;
	return status;
}

static int event_create(void **out, unsigned flags)
{
	TEST_EQ(flags, TFS_MEMORY_EVENT);
	say('c', NULL);
	if (create_fails == 0) {
		TEST_NEED(created < 80);
		*out = &recorded[created++];
	}
	return ends(create_fails);
}

static int event_record(void *event, void *stream)
{
	*(char **)event = stream;
	say('r', stream);
	return ends(record_fails);
}

static int event_wait(void *event)
{
	say('w', *(char **)event);
	return ends(wait_fails);
}

static int query(void *handle)
{
	queried = handle;
	say('q', NULL);
	return ends(query_says);
}

static int alloc(void **out, size_t bytes)
{
	TEST_EQ(bytes, 256);
	say('a', NULL);
	*out = said;
	return 0;
}

static int fill(void *address, int value, size_t bytes, void *stream)
{
	TEST_TRUE(address == said && value == 0 && bytes == 256 && stream == TFS_STREAM_IN_ORDER);
	say('f', NULL);
	return ends(fill_fails);
}

static int drain(void)
{
	say('d', NULL);
	return ends(drain_fails);
}

static int device_count(int *out)
{
	*out = 1;
	return 0;
}

static int error_waits(void)
{
	return waiting;
}

static int forget_error(void)
{
	forgotten++;
	waiting = 0;
	return 0;
}

static const struct tfs_memory_functions functions = {
	.alloc = alloc,
	.drain = drain,
	.fill = fill,
	.event_create = event_create,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_query = query,
	.stream_query = query,
	.device_count = device_count,
	.error_waits = error_waits,
	.forget_error = forget_error,
};

const struct tfs_memory_functions *tfs_memory_functions(bool driver)
{
	return driver ? NULL : &functions;
}

static bool reaches_pageable;

bool tfs_memory_reaches_pageable(const struct tfs_memory_functions *use, int device)
{
	TEST_TRUE(use == &functions && device == 0);
	return reaches_pageable;
}

static char contexts[2];
static void *context = &contexts[0];

void *tfs_context_now(void)
{
	return context;
}

/* What the program has submitted. */
static struct tfs_work work;
static uint64_t submitted = 100;
static bool others_work;
static uint64_t finished[STREAMS], all_finished;

void tfs_work_look(struct tfs_work *out)
{
	*out = work;
}

uint64_t tfs_work_now(void)
{
	return submitted;
}

bool tfs_work_any(void)
{
	return work.visible + work.quiet > 0;
}

bool tfs_work_on(uint16_t stream)
{
	for (uint32_t i = 0; i < work.visible; i++)
		if (work.streams[i] == stream)
			return true;
	return false;
}

bool tfs_work_is_own(void)
{
	return !others_work;
}

void tfs_work_finished(uint64_t before)
{
	all_finished = before;
}

void tfs_work_finished_on(uint16_t stream, uint64_t before)
{
	finished[stream] = before;
}

static bool shared;

bool tfs_work_note(const struct tfs_function *function, const struct tfs_details *details)
{
	(void)function, (void)details;
	return shared;
}

uint16_t tfs_stream_find(const void *handle, bool per_thread)
{
	(void)per_thread;
	return handle ? (uint16_t)((const char *)handle - handles) : 0;
}

void *tfs_stream_handle(uint16_t id)
{
	return id == STREAMS - 1 ? NULL : &handles[id]; /* the last one is a thread's own */
}

static bool free_streams;

bool tfs_streams_free(void)
{
	return free_streams;
}

static const char *unseen, *users;
static bool missed, peers, signals;

bool tfs_recorder_missed_threads(void)
{
	return missed;
}

const char *tfs_unseen_work(void)
{
	return unseen;
}

const char *tfs_unseen_users(void)
{
	return users;
}

bool tfs_memory_peers(void)
{
	return peers;
}

bool tfs_memory_signals(void)
{
	return signals;
}

static enum tfs_rewrite_mode mode = TFS_MODE_APPLY;
static uint32_t refused; /* the latest check that did not hold */
static const char *refused_for;
static uint64_t differs; /* the latest reason */
static unsigned acted, shadows, predictions;
static double predicted;

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	TEST_TRUE(rewrite == &tfs_rewrite_sync_narrowing);
	return mode;
}

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	(void)rewrite;
	TEST_EQ(site, SITE);
	refused = check;
}

bool tfs_rewrite_check_cause(
	const struct tfs_rewrite *rewrite, uint32_t check, const char *cause, uint32_t site)
{
	if (!cause)
		return true;
	tfs_rewrite_refuse(rewrite, check, site);
	refused_for = cause;
	return false;
}

bool tfs_rewrite_may_act(const struct tfs_rewrite *rewrite)
{
	(void)rewrite;
	return mode == TFS_MODE_APPLY;
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
	shadows++;
	return true;
}

void tfs_rewrite_differs(
	const struct tfs_rewrite *rewrite, uint32_t site, const struct tfs_reason *evidence)
{
	(void)rewrite;
	TEST_EQ(site, SITE);
	differs = evidence->code;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	(void)rewrite;
	predictions++;
	predicted = ns;
}

#endif
