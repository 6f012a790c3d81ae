/* SPDX-License-Identifier: MIT */
#include "shim/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/base/child.h"
#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/base/spin.h"
#include "shim/base/threads.h"
#include "shim/record/listeners.h"
#include "shim/resolve/lookup.h"
#include "shim/trace/store.h"

#define PAYLOAD (TFS_CHUNK_BYTES - sizeof(struct tfs_chunk))
#define SMALL_BYTES (16u << 10) /* a thread's first chunk, since most do little; definitions */
#define OUTCOME_BYTES (4u << 10)
#define LOOKUP 8192u /* slots of a thread's (site, function) index */

__thread struct tfs_self tfs_self __attribute__((tls_model("initial-exec")));
struct tfs_writer tfs_recording;
uint32_t tfs_wanted;

/* A thread's private memory; `thread` first, so that the two pointers are one. */
struct thread_memory {
	struct tfs_thread thread;
	struct thread_memory *next_idle;
	uint16_t lookup[LOOKUP]; /* aggregate number + 1 */
};

static _Atomic uint32_t thread_count = 1; /* thread 0 is the shared stream */
static struct tfs_thread shared_streams[TFS_ROOM_OUTCOMES + 1];
static uint32_t shared_sequence;
static struct tfs_spin shared_lock;
static struct tfs_spin idle_lock;
static struct thread_memory *idle_threads;
static pthread_key_t thread_key;
static bool have_thread_key;
static bool forgotten;

void tfs_recorder_rank(uint32_t rank)
{
	struct tfs_file_header *header = tfs_recording.header;

	if (tfs_options.rank_stated)
		return;
	__atomic_store_n(&tfs_options.rank, rank, __ATOMIC_RELAXED);
	if (header)
		__atomic_store_n(&header->rank, rank, __ATOMIC_RELAXED);
}

void tfs_recorder_lost(enum tfs_loss loss, uint64_t count)
{
	tfs_writer_lost(&tfs_recording, loss, count);
}

static enum tfs_room room_of(enum tfs_record_kind kind)
{
	switch (kind) {
	case TFS_RECORD_rewrite:
	case TFS_RECORD_refusal:
	case TFS_RECORD_search:
	case TFS_RECORD_product:
	case TFS_RECORD_fact:
	case TFS_RECORD_string:
		return TFS_ROOM_OUTCOMES;
	case TFS_RECORD_device_op:
	case TFS_RECORD_link:
	case TFS_RECORD_device_sync:
	case TFS_RECORD_device_api:
	case TFS_RECORD_device_memory:
	case TFS_RECORD_overhead:
	case TFS_RECORD_range:
	case TFS_RECORD_host:
	case TFS_RECORD_host_code:
	case TFS_RECORD_host_others:
		return TFS_ROOM_CALLS;
	default:
		return TFS_ROOM_DEFINITIONS;
	}
}

static enum tfs_room room_of_thread(const struct tfs_thread *thread)
{
	return thread->index == 0 ? (enum tfs_room)(thread - shared_streams) : TFS_ROOM_CALLS;
}

/* Replaces the thread's full chunk; false when there is no room for another. */
static bool next_chunk(struct tfs_thread *thread)
{
	const enum tfs_room room = room_of_thread(thread);
	uint32_t *sequence = thread->index == 0 ? &shared_sequence : &thread->sequence;
	struct tfs_chunk *full = thread->chunk;
	const struct tfs_chunk wanted = {.kind = TFS_CHUNK_RECORDS,
		.thread = thread->index,
		.sequence = *sequence,
		.bytes = room == TFS_ROOM_OUTCOMES               ? OUTCOME_BYTES
			 : !full || room == TFS_ROOM_DEFINITIONS ? SMALL_BYTES
								 : TFS_CHUNK_BYTES};
	struct tfs_chunk *fresh = tfs_writer_chunk(&tfs_recording, &wanted, room);

	if (!fresh)
		return false;
	++*sequence;
	thread->chunk = fresh;
	thread->next = (char *)(fresh + 1);
	thread->end = (char *)fresh + fresh->bytes;
	if (full) {
		tfs_writer_retire(&tfs_recording, full);
		tfs_threads_wake(TFS_CALL_WRITE);
	}
	return true;
}

void *tfs_recorder_reserve(struct tfs_thread *thread, enum tfs_record_kind kind, uint32_t units)
{
	if (!tfs_recorder_has_room(thread, units) && (units > UINT8_MAX || !next_chunk(thread))) {
		tfs_recorder_lost(TFS_LOSS_records_dropped, 1);
		return NULL;
	}
	struct tfs_record *record = (struct tfs_record *)thread->next;
	record->kind = (uint8_t)kind;
	record->units = (uint8_t)units;
	return record;
}

