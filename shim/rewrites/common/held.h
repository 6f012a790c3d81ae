/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_COMMON_HELD_H
#define TFS_SHIM_REWRITES_COMMON_HELD_H

/*
 * When memory that rewrites hold, blocks, reserves and what a search has, goes back to CUDA: before
 * a library takes memory of its own, before the program takes the last that is truly free, before
 * an out-of-memory is reported, and soon after another process has left too little. Any thread,
 * inside a hook.
 */

#include <stdbool.h>
#include <stdint.h>

#include "shim/rewrites/memory/holding.h"

struct tfs_function;

/* Has the program made calls by which the device may wait for it? Then a wait for the device may be
 * one for ever, and nothing that it takes to give back is to be held longer than it is in use. */
bool tfs_held_gates(void);

/* A call of this function is about to be made. */
void tfs_held_before(const struct tfs_function *function);

/* The program is about to take so many bytes of the current device, `ordered`: from a pool. An
 * error that waits for the program must not be lost in a second try. */
void tfs_held_before_alloc(bool driver, uint32_t device, uint64_t bytes, bool ordered);

/* How much of what is held of the device counts as free besides what is: asked just before the
 * program asks how much is free, when reserves go back. */
uint64_t tfs_held_bytes(bool driver, uint32_t device);

/* After an allocation that returned `status`: true when something was given back and it is worth
 * another try. */
bool tfs_held_make_room(bool driver, uint32_t status, uint32_t device);

#endif
