/* SPDX-License-Identifier: MIT */
/* What becomes of calls that begin a step, lie outside of all, or come from an unknown place:
 * marks, packed times, and what rewrites are told. Each case in a process of its own. */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/record/recorder.h"
#include "shim/steps/step_listeners.h"
#include "shim/steps/steps.h"
#include "shim/steps/steps_candidates.h"
#include "shim/steps/steps_search.h"
#include "shim/steps/windows.h"
#include "shim/trace/format/iterations.h"
#include "tests/test.h"

#define PACKED 200u /* times of a record */
#define HABIT 8     /* steps in a row after which a place is one */
#define CALLER UINT64_C(0x1234)
#define CALLER_SITE 77u

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

bool tfs_clock_is_tsc;
__thread struct tfs_self tfs_self;
_Atomic bool tfs_windows_rewriting = true;

static uint64_t now = 1000000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	*out = (struct timespec){.tv_nsec = (long)now};
	return 0;
}

/* What the recording was told. */
static struct tfs_step_record marks[8]; /* the latest first */
static unsigned marked;
static struct {
	struct tfs_steps_record record;
	float ticks[PACKED];
} packed;
static unsigned packs;
static enum tfs_fact_code fact;

void tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	if (kind == TFS_RECORD_step) {
		memmove(&marks[1], &marks[0], sizeof(marks) - sizeof(marks[0]));
		memcpy(&marks[0], record, bytes);
		marked++;
		return;
	}
	TEST_EQ(kind, TFS_RECORD_steps);
	TEST_NEED(bytes <= sizeof(packed));
	memcpy(&packed, record, bytes);
	TEST_EQ(bytes, sizeof(packed.record) + packed.record.count * sizeof(float));
	packs++;
}

void tfs_recorder_fact(enum tfs_fact_code code, const char *object, uint64_t number, uint64_t more)
{
	(void)object, (void)number, (void)more;
	fact = code;
}

void tfs_recorder_lost(enum tfs_loss what, uint64_t count)
{
	(void)what;
	TEST_EQ(count, 0);
}

uint32_t tfs_callsite_single(uint64_t address)
{
	TEST_EQ(address, CALLER);
	return CALLER_SITE;
}

static bool window;
static uint32_t step_flags;
static uint64_t window_step;
static unsigned windows_anew;

bool tfs_windows_open(void)
{
	return window;
}

uint32_t tfs_windows_step_flags(void)
{
	return step_flags;
}

void tfs_windows_step(uint64_t index)
{
	window_step = index;
}

void tfs_windows_anew(void)
{
	windows_anew++;
}

/* The search for the step. */
static struct tfs_thread own, other;
static bool doubtful, dominant, same_place, searchable = true, found = true, is_elsewhere;
static enum tfs_fact_code settled;

struct tfs_thread *tfs_steps_owner(void)
{
	return &own;
}

bool tfs_steps_doubtful(void)
{
	return doubtful;
}

bool tfs_steps_dominant(void)
{
	return dominant;
}

bool tfs_steps_same_place(const struct tfs_thread *thread, const struct tfs_cache_entry *entry)
{
	TEST_TRUE(thread == &own && entry);
	return same_place;
}

bool tfs_steps_searchable(void)
{
	return searchable;
}

bool tfs_steps_found(void)
{
	return found;
}

void tfs_steps_settle(enum tfs_fact_code what)
{
	settled = what;
}

void tfs_steps_elsewhere(bool elsewhere)
{
	is_elsewhere = elsewhere;
}

uint64_t tfs_step_candidates_calls(void)
{
	return 0;
}

static unsigned ended, interrupted;
static uint64_t ended_ns, ended_bytes;

static void note_ended(uint64_t ns, uint64_t bytes)
{
	ended++;
	ended_ns = ns;
	ended_bytes = bytes;
}

static void note_interrupted(void)
{
	interrupted++;
}

const struct tfs_step_listeners tfs_step_listeners = {
	.ended = note_ended, .interrupted = note_interrupted};

/* A call of the steps' thread from a place with these flags. */
static void call(uint32_t site, uint16_t flags)
{
	static struct tfs_cache_entry entries[2];
	static unsigned number;
	struct tfs_cache_entry *entry = &entries[number++ % 2];

	*entry = (struct tfs_cache_entry){.site = site, .flags = flags};
	if ((flags & TFS_SITE_STEP) != 0)
		tfs_steps_mark(&own, entry);
	own.latest = entry;
}

