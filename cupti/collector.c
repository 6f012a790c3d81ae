/* SPDX-License-Identifier: MIT */
#include "cupti/collector.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cupti/buffers.h"
#include "cupti/decode.h"
#include "cupti/kinds.h"
#include "cupti/library.h"
#include "shim/clock.h"
#include "shim/recorder.h"

/* How long the end of the program may wait for the helper's flush. */
#define PATIENCE_NS 500000000

/* How often the helper looks for stragglers once a window is closed. */
#define LOOKS_AFTER 3

enum state { ABSENT, READY, OVER };

static _Atomic int state = ABSENT;
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool open_now;
static _Atomic int looks;
static struct tfs_cupti cupti;
static struct tfs_decoder decoder;

static bool ready(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == READY;
}

bool tfs_collector_ready(void)
{
	return ready();
}

static uint64_t CUPTIAPI monotonic_ns(void)
{
	return tfs_clock_ns(CLOCK_MONOTONIC);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	const int saved = errno;

	*buffer = ready() ? tfs_cupti_buffer_take() : NULL;
	*size = *buffer != NULL ? TFS_CUPTI_BUFFER_BYTES : 0;
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

static void CUPTIAPI take_buffer(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const int saved = errno;

	(void)context;
	(void)stream;
	if (buffer == NULL || !ready())
		return;
	if (valid != 0 && valid <= size)
		tfs_cupti_decode(&decoder, buffer, valid);
	tfs_cupti_buffer_return(buffer, valid);
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
	if (cupti.cuptiSetThreadIdType != NULL)
		cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	decoder = (struct tfs_decoder){
		.next = cupti.cuptiActivityGetNextRecord,
		.version = cupti.version,
		.put = tfs_recorder_put,
		.kernel = tfs_recorder_kernel,
		.lost = tfs_recorder_lost,
	};
	if (cupti.cuptiActivityRegisterTimestampCallback != NULL &&
		cupti.cuptiActivityRegisterTimestampCallback(monotonic_ns) == CUPTI_SUCCESS)
		return;
	if (cupti.cuptiGetTimestamp(&now) == CUPTI_SUCCESS)
		decoder.offset_ns = (int64_t)(monotonic_ns() - now);
}

static void put_api(uint32_t cbid, bool driver, const char *name)
{
	const struct tfs_api_record record = {
		.record = {.function = (uint16_t)cbid, .site = tfs_recorder_string(name)},
		.domain = driver ? TFS_LIBRARY_cuda : TFS_LIBRARY_cudart,
	};

	tfs_recorder_put(&record, TFS_RECORD_api, sizeof(record));
}

void tfs_collector_start(void)
{
	size_t unwanted; /* records of the time before the first window are no loss */
	char text[160];

	if (!tfs_cupti_open(&cupti, text, sizeof(text))) {
		tfs_recorder_fact("cupti", text, 0);
		return;
	}
	set_up();
	if (cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS ||
		!tfs_cupti_switch(&cupti, true)) {
		tfs_cupti_switch(&cupti, false);
		tfs_recorder_fact("cupti", "not available: it refuses activity records", 0);
		return;
	}
	/* The first time takes long; from now on a window opens quickly. */
	tfs_cupti_switch(&cupti, false);
	cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &unwanted);
	tfs_cupti_watched(put_api);
	tfs_recorder_fact("cupti", "in windows", cupti.version);
	atomic_store_explicit(&state, READY, memory_order_release);
}

static bool open_window(void)
{
	const bool sees = tfs_cupti_switch(&cupti, true);

	if (!sees) {
		tfs_cupti_switch(&cupti, false);
		atomic_store(&open_now, false);
	}
	return sees;
}

bool tfs_collector_window(bool open)
{
	if (!ready() || atomic_exchange(&open_now, open) == open)
		return false;
	if (open)
		return open_window();
	tfs_cupti_switch(&cupti, false);
	atomic_store(&looks, LOOKS_AFTER);
	return false;
}

void tfs_collector_poll(void)
{
	const bool open = atomic_load(&open_now);

	if (!ready() || (!open && atomic_load(&looks) <= 0) ||
		pthread_mutex_trylock(&flushing) != 0)
		return;
	if (!open)
		atomic_fetch_sub(&looks, 1);
	cupti.cuptiActivityFlushAll(0);
	pthread_mutex_unlock(&flushing);
}

void tfs_collector_push(uint64_t unit)
{
	if (ready())
		cupti.cuptiActivityPushExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, unit);
}

void tfs_collector_pop(void)
{
	if (ready())
		cupti.cuptiActivityPopExternalCorrelationId(
			CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL);
}

void tfs_collector_finish(void)
{
	struct timespec until;

	if (!ready())
		return;
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
}

void tfs_collector_forget(void)
{
	atomic_store(&state, OVER);
}
