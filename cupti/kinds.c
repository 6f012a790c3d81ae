/* SPDX-License-Identifier: MIT */
#include "cupti/kinds.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Without these a window is blind. */
static const CUpti_ActivityKind needed[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
};

static const CUpti_ActivityKind wanted[] = {
	CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
	/* All calls, of which most are not kept: single ones (cuptiActivityEnableRuntimeApi) are
	 * accepted once the program runs, but not recorded: CUPTI 13.0, driver 580, H200. */
	CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_MEMORY2,
};

/* Calls that put work on the device, wait for it, or allocate: X(name as in cupti_runtime_cbid.h)
 */
#define RUNTIME_APIS(X)                                                                            \
	X(__cudaLaunchKernel_ptsz_v13000)                                                          \
	X(__cudaLaunchKernel_v13000)                                                               \
	X(cudaDeviceSynchronize_v3020)                                                             \
	X(cudaEventSynchronize_v3020)                                                              \
	X(cudaFreeAsync_ptsz_v11020)                                                               \
	X(cudaFreeAsync_v11020)                                                                    \
	X(cudaFreeHost_v3020)                                                                      \
	X(cudaFree_v3020)                                                                          \
	X(cudaGraphLaunch_ptsz_v10000)                                                             \
	X(cudaGraphLaunch_v10000)                                                                  \
	X(cudaHostAlloc_v3020)                                                                     \
	X(cudaHostRegister_v4000)                                                                  \
	X(cudaHostUnregister_v4000)                                                                \
	X(cudaLaunchCooperativeKernel_ptsz_v9000)                                                  \
	X(cudaLaunchCooperativeKernel_v9000)                                                       \
	X(cudaLaunchKernelExC_ptsz_v11060)                                                         \
	X(cudaLaunchKernelExC_v11060)                                                              \
	X(cudaLaunchKernel_ptsz_v7000)                                                             \
	X(cudaLaunchKernel_v7000)                                                                  \
	X(cudaMallocAsync_ptsz_v11020)                                                             \
	X(cudaMallocAsync_v11020)                                                                  \
	X(cudaMallocHost_v3020)                                                                    \
	X(cudaMallocManaged_v6000)                                                                 \
	X(cudaMalloc_v3020)                                                                        \
	X(cudaMemcpy2DAsync_ptsz_v7000)                                                            \
	X(cudaMemcpy2DAsync_v3020)                                                                 \
	X(cudaMemcpy2D_ptds_v7000)                                                                 \
	X(cudaMemcpy2D_v3020)                                                                      \
	X(cudaMemcpy3DAsync_ptsz_v7000)                                                            \
	X(cudaMemcpy3DAsync_v3020)                                                                 \
	X(cudaMemcpy3D_ptds_v7000)                                                                 \
	X(cudaMemcpy3D_v3020)                                                                      \
	X(cudaMemcpyAsync_ptsz_v7000)                                                              \
	X(cudaMemcpyAsync_v3020)                                                                   \
	X(cudaMemcpyFromSymbolAsync_ptsz_v7000)                                                    \
	X(cudaMemcpyFromSymbolAsync_v3020)                                                         \
	X(cudaMemcpyFromSymbol_ptds_v7000)                                                         \
	X(cudaMemcpyFromSymbol_v3020)                                                              \
	X(cudaMemcpyPeerAsync_v4000)                                                               \
	X(cudaMemcpyPeer_v4000)                                                                    \
	X(cudaMemcpyToSymbolAsync_ptsz_v7000)                                                      \
	X(cudaMemcpyToSymbolAsync_v3020)                                                           \
	X(cudaMemcpyToSymbol_ptds_v7000)                                                           \
	X(cudaMemcpyToSymbol_v3020)                                                                \
	X(cudaMemcpy_ptds_v7000)                                                                   \
	X(cudaMemcpy_v3020)                                                                        \
	X(cudaMemset2DAsync_ptsz_v7000)                                                            \
	X(cudaMemset2DAsync_v3020)                                                                 \
	X(cudaMemset2D_ptds_v7000)                                                                 \
	X(cudaMemset2D_v3020)                                                                      \
	X(cudaMemsetAsync_ptsz_v7000)                                                              \
	X(cudaMemsetAsync_v3020)                                                                   \
	X(cudaMemset_ptds_v7000)                                                                   \
	X(cudaMemset_v3020)                                                                        \
	X(cudaStreamSynchronize_ptsz_v7000)                                                        \
	X(cudaStreamSynchronize_v3020)

