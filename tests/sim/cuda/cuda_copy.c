/* SPDX-License-Identifier: MIT */
#include "tests/sim/cuda/cuda_private.h"

SIM_DRIVER_TWINS(cuMemcpy, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t size),
	tfsim_memcpy(sim_pointer(dst), sim_pointer(src), size, cudaMemcpyDefault, none, false))

SIM_DRIVER_TWINS(cuMemcpyAsync, _ptsz,
	(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream hStream),
	tfsim_memcpy(sim_pointer(dst), sim_pointer(src), size, cudaMemcpyDefault,
		hStream ? hStream : none, true))

SIM_DRIVER_TWINS(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr dst, const void *src, size_t size),
	tfsim_memcpy(sim_pointer(dst), src, size, cudaMemcpyHostToDevice, none, false))

SIM_DRIVER_TWINS(cuMemcpyDtoH_v2, _ptds, (void *dst, CUdeviceptr src, size_t size),
	tfsim_memcpy(dst, sim_pointer(src), size, cudaMemcpyDeviceToHost, none, false))

SIM_DRIVER_TWINS(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t size),
	tfsim_memcpy(
		sim_pointer(dst), sim_pointer(src), size, cudaMemcpyDeviceToDevice, none, false))

SIM_DRIVER_TWINS(cuMemcpyHtoDAsync_v2, _ptsz,
	(CUdeviceptr dst, const void *src, size_t size, CUstream hStream),
	tfsim_memcpy(sim_pointer(dst), src, size, cudaMemcpyHostToDevice, hStream ? hStream : none,
		true))

SIM_DRIVER_TWINS(cuMemcpyDtoHAsync_v2, _ptsz,
	(void *dst, CUdeviceptr src, size_t size, CUstream hStream),
	tfsim_memcpy(dst, sim_pointer(src), size, cudaMemcpyDeviceToHost, hStream ? hStream : none,
		true))

SIM_DRIVER_TWINS(cuMemcpyDtoDAsync_v2, _ptsz,
	(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream hStream),
	tfsim_memcpy(sim_pointer(dst), sim_pointer(src), size, cudaMemcpyDeviceToDevice,
		hStream ? hStream : none, true))

static const void *source(const CUDA_MEMCPY2D *copy)
{
	const char *base = copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost
								     : sim_pointer(copy->srcDevice);

	return base + copy->srcY * copy->srcPitch + copy->srcXInBytes;
}

static void *target(const CUDA_MEMCPY2D *copy)
{
	char *base = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost
							       : sim_pointer(copy->dstDevice);

	return base + copy->dstY * copy->dstPitch + copy->dstXInBytes;
}

static cudaError_t copy_2d(const CUDA_MEMCPY2D *copy, CUstream stream, bool async)
{
	if (!copy)
		return cudaErrorInvalidValue;
	if (copy->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
		copy->dstMemoryType == CU_MEMORYTYPE_ARRAY)
		return cudaErrorNotSupported;
	return tfsim_memcpy_2d(target(copy), copy->dstPitch, source(copy), copy->srcPitch,
		copy->WidthInBytes, copy->Height, cudaMemcpyDefault, stream, async);
}

SIM_DRIVER_TWINS(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *pCopy), copy_2d(pCopy, none, false))

SIM_DRIVER_TWINS(
	cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *pCopy), copy_2d(pCopy, none, false))

SIM_DRIVER_TWINS(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *pCopy, CUstream hStream),
	copy_2d(pCopy, hStream ? hStream : none, true))

/* Layer by layer. */
static cudaError_t copy_3d(const CUDA_MEMCPY3D *copy, CUstream stream, bool async)
{
	cudaError_t error = cudaSuccess;

	if (!copy)
		return cudaErrorInvalidValue;
	for (size_t z = 0; z < copy->Depth && error == cudaSuccess; z++) {
		const CUDA_MEMCPY2D layer = {.srcMemoryType = copy->srcMemoryType,
			.srcHost = copy->srcHost,
			.srcDevice = copy->srcDevice,
			.srcPitch = copy->srcPitch,
			.srcXInBytes = copy->srcXInBytes,
			.srcY = copy->srcY + (copy->srcZ + z) * copy->srcHeight,
			.dstMemoryType = copy->dstMemoryType,
			.dstHost = copy->dstHost,
			.dstDevice = copy->dstDevice,
			.dstPitch = copy->dstPitch,
			.dstXInBytes = copy->dstXInBytes,
			.dstY = copy->dstY + (copy->dstZ + z) * copy->dstHeight,
			.WidthInBytes = copy->WidthInBytes,
			.Height = copy->Height};

		error = copy_2d(&layer, stream, async);
	}
	return error;
}

SIM_DRIVER_TWINS(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *pCopy), copy_3d(pCopy, none, false))

SIM_DRIVER_TWINS(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *pCopy, CUstream hStream),
	copy_3d(pCopy, hStream ? hStream : none, true))

