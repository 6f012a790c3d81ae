/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_LIKELY_H
#define TFS_SHIM_LIKELY_H

/* Which way a branch goes nearly always. */

#define TFS_LIKELY(x) __builtin_expect(!!(x), 1)
#define TFS_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
