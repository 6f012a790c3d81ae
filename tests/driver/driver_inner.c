/* SPDX-License-Identifier: MIT */
/*
 * The simulated driver, except that cuInit asks for the free memory by a name that a preload may
 * stand for. So a hook runs below whatever called cuInit: below NVIDIA's own runtime, which calls
 * nothing else that has a hook as long as the driver is not NVIDIA's. DRIVER_INNER is the simulated
 * driver's path.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static PFN_cuInit_v2000 real_init;

static CUresult init(unsigned flags)
{
	PFN_cuMemGetInfo_v3020 ask = (PFN_cuMemGetInfo_v3020)dlsym(RTLD_DEFAULT, "cuMemGetInfo_v2");
	const CUresult status = real_init(flags);
	size_t room, all;

	/* The first calls may come before stacks can be had. */
	for (int i = 0; ask && i < 200; i++) {
		ask(&room, &all);
		usleep(1000);
	}
	return status;
}

__attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char *name, void **out,
	int version, cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
	void *driver = dlopen(getenv("DRIVER_INNER"), RTLD_NOW);
	PFN_cuGetProcAddress_v12000 ask =
		(PFN_cuGetProcAddress_v12000)dlsym(driver, "cuGetProcAddress_v2");
	const CUresult status = ask(name, out, version, flags, result);

	if (status == CUDA_SUCCESS && strcmp(name, "cuInit") == 0) {
		real_init = (PFN_cuInit_v2000)*out;
		*out = (void *)init;
	}
	return status;
}
