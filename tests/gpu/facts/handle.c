/* SPDX-License-Identifier: MIT */
/*
 * What the runtime and the driver say of a kernel that was loaded from a library (cudaKernel_t) and
 * is handed to cudaLaunchKernel as one of the program's own: "fact kernel-handle CALL STATUS, ...",
 * with the runtime's last error after it. See fact.h.
 */
#include <cuda.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

static void say(const char *call, int status, const char *text)
{
	fact("kernel-handle", call, "%d, then last error %d, %s", status, (int)cudaGetLastError(),
		text ? text : "no name");
}

static void ask(cudaKernel_t kernel)
{
	cudaFunction_t function = NULL;
	struct cudaFuncAttributes attributes;
	const char *name = NULL;
	char bytes[32];
	size_t offset, size = 0;
	int status = (int)cudaGetFuncBySymbol(&function, (const void *)kernel);

	say("cudaGetFuncBySymbol", status, function ? "a function" : "none");
	if (function) {
		status = (int)cuFuncGetName(&name, (CUfunction)function);
		say("cuFuncGetName", status, name);
	}
	name = NULL;
	status = (int)cudaFuncGetName(&name, (const void *)kernel);
	say("cudaFuncGetName", status, name);
	status = (int)cudaFuncGetParamInfo((const void *)kernel, 0, &offset, &size);
	snprintf(bytes, sizeof(bytes), "%zu bytes", size);
	say("cudaFuncGetParamInfo", status, bytes);
	name = NULL;
	status = (int)cuKernelGetName(&name, (CUkernel)kernel);
	say("cuKernelGetName", status, name);
	size = 0;
	status = (int)cuKernelGetParamInfo((CUkernel)kernel, 0, &offset, &size);
	snprintf(bytes, sizeof(bytes), "%zu bytes", size);
	say("cuKernelGetParamInfo", status, bytes);
	say("cudaFuncGetAttributes", (int)cudaFuncGetAttributes(&attributes, (const void *)kernel),
		"");
}

int main(void)
{
	const dim3 one = {1, 1, 1};
	cudaLibrary_t library;
	cudaKernel_t spin;
	uint64_t ns = 1000;
	void *arguments[] = {&ns};

	if (!fact_device())
		return test_skip("no CUDA device");
	OK(cudaLibraryLoadData(&library, fact_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&spin, library, "spin"));
	OK(cudaLaunchKernel((const void *)spin, one, one, arguments, 0, NULL));
	say("cudaLaunchKernel", (int)cudaDeviceSynchronize(), "");
	ask(spin);
	return test_result();
}
