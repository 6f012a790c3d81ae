/* SPDX-License-Identifier: MIT */
/*
 * Started without a standard error, so that the next file it opens gets that number; whatever a
 * library has to say then lands in that file: shim_stolen FILE
 */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static int file;

static void look(void)
{
	struct stat status;

	TEST_EQ(fstat(file, &status), 0);
	printf("own file: %lld bytes\n", (long long)status.st_size);
}

int main(int argc, char **argv)
{
	void *device;

	if (argc < 2)
		return test_skip("no file stated");
	/* Runs after everyone else's exit handlers. */
	atexit(look);
	file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	TEST_EQ(file, STDERR_FILENO);
	if (cudaMalloc(&device, 64) != cudaSuccess)
		return test_skip("no device");
	for (int i = 0; i < 100; i++)
		cudaMemset(device, 0, 64);
	TEST_EQ(write(file, "mine", 4), 4);
	return test_result();
}
