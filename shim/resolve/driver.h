/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_DRIVER_H
#define TFS_SHIM_RESOLVE_DRIVER_H

/*
 * How calls of the driver are seen when no symbol of it can be overridden. A CUDA runtime linked
 * into the program opens libcuda.so.1, asks dlsym once for cuGetProcAddress_v2 (before that, since
 * CUDA 13.2, for cuDriverGetVersion), and gets all else from that, each function by the version
 * that brought the ABI it was written for: often an old one, which needs a row of its own. So the
 * shim's dlsym (dlsym_*.S) answers that one lookup, and lookups of hooked driver functions, with
 * its own functions; its cuGetProcAddress does the same for what it finds. Who opens the other
 * libraries and looks their functions up gets ours likewise, where a hook calls the very function
 * that was found.
 *
 * What a requester gets is decided when it looks cuGetProcAddress up: NVIDIA's own libraries, the
 * shared runtime among them, get the driver's function. What they do is seen at their own
 * functions, and by CUPTI; seen here as well, it would count twice, or as the program's. All others
 * get ours.
 */

#include "shim/base/driver_api.h"

#include <cudaTypedefs.h>

#include "shim/resolve/lookup.h"

/* libc's own, or the next library's that overrides it; NULL until first needed. */
extern void *tfs_next_dlopen;
extern void *tfs_next_dlsym;
extern void *tfs_next_dlvsym;

/* Finds one of the above and returns it. Never NULL; no allocation; works before any
 * constructor has run. */
void *tfs_driver_find_next(void **which);

/* What dlsym and dlvsym answer for names that may be CUDA's, asked of an explicit handle: our
 * function where it stands for the one found, else that. `caller` is the return address of the
 * call. */
void *tfs_driver_dlsym(void *handle, const char *name, const void *caller);
void *tfs_driver_dlvsym(void *handle, const char *name, const char *version, const void *caller);

/* Does the object's file name begin as that of NVIDIA's libraries whose lookups are left alone? */
bool tfs_driver_exempts(const char *file);

/* Is the name one of a function of CUDA's or its libraries'? */
bool tfs_driver_is_cuda(const char *name);

/* Was a function of CUDA's that is not harmless ever looked up by name so that no hook sees its
 * calls? And was any looked up at all, without or with a hook, by the program or a library of its?
 * NULL: no; else the first one, and by whom. */
const char *tfs_driver_looked_past(void);
const char *tfs_driver_looked_up(void);

/* Called for lookups that are not answered here, before them; finds out the above. Returns the
 * handle to ask: another one where the answer would be a function of ours that no library has. Who
 * asks whether CUDA is there must find what he would find without us. */
void *tfs_driver_note_lookup(const char *name, const void *caller, void *handle);

/* An answer of the driver's about one of its functions. */
struct tfs_driver_answer {
	const char *name; /* as asked for, with the two below */
	int version;
	uint64_t flags;
	void *function;     /* what the driver gave */
	const void *caller; /* who asked: a return address */
	/* How to ask again: one of the two forms of cuGetProcAddress. */
	CUresult (*ask)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	CUresult (*ask_old)(const char *, void **, int, cuuint64_t);
};

/* What the caller gets instead: our function of exactly the same ABI, or else the driver's. */
void *tfs_driver_swap(const struct tfs_driver_answer *answer);

#endif
