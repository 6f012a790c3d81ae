/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"
#include "shim/state/kernels.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

TFS_PLAIN_HOOK(CUresult, cuModuleLoad, (CUmodule * out, const char *file), (out, file))
TFS_PLAIN_HOOK(CUresult, cuModuleLoadData, (CUmodule * out, const void *image), (out, image))
TFS_PLAIN_HOOK(CUresult, cuModuleLoadDataEx,
	(CUmodule * out, const void *image, unsigned count, CUjit_option *options, void **values),
	(out, image, count, options, values))
TFS_PLAIN_HOOK(CUresult, cuModuleLoadFatBinary, (CUmodule * out, const void *image), (out, image))
TFS_PLAIN_HOOK(CUresult, cuLibraryLoadData,
	(CUlibrary * out, const void *code, CUjit_option *jit, void **jit_values,
		unsigned jit_count, CUlibraryOption *options, void **values, unsigned count),
	(out, code, jit, jit_values, jit_count, options, values, count))
TFS_PLAIN_HOOK(CUresult, cuLibraryLoadFromFile,
	(CUlibrary * out, const char *file, CUjit_option *jit, void **jit_values,
		unsigned jit_count, CUlibraryOption *options, void **values, unsigned count),
	(out, file, jit, jit_values, jit_count, options, values, count))

/* A kernel may be loaded only when it is first asked for. */
TFS_HOOK(CUresult, cuModuleGetFunction, (CUfunction * out, CUmodule module, const char *name))
{
	struct tfs_frame frame = TFS_ENTER(cuModuleGetFunction);
	const CUresult status = TFS_REAL(cuModuleGetFunction)(out, module, name);

	if (frame.thread && status == CUDA_SUCCESS)
		tfs_kernel_named(*out, name, TFS_KERNEL_FUNCTION);
	tfs_hook_plain(&frame, status);
	return status;
}
TFS_PLAIN_HOOK(CUresult, cuModuleGetGlobal_v2,
	(CUdeviceptr * out, size_t *out_bytes, CUmodule module, const char *name),
	(out, out_bytes, module, name))
TFS_HOOK(CUresult, cuLibraryGetKernel, (CUkernel * out, CUlibrary library, const char *name))
{
	struct tfs_frame frame = TFS_ENTER(cuLibraryGetKernel);
	const CUresult status = TFS_REAL(cuLibraryGetKernel)(out, library, name);

	if (frame.thread && status == CUDA_SUCCESS)
		tfs_kernel_named(*out, name, TFS_KERNEL_HANDLE);
	tfs_hook_plain(&frame, status);
	return status;
}
TFS_PLAIN_HOOK(CUresult, cuLibraryGetModule, (CUmodule * out, CUlibrary library), (out, library))
TFS_PLAIN_HOOK(CUresult, cuLibraryGetGlobal,
	(CUdeviceptr * out, size_t *out_bytes, CUlibrary library, const char *name),
	(out, out_bytes, library, name))
TFS_PLAIN_HOOK(CUresult, cuLibraryGetManaged,
	(CUdeviceptr * out, size_t *out_bytes, CUlibrary library, const char *name),
	(out, out_bytes, library, name))
TFS_PLAIN_HOOK(CUresult, cuKernelGetFunction, (CUfunction * out, CUkernel kernel), (out, kernel))
TFS_PLAIN_HOOK(CUresult, cuFuncLoad, (CUfunction function), (function))
TFS_PLAIN_HOOK(CUresult, cuLinkCreate,
	(unsigned count, CUjit_option *options, void **values, CUlinkState *out),
	(count, options, values, out))
TFS_PLAIN_HOOK(CUresult, cuLinkCreate_v2,
	(unsigned count, CUjit_option *options, void **values, CUlinkState *out),
	(count, options, values, out))
TFS_PLAIN_HOOK(CUresult, cuLinkAddData,
	(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
		unsigned count, CUjit_option *options, void **values),
	(state, type, data, bytes, name, count, options, values))
TFS_PLAIN_HOOK(CUresult, cuLinkAddData_v2,
	(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
		unsigned count, CUjit_option *options, void **values),
	(state, type, data, bytes, name, count, options, values))
TFS_PLAIN_HOOK(CUresult, cuLinkAddFile,
	(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
		CUjit_option *options, void **values),
	(state, type, path, count, options, values))
TFS_PLAIN_HOOK(CUresult, cuLinkAddFile_v2,
	(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
		CUjit_option *options, void **values),
	(state, type, path, count, options, values))
TFS_PLAIN_HOOK(CUresult, cuLinkComplete, (CUlinkState state, void **out, size_t *out_bytes),
	(state, out, out_bytes))
TFS_PLAIN_HOOK(CUresult, cuLinkDestroy, (CUlinkState state), (state))

TFS_HOOK(CUresult, cuModuleUnload, (CUmodule module))
{
	struct tfs_frame frame = TFS_ENTER(cuModuleUnload);

	tfs_kernels_unloaded();
	const CUresult status = TFS_REAL(cuModuleUnload)(module);
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuLibraryUnload, (CUlibrary library))
{
	struct tfs_frame frame = TFS_ENTER(cuLibraryUnload);

	tfs_kernels_unloaded();
	const CUresult status = TFS_REAL(cuLibraryUnload)(library);
	tfs_hook_plain(&frame, status);
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuModuleLoad, , , 2000, module)                                                          \
	X(cuModuleLoadData, , , 2000, module)                                                      \
	X(cuModuleLoadDataEx, , , 2010, module)                                                    \
	X(cuModuleLoadFatBinary, , , 2000, module)                                                 \
	X(cuModuleUnload, , , 2000, module)                                                        \
	X(cuLibraryLoadData, , , 12000, module)                                                    \
	X(cuLibraryLoadFromFile, , , 12000, module)                                                \
	X(cuLibraryUnload, , , 12000, module)                                                      \
	X(cuModuleGetFunction, , , 2000, module)                                                   \
	X(cuModuleGetGlobal, _v2, , 3020, module)                                                  \
	X(cuLibraryGetKernel, , , 12000, module)                                                   \
	X(cuLibraryGetModule, , , 12000, module)                                                   \
	X(cuLibraryGetGlobal, , , 12000, module)                                                   \
	X(cuLibraryGetManaged, , , 12000, module)                                                  \
	X(cuKernelGetFunction, , , 12000, module)                                                  \
	X(cuFuncLoad, , , 12040, module)                                                           \
	X(cuLinkCreate, , , 5050, module)                                                          \
	X(cuLinkCreate, _v2, , 6050, module)                                                       \
	X(cuLinkAddData, , , 5050, module)                                                         \
	X(cuLinkAddData, _v2, , 6050, module)                                                      \
	X(cuLinkAddFile, , , 5050, module)                                                         \
	X(cuLinkAddFile, _v2, , 6050, module)                                                      \
	X(cuLinkComplete, , , 5050, module)                                                        \
	X(cuLinkDestroy, , , 5050, module)

FUNCTIONS(TFS_DRIVER_ROW)
