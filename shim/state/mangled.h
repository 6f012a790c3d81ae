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

#endif
