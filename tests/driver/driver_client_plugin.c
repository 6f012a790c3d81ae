/* SPDX-License-Identifier: MIT */
/* Uses the driver a little and runs a plugin that carries a runtime of its own:
 * driver_client_plugin PLUGIN local|deep. */
#include <dlfcn.h>

#include "tests/test.h"

int main(int count, char **words)
{
	int (*ask)(size_t *, size_t *);
	size_t left, all;
	void *driver, *plugin;
	int (*train)(void);

	TEST_NEED(count == 3);
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		return test_skip("no libcuda.so.1");
	ask = (int (*)(size_t *, size_t *))dlsym(driver, "cuMemGetInfo_v2");
	TEST_TRUE(ask(&left, &all) != 0);
	plugin = dlopen(
		words[1], RTLD_NOW | RTLD_LOCAL | (strcmp(words[2], "deep") ? 0 : RTLD_DEEPBIND));
	if (!plugin)
		printf("%s\n", dlerror());
	TEST_NEED(plugin);
	train = (int (*)(void))dlsym(plugin, "train");
	TEST_NEED(train);
	return train() | test_result();
}
