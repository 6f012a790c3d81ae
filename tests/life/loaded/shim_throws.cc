/* SPDX-License-Identifier: MIT */
/* Loaded by shim_exceptions: throws across C frames, calls CUDA while an exception is in flight. */
#include <cstdio>
#include <cuda_runtime_api.h>
#include <stdexcept>
#include <string>
#include <unwind.h>

extern "C" int throws_run(int (*through)(int (*)(int), int), int rounds);
extern "C" const void *throws_unwinder();

static void *device;

struct copier {
	~copier()
	{
		char bytes[16] = "";

		cudaMemcpy(device, bytes, sizeof(bytes), cudaMemcpyHostToDevice);
	}
};

static int throw_one(int number)
{
	copier during;

	if (number % 3 == 0)
		throw std::runtime_error("number " + std::to_string(number));
	if (number % 3 == 1)
		throw number;
	return number;
}

int throws_run(int (*through)(int (*)(int), int), int rounds)
{
	int caught = 0;

	if (cudaMalloc(&device, 64) != cudaSuccess)
		return -1;
	for (int i = 0; i < rounds; i++) {
		try {
			caught += through(throw_one, i) == i ? 0 : 1000000;
		} catch (const std::exception &error) {
			caught += error.what() == "number " + std::to_string(i) ? 1 : 1000000;
		} catch (int number) {
			caught += number == i ? 1 : 1000000;
		}
	}
	cudaFree(device);
	return caught;
}

const void *throws_unwinder()
{
	return reinterpret_cast<const void *>(&_Unwind_RaiseException);
}
