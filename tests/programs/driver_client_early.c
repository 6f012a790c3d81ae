/* SPDX-License-Identifier: MIT */
/* A library whose constructor looks the driver up and uses it, before the constructors of preloaded
 * libraries have run. early_status: 0 when all went well. */
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int early_status = -1;

__attribute__((constructor)) static void early(void)
{
	int (*get)(const char *, void **, int, unsigned long long, int *);
	int (*alloc)(unsigned long long *, size_t) = NULL;
	const char *path = getenv("EARLY_LIBCUDA");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	unsigned long long address = 0;

	if (!library)
		return;
	*(void **)&get = dlsym(library, "cuGetProcAddress_v2");
	early_status = get("cuMemAlloc", (void **)&alloc, 3020, 0, NULL);
	if (!early_status)
		early_status = alloc(&address, 16) || address != 0x7f0000000010;
}
