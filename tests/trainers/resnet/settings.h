/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_SETTINGS_H
#define TFS_TESTS_TRAINERS_RESNET_SETTINGS_H

/* The command line of the residual trainers, the same for both. */

#include <stdbool.h>
#include <stdint.h>

enum {
	RESNET_VALIDATE_STEPS = 15, /* a validation pass behind every 15th step */
};

/* What a step does besides, for an image's sake or in the way it is done: one trainer does it
 * slowly, the other as it should be done. */
enum resnet_part {
	RESNET_PLAIN,
	RESNET_HABITS, /* a batch is prepared on the device */
	RESNET_FULL,   /* images come in full size, and the device makes them small */
	RESNET_ATTEND, /* each pixel looks at all others of its image */
	RESNET_PIXELS, /* and goes through layers of its own */
	RESNET_LAYOUT, /* images are made darker, in a layout of their own */
	RESNET_ANEW,   /* algorithms and graphs are asked for */
	RESNET_MEMORY, /* buffers of changing lengths, and a history of images */
	RESNET_DISK,   /* images come from a slow disk */
	RESNET_SAVES,  /* the weights are written every 10 steps */
	RESNET_GRAPH,  /* launches: all of a step's in graphs, or each by itself */
	RESNET_PARTS
};

struct resnet_settings {
	const char *dump;       /* file for the final weights, or NULL */
	const char *checkpoint; /* file for the weights now and then; NULL: one without a name */
	unsigned steps;
	unsigned warmup;  /* steps that are left out of the time */
	unsigned passes;  /* for one update */
	unsigned threads; /* that decode images; 0: what is usual for the trainer */
	uint64_t seed;
	enum resnet_part part;
	bool rows;          /* each row of the batch is copied by itself */
	bool deterministic; /* bit-identical from run to run */
	bool quiet;
};

/* Reads argv, with defaults for what it does not say; on --help or misuse it exits. */
void resnet_settings_parse(int argc, char **argv, struct resnet_settings *out_settings);

/* The weights are written behind every so many steps. */
static inline unsigned resnet_checkpoint_steps(const struct resnet_settings *settings)
{
	return settings->part == RESNET_SAVES ? 10 : 20;
}

#endif
