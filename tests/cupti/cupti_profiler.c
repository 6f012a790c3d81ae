/* SPDX-License-Identifier: MIT */
/*
 * A profiler in a library of its own, as PyTorch's is: it takes CUPTI for some steps in the middle
 * of a run and counts the memsets it is told of. Linked to CUPTI, or (LOOKUP) finding it by dlsym.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_second.h"

#define BYTES (64 << 10)
#define MOST 64

#define FUNCTIONS(X)                                                                               \
	X(cuptiSubscribe)                                                                          \
	X(cuptiSubscribe_v2)                                                                       \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityFlushAll)                                                                   \
	X(cuptiActivityGetNextRecord)                                                              \
	X(cuptiGetTimestamp)

static struct {
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
} cupti;
static CUpti_SubscriberHandle subscriber;
static uint8_t *given[MOST];
static int given_count, memsets, strange;
static uint64_t latest_ns;

static void CUPTIAPI ignore(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info)
{
	(void)data, (void)domain, (void)id, (void)info;
}

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most)
{
	*most = 0;
	*size = BYTES;
	*buffer = given_count < MOST ? aligned_alloc(8, BYTES) : NULL;
	if (*buffer) {
		/* CUPTI is not told that it is zeroed. */
		memset(*buffer, 0xa5, BYTES);
		given[given_count++] = *buffer;
	}
}

static void CUPTIAPI take(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;
	int own = 0;

	(void)context, (void)stream, (void)size;
	for (int i = 0; i < given_count; i++)
		own |= given[i] == buffer;
	strange += !own;
	while (own && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		const CUpti_ActivityMemset4 *set = (const void *)record;

		memsets += record->kind == CUPTI_ACTIVITY_KIND_MEMSET;
		if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET && set->end > latest_ns)
			latest_ns = set->end;
	}
	if (own)
		free(buffer);
}

static void find(void)
{
#ifdef LOOKUP
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

#define X(name) cupti.name = library ? (__typeof__(name) *)dlsym(library, #name) : NULL;
	FUNCTIONS(X)
#undef X
#else
#define X(name) cupti.name = name;
	FUNCTIONS(X)
#undef X
#endif
}

int profiler_start(const char *how)
{
	char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams params = {
		CUpti_SubscriberParams_STRUCT_SIZE, "second", owner, sizeof(owner)};
	CUptiResult status = CUPTI_SUCCESS;

	find();
	subscriber = NULL;
	if (strcmp(how, "v2") == 0)
		status = cupti.cuptiSubscribe_v2(&subscriber, ignore, NULL, &params);
	else if (strcmp(how, "unsubscribed") != 0)
		status = cupti.cuptiSubscribe(&subscriber, ignore, NULL);
	if (status == CUPTI_SUCCESS && *owner != '\0')
		return -1;
	if (status == CUPTI_SUCCESS)
		status = cupti.cuptiActivityRegisterCallbacks(give, take);
	if (status == CUPTI_SUCCESS)
		status = cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
	return (int)status;
}

int profiler_stop(struct profile *out)
{
	uint64_t now = 0;
	CUptiResult status = cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMSET);

	if (status == CUPTI_SUCCESS)
		status = cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	if (status == CUPTI_SUCCESS && subscriber)
		status = cupti.cuptiUnsubscribe(subscriber);
	cupti.cuptiGetTimestamp(&now);
	*out = (struct profile){memsets, strange, (long long)(now - latest_ns)};
	return (int)status;
}
