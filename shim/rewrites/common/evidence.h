/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_COMMON_EVIDENCE_H
#define TFS_SHIM_REWRITES_COMMON_EVIDENCE_H

/*
 * What a rewrite has seen of itself beside the program's own calls. It may act at a call site, on
 * calls of one shape (a size, or a hash of what the rewrite holds to be the same kind of call),
 * once TFS_EVIDENCE_TRIES of them came out the same; one that did not takes all of that away.
 *
 * A zeroed struct is a table without evidence. All functions may be called by any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/base/spin.h"

#define TFS_EVIDENCE_TRIES 8u
#define TFS_EVIDENCE_PLACES 128u

struct tfs_evidence {
	struct tfs_spin lock;
	uint32_t count;
	struct tfs_evidence_place {
		uint64_t shape;
		uint32_t site;
		uint32_t clean;
	} places[TFS_EVIDENCE_PLACES];
};

/* Were there enough clean tries? Never, at places for which the table had no room. */
bool tfs_evidence_enough(struct tfs_evidence *evidence, uint32_t site, uint64_t shape);

void tfs_evidence_clean(struct tfs_evidence *evidence, uint32_t site, uint64_t shape);

/* A try at this place was not clean: it starts anew. */
void tfs_evidence_spoiled(struct tfs_evidence *evidence, uint32_t site, uint64_t shape);

#endif
