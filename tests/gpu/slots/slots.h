/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_GPU_SLOTS_SLOTS_H
#define TFS_TESTS_GPU_SLOTS_SLOTS_H

/*
 * Thunks that stand in for the functions of an export table (slots.c): each counts and jumps on,
 * and touches neither a register nor the stack, since nobody knows what these functions take.
 */

#include <stdint.h>

enum { SLOTS_MOST = 4096, SLOTS_THUNK_BYTES = 32 };

extern uint64_t slots_counts[SLOTS_MOST] __attribute__((visibility("hidden")));
extern void *slots_targets[SLOTS_MOST] __attribute__((visibility("hidden")));
extern const char slots_thunks[SLOTS_MOST][SLOTS_THUNK_BYTES] __attribute__((visibility("hidden")));

#endif
