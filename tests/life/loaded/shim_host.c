/* SPDX-License-Identifier: MIT */
/*
 * Loads a plugin that brings CUDA along, calls it, unloads it, and so again, with other things
 * mapped in between so that addresses change: shim_host PLUGIN [LAPS]. It does not know CUDA
 * itself.
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "tests/test.h"

/* How much address space libraries named so take. */
static unsigned long mapped(const char *library)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long bytes = 0;
	char line[600];

	while (file && fgets(line, sizeof(line), file)) {
		unsigned long start;
		unsigned long end;

		if (strstr(line, library) && sscanf(line, "%lx-%lx", &start, &end) == 2)
			bytes += end - start;
	}
	if (file)
		fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	const int laps = argc > 2 ? atoi(argv[2]) : 1;
	bool unloaded = true;

	if (argc < 2)
		return test_skip("no plugin stated");
	for (int lap = 0; lap < laps; lap++) {
		void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

		if (!plugin)
			fprintf(stderr, "%s\n", dlerror());
		TEST_NEED(plugin);
		int (*result)(void) = (int (*)(void))dlsym(plugin, "plugin_result");
		int (*call)(void) = (int (*)(void))dlsym(plugin, "plugin_call");

		TEST_NEED(result && call);
		TEST_EQ(result(), 0);
		TEST_EQ(call(), 0);
		TEST_EQ(dlclose(plugin), 0);
		plugin = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
		unloaded = unloaded && !plugin;
		/* Takes the places that were freed. */
		for (int i = 0; i < 40; i++)
			mmap(NULL, (size_t)(i + 1) << 14, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
	}
	fprintf(stderr, "tfshim-test: %lu bytes of the runtime still mapped\n",
		mapped("libcudart.so"));
	printf("%d laps, plugin %s\n", laps, unloaded ? "unloaded" : "kept");
	return test_result();
}
