/* SPDX-License-Identifier: MIT */
/* Asks whether functions of CUDA are there, before and after a library with some of them is:
 * driver_absent LIBCUDART. What it finds must not depend on who watches. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

static const char *const names[] = {"cudaMalloc", "cudaMemcpyAsync_ptsz", "cuInit", "cuMemAlloc_v2",
	"cuGetProcAddress_v2", "cudnnCreate", "cublasCreate_v2", "ncclCommInitAll",
	"cuptiSubscribe", "cuda", "curve", "ncurses"};

static void ask(const char *how, void *handle)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		errno = ERANGE;
		const int found = dlsym(handle, names[i]) != NULL;
		const int versioned = dlvsym(handle, names[i], "libcudart.so.13") != NULL;

		printf("%s by %s: %d %d, error %d, errno %d\n", names[i], how, found, versioned,
			dlerror() != NULL, errno == ERANGE);
	}
}

int main(int count, char **words)
{
	for (int i = 0; i < 2; i++) {
		ask("default", RTLD_DEFAULT);
		ask("next", RTLD_NEXT);
		ask("the program", dlopen(NULL, RTLD_NOW));
		if (count < 2 || !dlopen(words[1], RTLD_NOW | RTLD_GLOBAL))
			return 1;
	}
	return 0;
}
