/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_STREAMS_H
#define TFS_RULES_EVIDENCE_STREAMS_H

/* On which stream calls work, or for which one they wait. */

#include <stdint.h>

/* Streams that are told apart. */
#define TFS_NUMBERED_STREAMS 128u

struct tfs_host_call;
struct tfs_place;
struct tfs_arena;
struct tfs_steady;
struct tfs_timeline;

/* Index of a call's stream: that of the work it caused, else the one it names; or TFS_NONE. */
uint32_t tfs_stream_of(const struct tfs_timeline *timeline, const struct tfs_host_call *call);

/* The judged calls' streams by number: those of the timeline as there, then such as are used but
 * whose work on the device was not recorded, as far as all others are known by name. */
struct tfs_stream_numbers {
	const struct tfs_timeline *timeline;
	uint32_t *by_id; /* of streams behind the timeline's, by their ids in the recording */
	uint32_t count;  /* at most TFS_NUMBERED_STREAMS */
	uint32_t flags[TFS_NUMBERED_STREAMS];
};

/* 0, or -ENOMEM; to be freed in either case. */
int tfs_stream_numbers_init(struct tfs_stream_numbers *numbers, const struct tfs_steady *steady);
void tfs_stream_numbers_free(struct tfs_stream_numbers *numbers);

/* The number of a call's stream; TFS_NONE = not known, or one too many. */
uint32_t tfs_stream_number(
	const struct tfs_stream_numbers *numbers, const struct tfs_host_call *call);

/* What a report calls the stream of a place's calls: "legacy", "per-thread", the number that device
 * records have, or "several". NULL = they have none, or it is not known. Owned by the arena. */
const char *tfs_stream_name(struct tfs_arena *arena, const struct tfs_timeline *timeline,
	const struct tfs_place *place);

#endif
