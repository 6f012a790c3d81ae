/* SPDX-License-Identifier: MIT */
#include "shim/loops.h"

#include <string.h>

#define VISITS 96u /* addresses remembered per active function */
#define NESTED 12u /* loops around a call that are told apart */
#define UPDATES 512u

/* An address that the function at some level has called from, in its present activation. */
struct visit {
	uint64_t address;
	uint64_t iteration; /* times it was come back to */
	uint64_t lowest;    /* addresses seen while the loop went round */
	uint64_t highest;
	bool loops;
};

struct level {
	uint64_t address; /* where control stands now */
	uint32_t count;
	struct visit visits[VISITS];
};

/* Where in the nest of loops something happened: the iteration of each, outermost first. */
struct moment {
	uint32_t count;
	struct {
		uint64_t anchor;
		uint64_t iteration;
		uint32_t level;
	} at[NESTED];
};

/* A range that a call site updates in place. */
struct update {
	uint64_t address;
	uint32_t site;
	uint32_t carried; /* iterations of `anchor` in which another site read it first */
	uint64_t anchor;
	uint64_t iteration;
	struct moment when;
};

struct tfs_loops {
	uint32_t depth;
	struct level levels[TFS_LOOPS_DEPTH];
	uint32_t update_count;
	struct update updates[UPDATES];
	bool settled; /* which loop it is */
	bool found;   /* and which places belong to it */
	bool at_anchor;
	uint32_t rounds;
	uint64_t before; /* iterations up to where it was settled */
	uint32_t member_count;
	uint64_t members[VISITS];
	uint32_t step_level;
	uint64_t step_anchor;
	uint64_t step_lowest;
	uint64_t step_highest;
	uint64_t step_prefix[TFS_LOOPS_DEPTH];
};

uint64_t tfs_loops_bytes(void)
{
	return sizeof(struct tfs_loops);
}

struct tfs_loops *tfs_loops_init(void *memory)
{
	return memory;
}

/* The frame at `level`, counted from the outermost. */
static uint64_t frame_at(const uint64_t *frames, uint32_t count, uint32_t level)
{
	return frames[count - 1 - level];
}

static void enter_level(struct level *level, uint64_t address)
{
	level->address = address;
	level->count = 1;
	level->visits[0] =
		(struct visit){.address = address, .lowest = address, .highest = address};
}

static void stretch(struct visit *visit, uint64_t address)
{
	if (address < visit->lowest)
		visit->lowest = address;
	if (address > visit->highest)
		visit->highest = address;
}

/* Long straight code before a loop must not keep the loop out. */
static void forget_oldest(struct level *level)
{
	uint32_t at = 0;

	while (at < level->count && level->visits[at].loops)
		at++;
	if (at == level->count)
		return;
	level->count--;
	memmove(&level->visits[at], &level->visits[at + 1],
		(level->count - at) * sizeof(*level->visits));
}

/*
 * A loop that was entered in its middle, as when stacks are known only from there on, starts at its
 * lowest address all the same: what one iteration leaves to the next would be cut up otherwise.
 */
static void find_head(struct level *level, uint32_t at, uint64_t address)
{
	struct visit *visits = level->visits, whole = visits[at];
	uint32_t head = at;

	for (uint32_t i = at + 1; i < level->count; i++) {
		stretch(&whole, visits[i].address);
		if (visits[i].address < visits[head].address)
			head = i;
	}
	if (head == at)
		return;
	level->count -= head - at;
	memmove(&visits[at], &visits[head], (level->count - at) * sizeof(*visits));
	visits[at].loops = true;
	visits[at].iteration++;
	visits[at].lowest = whole.lowest;
	visits[at].highest = whole.highest;
	visits[level->count++] =
		(struct visit){.address = address, .lowest = address, .highest = address};
}

