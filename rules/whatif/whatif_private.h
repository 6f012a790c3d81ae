/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_WHATIF_WHATIF_PRIVATE_H
#define TFS_RULES_WHATIF_WHATIF_PRIVATE_H

/* What the files of the what-if share. */

#include "rules/replay/replay.h"
#include "rules/whatif/device_work.h"
#include "rules/whatif/graph.h"
#include "rules/whatif/whatif.h"

struct tfs_whatif {
	const struct tfs_steady *steady;
	struct tfs_run *runs;
	size_t run_count;
	struct tfs_replay **replays;
	double *base;             /* when each step was over, before edits: all runs' marks */
	double *apart;            /* the same, with host threads that follow at once only */
	double *changed;          /* and with edits */
	double *saved;            /* per step */
	struct tfs_edit *edits;   /* for each call of the evidence */
	struct tfs_edit *kept;    /* likewise: those that are no change any more */
	bool *assumed;            /* per call: its edit keeps an order that may not be needed */
	struct tfs_edit *written; /* what makes them those of the program as written */
	size_t mark_count;
	size_t step_count;
	double measured_ns;
	double usual_ns; /* replayed with usual delays */
	double error;    /* of the worst step replayed so */
	uint32_t worst;  /* which that is, in the timeline */
	double replayed_ns;
	double written_ns;
	double base_ns;   /* as written and not recorded, with the edits that are kept */
	double unkept_ns; /* and without them */
	double least_ns;  /* work that the edits of the latest price leave the device */
	double inflation;
	double own; /* the part of base_ns that recording has none of; 1 where it was taken out */
	double own_most;               /* and at most */
	struct tfs_replay_how turns;   /* how host threads take turns, */
	struct tfs_replay_how at_once; /* and how they follow each other at once */
	double load_ns;                /* that something else took of the host's time, per step */
	const char *doubt;
	struct tfs_device_work *work;
};

/* Replays all steps; the marks of all runs follow each other. 0 or -ENOMEM. */
int tfs_whatif_replay(const struct tfs_whatif *whatif, const struct tfs_replay_how *how,
	const struct tfs_edit *edits, double *out_marks);

/* The first step of a run that is evidence. */
uint32_t tfs_whatif_first(const struct tfs_run *run);

/* Mean time of a step by such marks. */
double tfs_whatif_mean(const struct tfs_whatif *whatif, const double *marks);

#endif
