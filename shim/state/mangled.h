/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_MANGLED_H
#define TFS_SHIM_STATE_MANGLED_H

/*
 * What a kernel's name says of its parameters. Names are mangled by the Itanium C++ ABI, in which
 * the parameters' types are part of a function's name; those of C functions say nothing.
 */

#include <stdint.h>

/* Bit i is set where parameter i (of the first 32) is declared as a pointer to something constant,
 * which the kernel therefore only reads. A name that is not understood has no bit set. */
uint32_t tfs_mangled_constant(const char *name);

#define TFS_MANGLED_NOWHERE 0xffffu

/* How many parameters come before the first whose type is not understood, `room` at most; the bytes
 * of each (0: not known, as of a program's own class) and its offset in a buffer that holds them
 * all (TFS_MANGLED_NOWHERE behind one of unknown size). */
uint32_t tfs_mangled_layout(
	const char *name, uint32_t room, uint16_t *out_bytes, uint16_t *out_offsets);

#endif
