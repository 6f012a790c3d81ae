/* SPDX-License-Identifier: MIT */
/* The driver as a client without headers meets it: one dlsym, then everything by name, version and
 * flag. The same name at two versions is two functions. */
#include <cuda.h>
#include <dlfcn.h>

#include "tests/test.h"

typedef CUresult (*get_fn)(
	const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
typedef CUresult (*get_old_fn)(const char *, void **, int, cuuint64_t);

static get_fn get;

static void *find(const char *name, int version, cuuint64_t flags, int want)
{
	CUdriverProcAddressQueryResult status;
	void *function = &status;

	TEST_EQ(get(name, &function, version, flags, &status), CUDA_SUCCESS);
	TEST_EQ(status, want);
	TEST_EQ(function != NULL, want == CU_GET_PROC_ADDRESS_SUCCESS);
	return function;
}

static void check_versions(void *driver)
{
	enum { OK = CU_GET_PROC_ADDRESS_SUCCESS };

	TEST_TRUE(find("cuMemAlloc", 3020, 0, OK) == dlsym(driver, "cuMemAlloc_v2"));
	TEST_TRUE(find("cuMemAlloc", 12000, 0, OK) == dlsym(driver, "cuMemAlloc_v2"));
	TEST_TRUE(find("cuEventElapsedTime", 12000, 0, OK) == dlsym(driver, "cuEventElapsedTime"));
	TEST_TRUE(
		find("cuEventElapsedTime", 12080, 0, OK) == dlsym(driver, "cuEventElapsedTime_v2"));
	TEST_TRUE(find("cuMemcpyHtoDAsync", 7000, 2, OK) ==
		  dlsym(driver, "cuMemcpyHtoDAsync_v2_ptsz"));
	TEST_TRUE(find("cuMemcpyHtoDAsync", 7000, 1, OK) == dlsym(driver, "cuMemcpyHtoDAsync_v2"));
	TEST_TRUE(find("cuMemAlloc", 7000, 2, OK) == dlsym(driver, "cuMemAlloc_v2"));
	TEST_TRUE(find("cuGetProcAddress", 12000, 0, OK) == dlsym(driver, "cuGetProcAddress_v2"));
	find("cuStreamGetCaptureInfo", 2000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	find("cuNoSuchFunction", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	CUresult (*init)(unsigned);
	CUresult (*get_current)(CUcontext *);
	CUcontext context;
	get_old_fn old;
	void *function;

	if (!driver)
		return test_skip("no libcuda.so.1");
	get = (get_fn)dlsym(driver, "cuGetProcAddress_v2");
	if (!TEST_TRUE(get))
		return test_result();
	get_current = (CUresult(*)(CUcontext *))find("cuCtxGetCurrent", 4000, 0, 0);
	init = (CUresult(*)(unsigned))find("cuInit", 2000, 0, 0);
	TEST_EQ(get_current(&context), CUDA_ERROR_NOT_INITIALIZED);
	if (init(0) != CUDA_SUCCESS)
		return test_skip("no device");
	TEST_EQ(get_current(&context), CUDA_SUCCESS);
	TEST_TRUE(!context);
	check_versions(driver);
	old = (get_old_fn)find("cuGetProcAddress", 11030, 0, 0);
	TEST_EQ(old("cuInit", &function, 2000, 0), CUDA_SUCCESS);
	TEST_TRUE(function == (void *)init);
	return test_result();
}
