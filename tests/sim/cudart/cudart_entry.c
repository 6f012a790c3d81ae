/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

#include <cuda.h>
#include <dlfcn.h>

typedef CUresult (*get_proc_address)(const char *symbol, void **address, int version,
	cuuint64_t flags, CUdriverProcAddressQueryResult *status);

static get_proc_address lookup(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	return driver ? (get_proc_address)dlsym(driver, "cuGetProcAddress_v2") : NULL;
}

static cudaError_t find(const char *symbol, void **address, unsigned version,
	unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	get_proc_address get = lookup();

	if (!symbol || !address || flags > cudaEnablePerThreadDefaultStream)
		return cudaErrorInvalidValue;
	if (!get)
		return cudaErrorInitializationError;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
	if (flags == cudaEnableDefault)
		flags = cudaEnablePerThreadDefaultStream;
#endif
	*address = NULL;
	get(symbol, address, (int)version, flags, &found);
	if (status)
		*status = (enum cudaDriverEntryPointQueryResult)found;
	return status || *address ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **address, unsigned long long flags,
	enum cudaDriverEntryPointQueryResult *status)
{
	ENTER_TWIN(cudaGetDriverEntryPoint_v11030, cudaGetDriverEntryPoint_ptsz_v11030, symbol,
		address, flags, status);
	return LEAVE(find(symbol, address, CUDART_VERSION, flags, status));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **address, unsigned version,
	unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	ENTER_TWIN(cudaGetDriverEntryPointByVersion_v12050,
		cudaGetDriverEntryPointByVersion_ptsz_v12050, symbol, address, version, flags,
		status);
	return LEAVE(find(symbol, address, version, flags, status));
}