void tfs_recorder_commit(struct tfs_thread *thread, const void *record)
{
	tfs_recorder_advance(thread, ((const struct tfs_record *)record)->units);
}

uint64_t tfs_recorder_next_unit(struct tfs_thread *thread, uint32_t units)
{
	if (!tfs_recorder_has_room(thread, units) && !next_chunk(thread))
		return 0;
	return tfs_writer_unit(thread->chunk) +
	       (uint64_t)(thread->next - (char *)thread->chunk) / TFS_UNIT;
}

void tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	const uint32_t units = (uint32_t)((bytes + TFS_UNIT - 1) / TFS_UNIT);
	const enum tfs_room room = room_of(kind);

	if (!tfs_recording.header || tfs_child_is())
		return;
	tfs_spin_lock(&shared_lock);
	struct tfs_record *place = tfs_recorder_reserve(&shared_streams[room], kind, units);
	if (place) {
		tfs_store_copy(place, record, bytes);
		place->kind = (uint8_t)kind;
		place->units = (uint8_t)units;
		tfs_recorder_commit(&shared_streams[room], place);
	}
	tfs_spin_unlock(&shared_lock);
	if (room == TFS_ROOM_OUTCOMES && kind != TFS_RECORD_string)
		tfs_threads_wake(TFS_CALL_WRITE);
}

static void put_thread(const struct tfs_thread *thread, const char *name)
{
	struct tfs_thread_record record = {
		.index = thread->index,
		.tid = (uint32_t)syscall(SYS_gettid),
	};

	if (name)
		snprintf(record.name, sizeof(record.name), "%s", name);
	else
		pthread_getname_np(pthread_self(), record.name, sizeof(record.name));
	tfs_recorder_put(&record, TFS_RECORD_thread, sizeof(record));
}

/* Runs when a thread ends: its buffers serve the next new thread. */
static void retire_thread(void *argument)
{
	struct thread_memory *memory = argument;

	tfs_self.active = NULL;
	tfs_self.owned = NULL;
	if (forgotten)
		return;
	memset(&memory->thread.cache, 0, sizeof(memory->thread.cache));
	memory->thread.latest = NULL;
	tfs_spin_lock(&idle_lock);
	memory->next_idle = idle_threads;
	idle_threads = memory;
	tfs_spin_unlock(&idle_lock);
}

static struct thread_memory *reuse_memory(void)
{
	tfs_spin_lock(&idle_lock);
	struct thread_memory *memory = idle_threads;
	if (memory)
		idle_threads = memory->next_idle;
	tfs_spin_unlock(&idle_lock);
	return memory;
}

/* Pages, not the heap: a child is to find them wiped. */
static struct thread_memory *make_memory(void)
{
	struct thread_memory *memory = tfs_child_wiped_pages(sizeof(*memory));

	if (!memory)
		return NULL;
	const struct tfs_chunk wanted = {
		.kind = TFS_CHUNK_AGGREGATES, .thread = atomic_fetch_add(&thread_count, 1)};
	memory->thread.index = wanted.thread;
	memory->thread.aggregates = tfs_writer_chunk(&tfs_recording, &wanted, TFS_ROOM_TOTALS);
	if (memory->thread.aggregates)
		return memory;
	munmap(memory, sizeof(*memory));
	return NULL;
}

static _Atomic bool missed_threads;

bool tfs_recorder_missed_threads(void)
{
	return atomic_load_explicit(&missed_threads, memory_order_relaxed);
}

static struct tfs_thread *make_thread(const char *name)
{
	struct thread_memory *memory = reuse_memory();

	if (!memory)
		memory = make_memory();
	if (!memory) {
		atomic_store(&missed_threads, true);
		tfs_recorder_lost(TFS_LOSS_threads_failed, 1);
		return NULL;
	}
	if (have_thread_key)
		pthread_setspecific(thread_key, memory);
	put_thread(&memory->thread, name);
	tfs_self.owned = &memory->thread;
	return &memory->thread;
}

/* The thread is in a hook, or it has left one behind, which lies further down on the same stack. A
 * signal handler may have a stack of its own. */
static bool is_inside(uint64_t stack)
{
	stack_t other;

	return stack < tfs_self.entered || sigaltstack(NULL, &other) != 0 ||
	       (other.ss_flags & SS_ONSTACK) != 0;
}

struct tfs_thread *tfs_recorder_thread(uint64_t address, uint64_t stack)
{
	struct tfs_thread *thread = NULL;

