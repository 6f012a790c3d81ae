/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_WHATIF_H
#define TFS_RULES_WHATIF_WHATIF_H

/*
 * What a change would save per step: the judged steps replayed as the program is written, less the
 * same steps replayed with edits, with an interval from the steps' variation and the replay's own
 * error. As written means with the algorithms that the program asked for, where a rewrite had them
 * replaced.
 * One thread at a time.
 */

#include "rules/evidence/findings.h"
#include "rules/evidence/steady.h"

struct tfs_whatif;

/* NULL when there is no device activity to replay, or no memory. The caller owns it. */
struct tfs_whatif *tfs_whatif_create(const struct tfs_steady *steady);
void tfs_whatif_destroy(struct tfs_whatif *whatif);

/* Mean step time, replayed as it was. */
double tfs_whatif_replayed_ns(const struct tfs_whatif *whatif);
/* What a step takes as written: as measured, and where a rewrite chose other algorithms, by so much
 * longer as it is replayed with the program's. */
double tfs_whatif_written_ns(const struct tfs_whatif *whatif);
/* The host runs ahead of the device, whose steps have nothing of what recording adds. */
void tfs_whatif_follow_device(struct tfs_whatif *whatif);
/* A judged step as written, less what recording adds to it as far as that is taken out of the steps
 * before anything is priced: no change saves more. Also where nothing is replayed. */
double tfs_whatif_step_ns(const struct tfs_steady *steady);
/* |replayed - measured| / measured of the step for which that is the largest, with each delay
 * replaced by the median one: with its own, a replay only repeats the measurement. And that step,
 * as an index of the timeline's. */
double tfs_whatif_error(const struct tfs_whatif *whatif);
uint32_t tfs_whatif_worst(const struct tfs_whatif *whatif);

/* What something else took of the host's time, as a share of the step: see host_load.h. */
double tfs_whatif_load(const struct tfs_whatif *whatif);
/* Why no cost can be told by this replay, as the end of a sentence; NULL = it can. */
const char *tfs_whatif_doubt(const struct tfs_whatif *whatif);

/* What the algorithms that a rewrite selected save, as the judged steps ran with them: 0 where they
 * did not. TFS_COST_UNKNOWN where no cost can be told. */
struct tfs_cost tfs_whatif_searched(const struct tfs_whatif *whatif);

/* Forgets all edits but those that are kept; adds a finding's (those of one call add up). */
void tfs_whatif_clear(struct tfs_whatif *whatif);
void tfs_whatif_add(struct tfs_whatif *whatif, const struct tfs_hit *hits, size_t count);
/* What the edits save, and forgets them; 0 or -ENOMEM. Never more than the time that a step has
 * beside the work which they leave on its busiest stream or engine, and the doubt about the model.
 * TFS_COST_UNKNOWN where no cost can be told. */
int tfs_whatif_price(struct tfs_whatif *whatif, struct tfs_cost *out_cost);
/* The device's work per step that the edits of the latest price leave: no step is shorter. */
double tfs_whatif_least_ns(const struct tfs_whatif *whatif);
/* From now on the edits are part of the steps, and prices are of what is changed beside; for good.
 * 0 or -ENOMEM. */
int tfs_whatif_keep(struct tfs_whatif *whatif);

#endif
