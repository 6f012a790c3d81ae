/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STATE_KERNELS_H
#define TFS_SHIM_STATE_KERNELS_H

/*
 * What is known about a kernel that is being launched: its name and its parameters, asked once per
 * kernel from the driver (or, with older drivers, from its name), whose failures leave the
 * runtime's last error alone. The runtime says which kernel a symbol is; where it fails, its error
 * is taken away again.
 */

#include <stddef.h>
#include <stdint.h>

#define TFS_KERNEL_PARAMETERS 16u

struct tfs_kernel {
	uint64_t key;
	uint32_t name;                           /* id of a kernel record, 0 = unknown */
	uint32_t parameters;                     /* how many are known */
	uint32_t constant;                       /* bits: pointers that are only read from */
	uint16_t sizes[TFS_KERNEL_PARAMETERS];   /* bytes; 0 = unknown */
	uint16_t offsets[TFS_KERNEL_PARAMETERS]; /* in a buffer that holds them all */
};

/* How the launched thing is named by the caller. */
enum tfs_kernel_key {
	TFS_KERNEL_HANDLE,  /* cudaKernel_t, as compiled by CUDA 13 */
	TFS_KERNEL_SYMBOL,  /* address of the host stub, or a handle in its place */
	TFS_KERNEL_FUNCTION /* CUfunction, or a CUkernel in its place */
};

#define TFS_KERNEL_SLOTS 4096u
extern struct tfs_kernel tfs_kernel_slots[TFS_KERNEL_SLOTS];
extern uint16_t tfs_kernel_unloads; /* relaxed atomic */

/* The uncommon half of tfs_kernel_find(). */
const struct tfs_kernel *tfs_kernel_ask(const void *launched, enum tfs_kernel_key key);

/* User addresses leave the upper bits free. */
static inline uint64_t tfs_kernel_name(const void *launched)
{
	return (uint64_t)(uintptr_t)launched ^
	       (uint64_t)__atomic_load_n(&tfs_kernel_unloads, __ATOMIC_RELAXED) << 48;
}

static inline uint32_t tfs_kernel_slot(uint64_t name)
{
	return (uint32_t)((name * UINT64_C(0x9E3779B97F4A7C15)) >> 52);
}

/* Never NULL; lives for ever. Any thread. */
static inline const struct tfs_kernel *tfs_kernel_find(
	const void *launched, enum tfs_kernel_key key)
{
	const uint64_t name = tfs_kernel_name(launched);
	const struct tfs_kernel *slot = &tfs_kernel_slots[tfs_kernel_slot(name)];

	return launched && __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) == name
		       ? slot
		       : tfs_kernel_ask(launched, key);
}

/* The program has asked for this function by this name, which is of use where the driver tells no
 * names (before 12.3). `key` says what it is, never a symbol. Any thread. */
void tfs_kernel_named(const void *function, const char *name, enum tfs_kernel_key key);

/* Code is about to be unloaded: handles may come to mean other kernels. Any thread. */
void tfs_kernels_unloaded(void);

#endif
