/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOKS_CUDA_H
#define TFS_SHIM_HOOKS_CUDA_H

/*
 * What the hooks of the driver have beside those of libraries (hook.h): a row says since which
 * version of the driver its function has this ABI, and none is entered with the option driver=0.
 *
 * To add a function: its TFS_HOOK block in a file shim/hooks/cuda/cuda_driver_*.c, named as libcuda
 * exports it, and its row X(cuMemAlloc, _v2, , 3020, alloc): name as cuGetProcAddress knows it, the
 * ABI's suffix, that of the per-thread stream, the CUDA version that brought this ABI, and family.
 * A wrong version or parameter does not compile.
 */

#include "shim/base/env.h"
#include "shim/record/hook.h"
#include "shim/resolve/driver.h"

#define TFS_DRIVER_ROW(base, abi, twin, version, kind)                                             \
	_Static_assert(__builtin_types_compatible_p(                                               \
			       __typeof__(&base##abi##twin), PFN_##base##_v##version##twin),       \
		#base " does not have this ABI since this version");                               \
	static struct tfs_function tfs_fn_##base##abi##twin TFS_IN_TABLE = {                       \
		.name = #base #abi #twin,                                                          \
		.library = TFS_LIBRARY_cuda,                                                       \
		.family = TFS_FAMILY_##kind,                                                       \
		.since = (version),                                                                \
		.base_bytes = sizeof(#base) - 1,                                                   \
		.per_thread = sizeof(#twin) > 1};                                                  \
	TFS_ROW_FITS(base##abi##twin)

/* Is the layer on? Before the options were read, they count as their defaults. */
#undef TFS_ENTER_BY
#define TFS_ENTER_BY(name, heeds)                                                                  \
	tfs_driver_enter(&tfs_fn_##name, (uint64_t)__builtin_return_address(0),                    \
		(uint64_t)__builtin_dwarf_cfa(), heeds)

static inline __attribute__((always_inline)) struct tfs_frame tfs_driver_enter(
	struct tfs_function *function, uint64_t address, uint64_t stack, uint32_t heeds)
{
	if (TFS_UNLIKELY(!tfs_options.driver))
		return (struct tfs_frame){0};
	return tfs_hook_enter(function, address, stack, heeds);
}

#endif
