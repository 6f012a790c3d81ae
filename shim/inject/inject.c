/* SPDX-License-Identifier: MIT */
/*
 * CUDA_INJECTION64_PATH=libtfshim_inject.so: the CUDA driver loads this inside its start. It has no
 * thread storage, so it loads even into a program whose room for static thread storage is used up.
 * It then loads the rest from beside itself, or says why it cannot; the loader takes a library
 * whole or not at all. The rest is libtfshim.so without its jemalloc, whose thread storage alone is
 * more than the room that a program has left for what comes late.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/log.h"

#define LIBRARY "libtfshim_late.so"

__attribute__((visibility("default"))) int InitializeInjection(void);

/* The library beside this one. */
static void *open_library(char *path, size_t room)
{
	Dl_info self;
	const char *slash = NULL;

	if (dladdr((void *)InitializeInjection, &self) != 0)
		slash = strrchr(self.dli_fname, '/');
	snprintf(path, room, "%.*s" LIBRARY, slash ? (int)(slash + 1 - self.dli_fname) : 0,
		slash ? self.dli_fname : "");
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The driver's answer to 0 is to go on without us. */
int InitializeInjection(void)
{
	char path[PATH_MAX];
	const int saved = errno;

	/* Preloaded as well: then it is at work already. */
	if (dlsym(RTLD_DEFAULT, "tfshim_inject"))
		return 1;
	void *library = open_library(path, sizeof(path));
	if (!library) {
		const char *reason = dlerror();

		tfs_log_say("not loaded by CUDA_INJECTION64_PATH: %s", reason ? reason : path);
		if (reason && strstr(reason, "static TLS"))
			tfs_log_say(
				"to load tfshim in another way: "
				"LD_PRELOAD=libtfshim.so, or GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096");
		errno = saved;
		return 0;
	}
	int (*inject)(void) = (int (*)(void))dlsym(library, "tfshim_inject");
	const int started = inject && inject() != 0;
	errno = saved;
	return started;
}