/* Begins a step after so many ticks. */
static void step(uint64_t ticks)
{
	now += ticks;
	call(1, TFS_SITE_OPENS_STEP);
	call(2, 0);
}

static void is_mark(uint64_t index, enum tfs_phase phase, uint64_t ticks, uint32_t site)
{
	TEST_EQ(marks[0].index, index);
	TEST_EQ(marks[0].phase, phase);
	TEST_EQ(marks[0].start_ticks, ticks);
	TEST_EQ(marks[0].site, site);
}

static void is_packed(uint64_t first, uint32_t count, uint64_t start, uint32_t flags)
{
	TEST_EQ(packed.record.first_index, first);
	TEST_EQ(packed.record.count, count);
	TEST_EQ(packed.record.first_start_ticks, start);
	TEST_EQ(packed.record.flags, flags);
}

/* Steps outside windows are marked where a row begins, and packed. */
static void rows(void)
{
	const uint64_t start = now + 10;

	TEST_EQ(tfs_steps_now(), 0);
	step(10);
	TEST_EQ(marked, 1);
	is_mark(1, TFS_PHASE_TRAINING, start, 1);
	TEST_EQ(marks[0].source, TFS_STEP_LOOPS);
	TEST_EQ(window_step, 1);
	for (unsigned i = 2; i <= PACKED + 1; i++)
		step(i);
	TEST_EQ(packs, 0);
	TEST_EQ(tfs_steps_now(), PACKED + 1);
	TEST_EQ(tfs_steps_count(), PACKED + 1);
	step(30);
	TEST_EQ(packs, 1);
	is_packed(1, PACKED, start, 0);
	for (unsigned i = 0; i < PACKED; i++)
		TEST_EQ(packed.ticks[i], i + 2);
	/* Those with other flags begin a record anew. */
	step_flags = 1;
	step(40);
	TEST_EQ(packs, 2);
	is_packed(PACKED + 1, 1, now - 70, 0);
	TEST_EQ(packed.ticks[0], 30);
	TEST_EQ(marked, 1);
	now += 5;
	tfs_steps_finish();
	TEST_EQ(packs, 3);
	is_packed(PACKED + 2, 1, now - 45, 1);
	TEST_EQ(packed.ticks[0], 40);
	TEST_EQ(marked, 2);
	is_mark(PACKED + 3, TFS_PHASE_TRAINING, now, 0);
	TEST_EQ(fact, TFS_FACT_none);
}

/* In a window each has its own mark. */
static void in_window(void)
{
	step(10);
	step(10);
	window = true;
	step_flags = 2;
	step(10);
	step(10);
	TEST_EQ(marked, 3);
	is_mark(4, TFS_PHASE_TRAINING, now, 1);
	TEST_EQ(marks[0].flags, 2);
	dominant = true;
	step(10);
	TEST_EQ(marks[0].source, TFS_STEP_ITERATIONS);
	window = false;
	step_flags = 0;
	step(10);
	step(10);
	tfs_steps_finish();
	TEST_EQ(packs, 2);
	is_packed(5, 2, now - 20, 0);
}

static void calls_of_others(void)
{
	struct tfs_cache_entry entry = {.site = 1, .flags = TFS_SITE_OPENS_STEP};

	tfs_steps_mark(&other, &entry);
	TEST_EQ(tfs_steps_now(), 0);
	step(10);
	/* The same place once more, in the same step. */
	same_place = true;
	step(10);
	TEST_EQ(tfs_steps_now(), 1);
	same_place = false;
	step(10);
	TEST_EQ(tfs_steps_now(), 2);
	found = false;
	tfs_steps_finish();
	TEST_EQ(fact, TFS_FACT_steps_none);
}

/* Rewrites hear of each step that another one follows at once. */
static void measured(void)
{
	tfs_self.owned = &own;
	own.amount = 100;
	step(10);
	TEST_EQ(ended, 0);
	own.amount = 160;
	step(25);
	TEST_EQ(ended, 1);
	TEST_EQ(ended_ns, 25);
	TEST_EQ(ended_bytes, 60);
	tfs_windows_rewriting = false;
	step(26);
	TEST_EQ(ended, 1);
	tfs_windows_rewriting = true;
	own.amount = 190;
	step(27);
	TEST_EQ(ended, 2);
	TEST_EQ(ended_ns, 27);
	TEST_EQ(ended_bytes, 30);
	TEST_EQ(interrupted, 0);
	call(9, TFS_SITE_OUTSIDE);
	TEST_EQ(interrupted, 1);
	step(28);
	TEST_EQ(ended, 2);
	step(29);
	TEST_EQ(ended, 3);
	TEST_EQ(ended_ns, 29);
}