/* Libraries launch through the driver too, and programs may: X(name as in cupti_driver_cbid.h) */
#define DRIVER_APIS(X)                                                                             \
	X(cuCtxSynchronize)                                                                        \
	X(cuCtxSynchronize_v2)                                                                     \
	X(cuGraphLaunch)                                                                           \
	X(cuGraphLaunch_ptsz)                                                                      \
	X(cuLaunchCooperativeKernel)                                                               \
	X(cuLaunchCooperativeKernel_ptsz)                                                          \
	X(cuLaunchKernel)                                                                          \
	X(cuLaunchKernelEx)                                                                        \
	X(cuLaunchKernelEx_ptsz)                                                                   \
	X(cuLaunchKernel_ptsz)                                                                     \
	X(cuMemcpy)                                                                                \
	X(cuMemcpy2DAsync_v2)                                                                      \
	X(cuMemcpy2DAsync_v2_ptsz)                                                                 \
	X(cuMemcpy2DUnaligned_v2)                                                                  \
	X(cuMemcpy2DUnaligned_v2_ptds)                                                             \
	X(cuMemcpy2D_v2)                                                                           \
	X(cuMemcpy2D_v2_ptds)                                                                      \
	X(cuMemcpyAsync)                                                                           \
	X(cuMemcpyAsync_ptsz)                                                                      \
	X(cuMemcpyDtoDAsync_v2)                                                                    \
	X(cuMemcpyDtoDAsync_v2_ptsz)                                                               \
	X(cuMemcpyDtoD_v2)                                                                         \
	X(cuMemcpyDtoD_v2_ptds)                                                                    \
	X(cuMemcpyDtoHAsync_v2)                                                                    \
	X(cuMemcpyDtoHAsync_v2_ptsz)                                                               \
	X(cuMemcpyDtoH_v2)                                                                         \
	X(cuMemcpyDtoH_v2_ptds)                                                                    \
	X(cuMemcpyHtoDAsync_v2)                                                                    \
	X(cuMemcpyHtoDAsync_v2_ptsz)                                                               \
	X(cuMemcpyHtoD_v2)                                                                         \
	X(cuMemcpyHtoD_v2_ptds)                                                                    \
	X(cuMemcpy_ptds)                                                                           \
	X(cuMemsetD16Async)                                                                        \
	X(cuMemsetD16Async_ptsz)                                                                   \
	X(cuMemsetD16_v2)                                                                          \
	X(cuMemsetD16_v2_ptds)                                                                     \
	X(cuMemsetD32Async)                                                                        \
	X(cuMemsetD32Async_ptsz)                                                                   \
	X(cuMemsetD32_v2)                                                                          \
	X(cuMemsetD32_v2_ptds)                                                                     \
	X(cuMemsetD8Async)                                                                         \
	X(cuMemsetD8Async_ptsz)                                                                    \
	X(cuMemsetD8_v2)                                                                           \
	X(cuMemsetD8_v2_ptds)                                                                      \
	X(cuStreamSynchronize)                                                                     \
	X(cuStreamSynchronize_ptsz)

static const struct api {
	uint16_t cbid;
	bool driver;
	const char *name;
} apis[] = {
#define X(name) {CUPTI_RUNTIME_TRACE_CBID_##name, false, #name},
	RUNTIME_APIS(X)
#undef X
#define X(name) {CUPTI_DRIVER_TRACE_CBID_##name, true, #name},
		DRIVER_APIS(X)
#undef X
};
#define APIS (sizeof(apis) / sizeof(apis[0]))

/* The same by number. */
#define CBIDS 1024u
static _Atomic bool watched[2][CBIDS];
_Static_assert(CUPTI_RUNTIME_TRACE_CBID_SIZE < CBIDS && CUPTI_DRIVER_TRACE_CBID_SIZE < CBIDS,
	"a number for each call");

static bool switch_kind(const struct tfs_cupti *cupti, CUpti_ActivityKind kind, bool on)
{
	return (on ? cupti->cuptiActivityEnable : cupti->cuptiActivityDisable)(kind) ==
	       CUPTI_SUCCESS;
}

/* The runtime's callbacks carry the version that brought the function; hooks do not. */
static const char *plain_name(const struct api *api, char *buffer, size_t bytes)
{
	char *version;

	snprintf(buffer, bytes, "%s", api->name);
	version = api->driver ? NULL : strrchr(buffer, '_');
	if (version && version[1] == 'v')
		*version = '\0';
	return buffer;
}

void tfs_cupti_watched(void (*visit)(uint32_t cbid, bool driver, const char *name))
{
	char buffer[96];

	for (size_t i = 0; i < APIS; i++)
		visit(apis[i].cbid, apis[i].driver, plain_name(&apis[i], buffer, sizeof(buffer)));
}

bool tfs_cupti_is_watched(uint32_t cbid, bool driver)
{
	return cbid < CBIDS && atomic_load_explicit(&watched[driver][cbid], memory_order_relaxed);
}

bool tfs_cupti_switch(const struct tfs_cupti *cupti, bool on)
{
	bool sees = true;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		sees = switch_kind(cupti, needed[i], on) && sees;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		switch_kind(cupti, wanted[i], on);
	for (size_t i = 0; i < APIS; i++)
		atomic_store_explicit(
			&watched[apis[i].driver][apis[i].cbid], true, memory_order_relaxed);
	return sees;
}
