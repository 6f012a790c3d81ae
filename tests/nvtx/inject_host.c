/* SPDX-License-Identifier: MIT */
/*
 * inject_host INJECTOR FOLDER [FILLER]: calls the injected library as the driver does, then works a
 * little; "-": leaves that to the driver. With a filler, room for static thread storage is used up
 * before by copies of it in FOLDER, and nothing of the shim may be left in the process.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/tools/loaded.h"

static bool copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb");
	FILE *out = fopen(to, "wb");
	char block[4096];
	size_t bytes;
	bool good = in && out;

	while (good && (bytes = fread(block, 1, sizeof(block), in)) > 0)
		good = fwrite(block, 1, bytes, out) == bytes;
	if (in)
		fclose(in);
	if (out)
		fclose(out);
	return good;
}

static void use_up(const char *filler, const char *folder)
{
	char path[512];
	int loaded = 0;

	do {
		snprintf(path, sizeof(path), "%s/filler%d.so", folder, loaded);
		TEST_NEED(copy_file(filler, path) && loaded < 1000);
		loaded++;
	} while (dlopen(path, RTLD_NOW));
	printf("%d libraries, then: %s\n", loaded - 1, dlerror());
}

static bool is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	bool found = false;

	while (maps && fgets(line, sizeof(line), maps))
		found = found || strstr(line, name);
	if (maps)
		fclose(maps);
	return found;
}

static bool start(const char *injector)
{
	void *library = dlopen(injector, RTLD_LAZY);
	int (*inject)(void) = NULL;

	if (TEST_TRUE(library))
		inject = (int (*)(void))dlsym(library, "InitializeInjection");
	return TEST_TRUE(inject) && inject() != 0;
}

int main(int count, char **words)
{
	void *memory = NULL;

	TEST_NEED(count >= 3);
	if (count > 3)
		use_up(words[3], words[2]);
	if (strcmp(words[1], "-") != 0)
		TEST_EQ(start(words[1]), count == 3);
	else
		TEST_EQ(cudaFree(NULL), cudaSuccess);
	const int libraries = is_mapped("/libtfshim.so") + is_mapped("/libtfshim_late.so");

	TEST_EQ(libraries, count == 3);
	TEST_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
	/* CUPTI is opened by a thread that nobody waits for. */
	TEST_TRUE(libraries == 0 || loaded_wait());
	for (int i = 0; i < 50; i++)
		TEST_EQ(cudaMemset(memory, 0, 4096), cudaSuccess);
	TEST_EQ(cudaDeviceSynchronize(), cudaSuccess);
	TEST_EQ(cudaFree(memory), cudaSuccess);
	return test_result();
}
