/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/common/evidence.h"

#include <stddef.h>

/* NULL: the table is full. The lock is held. */
static struct tfs_evidence_place *place_of(
	struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	struct tfs_evidence_place *places = evidence->places;

	for (uint32_t i = 0; i < evidence->count; i++)
		if (places[i].site == site && places[i].shape == shape)
			return &places[i];
	if (evidence->count == TFS_EVIDENCE_PLACES)
		return NULL;
	places[evidence->count] = (struct tfs_evidence_place){.shape = shape, .site = site};
	return &places[evidence->count++];
}

bool tfs_evidence_enough(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	tfs_spin_lock(&evidence->lock);
	const struct tfs_evidence_place *place = place_of(evidence, site, shape);
	const bool enough = place && place->clean >= TFS_EVIDENCE_TRIES;
	tfs_spin_unlock(&evidence->lock);
	return enough;
}

void tfs_evidence_clean(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	tfs_spin_lock(&evidence->lock);
	struct tfs_evidence_place *place = place_of(evidence, site, shape);
	if (place && place->clean < TFS_EVIDENCE_TRIES)
		place->clean++;
	tfs_spin_unlock(&evidence->lock);
}

void tfs_evidence_spoiled(struct tfs_evidence *evidence, uint32_t site, uint64_t shape)
{
	tfs_spin_lock(&evidence->lock);
	struct tfs_evidence_place *place = place_of(evidence, site, shape);
	if (place)
		place->clean = 0;
	tfs_spin_unlock(&evidence->lock);
}