/* The function at this level goes on at `address`; going back to a visited one is an iteration. */
static void move_on(struct level *level, uint64_t address)
{
	uint32_t at = 0;

	level->address = address;
	while (at < level->count && level->visits[at].address != address)
		at++;
	if (at < level->count) {
		if (!level->visits[at].loops)
			find_head(level, at, address);
		if (level->visits[at].address != address)
			return;
		for (uint32_t i = at + 1; i < level->count; i++)
			stretch(&level->visits[at], level->visits[i].address);
		level->visits[at].loops = true;
		level->visits[at].iteration++;
		level->count = at + 1;
		return;
	}
	if (level->count == VISITS)
		forget_oldest(level);
	if (level->count < VISITS)
		level->visits[level->count++] =
			(struct visit){.address = address, .lowest = address, .highest = address};
}

static void follow(struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	const uint32_t depth = count < TFS_LOOPS_DEPTH ? count : TFS_LOOPS_DEPTH;
	uint32_t same = 0;

	while (same < depth && same < loops->depth &&
		loops->levels[same].address == frame_at(frames, count, same))
		same++;
	if (same == depth && depth == loops->depth && depth > 0)
		move_on(&loops->levels[depth - 1], frame_at(frames, count, depth - 1));
	else if (same < depth && same < loops->depth)
		move_on(&loops->levels[same], frame_at(frames, count, same)), same++;
	for (; same < depth; same++)
		enter_level(&loops->levels[same], frame_at(frames, count, same));
	loops->depth = depth;
}

/* A loop that control has left goes round no more: what it did last is not carried by it. */
static bool is_around(const struct visit *visit, uint64_t address)
{
	return visit->loops && visit->lowest <= address && address <= visit->highest;
}

static void take_moment(const struct tfs_loops *loops, struct moment *out)
{
	out->count = 0;
	for (uint32_t level = 0; level < loops->depth; level++) {
		const struct level *here = &loops->levels[level];

		for (uint32_t i = 0; i < here->count && out->count < NESTED; i++) {
			if (!is_around(&here->visits[i], here->address))
				continue;
			out->at[out->count].anchor = here->visits[i].address;
			out->at[out->count].iteration = here->visits[i].iteration;
			out->at[out->count++].level = level;
		}
	}
}

/* The outermost loop that went round between the two moments carries the dependence; NESTED when
 * there is none in common. */
static uint32_t carrier(const struct moment *then, const struct moment *now)
{
	for (uint32_t i = 0; i < then->count && i < now->count; i++) {
		if (then->at[i].anchor != now->at[i].anchor ||
			then->at[i].level != now->at[i].level)
			return NESTED;
		if (then->at[i].iteration != now->at[i].iteration)
			return i;
	}
	return NESTED;
}

static void settle(struct tfs_loops *loops, uint32_t level, uint64_t anchor)
{
	const struct level *here = &loops->levels[level];

	loops->settled = true;
	loops->step_level = level;
	loops->step_anchor = anchor;
	for (uint32_t i = 0; i < level; i++)
		loops->step_prefix[i] = loops->levels[i].address;
	for (uint32_t i = 0; i < here->count; i++) {
		if (here->visits[i].address == anchor) {
			loops->step_lowest = here->visits[i].lowest;
			loops->step_highest = here->visits[i].highest;
			/* Back at the anchor so often, and the round it is in now. */
			loops->before = here->visits[i].iteration + 1;
		}
	}
}

static void read_range(
	struct tfs_loops *loops, struct update *update, uint32_t site, const struct moment *now)
{
	const uint32_t at = carrier(&update->when, now);

	if (update->site == site || at == NESTED)
		return;
	if (update->anchor != now->at[at].anchor) {
		update->anchor = now->at[at].anchor;
		update->carried = 0;
	} else if (update->iteration == now->at[at].iteration) {
		return;
	}
	update->iteration = now->at[at].iteration;
	if (++update->carried >= TFS_LOOPS_CONFIRM)
		settle(loops, now->at[at].level, now->at[at].anchor);
}

static struct update *find_update(struct tfs_loops *loops, uint64_t address)
{
	for (uint32_t i = 0; i < loops->update_count; i++)
		if (loops->updates[i].address == address)
			return &loops->updates[i];
	return NULL;
}

