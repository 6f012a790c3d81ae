/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/sim/cupti/cupti_private.h"

#define DEPTH 256

/* Deeper ids are counted, not kept. */
struct stack {
	unsigned depth;
	uint64_t id[DEPTH];
};

static __thread struct stack *stacks;

static CUptiResult check(CUpti_ExternalCorrelationKind kind)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
		kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	CUptiResult status = check(kind);
	struct stack *stack;

	if (status)
		return status;
	if (!stacks)
		stacks = calloc(CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, sizeof(*stacks));
	if (!stacks)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	stack = &stacks[kind];
	if (stack->depth < DEPTH)
		stack->id[stack->depth] = id;
	stack->depth++;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(
	CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
	CUptiResult status = check(kind);
	struct stack *stack;

	if (status)
		return status;
	if (!stacks || !stacks[kind].depth)
		return CUPTI_ERROR_QUEUE_EMPTY;
	stack = &stacks[kind];
	stack->depth--;
	if (lastId)
		*lastId = stack->depth < DEPTH ? stack->id[stack->depth] : 0;
	return CUPTI_SUCCESS;
}

void cupti_correlation_append(uint32_t correlation)
{
	int kind;

	if (!stacks || !cupti_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		return;
	for (kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
		const struct stack *stack = &stacks[kind];
		CUpti_ActivityExternalCorrelation record = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = (CUpti_ExternalCorrelationKind)kind,
			.correlationId = correlation};

		if (!stack->depth)
			continue;
		record.externalId = stack->id[(stack->depth < DEPTH ? stack->depth : DEPTH) - 1];
		cupti_append(CUPTI_SLOT_THREAD, &record, sizeof(record), 0);
	}
}
