/* SPDX-License-Identifier: MIT */
/* A libcupti that calls itself without end where there is no driver, as a released one does. */
#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

/* The bytes are used after the call, so that it is no tail call. */
static int look_for_driver(volatile char *outer)
{
	volatile char frame[4096];

	if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != 0)
		return 0;
	frame[0] = *outer;
	return look_for_driver(frame) + frame[0];
}

#define FUNCTION(name)                                                                             \
	EXPORT int name(void);                                                                     \
	EXPORT int name(void)                                                                      \
	{                                                                                          \
		return look_for_driver((volatile char[]){0});                                      \
	}

FUNCTION(cuptiGetTimestamp)
FUNCTION(cuptiSubscribe)
FUNCTION(cuptiUnsubscribe)
FUNCTION(cuptiActivityRegisterCallbacks)
FUNCTION(cuptiActivityEnable)
FUNCTION(cuptiActivityDisable)
FUNCTION(cuptiActivityFlushAll)
FUNCTION(cuptiActivityGetNextRecord)
FUNCTION(cuptiActivityGetNumDroppedRecords)
FUNCTION(cuptiActivitySetAttribute)
FUNCTION(cuptiActivityPushExternalCorrelationId)
FUNCTION(cuptiActivityPopExternalCorrelationId)

EXPORT int cuptiGetVersion(unsigned *version);
EXPORT int cuptiGetVersion(unsigned *version)
{
	*version = 130200;
	return look_for_driver((volatile char[]){0});
}
