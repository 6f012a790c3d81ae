/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_OPTIONS_H
#define TFS_TESTS_TRAINERS_OPTIONS_H

/* The trainers' command line, the same for all of them. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct options {
	const char *data; /* folder with the four files */
	const char *dump; /* file for the final weights, or NULL */
	unsigned steps;   /* end after so many, 0: when the epochs are over */
	unsigned warmup;  /* steps that are left out of the time */
	unsigned epochs;
	unsigned batch;
	uint64_t seed;
	bool deterministic; /* bit-identical from run to run: algorithms and average pooling */
	bool wide;          /* a batch whose images are more than 2 MiB */
	bool quiet;         /* no line per 20 steps */
};

/* Reads argv, with defaults for what it does not say; on --help or misuse it exits. */
void options_parse(int argc, char **argv, struct options *out_options);

/* The learning rate of an epoch, counted from 0: suits the batch and falls from epoch to epoch. */
float options_rate(const struct options *options, unsigned epoch);

#ifdef __cplusplus
}
#endif

#endif