/* A call that is made in no step ends the row. */
static void outside(void)
{
	call(9, TFS_SITE_OUTSIDE);
	TEST_EQ(marked, 0);
	step(10);
	step(10);
	TEST_TRUE(!is_elsewhere);
	now += 7;
	const uint64_t left = now;
	call(9, TFS_SITE_OUTSIDE);
	is_mark(2, TFS_PHASE_OTHER, left, 9);
	TEST_EQ(tfs_steps_now(), 0);
	TEST_TRUE(is_elsewhere);
	call(9, TFS_SITE_OUTSIDE);
	TEST_EQ(marked, 2);
	step(50);
	TEST_TRUE(!is_elsewhere);
	is_mark(3, TFS_PHASE_TRAINING, now, 1);
	TEST_EQ(tfs_steps_now(), 3);
	tfs_steps_finish();
	/* What came in between is no step's time. */
	is_packed(1, 2, left - 17, 0);
	TEST_EQ(packed.ticks[1], 7);
}

/* One that every step makes is one of the step's own. */
static void habit(void)
{
	for (int i = 0; i < HABIT; i++) {
		step(10);
		call(9, TFS_SITE_OUTSIDE);
		TEST_EQ(tfs_steps_now(), 0);
	}
	step(10);
	call(9, TFS_SITE_OUTSIDE);
	TEST_EQ(tfs_steps_now(), HABIT + 1);
	/* Another one is none yet. */
	call(8, TFS_SITE_OUTSIDE);
	TEST_EQ(tfs_steps_now(), 0);
	/* Nor is any, where the step is not certain. */
	step(10);
	doubtful = true;
	call(9, TFS_SITE_OUTSIDE);
	TEST_EQ(tfs_steps_now(), 0);
}

/* Calls from unknown places were outside, from the first one on, if the step ends with them. */
static void unknown(void)
{
	step(10);
	now += 5;
	const uint64_t left = now;
	call(6, TFS_SITE_UNKNOWN);
	now += 5;
	call(7, TFS_SITE_UNKNOWN);
	TEST_EQ(marked, 1);
	TEST_EQ(tfs_steps_now(), 1);
	step(10);
	TEST_EQ(marked, 3);
	TEST_EQ(marks[1].phase, TFS_PHASE_OTHER);
	TEST_EQ(marks[1].start_ticks, left);
	TEST_EQ(marks[1].site, 6);
	TEST_EQ(interrupted, 1);
	is_mark(2, TFS_PHASE_TRAINING, now, 1);
	/* Others follow: the step went on. */
	call(6, TFS_SITE_UNKNOWN);
	call(2, 0);
	step(10);
	TEST_EQ(marked, 3);
	TEST_EQ(tfs_steps_now(), 3);
	/* An end that is behind a stretch has begun with it. */
	now += 3;
	const uint64_t again = now;
	call(6, TFS_SITE_UNKNOWN);
	now += 3;
	call(9, TFS_SITE_OUTSIDE);
	is_mark(3, TFS_PHASE_OTHER, again, 6);
	/* As the end of each step they are its own. */
	for (int i = 0; i < HABIT; i++) {
		step(10);
		call(5, TFS_SITE_UNKNOWN);
	}
	const unsigned before = marked;
	step(10);
	TEST_EQ(marked, before + 2);
	call(5, TFS_SITE_UNKNOWN);
	step(10);
	TEST_EQ(marked, before + 2);
}

