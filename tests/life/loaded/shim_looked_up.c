/* SPDX-License-Identifier: MIT */
/*
 * Finds the runtime by dlopen and dlsym: shim_looked_up LIBCUDART... says the version that each of
 * them tells, when it was opened and again when all were; of a runtime that can do more, it copies
 * memory there and back 100 times. Linked to none of them, or (LINKED) to one.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int version_function(int *);
typedef int malloc_function(void **, size_t);
typedef int copy_function(void *, const void *, size_t, int);
typedef int free_function(void *);

#ifdef LINKED
version_function cudaRuntimeGetVersion;
#endif

#define MOST 4

static int say(const char *when, version_function *ask)
{
	int version = 0;

	if (!ask || ask(&version) != 0)
		return 1;
	printf("%s: %d\n", when, version);
	return 0;
}

static int copy_there_and_back(void *library)
{
	malloc_function *allocate = (malloc_function *)dlsym(library, "cudaMalloc");
	copy_function *copy = (copy_function *)dlsym(library, "cudaMemcpy");
	free_function *release = (free_function *)dlvsym(library, "cudaFree", "libcudart.so.13");
	char there[256], back[256];
	void *memory;

	if (!allocate)
		return 0;
	if (allocate(&memory, sizeof(there)) != 0)
		return 1;
	for (int i = 0; i < 100; i++) {
		memset(there, i, sizeof(there));
		if (copy(memory, there, sizeof(there), 1) != 0 ||
			copy(back, memory, sizeof(back), 2) != 0 ||
			memcmp(there, back, sizeof(there)) != 0)
			return 1;
	}
	return !release || release(memory) != 0;
}

int main(int count, char **words)
{
	version_function *ask[MOST];
	int wrong = 0;

#ifdef LINKED
	wrong |= say("linked", cudaRuntimeGetVersion);
#endif
	for (int i = 1; i < count && i < MOST; i++) {
		void *library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);

		if (!library)
			return 1;
		ask[i] = (version_function *)dlsym(library, "cudaRuntimeGetVersion");
		wrong |= say("opened", ask[i]) | copy_there_and_back(library);
	}
	for (int i = 1; i < count && i < MOST; i++)
		wrong |= say("again", ask[i]);
#ifdef LINKED
	wrong |= say("linked", cudaRuntimeGetVersion);
#endif
	return wrong;
}
