/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_LIBRARY_H
#define TFS_CUPTI_LIBRARY_H

/*
 * CUPTI's functions, looked up at run time in the newest libcupti that takes us as a subscriber.
 * It is never closed again and never finalised: both crash in released versions, the latter beside
 * threads that call CUDA meanwhile (CUPTI 13.0 on an H200).
 */

#include "shim/base/driver_api.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/refusal.h"

/* X(name): there since CUPTI 11.8. */
#define TFS_CUPTI_FUNCTIONS(X)                                                                     \
	X(cuptiGetVersion)                                                                         \
	X(cuptiGetTimestamp)                                                                       \
	X(cuptiSubscribe)                                                                          \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityFlushAll)                                                                   \
	X(cuptiActivityGetNextRecord)                                                              \
	X(cuptiActivityGetNumDroppedRecords)                                                       \
	X(cuptiActivitySetAttribute)                                                               \
	X(cuptiActivityPushExternalCorrelationId)                                                  \
	X(cuptiActivityPopExternalCorrelationId)

/* X(name): NULL where the library is too old for it. */
#define TFS_CUPTI_LATER_FUNCTIONS(X)                                                               \
	X(cuptiSubscribe_v2)                                                                       \
	X(cuptiActivityRegisterTimestampCallback)                                                  \
	X(cuptiSetThreadIdType)

struct tfs_cupti {
#define X(name) __typeof__(name) *name;
	TFS_CUPTI_FUNCTIONS(X)
	TFS_CUPTI_LATER_FUNCTIONS(X)
#undef X
	CUpti_SubscriberHandle subscriber;
	uint32_t version; /* as cuptiGetVersion says; 0 = not open */
};

/* Opens a library and subscribes; false with the reason, for the report. May wait for the loader.
 */
bool tfs_cupti_open(struct tfs_cupti *out_cupti, struct tfs_cupti_refusal *out_refusal);

/* Subscribes again, after cuptiUnsubscribe; false with the reason. */
bool tfs_cupti_subscribe(struct tfs_cupti *cupti, struct tfs_cupti_refusal *out_refusal);

#endif
