/* SPDX-License-Identifier: MIT */
/* A libcupti that is too new for the driver: it is complete, and takes nobody. */
#define EXPORT __attribute__((visibility("default")))
#define NOT_INITIALIZED 15

#define FUNCTION(name)                                                                             \
	EXPORT int name(void);                                                                     \
	EXPORT int name(void)                                                                      \
	{                                                                                          \
		return NOT_INITIALIZED;                                                            \
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
	*version = 139999;
	return 0;
}
