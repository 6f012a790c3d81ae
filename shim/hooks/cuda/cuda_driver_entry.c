/* SPDX-License-Identifier: MIT */
#include "shim/hooks/cuda.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cuda

/* Not recorded: a runtime asks hundreds of times, before the driver is even initialised. */

TFS_HOOK(CUresult, cuGetProcAddress_v2,
	(const char *name, void **out, int version, cuuint64_t flags,
		CUdriverProcAddressQueryResult *result))
{
	const __typeof__(&cuGetProcAddress_v2) real = TFS_REAL(cuGetProcAddress_v2);
	const CUresult status = real(name, out, version, flags, result);

	if (status == CUDA_SUCCESS) {
		const struct tfs_driver_answer answer = {.name = name,
			.version = version,
			.flags = flags,
			.function = *out,
			.caller = __builtin_return_address(0),
			.ask = real};
		*out = tfs_driver_swap(&answer);
	}
	return status;
}

/* The form that drivers before 12.0 have, and that a program asks for by such a version. */
TFS_HOOK(CUresult, cuGetProcAddress, (const char *name, void **out, int version, cuuint64_t flags))
{
	const __typeof__(&cuGetProcAddress) real = TFS_REAL(cuGetProcAddress);
	const CUresult status = real(name, out, version, flags);

	if (status == CUDA_SUCCESS) {
		const struct tfs_driver_answer answer = {.name = name,
			.version = version,
			.flags = flags,
			.function = *out,
			.caller = __builtin_return_address(0),
			.ask_old = real};
		*out = tfs_driver_swap(&answer);
	}
	return status;
}

#define FUNCTIONS(X)                                                                               \
	X(cuGetProcAddress, _v2, , 12000, property)                                                \
	X(cuGetProcAddress, , , 11030, property)

FUNCTIONS(TFS_DRIVER_ROW)
