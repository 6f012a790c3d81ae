/* SPDX-License-Identifier: MIT */
#include "tests/sim/cudart/cudart.h"

/* Settings that change nothing here: they are checked, and kept where they can be read back. */

static enum cudaSharedMemConfig bank_size = cudaSharedMemBankSizeDefault;

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
	ENTER(cudaDeviceSetSharedMemConfig_v4020, config);
	bank_size = config;
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
	ENTER(cudaDeviceGetSharedMemConfig_v4020, config);
	if (config)
		*config = bank_size;
	return LEAVE(config ? tfsim_sticky() : cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
	ENTER(cudaFuncSetSharedMemConfig_v4020, func, config);
	return LEAVE(cudart_function(func) ? tfsim_sticky() : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
	ENTER_NONE(cudaCtxResetPersistingL2Cache_v11000);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(enum cudaFlushGPUDirectRDMAWritesTarget target,
	enum cudaFlushGPUDirectRDMAWritesScope scope)
{
	ENTER(cudaDeviceFlushGPUDirectRDMAWrites_v11030, target, scope);
	return LEAVE(tfsim_sticky());
}

cudaError_t cudaDeviceGetP2PAttribute(
	int *value, enum cudaDeviceP2PAttr attribute, int source, int destination)
{
	int count = tfsim_device_count();
	ENTER(cudaDeviceGetP2PAttribute_v8000, value, attribute, source, destination);

	if (source < 0 || destination < 0 || source >= count || destination >= count ||
		source == destination)
		return LEAVE(cudaErrorInvalidDevice);
	if (!value)
		return LEAVE(cudaErrorInvalidValue);
	*value = attribute == cudaDevP2PAttrAccessSupported;
	return LEAVE(tfsim_sticky());
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(
	int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
