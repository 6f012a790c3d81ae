/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_KERNELS_H
#define TFS_SHIM_KERNELS_H

/*
 * What is known about a kernel that is being launched: its name and its parameters, asked once per
 * kernel from the driver, whose failures leave the runtime's last error alone.
 */

#include <stdint.h>

#define TFS_KERNEL_PARAMETERS 16u

struct tfs_kernel {
	uint64_t key;
	uint32_t name;                           /* id of a kernel record, 0 = unknown */
	uint32_t parameters;                     /* how many sizes are known */
	uint32_t constant;                       /* bits: pointers that are only read from */
	uint8_t sizes[TFS_KERNEL_PARAMETERS];    /* bytes; 255 = larger */
	uint16_t offsets[TFS_KERNEL_PARAMETERS]; /* in a buffer that holds them all */
};

/* How the launched thing is named by the caller. */
enum tfs_kernel_key {
	TFS_KERNEL_HANDLE,  /* cudaKernel_t, as compiled by CUDA 13 */
	TFS_KERNEL_SYMBOL,  /* address of the host stub */
	TFS_KERNEL_FUNCTION /* CUfunction, or a CUkernel in its place */
};

/* Never NULL; lives for ever. Any thread. */
const struct tfs_kernel *tfs_kernel_find(const void *launched, enum tfs_kernel_key key);

/* Code was unloaded: handles may come to mean other kernels. Any thread. */
void tfs_kernels_unloaded(void);

#endif
