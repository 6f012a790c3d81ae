/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_RECORDER_H
#define TFS_SHIM_RECORD_RECORDER_H

/*
 * Records calls: totals per call site for the whole run, and full records while a window is open.
 * Each thread writes only its own chunks; nothing here locks, waits or allocates on the way of a
 * call that was seen before. hook.h is what hooks use; this is the machinery behind it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/base/clock.h"
#include "shim/base/likely.h"
#include "shim/contents/contents.h"
#include "shim/python/memory.h"
#include "shim/record/address.h"
#include "shim/record/callsite.h"
#include "shim/trace/format/format.h"
#include "shim/trace/writer.h"

/* Why a call's details are wanted beyond its totals; 0 most of the time. */
#define TFS_WANT_RECORD 1u /* a window is open */
#define TFS_WANT_STEPS 2u  /* the step search is still on */
#define TFS_WANT_DEVICE 4u /* CUPTI activity is on: tie it to the calls */
#define TFS_WANT_WORK 8u   /* a rewrite follows what is submitted */
#define TFS_WANT_FILLS 16u /* zeros may be held back: they come before the call */
#define TFS_WANT_HELD 32u  /* device memory is held: the call may need it, see held.h */
/* Of hooks that ask for it only: a rewrite may take the copy; and then, that one minds how it goes.
 */
#define TFS_WANT_COPIES 64u
/* Of them too: what is copied to the device is looked at. */
#define TFS_WANT_CONTENTS 128u

#define TFS_ASIDES 3u /* functions */

/* In memory that a child finds wiped (child.h): its calls miss the cache, and the others need not
 * ask whose recording it is. */
struct tfs_thread {
	char *next; /* where the next record goes */
	char *end;  /* end of the chunk's payload; == next while there is none */
	struct tfs_chunk *chunk;
	struct tfs_chunk *aggregates; /* NULL: not recorded */
	uint32_t aggregates_used;
	uint32_t index;
	uint32_t sequence; /* of the next chunk of records */
	uint64_t amount;   /* of all calls so far */
	struct tfs_cache cache;
	struct tfs_cache_entry *latest; /* of the call before this one; in the cache, or: */
	struct tfs_cache_entry evicted; /* by this call, whose place it had */
	struct tfs_aggregate *asides[TFS_ASIDES + 1]; /* by number, see aside.h; 0 is none's */
	struct tfs_address addresses[TFS_ADDRESSES];
	struct tfs_python_copies python;
	struct tfs_contents contents;
};

/* `active` is the thread's state while it may record; NULL inside a hook, before the first call,
 * in threads that could not get their buffers, and for ever in forked children. */
struct tfs_self {
	struct tfs_thread *active;
	uint64_t entered; /* stack of the latest call that was entered, see tfs_recorder_thread() */
	struct tfs_thread *owned;
	bool busy; /* inside the machinery itself */
};
extern __thread struct tfs_self tfs_self __attribute__((tls_model("initial-exec")));

extern struct tfs_writer tfs_recording;
extern uint32_t tfs_wanted TFS_OWN; /* TFS_WANT_*; relaxed atomic */

/* The calling thread's state, made on first use; NULL when it may not record now. `address` is
 * where the call returns to, `stack` where its caller's stack ends. A call that was entered further
 * down was left by a long jump or an exception: this one is not inside it. Cold. */
struct tfs_thread *tfs_recorder_thread(uint64_t address, uint64_t stack);

/* For tests: the same where no hook was called, with a name. NULL when it may not record. */
struct tfs_thread *tfs_recorder_named_thread(const char *name);

/* Room for a record of `units`, zeroed but for its head, or NULL (counted). The place is stable
 * until the matching commit; the same thread must not ask again in between. */
void *tfs_recorder_reserve(struct tfs_thread *thread, enum tfs_record_kind kind, uint32_t units);
void tfs_recorder_commit(struct tfs_thread *thread, const void *record);

/* The same by halves, for calls: is there room in the chunk as it is, then the record at
 * `thread->next` is complete. */
static inline bool tfs_recorder_has_room(const struct tfs_thread *thread, uint32_t units)
{
	return (uintptr_t)thread->next + (size_t)units * TFS_UNIT <= (uintptr_t)thread->end;
}
static inline void tfs_recorder_advance(struct tfs_thread *thread, uint32_t units)
{
	thread->next += (size_t)units * TFS_UNIT;
	__atomic_store_n(&thread->chunk->committed,
		(uint64_t)(thread->next - (char *)(thread->chunk + 1)), __ATOMIC_RELEASE);
}

/* The place the thread's next record of at most `units` will take, as link records name it. */
uint64_t tfs_recorder_next_unit(struct tfs_thread *thread, uint32_t units);

/* Copies a record of `bytes` into a stream that all threads share (a short spin keeps them apart):
 * for definitions and facts, not for calls. Does not move the thread's own place. What became of
 * rewrites is written to the file at once, and has room there when nothing else has. */
void tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes);

/* Ids. Text is copied. 0 when there is no room. Any thread. */
uint32_t tfs_recorder_string(const char *text);
uint32_t tfs_recorder_kernel(const char *name);

/* States something for the report's visibility section; what object (copied; NULL = none) and
 * numbers mean, the fact's sentence says. Any thread. */
void tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other);

/* The process's rank is known now, unless the user stated it. Any thread. */
void tfs_recorder_rank(uint32_t rank);

/* Counts a loss. Any thread. */
void tfs_recorder_lost(enum tfs_loss loss, uint64_t count);

/* Was there a thread of which no call is seen? */
bool tfs_recorder_missed_threads(void);

/* The totals slot of (site, function) in this thread; NULL when the table is full. */
struct tfs_aggregate *tfs_recorder_aggregate(
	struct tfs_thread *thread, uint32_t site, uint16_t function);

/* Begins to record, in memory; 0 or -errno. Once. */
int tfs_recorder_begin(void);

/* Makes the file for it. Once, the thread that writes: folders may take for ever to answer. */
void tfs_recorder_create(void);

/* What became of that, once it has returned, is said: 0, also where it goes on without a file, or
 * -errno. */
int tfs_recorder_created(void);

/* Writes what was recorded since the last time; the thread that writes, and nobody else. */
void tfs_recorder_write(void);

/* Records a pair of clock readings. The helper thread. */
void tfs_recorder_pair_clocks(void);

/* The recording is complete; later records are still accepted but may be missed. False when its
 * file is gone, another's by now, or was cut short. */
bool tfs_recorder_finish(void);

/* In a forked child: this process records nothing, and never touches the parent's file again. */
void tfs_recorder_forget(void);

#endif
