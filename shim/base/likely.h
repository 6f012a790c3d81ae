/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_LIKELY_H
#define TFS_SHIM_BASE_LIKELY_H

/* What hooks tell the compiler: which way a branch goes nearly always, that a variable is this
 * library's own, which saves the look at its table of addresses, and what the program may see. */

#define TFS_LIKELY(x) __builtin_expect(!!(x), 1)
#define TFS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TFS_EXPORT __attribute__((visibility("default")))
#define TFS_OWN __attribute__((visibility("hidden")))

#endif
