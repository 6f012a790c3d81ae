/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_SETTINGS_H
#define TFS_TESTS_TRAINERS_RESNET_SETTINGS_H

/* The command line of the residual trainers, the same for both. */

#include <stdbool.h>
#include <stdint.h>

enum {
	RESNET_VALIDATE_STEPS = 15,   /* a validation pass behind every 15th step */
	RESNET_CHECKPOINT_STEPS = 20, /* the weights are written behind every 20th */
};

struct resnet_settings {
	const char *dump;       /* file for the final weights, or NULL */
	const char *checkpoint; /* file for the weights now and then; NULL: one without a name */
	unsigned steps;
	unsigned warmup;  /* steps that are left out of the time */
	unsigned passes;  /* for one update */
	unsigned threads; /* that decode images; 0: what is usual for the trainer */
	uint64_t seed;
	bool habits;        /* batches are prepared on the device, in other slow ways */
	bool rows;          /* each row of the batch is copied by itself */
	bool deterministic; /* bit-identical from run to run */
	bool quiet;
};

/* Reads argv, with defaults for what it does not say; on --help or misuse it exits. */
void resnet_settings_parse(int argc, char **argv, struct resnet_settings *out_settings);

#endif
