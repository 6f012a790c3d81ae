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

	loops->updates = loops->updated = false;
	tfs_loops_restart(loops);
	return loops;
}

void tfs_loops_restart(struct tfs_loops *loops)
{
	const bool updated = loops->updates || loops->updated;

	memset(loops, 0, offsetof(struct tfs_loops, sites));
	loops->updated = updated;
	loops->next_look = FIRST_LOOK;
}

static uint32_t least(uint32_t one, uint32_t other)
{
	return one < other ? one : other;
}

/* The slot of a site, or the one where it belongs. */
static uint32_t *find_slot(struct tfs_loops *loops, uint32_t id, uint32_t count, uint64_t outermost)
{
	const uint32_t slots = sizeof(loops->slots) / sizeof(loops->slots[0]);
	uint32_t at = id * UINT32_C(2654435769) % slots;

	for (; loops->slots[at] != 0; at = (at + 1) % slots) {
		const struct tfs_log_site *site = &loops->sites[loops->slots[at] - 1];

		if (site->id == id && site->frame_count == count && site->outermost == outermost)
			break;
	}
	return &loops->slots[at];
}

static uint32_t add_site(struct tfs_loops *loops, uint32_t *slot, uint32_t id, uint32_t count,
	const struct tfs_log_stack *stack)
{
	struct tfs_log_site *site = &loops->sites[loops->site_count++];

	*site = (struct tfs_log_site){.id = id,
		.depth = least(stack->count, TFS_LOOPS_DEPTH),
		.frame_count = count,
		.outermost = stack->frames[0]};
	memcpy(site->frames, stack->frames, site->depth * sizeof(site->frames[0]));
	*slot = loops->site_count;
	return loops->site_count;
}

/* What is around a recursion is known from stacks in it that were not as deep. */
static void find_root(const struct tfs_loops *loops, struct tfs_log_stack *stack)
{
	const uint32_t count = stack->count;

	for (uint32_t i = loops->site_count; i-- > 0 && stack->count == count;)
		if (loops->sites[i].same == 0 && loops->sites[i].frame_count < TFS_LOOPS_FRAMES)
			tfs_log_root(stack, loops->sites[i].frames, loops->sites[i].depth);
}

/* The site that stands for all depths of a recursion. */
static uint32_t common_site(
	struct tfs_loops *loops, uint32_t work, const struct tfs_log_stack *stack)
{
	uint32_t id = work + 1;

	for (uint32_t i = 0; i < stack->count; i++)
		id = (id ^ (uint32_t)(stack->frames[i] ^ stack->frames[i] >> 32)) *
		     UINT32_C(0x9E3779B1);
	uint32_t *slot = find_slot(loops, id, stack->count, stack->frames[0]);
	if (*slot == 0 && loops->site_count < TFS_LOG_SITES)
		add_site(loops, slot, id, stack->count, stack);
	return *slot;
}

uint32_t tfs_log_site(
	struct tfs_loops *loops, uint32_t id, uint32_t work, const uint64_t *frames, uint32_t count)
{
	uint32_t *slot = find_slot(loops, id, count, frames[count - 1]);
	struct tfs_log_stack stack;

	if (*slot != 0)
		return loops->sites[*slot - 1].same ? loops->sites[*slot - 1].same : *slot;
	if (loops->site_count == TFS_LOG_SITES)
		return 0;
	const bool folded = tfs_log_fold(frames, count, &stack);
	const uint32_t index = add_site(loops, slot, id, count, &stack);
	loops->sites[index - 1].outermost = frames[count - 1];
	if (!folded)
		return index;
	if (count >= TFS_LOOPS_FRAMES)
		find_root(loops, &stack);
	const uint32_t same = common_site(loops, work, &stack);
	loops->sites[index - 1].same = same;
	return same;
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
	const uint32_t index = tfs_log_site(loops, site, 0, frames, count);
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
	return doubtful->step.dominant || other->step.certain ||
	       other->step.calls >= TFS_LOG_LONGER * doubtful->step.calls;
}

uint32_t tfs_loops_logged(const struct tfs_loops *loops)
{
	return loops->call_count;
}

bool tfs_loops_hopeless(const struct tfs_loops *loops)
{
	return !loops->updates && !loops->updated;
}

static struct tfs_log_stack stack_of(
	const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	struct tfs_log_stack stack;

	if (tfs_log_fold(frames, count, &stack) && count >= TFS_LOOPS_FRAMES)
		tfs_log_root(&stack, loops->step.prefix, loops->step.level);
	return stack;
}

static bool in_prefix(const struct tfs_loops *loops, const struct tfs_log_stack *stack)
{
	return loops->found && stack->count > loops->step.level &&
	       memcmp(stack->frames, loops->step.prefix,
		       loops->step.level * sizeof(stack->frames[0])) == 0;
}

static bool is_member(const struct tfs_loops *loops, uint64_t address)
{
	for (uint32_t i = 0; i < loops->step.member_count; i++)
		if (loops->step.members[i] == address)
			return true;
	return false;
}

static bool is_anchor(const struct tfs_log_step *step, uint64_t address)
{
	bool anchor = address == step->anchor;

	for (uint32_t i = 0; i < step->again_count; i++)
		anchor = anchor || address == step->again[i];
	return anchor;
}

bool tfs_loops_opens(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	const struct tfs_log_stack stack = stack_of(loops, frames, count);

	return in_prefix(loops, &stack) && is_anchor(&loops->step, stack.frames[loops->step.level]);
}

static bool is_outside(const struct tfs_loops *loops, const struct tfs_log_stack *stack)
{
	if (!in_prefix(loops, stack))
		return true;
	const uint64_t address = stack->frames[loops->step.level];

	return address < loops->step.lowest || address > loops->step.highest;
}

bool tfs_loops_outside(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	const struct tfs_log_stack stack = stack_of(loops, frames, count);

	return is_outside(loops, &stack);
}

bool tfs_loops_unknown(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	const struct tfs_log_stack stack = stack_of(loops, frames, count);

	return loops->step.member_count < TFS_LOOPS_PLACES && !is_outside(loops, &stack) &&
	       !is_member(loops, stack.frames[loops->step.level]);
}

bool tfs_loops_unrolled(const struct tfs_loops *loops)
{
	return loops->step.again_count > 0;
}

bool tfs_loops_same_place(const struct tfs_loops *loops, const uint64_t *one, uint32_t one_count,
	const uint64_t *other, uint32_t other_count)
{
	const struct tfs_log_stack first = stack_of(loops, one, one_count);
	const struct tfs_log_stack second = stack_of(loops, other, other_count);

	return in_prefix(loops, &first) && in_prefix(loops, &second) &&
	       first.frames[loops->step.level] == second.frames[loops->step.level];
}
