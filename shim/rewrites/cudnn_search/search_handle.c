/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_handle.h"

#include <stdatomic.h>

#include "shim/resolve/direct.h"
#include "shim/rewrites/cudnn_search/decisions.h"

static struct {
	cudnnHandle_t handle;
	uint32_t machine;
	_Atomic uint64_t bytes;
} handles[TFS_SEARCH_DEVICES];

static const uint8_t needed[] = {TFS_DIRECT_cudnnCreate, TFS_DIRECT_cudnnDestroy,
	TFS_DIRECT_cudnnSetStream, TFS_DIRECT_cudnnGetVersion, TFS_DIRECT_cuDeviceGetName};

/* The driver is there for good. */
static bool look_up(void)
{
	static _Atomic int known;

	return (atomic_load(&known) != 0 || tfs_lookup_steady(TFS_LIBRARY_cudnn)) &&
	       TFS_DIRECT_THERE(needed, &known);
}

struct tfs_search_device *tfs_search_cudnn_device(void)
{
	struct tfs_search_device *device = tfs_search_device();
	char name[96];

	if (!device || !look_up())
		return NULL;
	if (tfs_search_machine(device) != 0)
		return device;
	/* Two threads may do this at once; both find the same. */
	if (TFS_DIRECT(cuDeviceGetName)(name, sizeof(name), device->number) != CUDA_SUCCESS)
		return NULL;
	const uint32_t machine = tfs_decisions_machine(name, TFS_DIRECT(cudnnGetVersion)());
	__atomic_store_n(&handles[device->number].machine, machine, __ATOMIC_RELEASE);
	return machine != 0 ? device : NULL;
}

uint32_t tfs_search_machine(const struct tfs_search_device *device)
{
	return __atomic_load_n(&handles[device->number].machine, __ATOMIC_ACQUIRE);
}

cudnnHandle_t tfs_search_handle(const struct tfs_search_device *device)
{
	return handles[device->number].handle;
}

bool tfs_search_handle_make(struct tfs_search_device *device)
{
	cudnnHandle_t *handle = &handles[device->number].handle;

	if (*handle)
		return true;
	const uint64_t before = tfs_search_device_free();
	if (!tfs_search_device_spares(0) ||
		TFS_DIRECT(cudnnCreate)(handle) != CUDNN_STATUS_SUCCESS) {
		*handle = NULL;
		return false;
	}
	const uint64_t after = tfs_search_device_free();
	if (after < before)
		atomic_store(&handles[device->number].bytes, before - after);
	return TFS_DIRECT(cudnnSetStream)(*handle, device->stream) == CUDNN_STATUS_SUCCESS;
}

void tfs_search_handle_end(struct tfs_search_device *device)
{
	if (handles[device->number].handle)
		TFS_DIRECT(cudnnDestroy)(handles[device->number].handle);
	tfs_search_handle_forget((uint32_t)device->number);
}

uint64_t tfs_search_handle_bytes(const struct tfs_search_device *device)
{
	return atomic_load(&handles[device->number].bytes);
}

void tfs_search_handle_forget(uint32_t device)
{
	if (device >= TFS_SEARCH_DEVICES)
		return;
	handles[device].handle = NULL;
	atomic_store(&handles[device].bytes, 0);
}
