/* SPDX-License-Identifier: MIT */
/* Runs a plugin that carries a runtime of its own: driver_client_plugin PLUGIN local|deep. */
#include <dlfcn.h>

#include "tests/test.h"

int main(int count, char **words)
{
	void *plugin;
	int (*train)(void);

	TEST_NEED(count == 3);
	plugin = dlopen(
		words[1], RTLD_NOW | RTLD_LOCAL | (strcmp(words[2], "deep") ? 0 : RTLD_DEEPBIND));
	if (!plugin)
		printf("%s\n", dlerror());
	TEST_NEED(plugin != NULL);
	train = (int (*)(void))dlsym(plugin, "train");
	TEST_NEED(train != NULL);
	return train();
}