static void write_range(struct tfs_loops *loops, const struct tfs_loops_operand *operand,
	uint32_t site, const struct moment *now)
{
	struct update *update = find_update(loops, operand->address);

	if (!operand->reads) {
		if (update != NULL)
			*update = loops->updates[--loops->update_count];
		return;
	}
	if (update == NULL) {
		if (loops->update_count == UPDATES)
			return;
		update = &loops->updates[loops->update_count++];
		*update = (struct update){.address = operand->address};
	}
	update->site = site;
	update->when = *now;
}

static bool in_prefix(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	if (!loops->settled || count <= loops->step_level)
		return false;
	for (uint32_t i = 0; i < loops->step_level; i++)
		if (frame_at(frames, count, i) != loops->step_prefix[i])
			return false;
	return true;
}

static bool is_member(const struct tfs_loops *loops, uint64_t address)
{
	for (uint32_t i = 0; i < loops->member_count; i++)
		if (loops->members[i] == address)
			return true;
	return false;
}

/* Notes the places of whole iterations of the settled loop; true when enough were seen. */
static bool learn(struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	if (!in_prefix(loops, frames, count))
		return false;
	const uint64_t address = frame_at(frames, count, loops->step_level);
	const bool arrives = address == loops->step_anchor && !loops->at_anchor;

	loops->at_anchor = address == loops->step_anchor;
	if (arrives && loops->rounds++ == TFS_LOOPS_LEARN)
		return true;
	if (loops->rounds > 0 && loops->member_count < VISITS && !is_member(loops, address)) {
		loops->members[loops->member_count++] = address;
		if (address < loops->step_lowest)
			loops->step_lowest = address;
		if (address > loops->step_highest)
			loops->step_highest = address;
	}
	return false;
}

static void look_for_weights(struct tfs_loops *loops, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t operand_count)
{
	struct moment now;

	take_moment(loops, &now);
	for (uint32_t i = 0; i < operand_count && !loops->settled; i++) {
		struct update *update = find_update(loops, operands[i].address);

		if (operands[i].reads && update != NULL)
			read_range(loops, update, site, &now);
	}
	for (uint32_t i = 0; i < operand_count; i++)
		if (operands[i].writes)
			write_range(loops, &operands[i], site, &now);
}

bool tfs_loops_feed(struct tfs_loops *loops, uint32_t site, const uint64_t *frames, uint32_t count,
	const struct tfs_loops_operand *operands, uint32_t operand_count)
{
	if (loops->found || count == 0)
		return false;
	if (loops->settled) {
		loops->found = learn(loops, frames, count);
		return loops->found;
	}
	follow(loops, frames, count);
	look_for_weights(loops, site, operands, operand_count);
	return false;
}

uint64_t tfs_loops_before(const struct tfs_loops *loops)
{
	return loops->before + loops->rounds;
}

bool tfs_loops_hopeless(const struct tfs_loops *loops)
{
	return loops->update_count == 0;
}

bool tfs_loops_opens(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	return in_prefix(loops, frames, count) &&
	       frame_at(frames, count, loops->step_level) == loops->step_anchor;
}

bool tfs_loops_outside(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	if (!in_prefix(loops, frames, count))
		return true;
	const uint64_t address = frame_at(frames, count, loops->step_level);

	return address < loops->step_lowest || address > loops->step_highest;
}

bool tfs_loops_unknown(const struct tfs_loops *loops, const uint64_t *frames, uint32_t count)
{
	return loops->member_count < VISITS && !tfs_loops_outside(loops, frames, count) &&
	       !is_member(loops, frame_at(frames, count, loops->step_level));
}

bool tfs_loops_same_place(const struct tfs_loops *loops, const uint64_t *one, uint32_t one_count,
	const uint64_t *other, uint32_t other_count)
{
	return in_prefix(loops, one, one_count) && in_prefix(loops, other, other_count) &&
	       frame_at(one, one_count, loops->step_level) ==
		       frame_at(other, other_count, loops->step_level);
}
