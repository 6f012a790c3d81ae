/* SPDX-License-Identifier: MIT */
#include "shim/steps/loops/loops.h"

#include <string.h>

#include "shim/steps/loops/loops_log.h"

#define FIRST_LOOK 48u /* calls; then whenever the log has grown by a quarter */

uint64_t tfs_loops_bytes(void)
{
	return sizeof(struct tfs_loops);
}

uint64_t tfs_loops_kept_bytes(void)
{
	return offsetof(struct tfs_loops, call_count);
}

struct tfs_loops *tfs_loops_init(void *memory)
{
	struct tfs_loops *loops = memory;

	tfs_loops_restart(loops);
	return loops;
}

void tfs_loops_restart(struct tfs_loops *loops)
{
	memset(loops, 0, offsetof(struct tfs_loops, sites));
	loops->next_look = FIRST_LOOK;
}

static bool is_site(
	const struct tfs_log_site *site, uint32_t id, const uint64_t *frames, uint32_t count)
{
	return site->id == id &&
	       site->depth == (count < TFS_LOOPS_DEPTH ? count : TFS_LOOPS_DEPTH) &&
	       site->frames[0] == frames[count - 1];
}

uint32_t tfs_log_site(struct tfs_loops *loops, uint32_t id, const uint64_t *frames, uint32_t count)
{
	const uint32_t slots = sizeof(loops->slots) / sizeof(loops->slots[0]);
	uint32_t at = id * UINT32_C(2654435769) % slots;

	for (; loops->slots[at] != 0; at = (at + 1) % slots)
		if (is_site(&loops->sites[loops->slots[at] - 1], id, frames, count))
			return loops->slots[at];
	if (loops->site_count == TFS_LOG_SITES)
		return 0;
	struct tfs_log_site *site = &loops->sites[loops->site_count++];
	site->id = id;
	site->latest[0] = site->latest[1] = 0;
	site->depth = count < TFS_LOOPS_DEPTH ? count : TFS_LOOPS_DEPTH;
	for (uint32_t i = 0; i < site->depth; i++)
		site->frames[i] = frames[count - 1 - i];
	loops->slots[at] = loops->site_count;
	return loops->site_count;
}

bool tfs_log_room(struct tfs_loops *loops, uint32_t operand_count)
{
	if (loops->call_count < TFS_LOG_CALLS &&
		loops->operand_count + operand_count <= TFS_LOG_OPERANDS)
		return true;
	tfs_loops_restart(loops);
	return false;
}

static bool append(struct tfs_loops *loops, uint32_t site, const struct tfs_loops_operand *operands,
	uint32_t operand_count)
{
	if (!tfs_log_room(loops, operand_count))
		return false;
	loops->calls[loops->call_count++] =
		(struct tfs_log_call){.site = site, .first = loops->operand_count};
	for (uint32_t i = 0; i < operand_count; i++) {
		const struct tfs_loops_operand *operand = &operands[i];

		if (operand->address == 0)
			continue;
		loops->operands[loops->operand_count++] = tfs_log_operand(operand);
		loops->updates |= operand->reads && operand->writes;
	}
	loops->calls[loops->call_count].first = loops->operand_count;
	tfs_log_note_moves(loops, &loops->calls[loops->call_count - 1]);
	return true;
}

bool tfs_loops_feed(struct tfs_loops *loops, uint32_t site, const uint64_t *frames, uint32_t count,
	const struct tfs_loops_operand *operands, uint32_t operand_count)
{
	if (loops->found || count == 0)
		return false;
	const uint32_t index = tfs_log_site(loops, site, frames, count);
	return index != 0 && append(loops, index - 1, operands, operand_count) &&
	       tfs_loops_look(loops);
}

bool tfs_loops_look(struct tfs_loops *loops)
{
	if (loops->call_count < loops->next_look)
		return false;
	loops->next_look += loops->next_look / 4;
	if (!loops->updates && !loops->turned)
		return false;
	tfs_log_pair_up(loops);
	loops->found = tfs_log_choose(loops);
	return loops->found;
}

uint64_t tfs_loops_before(const struct tfs_loops *loops)
{
	return loops->step.before;
}

bool tfs_loops_doubtful(const struct tfs_loops *loops)
{
	return loops->found && !loops->step.certain;
}

bool tfs_loops_prefers(const struct tfs_loops *doubtful, const struct tfs_loops *other)
{
	return other->step.certain || other->step.calls >= TFS_LOG_LONGER * doubtful->step.calls;
}

bool tfs_loops_hopeless(const struct tfs_loops *loops)
{
	return !loops->updates;
}

/* The frame at `level`, counted from the outermost. */
static uint64_t frame_at(const uint64_t *frames, uint32_t count, uint32_t level)
{
	return frames[count - 1 - level];
}

static bool in_prefix(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	if (!loops->found || count <= loops->step.level)
		return false;
	for (uint32_t i = 0; i < loops->step.level; i++)
		if (frame_at(frames, count, i) != loops->step.prefix[i])
			return false;
	return true;
}

static bool is_member(const struct tfs_loops *loops, uint64_t address)
{
	for (uint32_t i = 0; i < loops->step.member_count; i++)
		if (loops->step.members[i] == address)
			return true;
	return false;
}

bool tfs_loops_opens(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	return in_prefix(loops, frames, count) &&
	       frame_at(frames, count, loops->step.level) == loops->step.anchor;
}

bool tfs_loops_outside(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	if (!in_prefix(loops, frames, count))
		return true;
	const uint64_t address = frame_at(frames, count, loops->step.level);

	return address < loops->step.lowest || address > loops->step.highest;
}

bool tfs_loops_unknown(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	return loops->step.member_count < TFS_LOOPS_PLACES &&
	       !tfs_loops_outside(loops, frames, count) &&
	       !is_member(loops, frame_at(frames, count, loops->step.level));
}

bool tfs_loops_same_place(const struct tfs_loops *loops, const uint64_t *one, uint32_t one_count,
	const uint64_t *other, uint32_t other_count)
{
	return in_prefix(loops, one, one_count) && in_prefix(loops, other, other_count) &&
	       frame_at(one, one_count, loops->step.level) ==
		       frame_at(other, other_count, loops->step.level);
}
