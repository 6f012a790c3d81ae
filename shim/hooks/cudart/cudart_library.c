/* SPDX-License-Identifier: MIT */
#include <cuda_runtime_api.h>

#include "shim/record/hook.h"
#include "shim/state/kernels.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cudart

TFS_HOOK(cudaError_t, cudaLibraryUnload, (cudaLibrary_t library))
{
	struct tfs_frame frame = TFS_ENTER(cudaLibraryUnload);

	tfs_kernels_unloaded();
	const cudaError_t status = TFS_REAL(cudaLibraryUnload)(library);
	tfs_hook_plain(&frame, status);
	return status;
}

#define FUNCTIONS(X) X(cudaLibraryUnload, module)

FUNCTIONS(TFS_FUNCTION_ROW)
