/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_COMMON_UNSEEN_H
#define TFS_SHIM_REWRITES_COMMON_UNSEEN_H

/*
 * Could the program, or a library of its, give the device work without a hook seeing it, or let
 * others see the device's memory? For rewrites that rely on having seen everything.
 *
 * All loaded objects but NVIDIA's own are looked through once, and again when another was loaded:
 * what they import of CUDA's must be hooked, or be known to submit nothing. What is looked up by
 * name instead, or opened past the preload, is not followed: then the answer is yes for good.
 */

/* NULL: no; else what is the reason, for the report: the first function or object that was found.
 * The text stays. Any thread; a few hundred nanoseconds, milliseconds after something was loaded.
 */
const char *tfs_unseen_work(void);

/* The same of a library by which a network card, a file or another process may use the device's
 * memory, or one of NVIDIA's whose calls have no hooks. */
const char *tfs_unseen_users(void);

/* And of CUDA's functions that an object other than NVIDIA's looked up by name, with a hook or
 * without, and objects that open libraries in a name space of their own. */
const char *tfs_unseen_lookups(void);

#endif
