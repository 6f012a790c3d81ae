/* SPDX-License-Identifier: MIT */
#include "shim/state/kernels.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "shim/base/driver_api.h"
#include "shim/base/spin.h"
#include "shim/record/recorder.h"
#include "shim/resolve/direct.h"
#include "shim/state/mangled.h"

struct tfs_kernel tfs_kernel_slots[TFS_KERNEL_SLOTS];
uint16_t tfs_kernel_unloads;
static const struct tfs_kernel unknown;
static struct tfs_spin lock;

static struct tfs_kernel *find_slot(uint64_t key)
{
	uint32_t at = tfs_kernel_slot(key);

	for (uint32_t i = 0; i < TFS_KERNEL_SLOTS; i++, at = (at + 1) % TFS_KERNEL_SLOTS)
		if (tfs_kernel_slots[at].key == key || tfs_kernel_slots[at].key == 0)
			return &tfs_kernel_slots[at];
	return NULL;
}

/* Functions of drivers since 12.4. */
static bool get_parameter(const void *kernel, CUfunction function, uint32_t index,
	size_t *out_offset, size_t *out_bytes)
{
	if (kernel && TFS_DIRECT(cuKernelGetParamInfo))
		return TFS_DIRECT(cuKernelGetParamInfo)(
			       (CUkernel)kernel, index, out_offset, out_bytes) == 0;
	if (function && TFS_DIRECT(cuFuncGetParamInfo))
		return TFS_DIRECT(cuFuncGetParamInfo)(function, index, out_offset, out_bytes) == 0;
	return false;
}

/* Whether a call that fails overwrites no error that the program has yet to read. */
static bool may_fail(void)
{
	return TFS_DIRECT(cudaGetLastError) && TFS_DIRECT(cudaPeekAtLastError) &&
	       TFS_DIRECT(cudaPeekAtLastError)() == cudaSuccess;
}

/* The runtime refuses what is no symbol of its own; that is not to be what the program finds as its
 * last error. */
static cudaError_t ask_symbol(const void *symbol, CUfunction *out_function)
{
	const bool own = may_fail();
	const cudaError_t err =
		TFS_DIRECT(cudaGetFuncBySymbol)((cudaFunction_t *)out_function, symbol);

	if (err != cudaSuccess && own)
		TFS_DIRECT(cudaGetLastError)();
	return err;
}

/* `given` is its name where the driver does not tell it, or NULL. */
static void ask(
	struct tfs_kernel *slot, const void *launched, enum tfs_kernel_key key, const char *given)
{
	const void *kernel = key == TFS_KERNEL_HANDLE ? launched : NULL;
	CUfunction function = key == TFS_KERNEL_FUNCTION ? (CUfunction)launched : NULL;
	const char *name = NULL;
	size_t offset;
	size_t bytes;

	if (key == TFS_KERNEL_SYMBOL && TFS_DIRECT(cudaGetFuncBySymbol))
		ask_symbol(launched, &function);
	if (function && TFS_DIRECT(cuFuncGetName))
		TFS_DIRECT(cuFuncGetName)(&name, function);
	if (!name && key == TFS_KERNEL_FUNCTION) {
		/* The driver launches a kernel as a function, but will not name it as one. */
		kernel = launched;
		function = NULL;
	}
	if (kernel && TFS_DIRECT(cuKernelGetName))
		TFS_DIRECT(cuKernelGetName)(&name, (CUkernel)kernel);
	if (!name)
		name = given;
	if (name) {
		slot->name = tfs_recorder_kernel(name);
		slot->constant = tfs_mangled_constant(name);
	}
	/* There is no call that says how many there are. */
	while (slot->parameters < TFS_KERNEL_PARAMETERS &&
		get_parameter(kernel, function, slot->parameters, &offset, &bytes)) {
		slot->offsets[slot->parameters] = (uint16_t)offset;
		slot->sizes[slot->parameters++] = bytes < UINT16_MAX ? (uint16_t)bytes : UINT16_MAX;
	}
	/* Drivers before 12.4 do not tell. */
	if (name && slot->parameters == 0)
		slot->parameters =
			tfs_mangled_layout(name, TFS_KERNEL_PARAMETERS, slot->sizes, slot->offsets);
}

void tfs_kernels_unloaded(void)
{
	__atomic_fetch_add(&tfs_kernel_unloads, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) const struct tfs_kernel *find_or_add(
	const void *launched, enum tfs_kernel_key key, const char *given)
{
	struct tfs_kernel fresh = {.key = tfs_kernel_name(launched)};
	struct tfs_kernel *slot = find_slot(fresh.key);

	if (!slot)
		return &unknown;
	if (__atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) == fresh.key)
		return slot;
	ask(&fresh, launched, key, given);
	tfs_spin_lock(&lock);
	slot = find_slot(fresh.key);
	if (slot && slot->key == 0) {
		/* The key last: without the lock, an entry is read only once its key is there. */
		const uint64_t published = fresh.key;
		fresh.key = 0;
		*slot = fresh;
		__atomic_store_n(&slot->key, published, __ATOMIC_RELEASE);
	}
	tfs_spin_unlock(&lock);
	return slot ? slot : &unknown;
}

/* What was launched without an error lies in a loaded object where it is a symbol, be it another
 * runtime's; else it is a handle, or the symbol of code that was made at run time. */
static const struct tfs_kernel *find_launched(const void *launched)
{
	const bool steady = tfs_lookup_steady(TFS_LIBRARY_cudart);
	CUfunction function = NULL;
	struct tfs_object object;

	if (!TFS_DIRECT(cudaGetFuncBySymbol) && !steady)
		return &unknown;
	if (!TFS_DIRECT(cudaGetFuncBySymbol) || tfs_lookup_object(launched, &object))
		return find_or_add(launched, TFS_KERNEL_SYMBOL, NULL);
	if (!may_fail())
		return &unknown;
	const bool handle = ask_symbol(launched, &function) == cudaErrorInvalidDeviceFunction;

	return find_or_add(launched, handle ? TFS_KERNEL_HANDLE : TFS_KERNEL_SYMBOL, NULL);
}

const struct tfs_kernel *tfs_kernel_ask(const void *launched, enum tfs_kernel_key key)
{
	const uint64_t name = tfs_kernel_name(launched);

	if (!launched)
		return &unknown;
	const struct tfs_kernel *slot = find_slot(name);
	if (slot && __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) == name)
		return slot;
	return key == TFS_KERNEL_SYMBOL ? find_launched(launched)
					: find_or_add(launched, key, NULL);
}

void tfs_kernel_named(const void *function, const char *name, enum tfs_kernel_key key)
{
	static bool told; /* relaxed atomic: this driver knows the names itself */
	const char *known = NULL;

	if (!function || !name || __atomic_load_n(&told, __ATOMIC_RELAXED))
		return;
	if (key == TFS_KERNEL_HANDLE && TFS_DIRECT(cuKernelGetName))
		TFS_DIRECT(cuKernelGetName)(&known, (CUkernel)function);
	else if (key == TFS_KERNEL_FUNCTION && TFS_DIRECT(cuFuncGetName))
		TFS_DIRECT(cuFuncGetName)(&known, (CUfunction)function);
	if (known)
		__atomic_store_n(&told, true, __ATOMIC_RELAXED);
	else
		find_or_add(function, key, name);
}