	if (forgotten)
		return NULL;
	if (tfs_self.owned && !tfs_self.busy)
		return is_inside(stack) ? NULL : tfs_self.owned;
	const int saved = errno;
	if (tfs_listeners.forget_parents())
		return NULL;
	if (tfs_self.busy) {
		tfs_listeners.fills(NULL);
		errno = saved;
		return NULL;
	}
	tfs_self.busy = true;
	const bool running = tfs_listeners.running();
	if (running)
		thread = make_thread(NULL);
	else
		tfs_lookup_recheck_at(address);
	/* A thread that cannot have buffers is not asked again. */
	tfs_self.busy = running && !thread;
	tfs_self.active = thread;
	if (!thread)
		tfs_listeners.fills(NULL);
	errno = saved;
	return thread;
}

struct tfs_thread *tfs_recorder_named_thread(const char *name)
{
	if (!tfs_self.owned && tfs_recording.header && !forgotten)
		make_thread(name);
	return tfs_self.owned;
}

static uint16_t *lookup_slot(struct thread_memory *memory, uint32_t site, uint16_t function)
{
	const struct tfs_aggregate *slots =
		(const struct tfs_aggregate *)(memory->thread.aggregates + 1);
	uint32_t at = (site * 0x9E3779B1u ^ function * 0x85EBCA77u) % LOOKUP;

	for (;; at = (at + 1) % LOOKUP) {
		const uint16_t number = memory->lookup[at];

		if (number == 0 ||
			(slots[number - 1].site == site && slots[number - 1].function == function))
			return &memory->lookup[at];
	}
}

struct tfs_aggregate *tfs_recorder_aggregate(
	struct tfs_thread *thread, uint32_t site, uint16_t function)
{
	struct tfs_aggregate *slots = (struct tfs_aggregate *)(thread->aggregates + 1);
	uint16_t *number = lookup_slot((struct thread_memory *)thread, site, function);

	if (*number != 0)
		return &slots[*number - 1];
	if (thread->aggregates_used >= PAYLOAD / sizeof(*slots))
		return NULL;
	struct tfs_aggregate *slot = &slots[thread->aggregates_used++];
	slot->site = site;
	slot->function = function;
	*number = (uint16_t)thread->aggregates_used;
	__atomic_store_n(&thread->aggregates->committed,
		(uint64_t)thread->aggregates_used * sizeof(*slots), __ATOMIC_RELEASE);
	return slot;
}

void tfs_recorder_pair_clocks(void)
{
	struct tfs_clock_record record = {0};

	tfs_clock_pair(&record.ticks, &record.monotonic_ns);
	record.realtime_ns = tfs_clock_ns(CLOCK_REALTIME);
	tfs_recorder_put(&record, TFS_RECORD_clock, sizeof(record));
}

static void fill_header(struct tfs_file_header *header)
{
	header->clock = tfs_clock_is_tsc ? TFS_CLOCK_TSC : TFS_CLOCK_MONOTONIC;
	header->pid = (uint32_t)getpid();
	header->rank = tfs_options.rank;
	header->run = tfs_options.run;
	tfs_clock_pair(&header->start_ticks, &header->start_ns);
	header->start_realtime_ns = tfs_clock_ns(CLOCK_REALTIME);
	snprintf(header->version_text, sizeof(header->version_text), "%s", TFS_VERSION);
	if (readlink("/proc/self/exe", header->program, sizeof(header->program) - 1) < 0)
		header->program[0] = '\0';
}

int tfs_recorder_begin(void)
{
	const int err = tfs_writer_begin(&tfs_recording, tfs_options.limit_bytes,
		tfs_areas_take(tfs_env_text(tfs_options.memory)));

	if (err) {
		tfs_log_say("nothing is recorded: %s", strerror(-err));
		return err;
	}
	fill_header(tfs_recording.header);
	tfs_child_mark();
	/* The first piece of the file is for outcomes. */
	next_chunk(&shared_streams[TFS_ROOM_OUTCOMES]);
	have_thread_key = pthread_key_create(&thread_key, retire_thread) == 0;
	tfs_recorder_pair_clocks();
	return 0;
}

void tfs_recorder_write(void)
{
	tfs_writer_flush(&tfs_recording, false);
	tfs_writer_prepare(&tfs_recording);
}

bool tfs_recorder_finish(void)
{
	if (!tfs_recording.header || forgotten)
		return false;
	tfs_recorder_pair_clocks();
	return tfs_writer_finish(&tfs_recording);
}

void tfs_recorder_forget(void)
{
	forgotten = true;
	tfs_child_found();
	tfs_self.active = NULL;
	tfs_self.owned = NULL;
	tfs_self.busy = true;
	/* The memory may be shared with the parent: no counter may be touched either. */
	tfs_recording.header = NULL;
}
