/* SPDX-License-Identifier: MIT */
/*
 * The client's buffers. A thread fills its own (or all fill one, by attribute), the device side
 * another. A full one goes to the worker thread, which hands it back once every record in it is
 * complete; a flush hands back the part-filled ones too.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/cupti/cupti_private.h"

struct buffer {
	struct buffer *next;
	uint8_t *data;
	size_t size, used, records, max_records;
	uint64_t ready_ns;
};

struct slot {
	struct slot *next;
	struct buffer *current;
	bool owned;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t slot_key;
static bool worker_runs;
static unsigned delivering;
static __thread unsigned delivering_here;
static struct slot device_slot, shared_slot, *thread_slots;
static struct buffer *full, **full_end = &full;
static size_t dropped, appended;
static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;

static void release_slot(void *slot)
{
	pthread_mutex_lock(&lock);
	((struct slot *)slot)->owned = false;
	pthread_mutex_unlock(&lock);
}

static void start(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_key_create(&slot_key, release_slot);
}

static void deliver(struct buffer *buffer)
{
	delivering_here++;
	if (complete_buffer)
		complete_buffer(NULL, 0, buffer->data, buffer->size, buffer->used);
	delivering_here--;
	free(buffer);
}

/* Takes a finished buffer off the queue; when there is only unfinished work, says until when. */
static struct buffer *take_full(bool forced, uint64_t *out_ready_ns)
{
	uint64_t now = tfsim_now_ns();
	struct buffer **link, *buffer;

	*out_ready_ns = 0;
	for (link = &full; (buffer = *link); link = &buffer->next) {
		if (forced || buffer->ready_ns <= now) {
			*link = buffer->next;
			if (full_end == &buffer->next)
				full_end = link;
			return buffer;
		}
		if (!*out_ready_ns || buffer->ready_ns < *out_ready_ns)
			*out_ready_ns = buffer->ready_ns;
	}
	return NULL;
}

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		uint64_t ready_ns;
		struct buffer *buffer = take_full(false, &ready_ns);

		if (buffer) {
			delivering++;
			pthread_mutex_unlock(&lock);
			deliver(buffer);
			pthread_mutex_lock(&lock);
			delivering--;
			pthread_cond_broadcast(&changed);
		} else if (ready_ns) {
			struct timespec until = {.tv_sec = (time_t)(ready_ns / 1000000000u),
				.tv_nsec = (long)(ready_ns % 1000000000u)};

			pthread_cond_timedwait(&changed, &lock, &until);
		} else {
			pthread_cond_wait(&changed, &lock);
		}
	}
	return NULL;
}

static void start_worker(void)
{
	pthread_t thread;
	sigset_t all, before;

	if (worker_runs)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (!pthread_create(&thread, NULL, work, NULL)) {
		pthread_detach(thread);
		worker_runs = true;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void push_full(struct buffer *buffer)
{
	buffer->next = NULL;
	*full_end = buffer;
	full_end = &buffer->next;
	start_worker();
	pthread_cond_broadcast(&changed);
}

static struct slot *own_slot(void)
{
	struct slot *slot = pthread_getspecific(slot_key);

	if (slot)
		return slot;
	for (slot = thread_slots; slot && slot->owned; slot = slot->next)
		;
	if (!slot) {
		slot = calloc(1, sizeof(*slot));
		if (!slot)
			return NULL;
		slot->next = thread_slots;
		thread_slots = slot;
	}
	slot->owned = true;
	pthread_setspecific(slot_key, slot);
	return slot;
}

static void put(struct buffer *buffer, const void *record, size_t size)
{
	memcpy(buffer->data + buffer->used, record, size);
	buffer->used += size;
	buffer->records++;
}

/* Asks the client without the lock: it may take its own time and locks. */
static struct buffer *ask(void)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));
	uint64_t start_ns = tfsim_now_ns();
	CUpti_ActivityOverhead3 overhead;

	if (buffer && request_buffer)
		request_buffer(&buffer->data, &buffer->size, &buffer->max_records);
	if (!buffer || !buffer->data) {
		free(buffer);
		return NULL;
	}
	if (!cupti_attribute_flag(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER))
		memset(buffer->data, 0, buffer->size);
	if (!buffer->max_records && buffer->size >= 1024 &&
		cupti_record_overhead(
			CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, start_ns, &overhead))
		put(buffer, &overhead, sizeof(overhead));
	return buffer;
}

static bool has_room(const struct buffer *buffer, size_t size)
{
	return buffer->used + size <= buffer->size &&
	       (!buffer->max_records || buffer->records < buffer->max_records);
}

/* The slot's buffer with room for a record; NULL = the record is lost. The lock is held. */
static struct buffer *make_room(struct slot *slot, size_t size)
{
	struct buffer *fresh;

	if (slot->current && has_room(slot->current, size))
		return slot->current;
	if (slot->current)
		push_full(slot->current);
	slot->current = NULL;
	pthread_mutex_unlock(&lock);
	fresh = ask();
	pthread_mutex_lock(&lock);
	if (!fresh)
		return slot->current && has_room(slot->current, size) ? slot->current : NULL;
	if (slot->current)
		push_full(slot->current);
	slot->current = fresh;
	return has_room(fresh, size) ? fresh : NULL;
}

void cupti_append(enum cupti_slot which, const void *record, size_t size, uint64_t ready_ns)
{
	struct slot *slot = &device_slot;
	struct buffer *buffer = NULL;

	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	if (which == CUPTI_SLOT_THREAD)
		slot = cupti_attribute_flag(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
			       ? own_slot()
			       : &shared_slot;
	if (slot && (cupti_mood() != CUPTI_DROPS || ++appended % 20))
		buffer = make_room(slot, size);
	if (buffer) {
		put(buffer, record, size);
		if (ready_ns > buffer->ready_ns)
			buffer->ready_ns = ready_ns;
	} else {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
}

void cupti_buffers_register(
	CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	request_buffer = request;
	complete_buffer = complete;
	pthread_mutex_unlock(&lock);
}

static void retire(struct slot *slot, bool forced, uint64_t now)
{
	struct buffer *buffer = slot->current;

	if (!buffer || !buffer->used || (!forced && buffer->ready_ns > now))
		return;
	slot->current = NULL;
	push_full(buffer);
}

void cupti_buffers_flush(bool forced)
{
	struct buffer *buffer;
	struct slot *slot;
	uint64_t ready_ns;

	pthread_once(&once, start);
	pthread_mutex_lock(&lock);
	retire(&device_slot, forced, tfsim_now_ns());
	retire(&shared_slot, forced, tfsim_now_ns());
	for (slot = thread_slots; slot; slot = slot->next)
		retire(slot, forced, tfsim_now_ns());
	while ((buffer = take_full(forced, &ready_ns))) {
		pthread_mutex_unlock(&lock);
		deliver(buffer);
		pthread_mutex_lock(&lock);
	}
	while (delivering && !delivering_here)
		pthread_cond_wait(&changed, &lock);
	if (cupti_mood() == CUPTI_HOLDS && !device_slot.current) {
		pthread_mutex_unlock(&lock);
		buffer = ask();
		pthread_mutex_lock(&lock);
		if (!device_slot.current)
			device_slot.current = buffer;
	}
	pthread_mutex_unlock(&lock);
}

size_t cupti_buffers_dropped(void)
{
	size_t count;

	pthread_mutex_lock(&lock);
	count = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return count;
}
