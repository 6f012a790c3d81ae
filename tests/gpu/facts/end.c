/* SPDX-License-Identifier: MIT */
/* Some work on the device, then an end that the argument names: "return", "reset" (the device,
 * then return), "_exit", "exit-busy" (the device still works). What of it is in the recording is
 * for tests/gpu/recorded.c to say. */
#include <unistd.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { SETS = 100, BYTES = 1 << 20 };

int main(int count, char **words)
{
	const char *way = count > 1 ? words[1] : "return";
	void *memory;

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaMalloc(&memory, BYTES));
	/* Whoever watches device activity starts to at the first call, and takes a while. */
	OK(cudaMemset(memory, 0, BYTES));
	sleep(2);
	for (unsigned i = 0; i < SETS; i++)
		OK(cudaMemsetAsync(memory, (int)i, BYTES, NULL));
	if (strcmp(way, "exit-busy"))
		OK(cudaDeviceSynchronize());
	if (!strcmp(way, "reset"))
		OK(cudaDeviceReset());
	if (!strcmp(way, "_exit"))
		_exit(test_result());
	return test_result();
}
