/* SPDX-License-Identifier: MIT */
/*
 * NVTX_INJECTION64_PATH=libtfshim_inject.so, as libtfshim.so sets it: processes that are started
 * without libtfshim.so inherit the variable and could not load it late. Here the tool that the user
 * named in the variable gets what is its own.
 */
#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef int initialize_function(void *exports);

EXPORT int InitializeInjectionNvtx(void *exports);
EXPORT int InitializeInjectionNvtx2(void *exports);

/* Without a tool, and with one that does not start, NVTX goes on without: the answer 0. */
static int start_next(const char *name, initialize_function *self, void *exports)
{
	const char *path = getenv("TFSHIM_NVTX_NEXT");
	void *library = path && *path != '\0' ? dlopen(path, RTLD_LAZY) : NULL;

	if (!library)
		return 0;
	initialize_function *next = (initialize_function *)dlsym(library, name);
	const int started = next && next != self ? next(exports) : 0;
	if (started == 0)
		dlclose(library);
	return started;
}

/* NVTX 2, which libtfshim.so leaves alone. */
int InitializeInjectionNvtx(void *exports)
{
	return start_next("InitializeInjectionNvtx", InitializeInjectionNvtx, exports);
}

int InitializeInjectionNvtx2(void *exports)
{
	initialize_function *shim = (initialize_function *)dlsym(RTLD_DEFAULT, "tfshim_nvtx");

	if (shim)
		return shim(exports);
	return start_next("InitializeInjectionNvtx2", InitializeInjectionNvtx2, exports);
}
