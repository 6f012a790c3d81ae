/* SPDX-License-Identifier: MIT */
/*
 * A C program that begins and ends an interpreter several times, and unloads it where that can be:
 * python_host LIBPYTHON. CUDA calls are made before, amid and after.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>

#include "tests/test.h"

#define ROUNDS 3

static const char script[] = "import ctypes\n"
			     "cuda = ctypes.CDLL('libcudart.so.13')\n"
			     "n = ctypes.c_int()\n"
			     "def step():\n"
			     "    cuda.cudaDriverGetVersion(ctypes.byref(n))\n"
			     "for i in range(100):\n"
			     "    step()\n";

static void call(void)
{
	int device;

	TEST_EQ(cudaGetDeviceCount(&device), cudaSuccess);
}

static void run(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	TEST_TRUE(library);
	void (*begin)(int) = (void (*)(int))dlsym(library, "Py_InitializeEx");
	int (*execute)(const char *, void *) =
		(int (*)(const char *, void *))dlsym(library, "PyRun_SimpleStringFlags");
	int (*end)(void) = (int (*)(void))dlsym(library, "Py_FinalizeEx");
	TEST_TRUE(begin && execute && end);
	begin(0);
	call();
	TEST_EQ(execute(script, NULL), 0);
	TEST_EQ(end(), 0);
	call();
	dlclose(library);
	call();
}

int main(int count, char **arguments)
{
	TEST_EQ(count, 2);
	call();
	for (int i = 0; i < ROUNDS; i++)
		run(arguments[1]);
	printf("%d interpreters\n", ROUNDS);
	return test_result();
}
