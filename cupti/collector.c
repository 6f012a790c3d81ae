/* SPDX-License-Identifier: MIT */
#include "cupti/collector.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cupti/buffers.h"
#include "cupti/calls.h"
#include "cupti/decode.h"
#include "cupti/ending.h"
#include "cupti/kinds.h"
#include "cupti/library.h"
#include "shim/base/clock.h"
#include "shim/record/recorder.h"

/* How long the end of the program may wait for the helper's flush. */
#define PATIENCE_NS 500000000

/* How often the helper looks for stragglers once a window is closed. */
#define LOOKS_AFTER 3

/* How long whoever wants CUPTI may wait for it. */
#define TURN_SECONDS 1

enum state { ABSENT, FAILED, READY, LEAVING, AWAY, OVER };

static _Atomic int state = ABSENT;
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool open_now;
static _Atomic int looks;
static pthread_mutex_t turning =
	PTHREAD_MUTEX_INITIALIZER; /* who has CUPTI, and whether it is on */
static _Atomic bool wanted;        /* the helper is to look for it */
static _Atomic(CUpti_BuffersCallbackRequestFunc) their_request;
static _Atomic(CUpti_BuffersCallbackCompleteFunc) their_complete;
static char owner[64]; /* who else subscribed; set once */
static struct tfs_cupti cupti;
static _Atomic bool opened; /* `cupti` has its functions, for ever */
static struct tfs_decoder decoder;

static bool ready(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == READY;
}

bool tfs_collector_ready(void)
{
	return ready();
}

/* Records are still taken while CUPTI is being given back. */
static bool taking(void)
{
	const int now = atomic_load_explicit(&state, memory_order_acquire);

	return now == READY || now == LEAVING;
}

static bool turn(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TURN_SECONDS;
	return pthread_mutex_timedlock(&turning, &until) == 0;
}

/* It cannot be taken back: for another tool it says what CUPTI's own would. */
static uint64_t CUPTIAPI timestamp_ns(void)
{
	return tfs_clock_ns(atomic_load_explicit(&state, memory_order_relaxed) == AWAY
				    ? CLOCK_REALTIME
				    : CLOCK_MONOTONIC);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	const int saved = errno;

	*buffer = taking() ? tfs_cupti_buffer_take() : NULL;
	*size = *buffer ? TFS_CUPTI_BUFFER_BYTES : 0;
	*max_records = 0;
	errno = saved;
}

static void count_dropped(void)
{
	size_t dropped = 0;

	if (cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS &&
		dropped != 0)
		tfs_recorder_lost(TFS_LOSS_cupti_dropped, dropped);
}

/* A buffer of ours that CUPTI filled for another tool: its own buffer takes the contents. */
static void hand_on(CUcontext context, uint32_t stream, const uint8_t *buffer, size_t valid)
{
	const CUpti_BuffersCallbackRequestFunc request = atomic_load(&their_request);
	const CUpti_BuffersCallbackCompleteFunc complete = atomic_load(&their_complete);
	uint8_t *other = NULL;
	size_t size = 0;
	size_t most = 0;

	if (!request || !complete)
		return;
	request(&other, &size, &most);
	if (other && size >= valid)
		memcpy(other, buffer, valid);
	if (other)
		complete(context, stream, other, size, size >= valid ? valid : 0);
}

static void CUPTIAPI take_buffer(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const int saved = errno;

	if (!buffer)
		return;
	if (!tfs_cupti_buffer_is_own(buffer)) {
		const CUpti_BuffersCallbackCompleteFunc theirs = atomic_load(&their_complete);

		if (theirs)
			theirs(context, stream, buffer, size, valid);
		return;
	}
	if (taking() && valid != 0 && valid <= size)
		tfs_cupti_decode(&decoder, buffer, valid);
	else if (valid != 0 && valid <= size)
		hand_on(context, stream, buffer, valid);
	tfs_cupti_buffer_return(buffer, valid);
	if (taking())
		count_dropped();
	errno = saved;
}

