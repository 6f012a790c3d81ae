/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CUDART_H
#define TFS_TESTS_SIM_CUDART_H

/*
 * For the files of the simulated libcudart. A public call is a frame (ENTER or ENTER_NONE), its
 * work by the core, and LEAVE, which stores a failure as the thread's last error. Calls that have
 * a per-thread default stream twin live in files that are compiled twice: <file>_ptsz.c sets
 * CUDA_API_PER_THREAD_DEFAULT_STREAM, upon which NVIDIA's header renames them, and includes
 * <file>.c. There ENTER_TWIN takes both versioned names and STREAM() maps stream 0.
 */

#include "tests/sim/core/core.h"

#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#define ENTER(id, ...)                                                                             \
	id##_params params_ = {__VA_ARGS__};                                                       \
	struct tfsim_api api_;                                                                     \
	tfsim_api_enter(&api_, TFSIM_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##id, __func__, &params_)
#define ENTER_NONE(id)                                                                             \
	struct tfsim_api api_;                                                                     \
	tfsim_api_enter(&api_, TFSIM_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##id, __func__, NULL)
#define LEAVE(error) cudart_leave(&api_, (error))

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define ENTER_TWIN(plain, per_thread, ...) ENTER(per_thread, __VA_ARGS__)
#define STREAM(stream) ((stream) ? (stream) : cudaStreamPerThread)
#else
#define ENTER_TWIN(plain, per_thread, ...) ENTER(plain, __VA_ARGS__)
#define STREAM(stream) (stream)
#endif

cudaError_t cudart_leave(struct tfsim_api *api, cudaError_t error);
/* What needs a context and does no work makes the current device's primary one if it must. */
void cudart_need_context(void);
/* The function of a host stub's address; NULL when it is none. */
struct tfsim_function *cudart_stub(const void *symbol);
/* The function of a host stub's address or of a cudaKernel_t; NULL when it is neither. */
struct tfsim_function *cudart_function(const void *symbol);
/* The device address of a __device__ variable, by its host shadow; NULL when unknown. */
void *cudart_symbol(const void *symbol, size_t *out_size);

struct cudart_box {
	void *dst;
	const void *src;
	size_t dst_pitch, src_pitch, width, height;
};

/* A three-dimensional copy as rows; not supported for arrays. */
cudaError_t cudart_flatten(const struct cudaMemcpy3DParms *params, struct cudart_box *out_box);

/* What nvcc's generated code calls besides the public interface. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
	int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
	size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
	size_t size, int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(
	dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
	size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
	size_t shared, cudaStream_t stream);

#endif
