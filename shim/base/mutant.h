/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_MUTANT_H
#define TFS_SHIM_BASE_MUTANT_H

/*
 * Deliberate mistakes, so that the tests of what must not go wrong are seen to bite. They are in
 * libtfshim_mutant.so only, which is built from the same sources with TFS_MUTANTS as 1 and is not
 * installed; its options (env_options.h) switch them on. In the library they are constants.
 *
 * To add one: name a bit in the file that is to be wrong, and ask TFS_MUTANT(bit) there.
 */

#include "shim/base/env.h"

#ifndef TFS_MUTANTS
#error "This file is compiled once for both libraries; see shim/meson.build."
#endif

#if TFS_MUTANTS
#define X(key, help) extern uint64_t tfs_mutant_##key;
TFS_MUTANT_OPTIONS(X)
#undef X
#define TFS_MUTANT(bits) ((tfs_mutant_naive & (bits)) != 0)
#define TFS_MUTANT_ALTERNATE tfs_mutant_alternate
#else
#define TFS_MUTANT(bits) false
#define TFS_MUTANT_ALTERNATE UINT64_C(0)
#endif

#endif