static cudaError_t copy_batch(const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes,
	size_t count, CUstream stream)
{
	cudaError_t error = dsts && srcs && sizes && count ? cudaSuccess : cudaErrorInvalidValue;

	for (size_t i = 0; error == cudaSuccess && i < count; i++)
		error = tfsim_memcpy(sim_pointer(dsts[i]), sim_pointer(srcs[i]), sizes[i],
			cudaMemcpyDefault, stream, true);
	return error;
}

SIM_DRIVER_TWINS(cuMemcpyBatchAsync_v2, _ptsz,
	(CUdeviceptr * dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
		CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream),
	((void)attrs, (void)attrsIdxs, (void)numAttrs,
		copy_batch(dsts, srcs, sizes, count, hStream)))

SIM_DRIVER_TWINS(cuMemsetD8_v2, _ptds, (CUdeviceptr dst, unsigned char uc, size_t N),
	tfsim_memset(sim_pointer(dst), N, uc, 1, N, 1, none, false))

SIM_DRIVER_TWINS(cuMemsetD16_v2, _ptds, (CUdeviceptr dst, unsigned short us, size_t N),
	tfsim_memset(sim_pointer(dst), N * 2, us, 2, N, 1, none, false))

SIM_DRIVER_TWINS(cuMemsetD32_v2, _ptds, (CUdeviceptr dst, unsigned int ui, size_t N),
	tfsim_memset(sim_pointer(dst), N * 4, ui, 4, N, 1, none, false))

SIM_DRIVER_TWINS(cuMemsetD8Async, _ptsz,
	(CUdeviceptr dst, unsigned char uc, size_t N, CUstream hStream),
	tfsim_memset(sim_pointer(dst), N, uc, 1, N, 1, hStream ? hStream : none, true))

SIM_DRIVER_TWINS(cuMemsetD16Async, _ptsz,
	(CUdeviceptr dst, unsigned short us, size_t N, CUstream hStream),
	tfsim_memset(sim_pointer(dst), N * 2, us, 2, N, 1, hStream ? hStream : none, true))

SIM_DRIVER_TWINS(cuMemsetD32Async, _ptsz,
	(CUdeviceptr dst, unsigned int ui, size_t N, CUstream hStream),
	tfsim_memset(sim_pointer(dst), N * 4, ui, 4, N, 1, hStream ? hStream : none, true))

SIM_DRIVER_TWINS(cuMemsetD2D8_v2, _ptds,
	(CUdeviceptr dst, size_t pitch, unsigned char uc, size_t width, size_t height),
	tfsim_memset(sim_pointer(dst), pitch, uc, 1, width, height, none, false))

SIM_DRIVER_TWINS(cuMemsetD2D16_v2, _ptds,
	(CUdeviceptr dst, size_t pitch, unsigned short us, size_t width, size_t height),
	tfsim_memset(sim_pointer(dst), pitch, us, 2, width, height, none, false))

SIM_DRIVER_TWINS(cuMemsetD2D32_v2, _ptds,
	(CUdeviceptr dst, size_t pitch, unsigned int ui, size_t width, size_t height),
	tfsim_memset(sim_pointer(dst), pitch, ui, 4, width, height, none, false))

SIM_DRIVER_TWINS(cuMemsetD2D8Async, _ptsz,
	(CUdeviceptr dst, size_t pitch, unsigned char uc, size_t width, size_t height,
		CUstream hStream),
	tfsim_memset(sim_pointer(dst), pitch, uc, 1, width, height, hStream ? hStream : none, true))

SIM_DRIVER_TWINS(cuMemsetD2D16Async, _ptsz,
	(CUdeviceptr dst, size_t pitch, unsigned short us, size_t width, size_t height,
		CUstream hStream),
	tfsim_memset(sim_pointer(dst), pitch, us, 2, width, height, hStream ? hStream : none, true))

SIM_DRIVER_TWINS(cuMemsetD2D32Async, _ptsz,
	(CUdeviceptr dst, size_t pitch, unsigned int ui, size_t width, size_t height,
		CUstream hStream),
	tfsim_memset(sim_pointer(dst), pitch, ui, 4, width, height, hStream ? hStream : none, true))

static cudaError_t copy_peer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
	size_t size, CUstream stream, bool async)
{
	int count = tfsim_device_count();
	int dst_device = sim_context_device(to, count),
	    src_device = sim_context_device(from, count);

	if (dst_device < 0 || src_device < 0)
		return cudaErrorDeviceUninitialized;
	return tfsim_memcpy_peer(
		sim_pointer(dst), dst_device, sim_pointer(src), src_device, size, stream, async);
}

SIM_DRIVER_TWINS(cuMemcpyPeer, _ptds,
	(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t size),
	copy_peer(dst, dstContext, src, srcContext, size, none, false))

SIM_DRIVER_TWINS(cuMemcpyPeerAsync, _ptsz,
	(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext, size_t size,
		CUstream hStream),
	copy_peer(dst, dstContext, src, srcContext, size, hStream ? hStream : none, true))
