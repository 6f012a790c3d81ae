/* SPDX-License-Identifier: MIT */
/* Two CUDA runtimes in one process: the program's and, with -DPLUGIN, that of a library it loads.
 * Each must go on using its own. */
#include <dlfcn.h>
#include <stdio.h>

extern int cudaRuntimeGetVersion(int *out_version);

#ifdef PLUGIN
int plugin_version(void);

int plugin_version(void)
{
	int version = 0;

	cudaRuntimeGetVersion(&version);
	return version;
}
#else
int main(int count, char **words)
{
	int before = 0, after = 0;
	int (*ask)(void) = NULL;

	cudaRuntimeGetVersion(&before);
	void *plugin = dlopen(words[count - 1], RTLD_NOW | RTLD_LOCAL);
	if (plugin)
		ask = (int (*)(void))dlsym(plugin, "plugin_version");
	if (!ask) {
		printf("%s\n", dlerror());
		return 1;
	}
	for (int i = 0; i < 3; i++) {
		const int other = ask();

		cudaRuntimeGetVersion(&after);
		printf("program %d and %d, plugin %d\n", before, after, other);
	}
	return 0;
}
#endif
