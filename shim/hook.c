/* SPDX-License-Identifier: MIT */
#include "shim/hook.h"

#include <errno.h>
#include <string.h>

#include "cupti/collector.h"
#include "hook_families.h"
#include "shim/shim.h"
#include "shim/steps.h"

#define X(name) extern const struct tfs_hook_family tfs_family_##name;
TFS_HOOK_FAMILIES(X)
#undef X

static const struct tfs_hook_family *const families[] = {
#define X(name) &tfs_family_##name,
	TFS_HOOK_FAMILIES(X)
#undef X
};

/* The longest record of a call: its head and all items. */
#define LONGEST_CALL 13u

void tfs_hook_each(bool (*visit)(struct tfs_function *function, void *argument), void *argument)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (struct tfs_function *const *row = families[i]->functions; *row != NULL; row++)
			if (!visit(*row, argument))
				return;
}

static bool define(struct tfs_function *function, void *argument)
{
	struct {
		struct tfs_function_record record;
		char name[112];
	} definition = {0};
	const size_t length = strlen(function->name);

	(void)argument;
	if (length >= sizeof(definition.name))
		return true;
	definition.record.record.function = function->id;
	definition.record.record.site = function->library;
	definition.record.family = function->family;
	definition.record.name_bytes = (uint32_t)length;
	memcpy(definition.name, function->name, length);
	tfs_recorder_put(&definition, TFS_RECORD_function, sizeof(definition.record) + length + 1);
	return true;
}

void tfs_hook_define_all(void)
{
	/* A library's constructor may call CUDA before ours has run. */
	tfs_lookup_number();
	tfs_hook_each(define, NULL);
}

void tfs_hook_enter_slowly(struct tfs_frame *frame, const struct tfs_function *function,
	uint64_t address, uint64_t stack)
{
	const int saved = errno;

	if ((frame->entry->flags & TFS_SITE_SHORT) != 0 && tfs_callsite_can_unwind())
		tfs_callsite_resolve(frame->thread, frame->entry, address, stack, function);
	if ((frame->entry->flags & (TFS_SITE_OPENS_STEP | TFS_SITE_OUTSIDE | TFS_SITE_UNKNOWN)) !=
		0) {
		tfs_steps_mark(frame->thread, frame->entry);
		frame->wanted = __atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED);
	}
	if ((frame->wanted & TFS_WANT_DEVICE) != 0)
		tfs_collector_push(tfs_recorder_next_unit(frame->thread, LONGEST_CALL));
	errno = saved;
}

/* The table is full; or this is a child, made while the call was under way. */
bool tfs_hook_count_loss(struct tfs_frame *frame)
{
	if (tfs_shim_forget_parents()) {
		frame->thread = NULL;
		return false;
	}
	tfs_recorder_lost(TFS_LOSS_aggregates_full, 1);
	return true;
}

static void record(const struct tfs_frame *frame, const struct tfs_details *details)
{
	const uint32_t units = 1 + (details->count + 1) / 2;
	struct tfs_call *call = tfs_recorder_reserve(frame->thread, TFS_RECORD_call, units);

	if (call == NULL)
		return;
	call->record.function = frame->entry->function->id;
	call->record.site = frame->entry->site;
	call->start_ticks = frame->start_ticks;
	call->duration_ticks = (float)(frame->end_ticks - frame->start_ticks);
	call->stream = details->stream;
	call->status = (uint16_t)frame->status;
	call->amount = frame->amount;
	struct tfs_item *items = (struct tfs_item *)(call + 1);
	for (uint32_t i = 0; i < details->count; i++)
		items[i] = details->items[i];
	tfs_recorder_commit(frame->thread, call);
}

/* Recording alone leaves errno as it is; CUPTI and the opening of windows do not. */
void tfs_hook_details(struct tfs_frame *frame, const struct tfs_details *details)
{
	if (frame->wanted == TFS_WANT_RECORD) {
		record(frame, details);
		return;
	}
	const int saved = errno;
	if ((frame->wanted & TFS_WANT_DEVICE) != 0)
		tfs_collector_pop();
	if ((frame->wanted & TFS_WANT_RECORD) != 0)
		record(frame, details);
	if ((frame->wanted & TFS_WANT_STEPS) != 0)
		tfs_steps_feed(frame, details);
	errno = saved;
}

void tfs_hook_details_always(struct tfs_frame *frame, const struct tfs_details *details)
{
	if (frame->thread == NULL)
		return;
	frame->wanted |= TFS_WANT_RECORD;
	tfs_hook_details(frame, details);
}
