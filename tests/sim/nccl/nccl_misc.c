/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/sim/nccl/nccl_comm.h"

TFS_NCCL_API ncclResult_t pncclGetVersion(int *version)
{
	if (!version)
		return ncclInvalidArgument;
	*version = NCCL_VERSION_CODE;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclGetVersion);

TFS_NCCL_API const char *pncclGetErrorString(ncclResult_t result)
{
	switch (result) {
	case ncclSuccess:
		return "no error";
	case ncclUnhandledCudaError:
		return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
	case ncclSystemError:
		return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
	case ncclInternalError:
		return "internal error - please report this issue to the NCCL developers";
	case ncclInvalidArgument:
		return "invalid argument (run with NCCL_DEBUG=WARN for details)";
	case ncclInvalidUsage:
		return "invalid usage (run with NCCL_DEBUG=WARN for details)";
	case ncclRemoteError:
		return "remote process exited or there was a network error";
	case ncclInProgress:
		return "NCCL operation in progress";
	default:
		return "unknown result code";
	}
}

TFS_NCCL_ALIAS(ncclGetErrorString);

TFS_NCCL_API const char *pncclGetLastError(ncclComm_t comm)
{
	(void)comm;
	return "";
}

TFS_NCCL_ALIAS(ncclGetLastError);

TFS_NCCL_API ncclResult_t pncclMemAlloc(void **ptr, size_t size)
{
	if (!ptr)
		return ncclInvalidArgument;
	return tfsim_device_alloc(ptr, size) ? ncclUnhandledCudaError : ncclSuccess;
}

TFS_NCCL_ALIAS(ncclMemAlloc);

TFS_NCCL_API ncclResult_t pncclMemFree(void *ptr)
{
	/* Work that still uses it would lose it: the real call unmaps after a wait as well. */
	if (ptr)
		tfsim_device_synchronize();
	return tfsim_device_free(ptr) ? ncclInvalidArgument : ncclSuccess;
}

TFS_NCCL_ALIAS(ncclMemFree);

/* Registration speeds up a real network and changes nothing here; the handle is the buffer. */
TFS_NCCL_API ncclResult_t pncclCommRegister(
	const ncclComm_t comm, void *buff, size_t size, void **handle)
{
	if (!comm || !buff || !size || !handle)
		return ncclInvalidArgument;
	*handle = buff;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommRegister);

TFS_NCCL_API ncclResult_t pncclCommDeregister(const ncclComm_t comm, void *handle)
{
	(void)handle;
	return comm ? ncclSuccess : ncclInvalidArgument;
}

TFS_NCCL_ALIAS(ncclCommDeregister);

/* "Not usable" is a documented answer: the program goes on without the window. */
TFS_NCCL_API ncclResult_t pncclCommWindowRegister(
	ncclComm_t comm, void *buff, size_t size, ncclWindow_t *win, int winFlags)
{
	(void)winFlags;
	if (!comm || !buff || !size || !win)
		return ncclInvalidArgument;
	*win = NULL;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclCommWindowRegister);

TFS_NCCL_API ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win)
{
	(void)win;
	return comm ? ncclSuccess : ncclInvalidArgument;
}

TFS_NCCL_ALIAS(ncclCommWindowDeregister);

TFS_NCCL_API ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar,
	ncclDataType_t datatype, ncclScalarResidence_t residence, ncclComm_t comm)
{
	struct tfs_nccl_factor f = {.used = true, .on_device = residence == ncclScalarDevice};

	if (!op || !scalar || !comm || !tfs_nccl_size(datatype))
		return ncclInvalidArgument;
	if (f.on_device)
		f.where = scalar;
	else
		memcpy(&f.value, scalar, tfs_nccl_size(datatype));
	for (int i = 0; i < TFS_NCCL_FACTORS; i++) {
		if (comm->factors[i].used)
			continue;
		comm->factors[i] = f;
		*op = (ncclRedOp_t)(ncclNumOps + i);
		return ncclSuccess;
	}
	return ncclSystemError;
}

TFS_NCCL_ALIAS(ncclRedOpCreatePreMulSum);

TFS_NCCL_API ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
	int i = (int)op - ncclNumOps;

	if (!comm || i < 0 || i >= TFS_NCCL_FACTORS || !comm->factors[i].used)
		return ncclInvalidArgument;
	comm->factors[i].used = false;
	return ncclSuccess;
}

TFS_NCCL_ALIAS(ncclRedOpDestroy);
