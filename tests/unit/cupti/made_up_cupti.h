/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_UNIT_CUPTI_MADE_UP_CUPTI_H
#define TFS_TESTS_UNIT_CUPTI_MADE_UP_CUPTI_H

/*
 * A CUPTI for the collector: does what `made_up` says, and what the collector does with it, and
 * what it has for the recording, is in `seen`. Stands in the place of functions that meson.build
 * wraps.
 */
#include "cupti/library.h"
#include "shim/base/clock.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"
#include "tests/test.h"

#define BEHIND_NS INT64_C(3600000000000) /* its clock, without ours */

/* What it does. */
static struct {
	struct tfs_cupti_refusal refusal; /* TFS_FACT_none: it is to be had */
	bool disabled;                    /* refuses activity */
	CUptiResult clock;                /* takes ours? */
	size_t dropped;                   /* records since it was asked */
} made_up;

/* What was seen. */
static struct {
	struct tfs_cupti_refusal fact;
	int facts, subscribed, unsubscribed, flushed, on, zeroed, apis, losses;
	uint64_t lost;
	struct tfs_device_op_record op;
	struct tfs_api_record copy, launch;
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	CUpti_ActivityMemset4 *set; /* that the next buffer holds */
} seen;

static CUptiResult CUPTIAPI get_timestamp(uint64_t *out_ns)
{
	*out_ns = tfs_clock_ns(CLOCK_MONOTONIC) - BEHIND_NS;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_clock(CUpti_TimestampCallbackFunc clock)
{
	TEST_TRUE(clock);
	return made_up.clock;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle subscriber)
{
	(void)subscriber;
	seen.unsubscribed++;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_buffers(
	CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	seen.request = request;
	seen.complete = complete;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind)
{
	if (made_up.disabled)
		return CUPTI_ERROR_UNKNOWN;
	seen.on += kind != CUPTI_ACTIVITY_KIND_RUNTIME && kind != CUPTI_ACTIVITY_KIND_DRIVER;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI disable(CUpti_ActivityKind kind)
{
	(void)kind;
	seen.on = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI flush(uint32_t flags)
{
	(void)flags;
	seen.flushed++;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	if (*record || valid < sizeof(*seen.set))
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)buffer;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI dropped(CUcontext context, uint32_t stream, size_t *out_count)
{
	if (context || stream)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out_count = made_up.dropped;
	made_up.dropped = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set_attribute(
	CUpti_ActivityAttribute attribute, size_t *bytes, void *value)
{
	TEST_EQ(attribute, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
	TEST_EQ(*bytes, 1);
	seen.zeroed = *(uint8_t *)value;
	return CUPTI_SUCCESS;
}

/* In the place of library.c. */
bool __wrap_tfs_cupti_subscribe(struct tfs_cupti *cupti, struct tfs_cupti_refusal *out_refusal);
bool __wrap_tfs_cupti_subscribe(struct tfs_cupti *cupti, struct tfs_cupti_refusal *out_refusal)
{
	(void)cupti;
	seen.subscribed++;
	if (made_up.refusal.fact == TFS_FACT_none)
		return true;
	*out_refusal = made_up.refusal;
	return false;
}

bool __wrap_tfs_cupti_open(struct tfs_cupti *out_cupti, struct tfs_cupti_refusal *out_refusal);
bool __wrap_tfs_cupti_open(struct tfs_cupti *out_cupti, struct tfs_cupti_refusal *out_refusal)
{
	if (!__wrap_tfs_cupti_subscribe(out_cupti, out_refusal))
		return false;
	*out_cupti = (struct tfs_cupti){.version = 130001,
		.cuptiGetTimestamp = get_timestamp,
		.cuptiActivityRegisterTimestampCallback = register_clock,
		.cuptiUnsubscribe = unsubscribe,
		.cuptiActivityRegisterCallbacks = register_buffers,
		.cuptiActivityEnable = enable,
		.cuptiActivityDisable = disable,
		.cuptiActivityFlushAll = flush,
		.cuptiActivityGetNextRecord = next_record,
		.cuptiActivityGetNumDroppedRecords = dropped,
		.cuptiActivitySetAttribute = set_attribute};
	return true;
}

/* In the place of the recorder and of the hooks. */
void __wrap_tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other);
void __wrap_tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other)
{
	(void)other;
	seen.facts++;
	seen.fact.fact = fact;
	seen.fact.number = number;
	snprintf(seen.fact.object, sizeof(seen.fact.object), "%s", object ? object : "");
}

void __wrap_tfs_recorder_lost(enum tfs_loss loss, uint64_t count);
void __wrap_tfs_recorder_lost(enum tfs_loss loss, uint64_t count)
{
	TEST_EQ(loss, TFS_LOSS_cupti_dropped);
	seen.losses++;
	seen.lost += count;
}

static const char *latest_name;

uint32_t __wrap_tfs_recorder_string(const char *text);
uint32_t __wrap_tfs_recorder_string(const char *text)
{
	latest_name = text;
	return 1;
}

void __wrap_tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes);
void __wrap_tfs_recorder_put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	if (kind == TFS_RECORD_device_op)
		memcpy(&seen.op, record, bytes);
	if (kind != TFS_RECORD_api)
		return;
	seen.apis++;
	if (strcmp(latest_name, "cudaMemcpy") == 0)
		memcpy(&seen.copy, record, bytes);
	if (strcmp(latest_name, "cuLaunchKernel") == 0)
		memcpy(&seen.launch, record, bytes);
}

void __wrap_tfs_lookup_each(
	bool (*visit)(struct tfs_function *function, void *argument), void *argument);
void __wrap_tfs_lookup_each(
	bool (*visit)(struct tfs_function *function, void *argument), void *argument)
{
	static struct tfs_function functions[] = {
		{.name = "cudaMalloc", .library = TFS_LIBRARY_cudart, .family = TFS_FAMILY_alloc},
		{.name = "cudaMemcpy", .library = TFS_LIBRARY_cuda, .family = TFS_FAMILY_free},
		{.name = "cudaMemcpy", .library = TFS_LIBRARY_cudart, .family = TFS_FAMILY_copy},
		{.name = "cuLaunchKernel",
			.library = TFS_LIBRARY_cuda,
			.family = TFS_FAMILY_launch},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!visit(&functions[i], argument))
			return;
}

#endif
