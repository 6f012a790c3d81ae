/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_COPIES_H
#define TFS_RULES_EVIDENCE_COPIES_H

/*
 * What a copy call copies: which way, how much, and what kind of memory its host side is. CUPTI's
 * word counts most, then what the call said, then the ranges its addresses lie in.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_timeline;
struct tfs_host_call;

enum tfs_direction {
	TFS_COPY_UNKNOWN,
	TFS_COPY_UP,
	TFS_COPY_DOWN,
	TFS_COPY_DEVICE,
	TFS_COPY_HOST,
	TFS_COPY_MANAGED /* of memory that is now here, now there */
};

struct tfs_copy {
	enum tfs_direction direction;
	uint32_t
		host_memory; /* enum tfs_memory_kind of the host's side; UNKNOWN = could not tell */
	uint64_t bytes;
	uint64_t device_address; /* of the device's side; 0 = not recorded */
	uint64_t host_address;   /* of the other side; 0 = not recorded */
	bool async;              /* by name */
};

/* Describes a copy call; false = it is none. */
bool tfs_copy_describe(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_copy *out_copy);

/* Copies of pageable memory up to this size let the host go early. */
#define TFS_EARLY_COPY_BYTES (64u << 10)

/* What the host does where it reads values a step later: it records an event, and asks for one that
 * is over. */
#define TFS_RECORD_EVENT_NS 2000.0f
#define TFS_PAST_EVENT_NS 2500.0f

#endif