/* Refused settings only make it slower or less exact: the answers are not looked at. */
static void set_up(void)
{
	uint8_t zeroed = 1;
	size_t bytes = sizeof(zeroed);
	uint64_t now = 0;

	cupti.cuptiActivitySetAttribute(
		CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
	if (cupti.cuptiSetThreadIdType)
		cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	decoder = (struct tfs_decoder){
		.next = cupti.cuptiActivityGetNextRecord,
		.version = cupti.version,
		.from_ns = UINT64_MAX,
		.put = tfs_recorder_put,
		.keeps = tfs_cupti_is_watched,
		.kernel = tfs_recorder_kernel,
		.lost = tfs_recorder_lost,
	};
	if (cupti.cuptiActivityRegisterTimestampCallback &&
		cupti.cuptiActivityRegisterTimestampCallback(timestamp_ns) == CUPTI_SUCCESS)
		return;
	if (cupti.cuptiGetTimestamp(&now) == CUPTI_SUCCESS)
		decoder.offset_ns = (int64_t)(tfs_clock_ns(CLOCK_MONOTONIC) - now);
}

/* What the library keeps from one owner to the next is as it was. */
static void set_back(void)
{
	uint8_t zeroed = 0;
	size_t bytes = sizeof(zeroed);

	cupti.cuptiActivitySetAttribute(
		CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
	if (cupti.cuptiSetThreadIdType)
		cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
}

/* Subscribed, it is made ready for windows. */
static bool begin(void)
{
	size_t unwanted; /* records of the time before the first window are no loss */

	set_up();
	if (cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
		!tfs_cupti_switch(&cupti, true)) {
		tfs_cupti_switch(&cupti, false);
		return false;
	}
	/* The first time takes long; from now on a window opens quickly. */
	tfs_cupti_switch(&cupti, false);
	cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &unwanted);
	return true;
}

/* An older library does not say who has it. */
static void name_owner(struct tfs_cupti_refusal *refusal)
{
	if (refusal->fact != TFS_FACT_cupti_taken_by_another || *owner == '\0')
		return;
	refusal->fact = TFS_FACT_cupti_taken;
	snprintf(refusal->object, sizeof(refusal->object), "%s", owner);
}

static void start(void)
{
	struct tfs_cupti_refusal refusal;

	atomic_store(&state, FAILED);
	if (!tfs_cupti_open(&cupti, &refusal)) {
		name_owner(&refusal);
		tfs_recorder_fact(refusal.fact, refusal.object, refusal.number, 0);
		return;
	}
	atomic_store_explicit(&opened, true, memory_order_release);
	atomic_store(&state, LEAVING);
	if (!begin()) {
		cupti.cuptiUnsubscribe(cupti.subscriber);
		atomic_store(&state, FAILED);
		tfs_recorder_fact(TFS_FACT_cupti_refuses, NULL, 0, 0);
		return;
	}
	tfs_cupti_put_calls();
	tfs_recorder_fact(TFS_FACT_cupti_in_windows, NULL, cupti.version, 0);
	atomic_store_explicit(&state, READY, memory_order_release);
}

void tfs_collector_start(void)
{
	pthread_mutex_lock(&turning);
	if (atomic_load(&state) == ABSENT && tfs_ending_wait_for_us()) {
		start();
		tfs_ending_go_on();
	}
	pthread_mutex_unlock(&turning);
}

/* What once refused is not asked again: it would be at every look. When all was switched on for the
 * first time, in begin(), the program may have made calls, of which no window knows. */
static bool open_window(void)
{
	if (decoder.from_ns == UINT64_MAX)
		__atomic_store_n(&decoder.from_ns, tfs_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
	if (tfs_cupti_switch(&cupti, true))
		return true;
	atomic_store(&state, LEAVING);
	tfs_cupti_switch(&cupti, false);
	atomic_store(&open_now, false);
	set_back();
	cupti.cuptiUnsubscribe(cupti.subscriber);
	atomic_store(&state, AWAY);
	return false;
}

bool tfs_collector_window(bool open)
{
	bool sees = false;

	if (!ready() || !turn())
		return false;
	if (ready() && atomic_exchange(&open_now, open) != open) {
		if (open)
			sees = open_window();
		else
			tfs_cupti_switch(&cupti, false);
		atomic_store(&looks, LOOKS_AFTER);
	}
	pthread_mutex_unlock(&turning);
	return sees;
}

void tfs_collector_poll(void)
{
	const bool open = atomic_load(&open_now);

	if (atomic_exchange(&wanted, false))
		tfs_collector_start();
	if (!ready() || (!open && atomic_load(&looks) <= 0) ||
		pthread_mutex_trylock(&flushing) != 0)
		return;
	if (!open)
		atomic_fetch_sub(&looks, 1);
	if (ready())
		cupti.cuptiActivityFlushAll(0);
	pthread_mutex_unlock(&flushing);
}

static bool leave(bool *out_was_on)
{
	const int now = atomic_load(&state);

	*out_was_on = now == READY;
	if (now == ABSENT)
		atomic_store(&state, AWAY);
	if (now != READY)
		return now == ABSENT;
	atomic_store(&state, LEAVING);
	pthread_mutex_lock(&flushing);
	if (atomic_exchange(&open_now, false))
		tfs_cupti_switch(&cupti, false);
	cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	count_dropped();
	set_back();
	cupti.cuptiUnsubscribe(cupti.subscriber);
	pthread_mutex_unlock(&flushing);
	atomic_store(&state, AWAY);
	return true;
}

bool tfs_collector_leave(bool *out_was_on)
{
	bool left = false;

	if (turn()) {
		left = leave(out_was_on);
		pthread_mutex_unlock(&turning);
	}
	return left;
}

bool tfs_collector_return(struct tfs_cupti_refusal *out_refusal)
{
	bool back = false;

	if (!turn())
		return false;
	if (atomic_load(&state) == AWAY && !atomic_load(&opened)) {
		atomic_store(&state, ABSENT);
		atomic_store(&wanted, true);
	} else if (atomic_load(&state) == AWAY && tfs_cupti_subscribe(&cupti, out_refusal)) {
		atomic_store(&state, LEAVING);
		back = begin();
		if (!back)
			cupti.cuptiUnsubscribe(cupti.subscriber);
		atomic_store(&state, back ? READY : AWAY);
		if (!back)
			out_refusal->fact = TFS_FACT_cupti_refuses;
	}
	back = back || ready();
	pthread_mutex_unlock(&turning);
	return back;
}

void tfs_collector_taken(const char *by)
{
	if (*owner == '\0')
		snprintf(owner, sizeof(owner), "%s", by);
}

void *tfs_collector_share(void *request, void *complete)
{
	atomic_store(&their_request, (CUpti_BuffersCallbackRequestFunc)request);
	atomic_store(&their_complete, (CUpti_BuffersCallbackCompleteFunc)complete);
	return atomic_load(&opened) ? (void *)take_buffer : complete;
}

void tfs_collector_push(uint64_t unit)
{
	if (ready())
		cupti.cuptiActivityPushExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, unit);
}

void tfs_collector_pop(void)
{
	/* What was pushed is popped, whoever has CUPTI by now. */
	if (atomic_load_explicit(&opened, memory_order_acquire) &&
		atomic_load_explicit(&state, memory_order_relaxed) != OVER)
		cupti.cuptiActivityPopExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL);
}

void tfs_collector_finish(void)
{
	struct timespec until;

	if (!ready())
		return;
	const bool turned = turn();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	const bool alone = pthread_mutex_timedlock(&flushing, &until) == 0;
	if (atomic_exchange(&open_now, false))
		tfs_cupti_switch(&cupti, false);
	cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	count_dropped();
	atomic_store(&state, OVER);
	if (alone)
		pthread_mutex_unlock(&flushing);
	if (turned)
		pthread_mutex_unlock(&turning);
}

void tfs_collector_forget(void)
{
	atomic_store(&state, OVER);
}
