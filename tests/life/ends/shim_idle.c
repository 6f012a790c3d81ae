/* SPDX-License-Identifier: MIT */
/* Links CUDA and never calls it: how many threads, descriptors and mappings with W and X are there?
 */
#include <cuda_runtime_api.h>
#include <dirent.h>

#include "tests/test.h"

static unsigned entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count - 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 99)
		cudaDeviceSynchronize();
	printf("%u threads, %u descriptors\n", entries("/proc/self/task"),
		entries("/proc/self/fd") - 1);
	return 0;
}
