/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_COMMON_LEFT_WAIT_H
#define TFS_SHIM_REWRITES_COMMON_LEFT_WAIT_H

/*
 * For the models of rewrites that leave waits out: it gains what the wait would have taken, but no
 * more than the host was then at something else before it waited after all. Any thread.
 */

#include <stdatomic.h>
#include <stdint.h>

struct tfs_rewrite;

struct tfs_left_wait {
	_Atomic uint64_t least_ns;
	_Atomic uint64_t since_ns; /* the latest was left out; 0: the host has waited since */
};

/* A wait that could be left out took so long. */
void tfs_left_wait_learn(struct tfs_left_wait *left, uint64_t ns);

/* The least that one took; 0: not known. */
uint64_t tfs_left_wait_least(const struct tfs_left_wait *left);

/* One is left out now. */
void tfs_left_wait_begin(struct tfs_left_wait *left);

/* The host is about to wait, or to leave the next one out: predicts what the latest one gained. */
void tfs_left_wait_end(struct tfs_left_wait *left, const struct tfs_rewrite *rewrite);

#endif
