/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_GUARDS_H
#define TFS_RULES_EVIDENCE_GUARDS_H

/*
 * Waits that the program's results rest on: behind them the host may fill, read or write memory
 * that the device's work before them uses. What the host does with its memory is not recorded, so
 * the first wait that covers such work counts as the one that is needed, unless the work has an
 * event of its own, recorded right behind it, that the host waits for before the memory is used
 * anew.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rules/evidence/steady.h"

struct tfs_guards;
struct tfs_hit;
struct tfs_place;
struct tfs_arena;

#define TFS_GUARDS_REFILL (1u << 0) /* of what is copied to the device */
#define TFS_GUARDS_READ (1u << 1)   /* of what is copied to the host */
#define TFS_GUARDS_SHARED (1u << 2) /* of memory that host and device both use */
/* Nothing is known: the recording does not say which memory is used. Never with another one. */
#define TFS_GUARDS_UNKNOWN (1u << 3)

/* NULL = no memory. `waits` are filled in as calls are told. */
struct tfs_guards *tfs_guards_create(
	const struct tfs_steady *steady, struct tfs_waiting *waits, uint32_t streams);

/* The nth of the judged calls gave a stream its `number`th piece of work. */
void tfs_guards_submit(struct tfs_guards *guards, uint32_t nth, uint32_t stream, uint64_t number);
/* An event was recorded on a stream. */
void tfs_guards_record(struct tfs_guards *guards, uint64_t event, uint32_t stream);
/* Behind the nth call so much of each stream's work is done; event 0 = it waited for none. */
void tfs_guards_wait(struct tfs_guards *guards, uint32_t nth, uint64_t event, const uint64_t *done);
/* Behind the nth call so much may be done: no other wait is done without for it. */
void tfs_guards_may_wait(struct tfs_guards *guards, uint32_t nth, const uint64_t *done);
/* Behind the last call. */
void tfs_guards_destroy(struct tfs_guards *guards);

/* TFS_GUARDS_* of a judged call's wait, by its index in the timeline; 0 = nothing rests on it. */
uint32_t tfs_guards_at(const struct tfs_steady *steady, uint32_t call);
/* Of all waits of a place. */
uint32_t tfs_guards_of(const struct tfs_steady *steady, const struct tfs_place *place);
/* The same for advice that takes the waits away: TFS_GUARDS_UNKNOWN where 0 means nothing, as in
 * other tools' recordings, which have no addresses. */
uint32_t tfs_guards_or_unknown(const struct tfs_steady *steady, const struct tfs_place *place);
/* What to do instead of taking such a wait away; `then` (may be NULL) is safe afterwards. */
const char *tfs_guards_advice(struct tfs_arena *arena, uint32_t needed, const char *then);

#endif
