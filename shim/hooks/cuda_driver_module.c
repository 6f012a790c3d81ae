/* SPDX-License-Identifier: MIT */
#include "shim/driver.h"
#include "shim/kernels.h"

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

TFS_HOOK(CUresult, cuModuleUnload, (CUmodule module))
{
	struct tfs_frame frame = TFS_ENTER(cuModuleUnload);
	const CUresult status = TFS_REAL(cuModuleUnload)(module);

	tfs_kernels_unloaded();
	tfs_hook_plain(&frame, status);
	return status;
}

TFS_HOOK(CUresult, cuLibraryUnload, (CUlibrary library))
{
	struct tfs_frame frame = TFS_ENTER(cuLibraryUnload);
	const CUresult status = TFS_REAL(cuLibraryUnload)(library);

	tfs_kernels_unloaded();
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
	X(cuLibraryUnload, , , 12000, module)

TFS_DRIVER_FAMILY(cuda_driver_module, FUNCTIONS);
