/* SPDX-License-Identifier: MIT */
/* CUDA_INJECTION64_PATH: the driver loads one library into the program while it starts. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_private.h"

void sim_inject(void)
{
	static atomic_bool done;
	const char *path;
	int (*inject)(void) = NULL;
	void *library;

	if (atomic_load_explicit(&done, memory_order_relaxed) || atomic_exchange(&done, true))
		return;
	path = getenv("CUDA_INJECTION64_PATH");
	if (!path || !*path || !strcmp(path, "none"))
		return;
	library = dlopen(path, RTLD_NOW);
	if (library)
		inject = (int (*)(void))dlsym(library, "InitializeInjection");
	if (inject)
		inject();
}