/* The program itself says where steps begin and end. */
static void declared(void)
{
	step(10);
	step(10);
	now += 4;
	tfs_steps_begin(TFS_STEP_NVTX, now, CALLER);
	TEST_EQ(settled, TFS_FACT_steps_found);
	TEST_EQ(interrupted, 1);
	TEST_TRUE(!tfs_steps_by_loops());
	TEST_EQ(marked, 3);
	TEST_EQ(marks[1].phase, TFS_PHASE_OTHER);
	is_mark(3, TFS_PHASE_TRAINING, now, CALLER_SITE);
	TEST_EQ(marks[0].source, TFS_STEP_NVTX);
	step(10);
	TEST_EQ(tfs_steps_now(), 3);
	tfs_steps_begin(TFS_STEP_NVTX, now += 10, CALLER);
	TEST_EQ(tfs_steps_now(), 4);
	/* The interface has the last word. */
	tfs_steps_begin(TFS_STEP_API, now += 10, CALLER);
	TEST_EQ(settled, TFS_FACT_steps_told);
	TEST_EQ(tfs_steps_now(), 5);
	TEST_EQ(marks[0].source, TFS_STEP_API);
	tfs_steps_begin(TFS_STEP_NVTX, now += 10, CALLER);
	TEST_EQ(tfs_steps_now(), 5);
	ended = 0;
	tfs_steps_begin(TFS_STEP_API, now += 10, CALLER);
	TEST_EQ(ended, 1);
	tfs_steps_end(TFS_STEP_API, now += 10, CALLER);
	TEST_EQ(ended, 2);
	TEST_EQ(tfs_steps_now(), 0);
	is_mark(6, TFS_PHASE_OTHER, now, CALLER_SITE);
	/* Ended already: the time up to the next one is no step's. */
	tfs_steps_end(TFS_STEP_API, now += 10, CALLER);
	tfs_steps_begin(TFS_STEP_API, now += 10, CALLER);
	TEST_EQ(ended, 2);
	tfs_steps_end(TFS_STEP_API, now += 10, CALLER);
	/* No loop's steps are looked for any more. */
	TEST_TRUE(!tfs_steps_anew());
	TEST_EQ(windows_anew, 0);
	const unsigned before = marked;
	tfs_steps_finish();
	TEST_EQ(marked, before);
}

static void *declare(void *nothing)
{
	tfs_steps_begin(TFS_STEP_API, now, CALLER);
	return nothing;
}

/* In one thread, which may not be the one that was found. */
static void declared_by_one(void)
{
	pthread_t thread;

	searchable = false;
	tfs_steps_begin(TFS_STEP_API, now, CALLER);
	TEST_EQ(tfs_steps_now(), 0);
	searchable = true;
	tfs_steps_begin(TFS_STEP_API, now, CALLER);
	TEST_NEED(pthread_create(&thread, NULL, declare, NULL) == 0);
	pthread_join(thread, NULL);
	TEST_EQ(tfs_steps_now(), 1);
}

/* Where the loop that was found is doubted, its steps were none. */
static void declared_anew(void)
{
	step(10);
	doubtful = true;
	tfs_steps_begin(TFS_STEP_API, now += 10, CALLER);
	TEST_EQ(windows_anew, 1);
	TEST_EQ(marks[1].flags, TFS_STEP_ANEW);
	TEST_EQ(marks[1].phase, TFS_PHASE_WARMUP);
	TEST_EQ(marks[1].index, 1);
	is_mark(2, TFS_PHASE_TRAINING, now, CALLER_SITE);
}

/* Another loop is the step, which may be found while the first one rests. */
static void anew(void)
{
	TEST_TRUE(!tfs_steps_anew());
	step(10);
	TEST_TRUE(!tfs_steps_anew());
	call(9, TFS_SITE_OUTSIDE);
	TEST_TRUE(tfs_steps_anew());
	TEST_EQ(windows_anew, 1);
	TEST_EQ(marks[0].flags, TFS_STEP_ANEW);
	TEST_EQ(marks[0].index, 1);
	TEST_TRUE(!tfs_steps_anew());
	step(10);
	is_mark(2, TFS_PHASE_TRAINING, now, 1);
	/* Habits were those of the other loop. */
	for (int i = 0; i < HABIT; i++) {
		call(9, TFS_SITE_OUTSIDE);
		step(10);
	}
	call(9, TFS_SITE_OUTSIDE);
	TEST_TRUE(tfs_steps_now() != 0);
	call(8, TFS_SITE_OUTSIDE);
	TEST_TRUE(tfs_steps_anew());
	step(10);
	call(9, TFS_SITE_OUTSIDE);
	TEST_EQ(tfs_steps_now(), 0);
}

static void alone(const char *name, void (*test)(void))
{
	int status = -1;

	fflush(stdout);
	const pid_t child = fork();
	TEST_NEED(child >= 0);
	if (child == 0) {
		test();
		fflush(stdout);
		exit(test_result()); /* not _exit: coverage is counted at the end */
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	if (!TEST_EQ(status, 0))
		printf("in %s\n", name);
}

int main(void)
{
	alone("rows", rows);
	alone("in_window", in_window);
	alone("calls_of_others", calls_of_others);
	alone("measured", measured);
	alone("outside", outside);
	alone("habit", habit);
	alone("unknown", unknown);
	alone("declared", declared);
	alone("declared_by_one", declared_by_one);
	alone("declared_anew", declared_anew);
	alone("anew", anew);
	return test_result();
}
