/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_UNWIND_H
#define TFS_SHIM_RECORD_UNWIND_H

/*
 * Stack capture: libunwind if it can be opened, else libgcc's unwinder, else nothing. Neither is
 * linked: a linked libunwind would take _Unwind_* away from C++ programs.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_stack_frame {
	uint64_t address; /* return address */
	uint64_t pointer; /* stack pointer in that frame; the address was stored right below it;
			   * 0 = not known */
};

/* Opens an unwinder and makes it do its first unwind. Only from the helper thread. */
void tfs_unwind_load(void);

/* Can stacks be had now? Any thread. */
bool tfs_unwind_ready(void);

/* Is it settled whether there is an unwinder? Any thread. */
bool tfs_unwind_settled(void);

/* The calling thread's frames from the one whose address is `from`, innermost first, the first
 * `pointers` of them with their stack pointers; returns how many, 0 when there is no unwinder or
 * `from` was not met. May take the loader's list lock. */
uint32_t tfs_unwind(
	uint64_t from, uint32_t pointers, struct tfs_stack_frame *out_frames, uint32_t most);

#endif
