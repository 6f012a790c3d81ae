/* SPDX-License-Identifier: MIT */
#include "tests/sim/cupti/cupti_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum cupti_mood mood;
static atomic_bool forked;
static atomic_int thread_id_type;
static atomic_bool taken_down;

static void take_down(void)
{
	atomic_store(&taken_down, true);
}

/* As constructors of C++ register the destructors of what they make. */
__attribute__((constructor)) static void loaded(void)
{
	atexit(take_down);
}

/* What a real CUPTI does in a forked child is a hang or worse; this one only says so. */
static void after_fork(void)
{
	atomic_store(&forked, true);
}

static void start(void)
{
	const char *text = getenv("TFSIM_CUPTI");

	if (text && !strcmp(text, "refuse"))
		mood = CUPTI_REFUSES;
	else if (text && !strcmp(text, "missing-driver"))
		mood = CUPTI_WITHOUT_DRIVER;
	else if (text && !strcmp(text, "old-driver"))
		mood = CUPTI_WITH_OLD_DRIVER;
	else if (text && !strcmp(text, "drops"))
		mood = CUPTI_DROPS;
	else if (text && !strcmp(text, "holds"))
		mood = CUPTI_HOLDS;
	else if (text && !strcmp(text, "tires"))
		mood = CUPTI_TIRES;
	else if (text && !strcmp(text, "slow"))
		mood = CUPTI_IS_SLOW;
	pthread_atfork(NULL, NULL, after_fork);
}

enum cupti_mood cupti_mood(void)
{
	pthread_once(&once, start);
	return mood;
}

CUptiResult cupti_usable(void)
{
	/* The real one leaves any. */
	errno = ENOTTY;
	switch (cupti_mood()) {
	case CUPTI_WITHOUT_DRIVER:
		return CUPTI_ERROR_UNKNOWN;
	case CUPTI_WITH_OLD_DRIVER:
		return CUPTI_ERROR_NOT_INITIALIZED;
	default:
		break;
	}
	if (atomic_load(&forked)) {
		static const char line[] = "tfsim: CUPTI was used in a forked child\n";

		if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
			return CUPTI_ERROR_UNKNOWN;
		return CUPTI_ERROR_UNKNOWN;
	}
	return CUPTI_SUCCESS;
}

void cupti_linger(void)
{
	static const struct timespec moment = {0, 100000};

	/* As static variables of C++ are made when their function is first called. */
	if (cupti_mood() == CUPTI_IS_SLOW)
		atexit(take_down);
	for (int i = 0; i < 3000 && cupti_mood() == CUPTI_IS_SLOW; i++) {
		nanosleep(&moment, NULL);
		if (atomic_load(&taken_down))
			abort();
	}
}

static void on_enter(struct tfsim_api *api)
{
	if (!atomic_load(&forked))
		cupti_callback_api(api, CUPTI_API_ENTER);
}

static void on_exit_of(struct tfsim_api *api)
{
	if (atomic_load(&forked))
		return;
	cupti_callback_api(api, CUPTI_API_EXIT);
	cupti_record_api(api);
}

static void on_fact(const struct tfsim_fact *fact)
{
	if (atomic_load(&forked))
		return;
	cupti_callback_fact(fact);
	cupti_record_fact(fact);
}

static void listen_once(void)
{
	static const struct tfsim_sink sink = {
		.api_enter = on_enter, .api_exit = on_exit_of, .fact = on_fact};

	tfsim_sink_set(&sink);
}

void cupti_listen(void)
{
	static pthread_once_t listening = PTHREAD_ONCE_INIT;

	pthread_once(&listening, listen_once);
}

uint32_t cupti_thread(uint32_t tid)
{
	if (atomic_load(&thread_id_type) == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return tid;
	return (uint32_t)(uintptr_t)pthread_self();
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if ((unsigned)type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&thread_id_type, (int)type);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	if (!type)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*type = (CUpti_ActivityThreadIdType)atomic_load(&thread_id_type);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = 130001;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceSupported(CUdevice dev, int *support)
{
	if (!support)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (dev < 0 || dev >= tfsim_device_count())
		return CUPTI_ERROR_INVALID_DEVICE;
	*support = 1;
	return CUPTI_SUCCESS;
}
