/* SPDX-License-Identifier: MIT */
/* Asks about its devices again and again, one case each; the answers must be the runtime's own. */

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"
#include "tests/sim/tfsim.h"

#define ROUNDS 24

static int device_count;

static int attribute(enum cudaDeviceAttr which, int device)
{
	int value = -1;

	OK(cudaDeviceGetAttribute(&value, which, device));
	return value;
}

static void ask(int device)
{
	struct cudaDeviceProp all;

	memset(&all, 0x33, sizeof(all));
	OK(cudaGetDeviceProperties(&all, device));
	TEST_EQ(all.pciBusID, device + 1);
	TEST_EQ(all.warpSize, 32);
	TEST_EQ(all.maxThreadsPerBlock, 1024);
	TEST_EQ(attribute(cudaDevAttrPciBusId, device), device + 1);
	TEST_EQ(attribute(cudaDevAttrWarpSize, device), 32);
}

/* Two devices differ by their bus. */
static void devices(void)
{
	for (int i = 0; i < ROUNDS; i++)
		for (int device = 0; device < device_count; device++)
			ask(device);
}

/* Errors are told by whichever call comes next. */
static void errors(void)
{
	struct cudaDeviceProp all;

	devices();
	TEST_EQ(cudaGetDeviceProperties(&all, 99), cudaErrorInvalidDevice);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
	TEST_EQ(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	devices();
	tfsim_kernel_fault(cudaErrorIllegalAddress);
	TEST_EQ(cudaGetDeviceProperties(&all, 0), cudaErrorIllegalAddress);
}

static void reset(void)
{
	devices();
	OK(cudaSetDevice(0));
	OK(cudaFree(NULL));
	OK(cudaDeviceReset());
	devices();
}

static void *ask_all(void *nothing)
{
	devices();
	return nothing;
}

static void threads(void)
{
	rewrite_case_threads(ask_all);
}

static void clocks(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		TEST_EQ(attribute(cudaDevAttrClockRate, 0), 1000000);
		TEST_EQ(attribute(cudaDevAttrMemoryClockRate, 0), 62500);
		attribute(cudaDevAttrComputeMode, 0);
		attribute(cudaDevAttrKernelExecTimeout, 0);
	}
}

static void numbers(void)
{
	int value;

	for (int i = 0; i < ROUNDS; i++)
		TEST_EQ(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)300, 0),
			cudaErrorInvalidValue);
	(void)cudaGetLastError();
}

static void error_waiting(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		(void)cudaSetDevice(99);
		TEST_EQ(attribute(cudaDevAttrWarpSize, 0), 32);
		TEST_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
	}
}

static const struct rewrite_case cases[] = {
	{"devices", devices},
	{"errors", errors},
	{"reset", reset},
	{"threads", threads},
	{"clocks", clocks},
	{"numbers", numbers},
	{"error-waiting", error_waiting},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaGetDeviceCount(&device_count));
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
